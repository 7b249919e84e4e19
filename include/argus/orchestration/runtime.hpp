// What the rest of these headers need of the runtime: the table bound to this thread, messages, assertions.
//
// Everything declared here is defined once per object, in argus/support/orchestration.cpp.
#ifndef ARGUS_ORCHESTRATION_RUNTIME_HPP_
#define ARGUS_ORCHESTRATION_RUNTIME_HPP_

#include <stdint.h>

#include <algorithm>

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

#define PTO2_ERROR_NONE 0
#define PTO2_ERROR_SCOPE_DEADLOCK 1
#define PTO2_ERROR_HEAP_RING_DEADLOCK 2
#define PTO2_ERROR_FLOW_CONTROL_DEADLOCK 3
#define PTO2_ERROR_DEP_POOL_OVERFLOW 4
#define PTO2_ERROR_INVALID_ARGS 5
#if ARGUS_FRONT_GENERATION < ARGUS_GENERATION_AUGUST
#define PTO2_ERROR_DEPENDENCY_OVERFLOW 6
#endif
#define PTO2_ERROR_REQUIRE_SYNC_START_INVALID 7
#define PTO2_ERROR_TENSOR_WAIT_TIMEOUT 8
#define PTO2_ERROR_EXPLICIT_ORCH_FATAL 9
#define PTO2_ERROR_SCOPE_TASKS_OVERFLOW 10
#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST
#define PTO2_ERROR_TENSORMAP_OVERFLOW 11
#endif
#define PTO2_ERROR_SCHEDULER_TIMEOUT 100
#define PTO2_ERROR_ASYNC_COMPLETION_INVALID 101
#define PTO2_ERROR_ASYNC_WAIT_OVERFLOW 102
#define PTO2_ERROR_ASYNC_REGISTRATION_FAILED 103

#endif  // ARGUS_ORCHESTRATION_RUNTIME_HPP_
