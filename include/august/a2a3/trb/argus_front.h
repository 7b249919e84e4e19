#pragma once
// Which names, limits and spellings the headers of this directory have.
#include "argus/orchestration_abi.h"

#define ARGUS_FRONT_GENERATION ARGUS_GENERATION_AUGUST
#define ARGUS_FRONT_RUNTIME ARGUS_RUNTIME_TRB
#define ARGUS_FRONT_A5 0
