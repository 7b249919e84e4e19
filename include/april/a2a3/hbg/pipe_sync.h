#pragma once
#include "argus/pipe_sync.hpp"
