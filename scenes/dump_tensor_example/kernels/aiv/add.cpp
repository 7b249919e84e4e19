// c = a + b
#include "block.h"

extern "C" void kernel_entry(int64_t *args) {
    Vector a(reinterpret_cast<float *>(args[0])), b(reinterpret_cast<float *>(args[1])), c(reinterpret_cast<float *>(args[2]));
    Block x, y, z;
    TASSIGN(x, 0);
    TASSIGN(y, kBytes);
    TASSIGN(z, 2 * kBytes);

    TLOAD(x, a);
    TLOAD(y, b);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(z, x, y);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(c, z);
    pipe_sync();
}
