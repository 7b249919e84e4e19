// Scores of one block: s = q k^T. The block of keys is walked column by column, so that it arrives as the transposed
// operand.
#include "product.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    using Transposed = GlobalTensor<bfloat16_t, Shape<1, 1, 1, kHeadDim, kBlock>, Stride<1, 1, 1, 1, kHeadDim>, Layout::DN>;
    Matrix<bfloat16_t, kHeads, kHeadDim> q(data<bfloat16_t>(args, 0));
    Transposed k(data<bfloat16_t>(args, 1));
    product<kHeads, kHeadDim, kBlock, InL1<kHeads, kHeadDim>, TransposedInL1<kHeadDim, kBlock>>(q, k, data<float>(args, 2));
}
