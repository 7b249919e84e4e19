#pragma once
#include "argus/tensor.hpp"

using argus::Tensor;
