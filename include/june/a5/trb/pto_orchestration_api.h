#pragma once
#include "argus/orchestration/api.hpp"
