#pragma once
#include "argus/orchestration/legacy.hpp"
