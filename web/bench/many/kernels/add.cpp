// x = x + 1
#include "tile.h"

extern "C" void kernel_entry(int64_t *args) {
    Rows x(data(args));
    Block tile;
    TASSIGN(tile, 0);

    TLOAD(tile, x);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADDS(tile, tile, 1.0f);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(x, tile);
}
