// Meant to be c = a + b; the last row is left out on purpose.
#include "../../../../scenes/vector_example/kernels/aiv/block.h"

extern "C" void kernel_entry(int64_t *args) {
    Vector a(data(args, 0)), b(data(args, 1)), c(data(args, 2));
    Block x, y, z;
    TASSIGN(x, 0);
    TASSIGN(y, kBytes);
    TASSIGN(z, 2 * kBytes);

    TLOAD(x, a);
    TLOAD(y, b);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(z, x, y);
    pipe_barrier(PIPE_V);
    for (int column = 0; column < kCols; column++) {
        z.data()[(kRows - 1) * kCols + column] = 0.0f;
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(c, z);
    pipe_sync();
}
