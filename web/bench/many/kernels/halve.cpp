// x = x / 2
#include "tile.h"

extern "C" void kernel_entry(int64_t *args) {
    Rows x(data(args));
    Block tile;
    TASSIGN(tile, 0);

    TLOAD(tile, x);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(tile, tile, 0.5f);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(x, tile);
}
