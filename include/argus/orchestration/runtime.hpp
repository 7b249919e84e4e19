// What the rest of these headers need of the runtime: the table bound to this thread, messages, assertions.
//
// Everything declared here is defined once per object, in argus/support/orchestration.cpp.
#ifndef ARGUS_ORCHESTRATION_RUNTIME_HPP_
#define ARGUS_ORCHESTRATION_RUNTIME_HPP_

#include <stdint.h>

#include <algorithm>

#include "argus/error_codes.hpp"
#include "argus/orchestration_abi.h"
#include "argus/tensor.hpp"
#include "argus_front.h"

namespace argus {

// The runtime of the run whose orchestration this thread is. Throws where there is none.
const ArgusOrchestrationTable &runtime();

// printf-style messages. Formats are not checked against their arguments: existing sources print 64-bit numbers
// with every length that happens to work.
void log(uint32_t level, const char *function, const char *format, ...);
void report_fatal(int32_t code, const char *function, const char *format, ...);

}  // namespace argus

#define always_assert(condition) ARGUS_CHECK(condition)
#ifdef NDEBUG
#define debug_assert(condition) static_cast<void>(0)
#else
#define debug_assert(condition) ARGUS_CHECK(condition)
#endif

#endif  // ARGUS_ORCHESTRATION_RUNTIME_HPP_
