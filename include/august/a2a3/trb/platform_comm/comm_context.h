#pragma once
#include "argus/comm_context.hpp"
