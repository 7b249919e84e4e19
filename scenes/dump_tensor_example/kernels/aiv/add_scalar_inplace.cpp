// a = a + k; the bits of k are the low half of the second slot
#include <cstring>

#include "block.h"

extern "C" void kernel_entry(int64_t *args) {
    Vector a(reinterpret_cast<float *>(args[0]));
    float k;
    std::memcpy(&k, &args[1], sizeof(k));
    Block x, z;
    TASSIGN(x, 0);
    TASSIGN(z, kBytes);

    TLOAD(x, a);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADDS(z, x, k);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(a, z);
    pipe_sync();
}
