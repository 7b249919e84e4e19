#pragma once
#include "argus/orchestration/task_args_with_deps.hpp"
