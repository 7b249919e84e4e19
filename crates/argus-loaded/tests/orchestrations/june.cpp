// Every construct of the June interface. What does not hold is reported as a fatal error that names its line.
#include "pto_arg_with_deps.h"
#include "pto_orchestration_api.h"
#include "runtime.h"

#include <cinttypes>

#define HOLDS(condition) \
    if (!(condition)) { \
        rt_report_fatal(PTO2_ERROR_INVALID_ARGS, "line %d: %s", __LINE__, #condition); \
        return; \
    }

static_assert(sizeof(Tensor) == 128 && sizeof(TensorCreateInfo) == 64 && sizeof(ContinuousTensor) == 40, "layouts");
static_assert(std::is_trivially_default_constructible<PTO2TaskId>::value, "arrays of ids are left uninitialised");
template <typename Outputs>
constexpr bool gives_reference = requires(Outputs outputs) { static_cast<Outputs>(outputs).get_ref(0); };
static_assert(gives_reference<TaskOutputTensors &> && !gives_reference<TaskOutputTensors &&>, "of what stays");
enum class Mode : uint8_t { SLOW = 3 };

#ifdef SRC_A5_RUNTIME_TENSORMAP_AND_RINGBUFFER_RUNTIME_PTO_TYPES_H_
#define SET_BLOCKS set_core_num
#else
#define SET_BLOCKS set_block_num
#endif

template <typename Spec>
constexpr bool has_both = requires(Spec spec) {
    spec.set_block_num(1);
    spec.set_core_num(1);
};
static_assert(!has_both<decltype(Arg::launch_spec)>, "sources find out which spelling there is");

static void views(const Tensor &matrix) {  // 4 x 6
    uint32_t shape[2] = {2, 3}, at[2] = {1, 2}, flat[1] = {24}, order[2] = {1, 0};
    Tensor box = matrix.view(shape, at, true);
    HOLDS(box.start_offset == 8 && box.strides[0] == 6 && box.strides[1] == 1 && box.manual_dep);
    HOLDS(!box.is_contiguous && box.extent_elem_cache == 9 && box.buffer.addr == matrix.buffer.addr);
    HOLDS(!matrix.view(shape, at).manual_dep && box.numel() == 6 && box.nbytes() == 24);
    Tensor line = matrix.reshape(flat, 1);
    HOLDS(line.ndims == 1 && line.shapes[0] == 24 && line.strides[0] == 1 && line.is_contiguous);
    Tensor turned = matrix.transpose(0, 1);
    HOLDS(turned.shapes[0] == 6 && turned.strides[0] == 1 && turned.strides[1] == 6 && !turned.is_contiguous);
    HOLDS(matrix.permute(order).shapes[1] == 4);
    Tensor every_second = matrix.slice(1, 1, 6, 2);
    HOLDS(every_second.shapes[1] == 3 && every_second.strides[1] == 2 && every_second.start_offset == 1);
    uint32_t none[2] = {0, 3}, anywhere[2] = {9, 9};
    HOLDS(matrix.view(none, anywhere).extent_elem_cache == 0);
}

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig aicpu_orchestration_config(const ChipStorageTaskArgs &) {
    return PTO2OrchestrationConfig{.expected_arg_count = 4};
}

// Tensors: an int32 matrix of 4 x 6, an int32 list of 16 results. Scalars: the bits of 1.5f, -1.
__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipStorageTaskArgs &args) {
    HOLDS(args.tensor_count() == 2 && args.scalar_count() == 2);
    const ContinuousTensor &first = args.tensor(0);
    HOLDS(first.ndims == 2 && first.shapes[0] == 4 && first.dtype == DataType::INT32 && first.nbytes() == 96);
    HOLDS(first.numel() == 24 && first.data_as<int>()[5] == 5 && first.child_memory == 0);
    HOLDS(from_u64<float>(args.scalar(0)) == 1.5f && args.scalar(1) == UINT64_MAX);
    HOLDS(get_element_size(DataType::BFLOAT16) == 2 && get_dtype_name(DataType::INT64)[0] == 'I');

    Tensor matrix = from_tensor_arg(first);
    Tensor results = make_tensor_external(args.tensor(1).data_as<void>(), args.tensor(1).shapes, 1, DataType::INT32);
    HOLDS(matrix.owner_task_id.is_invalid() && matrix.buffer.size == 96 && from_tensor_arg(first, true).manual_dep);
    views(matrix);
    if (rt_is_fatal()) {
        return;
    }
    HOLDS(std::min(3, 4) == 3);

    // Ids.
    PTO2TaskId made = PTO2TaskId::make(2, 7);
    HOLDS(made.raw == 0x200000007 && made.ring() == 2 && made.local() == 7 && made.is_valid() && !made.is_invalid());
    HOLDS(PTO2TaskId::invalid() != made && TaskOutputTensors().task_id() == PTO2TaskId::invalid());

    // Allocation in its three forms; initial values fill the buffer.
    uint32_t one[1] = {1};
    TensorCreateInfo info(one, 1, DataType::INT32);
    TensorCreateInfo seven(one, 1, DataType::INT32, true);
    seven.set_initial_value(7);
    HOLDS(info.buffer_size_bytes() == 4 && seven.manual_dep);
    TaskOutputTensors pair = alloc_tensors(info, seven);
    TensorCreateInfo list[2] = {info, seven};
    TaskOutputTensors by_list = alloc_tensors(list, 2);
    Arg wanted;
    wanted.add_output(seven);
    TaskOutputTensors by_arg = alloc_tensors(wanted);
    HOLDS(pair.size() == 2 && !pair.empty() && by_list.size() == 2 && by_arg.size() == 1);
    uint32_t zero[1] = {0};
    HOLDS(get_tensor_data<int32_t>(pair.get_ref(1), 1, zero) == 7 && by_arg.get_ref(0).manual_dep);

    // Slots in the order they were added; the same create-info twice; existing outputs do not count for get_ref.
    Tensor slots[16] = {results, results, results, results, results, results, results, results,
                        results, results, results, results, results, results, results, results};
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t at[1] = {i};
        slots[i] = results.view(one, at);
    }
    Arg task;
    task.add_input(pair.get_ref(1));
    task.add_output(info, info);
    task.add_output(slots[0]);
    task.add_scalar(10, static_cast<uint8_t>(1));
    TaskOutputTensors outs = rt_submit_aiv_task(0, task);
    HOLDS(outs.size() == 2 && outs.get_ref(0).owner_task_id == outs.task_id() && outs.get_ref(0).buffer.size == 1024);
    HOLDS(get_tensor_data<int32_t>(slots[0], 1, zero) == 7 + 10 + 1);

    // Scalars are zero-extended from their own width.
    task.reset();
    task.add_inout(slots[1]);
    task.add_scalar(static_cast<int32_t>(-1), static_cast<int16_t>(-2), Mode::SLOW, true, int64_t{-1}, 0.5f);
    uint64_t more[2] = {11, 12};
    int32_t signs[1] = {-3};
    task.add_scalars(more, 2);
    task.add_scalars_i32(signs, 1);
    Arg copied;
    copied.add_inout(slots[2]);
    copied.copy_scalars_from(task, 2, 3);
    rt_submit_aiv_task(1, task);
    rt_submit_aiv_task(1, copied);

    // Blocks, mixes, tasks without kernels, all kinds of dependencies.
    MixedKernels both;
    both.aic_kernel_id = 2;
    both.aiv1_kernel_id = 0;
    uint32_t small[2] = {1, 1}, thirteenth[2] = {2, 1};
    Tensor fixed = matrix.view(small, thirteenth);
    Arg mixed;
    mixed.add_no_dep(fixed);
    mixed.add_output(slots[3]);
    mixed.launch_spec.SET_BLOCKS(1);
    mixed.launch_spec.set_require_sync_start(true);
    PTO2TaskId ids[2];
    ids[0] = rt_submit_task(both, mixed).task_id();
    ids[1] = outs.task_id();
    Arg barrier;
    barrier.set_dependencies(ids, 2);
    barrier.set_dependencies(ids, 0);
    barrier.set_dependencies(ids, 2);
    barrier.add_output(info);
    TaskOutputTensors fence = rt_submit_dummy_task(barrier);
    HOLDS(fence.size() == 1);
    ArgWithDeps<2> waiting;
    waiting.add_dep(fence.task_id());
    waiting.add_dep(ids[0]);
    waiting.add_inout(slots[4]);
    waiting.add_scalar(5u);
    HOLDS(!waiting.has_error);
    rt_submit_aiv_task(1, waiting);
    rt_submit_aiv_task(1, waiting);
    waiting.reset();
    waiting.add_inout(slots[4]);
    rt_submit_aiv_task(1, waiting);
    ArgWithDeps<> on_aic;
    on_aic.add_input(slots[4]);
    on_aic.add_output(slots[5]);
    rt_submit_aic_task(2, on_aic);

    // Scopes in their spellings.
    PTO2_SCOPE() {
        PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
            rt_scope_begin(PTO2ScopeMode::MANUAL);
            Arg inner;
            inner.add_output(info);
            HOLDS(rt_submit_aiv_task(0, inner).task_id().ring() == 3);
            rt_scope_end();
        }
    }
    {
        PTO2_SCOPE_GUARD();
        Arg inner;
        inner.add_output(info);
        HOLDS(rt_submit_aiv_task(0, inner).task_id().ring() == 1);
    }

    // Raw bits of any width.
    set_tensor_data(slots[6], 1, zero, 1.0f);
    HOLDS(get_tensor_data(slots[6], 1, zero) == 0x3f800000u);
    set_tensor_data<uint64_t>(slots[6], 1, zero, 0xffffffff00000006u);
    HOLDS(get_tensor_data(slots[6], 1, zero) == 6);
    uint32_t at[2] = {2, 1};
    HOLDS(get_tensor_data<int32_t>(matrix, 2, at) == 13);
    Tensor nowhere = make_tensor_external(nullptr, one, 1, DataType::INT32);
    HOLDS(get_tensor_data(nowhere, 1, zero) == 0);
    set_tensor_data(nowhere, 1, zero, 1);

    Tensor initialised = matrix;
    init_tensor_from_create_info(initialised, info, matrix.data_as<void>(), 96);
    HOLDS(initialised.ndims == 1 && initialised.buffer.size == 96 && initialised.is_contiguous);
    always_assert(initialised.owner_task_id.is_invalid());
    debug_assert(true);
    SPIN_WAIT_HINT();
    LOG_ERROR("error %d", 1);
    LOG_WARN("warn");
    LOG_DEBUG("debug");
    LOG_INFO_V0("v0 %u %5.2f %" PRIu64, 3u, 0.25, uint64_t{4});
    LOG_INFO_V1("v1"); LOG_INFO_V2("v2"); LOG_INFO_V3("v3"); LOG_INFO_V4("v4"); LOG_INFO_V5("v5");
    LOG_INFO_V6("v6"); LOG_INFO_V7("v7"); LOG_INFO_V8("v8"); LOG_INFO_V9("v9");
}

