// out = kFactor * x, with the factor from a header outside this directory
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "factor.h"
#include "tensor.h"

using namespace pto;

#include "pipe_sync.h"

using Block = Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, 16, 16>;
using Matrix = GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<1, 1, 1, 16, 1>>;

static inline float *data(int64_t *args, int slot) {
    ChipTensor *tensor = reinterpret_cast<ChipTensor *>(args[slot]);
    return reinterpret_cast<float *>(tensor->buffer.addr) + tensor->start_offset;
}

extern "C" void kernel_entry(int64_t *args) {
    Matrix x(data(args, 0)), out(data(args, 1));
    Block in, scaled;
    TASSIGN(in, 0);
    TASSIGN(scaled, 0x400);
    TLOAD(in, x);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(scaled, in, kFactor);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, scaled);
    pipe_sync();
}
