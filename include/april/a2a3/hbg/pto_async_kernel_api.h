#pragma once
#include "argus/async_kernel.hpp"