// One mistake per value of the first scalar.
__attribute__((visibility("default"))) void mistakes(const ChipStorageTaskArgs &args) {
    Tensor results = from_tensor_arg(args.tensor(1));
    uint32_t one[1] = {1};
    TensorCreateInfo info(one, 1, DataType::INT32);
    Arg task;
    switch (args.scalar(0)) {
        case 0:
            task.add_scalar(1);
            task.add_input(results);
            break;
        case 1:
            for (int i = 0; i < 17; i++) {
                task.add_input(results);
            }
            break;
        case 2:
            for (int i = 0; i < 33; i++) {
                task.add_scalar(i);
            }
            break;
        case 3:
            task.dump(results);
            break;
        case 4: {
            Arg source;
            task.copy_scalars_from(source, 0, 1);
            break;
        }
        case 5: {
            ArgWithDeps<1> too_many;
            too_many.add_dep(PTO2TaskId::make(0, 0), PTO2TaskId::make(0, 1));
            rt_submit_aiv_task(0, too_many);
            return;
        }
        case 6:
            alloc_tensors(task);
            return;
        case 7:
            task.add_input(results);
            alloc_tensors(task);
            return;
        case 8:
            always_assert(args.tensor_count() == 3);
            return;
        case 9:
            args.tensor(2);
            return;
        case 10: {
            uint32_t far[1] = {100};
            results.view(one, far);
            return;
        }
        case 11: {
            TaskOutputTensors nothing;
            nothing.get_ref(0);
            return;
        }
        case 12:
            PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
                PTO2_SCOPE() {}
            }
            return;
        case 13:
            rt_scope_begin();
            return;
        case 14:
            rt_scope_end();
            return;
        case 15:
            rt_report_fatal(4242, "an error of %s own", "its");
            return;
        case 16:
            throw 5;
        case 17:
            results.dtype = static_cast<DataType>(99);
            task.add_input(results);
            break;
        case 18:
            results.ndims = 6;
            task.add_input(results);
            break;
        case 19:
            rt_submit_aiv_task(77, task);
            return;
        case 20:
            task.add_output(info);
            rt_submit_task(MixedKernels{}, task);
            return;
        default:
            return;
    }
    rt_submit_aiv_task(0, task);
}

}  // extern "C"
