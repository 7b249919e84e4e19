// Reads behind the end of its input on purpose: the simulated chip refuses the load.
#include "../../../../scenes/vector_example/kernels/aiv/block.h"

extern "C" void kernel_entry(int64_t *args) {
    Vector a(data(args, 0) + (1LL << 40)), c(data(args, 2));
    Block x;
    TASSIGN(x, 0);
    TLOAD(x, a);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(c, x);
    pipe_sync();
}
