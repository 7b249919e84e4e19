// aicpu_build_graph: edges are declared, the runtime is passed to every call.
#include "pto_orchestration_api.h"

extern "C" __attribute__((visibility("default"))) void build(PTO2Runtime *rt, const ChipStorageTaskArgs &args) {
    Tensor results = from_tensor_arg(args.tensor(1));
    uint32_t one[1] = {1}, first_place[1] = {0}, second[1] = {1};
    Tensor at0 = results.view(one, first_place), at1 = results.view(one, second);
    LOG_INFO(rt, "tensors %d", args.tensor_count());
    LOG_ALWAYS(rt, "always");
    LOG_DEBUG(rt, "debug");
    PTO2_SCOPE(rt) {
        Arg first;
        first.add_output(TensorCreateInfo(one, 1, DataType::INT32));
        first.add_scalar(20);
        SubmitResult made = pto2_rt_submit_aiv_task(rt, 3, first);
        Arg next;
        next.add_input(made.outputs.get_ref(0));
        next.add_output(at0);
        next.add_scalar(2);
        SubmitResult sum = pto2_rt_submit_aic_task(rt, 2, next);
        pto2_rt_add_dependency(rt, made.task_id, sum.task_id);
        {
            PTO2_SCOPE_GUARD(rt);
        }
        Arg last;
        last.add_inout(at1);
        last.add_scalar(100);
        MixedKernels kernels;
        kernels.aiv0_kernel_id = 1;
        SubmitResult bumped = pto2_rt_submit_task(rt, kernels, last);
        pto2_rt_add_dependency(rt, sum.task_id, bumped.task_id);
    }
    pto2_rt_scope_begin(rt);
    pto2_rt_scope_end(rt);
    if (args.scalar(0) == 1) {
        pto2_rt_report_fatal(rt, PTO2_ERROR_EXPLICIT_ORCH_FATAL, "asked for: %d", 1);
        PTO2_SCOPE(rt) { LOG_ERROR(rt, "inert: %d", pto2_rt_is_fatal(rt)); }
    }
}
