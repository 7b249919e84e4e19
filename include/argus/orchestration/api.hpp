// The interface of pto_orchestration_api.h, for tensormap_and_ringbuffer and for host_build_graph in its August form.
#ifndef ARGUS_ORCHESTRATION_API_HPP_
#define ARGUS_ORCHESTRATION_API_HPP_

#include <sched.h>

#include "argus/orchestration/entry_args.hpp"
#include "argus/orchestration/scopes.hpp"
#include "argus/orchestration/submit.hpp"

#if ARGUS_FRONT_A5 && ARGUS_FRONT_RUNTIME == ARGUS_RUNTIME_TRB
// Sources ask for this name to find out which spelling LaunchSpec has.
#define SRC_A5_RUNTIME_TENSORMAP_AND_RINGBUFFER_RUNTIME_PTO_TYPES_H_
#endif

// --- tasks ---

inline TaskOutputTensors rt_submit_task(const MixedKernels &kernels, const argus::SubmitArgs &args) {
    return argus::submit(&kernels, args);
}

inline TaskOutputTensors rt_submit_aic_task(int32_t func_id, const argus::SubmitArgs &args) {
    return rt_submit_task(MixedKernels{func_id, -1, -1}, args);
}

inline TaskOutputTensors rt_submit_aiv_task(int32_t func_id, const argus::SubmitArgs &args) {
    return rt_submit_task(MixedKernels{-1, func_id, -1}, args);
}

// A task that runs nothing and only orders others.
inline TaskOutputTensors rt_submit_dummy_task(const argus::SubmitArgs &args) { return argus::submit(nullptr, args); }

inline TaskOutputTensors alloc_tensors(const argus::SubmitArgs &args) { return argus::allocate(args); }

inline TaskOutputTensors alloc_tensors(const TensorCreateInfo infos[], uint32_t count) {
    argus::SubmitArgs args;
    for (uint32_t i = 0; i < count; i++) {
        args.add_output(infos[i]);
    }
    return argus::allocate(args);
}

template <typename... Infos>
std::enable_if_t<(sizeof...(Infos) > 0 && (std::is_same_v<std::remove_cv_t<Infos>, TensorCreateInfo> && ...)),
                 TaskOutputTensors>
alloc_tensors(const Infos &...infos) {
    argus::SubmitArgs args;
    args.add_output(infos...);
    return argus::allocate(args);
}

// --- scopes ---

inline void rt_scope_begin(PTO2ScopeMode mode = PTO2ScopeMode::AUTO) { argus::begin_scope(mode, "", 0); }
inline void rt_scope_end() { argus::end_scope(); }

// --- data ---

// The raw bits of one element, after every task that writes it.
template <typename T = uint64_t>
T get_tensor_data(const argus::Tensor &tensor, uint32_t ndims, const uint32_t indices[]) {
    const ArgusOrchestrationTable &table = argus::runtime();
    const ArgusTensor *descriptor = reinterpret_cast<const ArgusTensor *>(&tensor);
    return from_u64<T>(table.get_tensor_data(table.host, descriptor, ndims, indices));
}

// Sets the raw bits of one element, after every task that writes or reads it.
template <typename T = uint64_t>
void set_tensor_data(const argus::Tensor &tensor, uint32_t ndims, const uint32_t indices[], T value) {
    const ArgusOrchestrationTable &table = argus::runtime();
    const ArgusTensor *descriptor = reinterpret_cast<const ArgusTensor *>(&tensor);
    table.set_tensor_data(table.host, descriptor, ndims, indices, to_u64(value));
}

// --- errors and messages ---

inline bool rt_is_fatal() { return argus::is_fatal(); }

#define rt_report_fatal(code, format, ...) ::argus::report_fatal((code), __func__, (format), ##__VA_ARGS__)

