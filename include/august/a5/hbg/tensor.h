#pragma once
#include "argus/tensor.hpp"

using ChipTensor = argus::Tensor;
