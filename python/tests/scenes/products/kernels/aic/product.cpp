// p = a b, 64 x 64
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "tensor.h"

using namespace pto;

#include "pipe_sync.h"

constexpr int kSide = 64;
using Matrix = GlobalTensor<float, Shape<1, 1, 1, kSide, kSide>, Stride<1, 1, 1, kSide, 1>>;

static inline float *data(int64_t *args, int slot) {
    Tensor *tensor = reinterpret_cast<Tensor *>(args[slot]);
    return reinterpret_cast<float *>(tensor->buffer.addr) + tensor->start_offset;
}

extern "C" void kernel_entry(int64_t *args) {
    Matrix a(data(args, 0)), b(data(args, 1)), p(data(args, 2));
    Tile<TileType::Mat, float, kSide, kSide, BLayout::ColMajor, kSide, kSide, SLayout::RowMajor, 512> aMat, bMat;
    TileLeft<float, kSide, kSide, kSide, kSide> left;
    TileRight<float, kSide, kSide, kSide, kSide> right;
    TileAcc<float, kSide, kSide, kSide, kSide> sum;
    TASSIGN(aMat, 0x0);
    TASSIGN(bMat, 0x10000);
    TASSIGN(left, 0x0);
    TASSIGN(right, 0x0);
    TASSIGN(sum, 0x0);
    TLOAD(aMat, a);
    TLOAD(bMat, b);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(left, aMat);
    TMOV(right, bMat);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    TMATMUL(sum, left, right);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    TSTORE(p, sum);
    pipe_sync();
}
