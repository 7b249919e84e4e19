#pragma once
#include "argus/intrinsic.hpp"
