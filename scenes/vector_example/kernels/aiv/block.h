// What the kernels share: each works on all 16384 floats of a vector at once.
#pragma once
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "pipe_sync.h"
#include "tensor.h"

using namespace pto;

constexpr int kRows = 128;
constexpr int kCols = 128;
constexpr int kBytes = kRows * kCols * sizeof(float);

using Block = Tile<TileType::Vec, float, kRows, kCols>;
using Vector = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;

// The first element of a tensor argument.
static inline float *data(int64_t *args, int slot) {
    ChipTensor *tensor = reinterpret_cast<ChipTensor *>(args[slot]);
    return reinterpret_cast<float *>(tensor->buffer.addr) + tensor->start_offset;
}
