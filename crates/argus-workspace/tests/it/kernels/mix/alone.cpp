#include <cstdint>

#include "intrinsic.h"
#include "tensor.h"

// Runs on vector cores alone, one block on each.
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    auto *out = reinterpret_cast<__gm__ Tensor *>(args[0]);
    element(out, get_block_idx(args), 0) += 300 + get_block_idx(args);
}
