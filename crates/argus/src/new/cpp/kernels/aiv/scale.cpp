// out = k x
#include "block.h"

#ifdef PLANTED_BUG
// Rows are 64 floats apart, not 65.
using Source = GlobalTensor<float, Shape<1, 1, 1, kRows - 1, kCols>, Stride<1, 1, 1, kCols + 1, 1>>;
#else
using Source = Rows;
#endif

extern "C" void kernel_entry(int64_t *args) {
    float k = from_u64<float>(args[2]);
    Source x(data(args, 0));
    Rows out(data(args, 1));
    Block tile;
    TASSIGN(tile, 0);

    TLOAD(tile, x);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(tile, tile, k);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, tile);
}
