// What the kernels share. Slots of a graph that the host builds hold plain addresses and numbers.
#pragma once
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "pipe_sync.h"

using namespace pto;

constexpr int kRows = 128;
constexpr int kCols = 128;
constexpr int kBytes = kRows * kCols * sizeof(float);

using Block = Tile<TileType::Vec, float, kRows, kCols>;
using Vector = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
