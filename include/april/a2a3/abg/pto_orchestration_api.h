#pragma once
#include "argus/orchestration/abg.hpp"
