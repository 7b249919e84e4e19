// Writes where no memory is, on purpose.
#include "../../../../scenes/vector_example/kernels/aiv/block.h"

extern "C" void kernel_entry(int64_t *args) {
    *reinterpret_cast<volatile float *>(8) = static_cast<float>(args[0]);
}
