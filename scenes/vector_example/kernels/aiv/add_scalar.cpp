// c = a + k, with k in the slot behind the tensors
#include "block.h"

extern "C" void kernel_entry(int64_t *args) {
    Vector a(data(args, 0)), c(data(args, 1));
    float k = from_u64<float>(args[2]);
    Block x, z;
    TASSIGN(x, 0);
    TASSIGN(z, kBytes);

    TLOAD(x, a);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADDS(z, x, k);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(c, z);
    pipe_sync();
}
