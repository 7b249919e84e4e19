// The interface of orchestration_api.h: host_build_graph with tasks, edges and device memory made by hand.
#ifndef ARGUS_ORCHESTRATION_LEGACY_HPP_
#define ARGUS_ORCHESTRATION_LEGACY_HPP_

#include "argus/orchestration/entry_args.hpp"

// Passed to every call; the runtime itself is bound to the thread.
struct OrchestrationRuntime;

enum class CoreType : int32_t { AIC = 0, AIV = 1 };

// What a dump shows of a tensor argument: the box of `shapes` at `offsets` of a row-major buffer of `raw_shapes`.
struct TensorInfo {
    DataType dtype;
    uint8_t ndims;
    uint16_t reserved;
    uint32_t shapes[argus::MAX_DIMS];
    uint32_t raw_shapes[argus::MAX_DIMS];
    uint32_t offsets[argus::MAX_DIMS];
};

static_assert(sizeof(TensorInfo) == sizeof(ArgusTensorInfo), "the runtime reads it as an ArgusTensorInfo");

inline TensorInfo make_tensor_info_from_tensor_arg(const ContinuousTensor &arg) {
    TensorInfo info{};
    info.dtype = arg.dtype;
    info.ndims = static_cast<uint8_t>(arg.ndims);
    std::copy(arg.shapes, arg.shapes + argus::MAX_DIMS, info.shapes);
    std::copy(arg.shapes, arg.shapes + argus::MAX_DIMS, info.raw_shapes);
    return info;
}

// Null where there is no memory.
inline void *device_malloc(OrchestrationRuntime *, size_t size) {
    const ArgusOrchestrationTable &table = argus::runtime();
    return table.device_malloc(table.host, size);
}

inline void device_free(OrchestrationRuntime *, void *device) {
    const ArgusOrchestrationTable &table = argus::runtime();
    table.device_free(table.host, device);
}

// 0, or a negative number where the device has no such bytes.
inline int copy_to_device(OrchestrationRuntime *, void *device, const void *host, size_t size) {
    const ArgusOrchestrationTable &table = argus::runtime();
    return table.copy_to_device(table.host, device, host, size);
}

// Device bytes that are copied back to the host when every task is done.
inline void record_tensor_pair(OrchestrationRuntime *, void *host, void *device, size_t size) {
    const ArgusOrchestrationTable &table = argus::runtime();
    table.record_tensor_pair(table.host, host, device, size);
}

// The number of the new task, or -1.
inline int add_task(OrchestrationRuntime *, uint64_t *args, int num_args, int func_id, CoreType core_type) {
    const ArgusOrchestrationTable &table = argus::runtime();
    return table.add_task(table.host, args, num_args, func_id, static_cast<int32_t>(core_type));
}

inline void add_successor(OrchestrationRuntime *, int from, int to) {
    const ArgusOrchestrationTable &table = argus::runtime();
    table.add_successor(table.host, from, to);
}

// Says what the addresses among a task's arguments are, in their order, so that the task can be captured.
inline int set_tensor_info_to_task(OrchestrationRuntime *, int task, const TensorInfo *infos, int count) {
    const ArgusOrchestrationTable &table = argus::runtime();
    return table.set_tensor_info(table.host, task, reinterpret_cast<const ArgusTensorInfo *>(infos), count);
}

inline int add_task_with_tensor_info(OrchestrationRuntime *runtime, uint64_t *args, int num_args, int func_id,
                                     CoreType core_type, const TensorInfo *infos, int count) {
    const int task = add_task(runtime, args, num_args, func_id, core_type);
    if (task >= 0) {
        set_tensor_info_to_task(runtime, task, infos, count);
    }
    return task;
}

inline int get_task_count(OrchestrationRuntime *) {
    const ArgusOrchestrationTable &table = argus::runtime();
    return table.task_count(table.host);
}

inline void print_runtime(OrchestrationRuntime *runtime) {
    argus::log(ARGUS_LOG_INFO, __func__, "the graph has %d tasks", get_task_count(runtime));
}

#endif  // ARGUS_ORCHESTRATION_LEGACY_HPP_
