// The interface of pto_orchestration_api.h for aicpu_build_graph: edges are declared, and a task starts when its scope
// has ended.
#ifndef ARGUS_ORCHESTRATION_ABG_HPP_
#define ARGUS_ORCHESTRATION_ABG_HPP_

#include "argus/orchestration/entry_args.hpp"
#include "argus/orchestration/scopes.hpp"
#include "argus/orchestration/submit.hpp"

// Passed to every call; the runtime itself is bound to the thread.
struct PTO2Runtime;

struct SubmitResult {
    PTO2TaskId task_id;
    TaskOutputTensors outputs;
};

inline SubmitResult pto2_rt_submit_task(PTO2Runtime *, const MixedKernels &kernels, const Arg &args) {
    TaskOutputTensors outputs = argus::submit(&kernels, args);
    return SubmitResult{outputs.task_id(), outputs};
}

inline SubmitResult pto2_rt_submit_aic_task(PTO2Runtime *rt, int32_t func_id, const Arg &args) {
    return pto2_rt_submit_task(rt, MixedKernels{func_id, -1, -1}, args);
}

inline SubmitResult pto2_rt_submit_aiv_task(PTO2Runtime *rt, int32_t func_id, const Arg &args) {
    return pto2_rt_submit_task(rt, MixedKernels{-1, func_id, -1}, args);
}

// Makes `consumer`, whose scope is still open, wait for `producer`.
inline void pto2_rt_add_dependency(PTO2Runtime *, PTO2TaskId producer, PTO2TaskId consumer) {
    const ArgusOrchestrationTable &table = argus::runtime();
    table.add_dependency(table.host, producer.raw, consumer.raw);
}

inline void pto2_rt_scope_begin(PTO2Runtime *) { argus::begin_scope(PTO2ScopeMode::AUTO, "", 0); }
inline void pto2_rt_scope_end(PTO2Runtime *) { argus::end_scope(); }
inline bool pto2_rt_is_fatal(PTO2Runtime *) { return argus::is_fatal(); }

#define pto2_rt_report_fatal(rt, code, format, ...) \
    (static_cast<void>(rt), ::argus::report_fatal((code), __func__, (format), ##__VA_ARGS__))

#define ARGUS_ABG_LOG(rt, level, format, ...) \
    (static_cast<void>(rt), ::argus::log(level, __func__, format, ##__VA_ARGS__))
#define LOG_ERROR(rt, format, ...) ARGUS_ABG_LOG(rt, ARGUS_LOG_ERROR, format, ##__VA_ARGS__)
#define LOG_WARN(rt, format, ...) ARGUS_ABG_LOG(rt, ARGUS_LOG_WARN, format, ##__VA_ARGS__)
#define LOG_ALWAYS(rt, format, ...) ARGUS_ABG_LOG(rt, ARGUS_LOG_INFO, format, ##__VA_ARGS__)
#define LOG_INFO(rt, format, ...) ARGUS_ABG_LOG(rt, ARGUS_LOG_INFO, format, ##__VA_ARGS__)
#define LOG_DEBUG(rt, format, ...) ARGUS_ABG_LOG(rt, ARGUS_LOG_DEBUG, format, ##__VA_ARGS__)

#endif  // ARGUS_ORCHESTRATION_ABG_HPP_
