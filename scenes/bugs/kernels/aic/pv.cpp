// Weighted values of one block: o = p v.
#include "product.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    Matrix<bfloat16_t, kHeads, kBlock> p(data<bfloat16_t>(args, 0));
    Matrix<bfloat16_t, kBlock, kHeadDim> v(data<bfloat16_t>(args, 1));
    product<kHeads, kBlock, kHeadDim, InL1<kHeads, kBlock>, InL1<kBlock, kHeadDim>>(p, v, data<float>(args, 2));
}
