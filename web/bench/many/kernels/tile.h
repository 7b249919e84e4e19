// What both kernels share: one task works on a tile of 8 rows of 8 floats, in place.
#pragma once
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

constexpr int kSide = 8;

using Block = Tile<TileType::Vec, float, kSide, kSide>;
using Rows = GlobalTensor<float, Shape<1, 1, 1, kSide, kSide>, Stride<1, 1, 1, kSide, 1>>;

// The first element of the tensor argument.
static inline float *data(int64_t *args) {
    Tensor *tensor = reinterpret_cast<Tensor *>(args[0]);
    return reinterpret_cast<float *>(tensor->buffer.addr) + tensor->start_offset;
}
