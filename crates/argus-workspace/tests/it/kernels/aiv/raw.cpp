#include <cstdint>

// Slots hold addresses and numbers, no descriptors.
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    auto *in = reinterpret_cast<__gm__ uint16_t *>(args[0]);
    auto *out = reinterpret_cast<__gm__ uint16_t *>(args[2]);
    for (int64_t i = 0; i < args[1]; ++i) {
        out[i] += in[i];
    }
}
