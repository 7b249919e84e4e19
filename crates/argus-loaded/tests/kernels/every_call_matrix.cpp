// core: aic
// expect: 32 96 1
// The matrix core's calls, and moves between its memories.
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "tensor.h"

using Mat = pto::Tile<pto::TileType::Mat, bfloat16_t, 32, 32, pto::BLayout::ColMajor, 32, 32, pto::SLayout::RowMajor, 512>;
using MatZn = pto::Tile<pto::TileType::Mat, bfloat16_t, 32, 32, pto::BLayout::RowMajor, 32, 32, pto::SLayout::ColMajor, 512>;
using Part = pto::Tile<pto::TileType::Mat, bfloat16_t, 32, 32, pto::BLayout::ColMajor, -1, -1, pto::SLayout::RowMajor, 512>;
using Left = pto::TileLeft<bfloat16_t, 32, 32>;
using LeftPart = pto::TileLeft<bfloat16_t, 32, 32, 16, 32>;
using Right = pto::TileRight<bfloat16_t, 32, 32>;
using Acc = pto::TileAcc<float, 32, 32>;
using G = pto::GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<1024, 1024, 1024, 32, 1>>;
using GDn = pto::GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<1024, 1024, 1024, 1, 32>, pto::Layout::DN>;
using Out = pto::GlobalTensor<float, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<1024, 1024, 1024, 32, 1>>;
using OutSmall = pto::GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 32, 32>, pto::Stride<1024, 1024, 1024, 32, 1>>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    int32_t *out = reinterpret_cast<int32_t *>(args[0]);
    bfloat16_t *memory = reinterpret_cast<bfloat16_t *>(args[1]);
    for (int i = 0; i < 1024; i++) {
        memory[i] = 1.0f;
    }
    float *result = reinterpret_cast<float *>(memory + 1024);
    G g(memory);
    GDn turned(memory);
    Mat m;
    MatZn zn;
    Part part(16, 32);
    TASSIGN(m, 0x0), TASSIGN(zn, 0x4000), TASSIGN(part, 0x8000);
    TLOAD(m, g);
    TLOAD(zn, turned);
    TLOAD(part, g);
    TFILLPAD(part, part);
    Left left[2];
    Right right;
    LeftPart few;
    Acc acc, same;
    TASSIGN(left[0], 0x0), TASSIGN(left[1], 0x1000), TASSIGN(few, 0x1000), TASSIGN(right, 0x0), TASSIGN(acc, 0x0), TASSIGN(same, 0x0);
    TMOV(left[0], m);
    TMOV(right, zn);
    TMATMUL(acc, left[0], right);
    TEXTRACT(left[1], m, 0, 0);
    TEXTRACT(right, m, (uint16_t)0, (uint16_t)0);
    Out c(result);
    TSTORE(c, acc);
    out[0] = int32_t(result[0]);
    TMATMUL_ACC(acc, acc, left[1], right);
    TMATMUL_ACC(acc, same, left[1], right);
    TMATMUL_ACC(acc, few, right);
    TSTORE(c, acc);
    out[1] = int32_t(result[1023]);
    OutSmall small(memory + 4096);
    TSTORE(small, acc);
    out[2] = float(memory[4096]) == 128.0f;
}