#define LOG_ERROR(format, ...) ::argus::log(ARGUS_LOG_ERROR, __func__, format, ##__VA_ARGS__)
#define LOG_WARN(format, ...) ::argus::log(ARGUS_LOG_WARN, __func__, format, ##__VA_ARGS__)
#define LOG_DEBUG(format, ...) ::argus::log(ARGUS_LOG_DEBUG, __func__, format, ##__VA_ARGS__)
#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST
#define LOG_TIMING(format, ...) ::argus::log(ARGUS_LOG_TIMING, __func__, format, ##__VA_ARGS__)
#define LOG_INFO(format, ...) ::argus::log(ARGUS_LOG_INFO, __func__, format, ##__VA_ARGS__)
#elif ARGUS_FRONT_GENERATION == ARGUS_GENERATION_APRIL
#define LOG_ALWAYS(format, ...) ::argus::log(ARGUS_LOG_INFO, __func__, format, ##__VA_ARGS__)
#define LOG_INFO(format, ...) ::argus::log(ARGUS_LOG_INFO, __func__, format, ##__VA_ARGS__)
#else
#define LOG_INFO_V0(format, ...) ::argus::log(ARGUS_LOG_INFO, __func__, format, ##__VA_ARGS__)
#define LOG_INFO_V1(format, ...) LOG_INFO_V0(format, ##__VA_ARGS__)
#define LOG_INFO_V2(format, ...) LOG_INFO_V0(format, ##__VA_ARGS__)
#define LOG_INFO_V3(format, ...) LOG_INFO_V0(format, ##__VA_ARGS__)
#define LOG_INFO_V4(format, ...) LOG_INFO_V0(format, ##__VA_ARGS__)
#define LOG_INFO_V5(format, ...) LOG_INFO_V0(format, ##__VA_ARGS__)
#define LOG_INFO_V6(format, ...) LOG_INFO_V0(format, ##__VA_ARGS__)
#define LOG_INFO_V7(format, ...) LOG_INFO_V0(format, ##__VA_ARGS__)
#define LOG_INFO_V8(format, ...) LOG_INFO_V0(format, ##__VA_ARGS__)
#define LOG_INFO_V9(format, ...) LOG_INFO_V0(format, ##__VA_ARGS__)
#endif

// For loops that wait for what a kernel writes.
#define SPIN_WAIT_HINT() static_cast<void>(sched_yield())

#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST

// --- the machine ---

inline int32_t rt_available_cluster_count() {
    const ArgusOrchestrationTable &table = argus::runtime();
    return table.cluster_count(table.host);
}

inline int32_t rt_available_aiv_count() {
    const ArgusOrchestrationTable &table = argus::runtime();
    return table.aiv_count(table.host);
}

#elif ARGUS_FRONT_GENERATION == ARGUS_GENERATION_JUNE

// From now on the capture takes marked arguments only.
inline void enable_dump_tensor_selective() {
    const ArgusOrchestrationTable &table = argus::runtime();
    table.dump_marked_only(table.host);
}

#else

// April spells the prefix out.
inline TaskOutputTensors pto2_rt_submit_task(const MixedKernels &kernels, const Arg &args) {
    return rt_submit_task(kernels, args);
}
inline TaskOutputTensors pto2_rt_submit_aic_task(int32_t func_id, const Arg &args) {
    return rt_submit_aic_task(func_id, args);
}
inline TaskOutputTensors pto2_rt_submit_aiv_task(int32_t func_id, const Arg &args) {
    return rt_submit_aiv_task(func_id, args);
}
inline void pto2_rt_scope_begin(PTO2ScopeMode mode = PTO2ScopeMode::AUTO) { rt_scope_begin(mode); }
inline void pto2_rt_scope_end() { rt_scope_end(); }
inline bool pto2_rt_is_fatal() { return rt_is_fatal(); }
#define pto2_rt_report_fatal(code, format, ...) rt_report_fatal(code, format, ##__VA_ARGS__)

#endif

#endif  // ARGUS_ORCHESTRATION_API_HPP_
