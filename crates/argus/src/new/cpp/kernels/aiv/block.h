// What both kernels share: one task works on 32 rows of 64 floats.
#pragma once
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

constexpr int kRows = 32;
constexpr int kCols = 64;
constexpr int kBytes = kRows * kCols * sizeof(float);

using Block = Tile<TileType::Vec, float, kRows, kCols>;
using Rows = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;

// The first element of a tensor argument.
static inline float *data(int64_t *args, int slot) {
    Tensor *tensor = reinterpret_cast<Tensor *>(args[slot]);
    return reinterpret_cast<float *>(tensor->buffer.addr) + tensor->start_offset;
}
