// What the four kernels share: sizes, and how an argument is found.
#pragma once
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "pipe_sync.h"
#include "tensor.h"

using namespace pto;

// Heads of one task, width of a head, positions of a block.
constexpr int kHeads = 16;
constexpr int kHeadDim = 16;
constexpr int kBlock = 16;

// A matrix in row-major order.
template <typename T, int Rows, int Cols>
using Matrix = GlobalTensor<T, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, Cols, 1>>;
// One number for each head, as a column.
using PerHead = GlobalTensor<float, Shape<1, 1, 1, kHeads, 1>, Stride<1, 1, 1, 1, 1>, Layout::DN>;

static inline __aicore__ __gm__ ChipTensor *tensor(__gm__ int64_t *args, int slot) {
    return reinterpret_cast<__gm__ ChipTensor *>(args[slot]);
}

// The first element of a tensor argument.
template <typename T>
static inline __aicore__ __gm__ T *data(__gm__ int64_t *args, int slot) {
    return reinterpret_cast<__gm__ T *>(tensor(args, slot)->buffer.addr) + tensor(args, slot)->start_offset;
}

// `to` continues when `from` has done all it was given so far.
#define HAND_OVER(from, to)          \
    set_flag(from, to, EVENT_ID0);   \
    wait_flag(from, to, EVENT_ID0)
