// What the August interface has and June's has not, for tensormap_and_ringbuffer and host_build_graph alike.
#include "aicpu/cache_maintenance.h"
#include "pto_orchestration_api.h"

#define HOLDS(condition) \
    if (!(condition)) { \
        rt_report_fatal(PTO2_ERROR_EXPLICIT_ORCH_FATAL, "line %d: %s", __LINE__, #condition); \
        return; \
    }

static_assert(sizeof(ChipTensor) == 128 && std::is_default_constructible<ChipTensor>::value, "a tensor may be empty");
static_assert(!std::is_copy_constructible<CoreTaskArgs>::value, "arguments are not copied");
static_assert(!std::is_copy_constructible<decltype(CoreTaskArgs().tensor(0))>::value, "references are not copied");
static_assert(std::is_same<CoreTaskArgs, Arg<32, 16>>::value, "32 tensors, 16 scalars");

extern "C" {

// Tensors: an int32 gate, an int32 list of 8 results. Scalar: 5.
__attribute__((visibility("default"))) void surface(const ChipTaskArgs &args) {
    HOLDS(args.tensor_count() == 2 && args.scalar_count() == 1 && args.scalar(0) == 5);
    const ChipTensor &gate = args.tensor(0).ref();
    const ChipTensor &results = args.tensor(1).ref();
    HOLDS(results.ndims == 1 && results.shapes[0] == 8 && results.dtype == DataType::INT32);
    HOLDS(results.owner_task_id.is_invalid() && results.start_offset == 0);
    HOLDS(gate.data_as<int>()[0] == 1);
    const int32_t clusters = rt_available_cluster_count();
    HOLDS(clusters == 4 && rt_available_aiv_count() == 2 * clusters);

    uint32_t one[1] = {1}, zero[1] = {0};
    ChipTensor at[8];
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t offset[1] = {i};
        at[i] = results.view(one, offset);
    }
    TensorCreateInfo info(one, 1, DataType::INT32);

    // A bundle of arguments is read back by place.
    CoreTaskArgs bundle;
    bundle.add_input(at[0], at[1]);
    bundle.add_inout(at[2]);
    bundle.add_output(info);
    float half = 0.5f;
    bundle.add_scalar(half, -1, uint16_t{3});
    HOLDS(&bundle.tensor(1).ref() == &at[1] && &bundle.tensor(3).create_info() == &info);
    HOLDS(bundle.tag(2) == TensorArgType::INOUT && bundle.tag(3) == TensorArgType::OUTPUT);
    HOLDS(bundle.scalar(1) == 0xffffffffu && from_u64<float>(bundle.scalar(0)) == 0.5f);
    bundle.dump(at[1], info, half);
    HOLDS(!bundle.has_error);
    bundle.clear();
    HOLDS(bundle.tensor_count() == 0 && bundle.scalar_count() == 0);

    // Conditions: the gate holds 1.
    const PredicateOp ops[6] = {PredicateOp::EQ, PredicateOp::NE, PredicateOp::GT,
                                PredicateOp::LT, PredicateOp::GE, PredicateOp::LE};
    for (int i = 0; i < 6; i++) {
        CoreTaskArgs task;
        task.add_inout(at[i]);
        task.add_scalar(1);
        CoreTaskPredicate predicate;
        predicate.operand.tensor = &gate;
        predicate.operand.ndims = 1;
        predicate.operand.indices[0] = 0;
        predicate.op = ops[i];
        predicate.target = 1;
        task.set_predicate(predicate);
        task.set_allow_early_resolve();
        task.set_task_timing_slot(15);
        rt_submit_aiv_task(1, task);
        task.reset();
        task.add_inout(at[i]);
        task.add_scalar(10);
        rt_submit_aiv_task(1, task);
    }

    // Accumulated dependencies, with a number of their own.
    CoreTaskArgs fence;
    fence.add_output(info);
    TaskOutputTensors fenced = rt_submit_dummy_task(fence);
    CoreTaskArgsWithDeps<4> back;
    back.add_input(fenced.get_ref(0));
    back.add_dep(fenced.task_id());
    back.add_output(at[6]);
    back.set_allow_early_resolve(false);
    rt_submit_aiv_task(3, back);
    CoreTaskArgs many;
    for (int i = 0; i < 31; i++) {
        many.add_input(gate);
    }
    many.add_output(at[7]);
    for (int i = 0; i < 16; i++) {
        many.add_scalar(i);
    }
    HOLDS(!many.has_error);
    rt_submit_aiv_task(0, many);
    cache_invalidate_range(gate.data_as<void>(), 4);
    cache_flush_range(gate.data_as<void>(), 4);
    LOG_TIMING("timing");
    LOG_INFO("info %d", 2);
    (void)zero;
}

__attribute__((visibility("default"))) void mistakes(const ChipTaskArgs &args) {
    const ChipTensor &results = args.tensor(1).ref();
    CoreTaskArgs task;
    float never = 1.0f;
    switch (args.scalar(0)) {
        case 0:
            task.set_task_timing_slot(16);
            break;
        case 1:
            task.dump(never);
            break;
        case 2:
            for (int i = 0; i < 33; i++) {
                task.add_input(results);
            }
            break;
        case 3:
            for (int i = 0; i < 17; i++) {
                task.add_scalar(i);
            }
            break;
        case 4: {
            CoreTaskPredicate predicate{{&results, 1, {8}}, PredicateOp::GT, 0};
            task.set_predicate(predicate);
            break;
        }
        case 5: {
            ChipTensor forged = results;
            forged.owner_task_id = PTO2TaskId::make(0, 77);
            task.add_input(forged);
            rt_submit_aiv_task(0, task);
            return;
        }
        default:
            task.tensor(0);
            return;
    }
    rt_submit_aiv_task(0, task);
}

}  // extern "C"
