#pragma once
#include "argus/orchestration/graph.hpp"
