#pragma once
#include <stdint.h>

// The system counter of the chip, in hertz.
constexpr uint64_t PLATFORM_PROF_SYS_CNT_FREQ = 50000000;
