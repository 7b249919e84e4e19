// What the kernels share: matrices of 128 x 128 floats.
#pragma once
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "pipe_sync.h"
#include "tensor.h"

using namespace pto;

constexpr int kEdge = 128;
constexpr int kBytes = kEdge * kEdge * sizeof(float);

using Matrix = GlobalTensor<float, Shape<1, 1, 1, kEdge, kEdge>, Stride<1, 1, 1, kEdge, 1>>;

// The first element of a tensor argument.
static inline float *data(int64_t *args, int slot) {
    ChipTensor *tensor = reinterpret_cast<ChipTensor *>(args[slot]);
    return reinterpret_cast<float *>(tensor->buffer.addr) + tensor->start_offset;
}
