// Submitting tasks, and what comes back.
#ifndef ARGUS_ORCHESTRATION_SUBMIT_HPP_
#define ARGUS_ORCHESTRATION_SUBMIT_HPP_

#include "argus/orchestration/task_args_with_deps.hpp"

// Kernels by their place in the cluster.
struct MixedKernels {
    int32_t aic_kernel_id = -1;
    int32_t aiv0_kernel_id = -1;
    int32_t aiv1_kernel_id = -1;
};

// A task's name and the tensors that the runtime allocated for it. The tensors themselves belong to the runtime;
// the task may use them until its scope ends.
class TaskOutputTensors {
  public:
    TaskOutputTensors() : outputs_{UINT64_MAX, nullptr, 0, 0} {}
    explicit TaskOutputTensors(const ArgusOutputs &outputs) : outputs_(outputs) {}

    // The index-th tensor that the runtime allocated, in the order they were added; existing tensors do not count.
    const argus::Tensor &get_ref(uint32_t index) const & {
        ARGUS_CHECK(index < outputs_.count);
        return reinterpret_cast<const argus::Tensor *>(outputs_.tensors)[index];
    }
    const argus::Tensor &get_ref(uint32_t index) const && = delete;

    PTO2TaskId task_id() const { return PTO2TaskId{outputs_.task_id}; }
    bool empty() const { return outputs_.count == 0; }
    uint32_t size() const { return outputs_.count; }

  private:
    ArgusOutputs outputs_;
};

namespace argus {

static_assert(sizeof(Tensor) == sizeof(ArgusTensor), "descriptors cross the boundary as they are");

// One call for all forms of submission. Without kernels the task only orders others.
template <uint32_t T, uint32_t S>
TaskOutputTensors submit(const MixedKernels *kernels, const TaskArgs<T, S> &task) {
    ArgusTaskArgs args = task.describe();
    ArgusPredicate predicate{};
    if (task.predicate().op != PredicateOp::NONE) {
        const CoreTaskPredicate &from = task.predicate();
        predicate.tensor = reinterpret_cast<const ArgusTensor *>(from.operand.tensor);
        predicate.target = from.target;
        predicate.op = static_cast<uint32_t>(from.op);
        predicate.ndims = from.operand.ndims;
        std::copy(from.operand.indices, from.operand.indices + MAX_DIMS, predicate.indices);
        args.predicate = &predicate;
    }
    ArgusOutputs outputs{UINT64_MAX, nullptr, 0, 0};
    const ArgusOrchestrationTable &table = runtime();
    if (kernels == nullptr) {
        table.submit_dummy(table.host, &args, &outputs);
    } else {
        const ArgusKernels places{kernels->aic_kernel_id, kernels->aiv0_kernel_id, kernels->aiv1_kernel_id};
        table.submit(table.host, &places, &args, &outputs);
    }
    return TaskOutputTensors(outputs);
}

template <uint32_t T, uint32_t S>
TaskOutputTensors allocate(const TaskArgs<T, S> &task) {
    const ArgusTaskArgs args = task.describe();
    ArgusOutputs outputs{UINT64_MAX, nullptr, 0, 0};
    const ArgusOrchestrationTable &table = runtime();
    table.alloc_tensors(table.host, &args, &outputs);
    return TaskOutputTensors(outputs);
}

#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST
using SubmitArgs = CoreTaskArgs;
#else
using SubmitArgs = Arg;
#endif

}  // namespace argus

#endif  // ARGUS_ORCHESTRATION_SUBMIT_HPP_
