// c += p, 64 x 64
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "tensor.h"

using namespace pto;

#include "pipe_sync.h"

constexpr int kSide = 64;
using Block = Tile<TileType::Vec, float, kSide, kSide, BLayout::RowMajor, kSide, kSide>;
using Matrix = GlobalTensor<float, Shape<1, 1, 1, kSide, kSide>, Stride<1, 1, 1, kSide, 1>>;

static inline float *data(int64_t *args, int slot) {
    Tensor *tensor = reinterpret_cast<Tensor *>(args[slot]);
    return reinterpret_cast<float *>(tensor->buffer.addr) + tensor->start_offset;
}

extern "C" void kernel_entry(int64_t *args) {
    Matrix p(data(args, 0)), c(data(args, 1));
    Block product, sum;
    TASSIGN(product, 0x0);
    TASSIGN(sum, 0x4000);
    TLOAD(product, p);
    TLOAD(sum, c);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(sum, sum, product);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(c, sum);
    pipe_sync();
}
