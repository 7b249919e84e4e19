// out = (x + y) + y: two tasks, and the edge between them declared.
#include "pto_orchestration_api.h"

extern "C" __attribute__((visibility("default"))) void aicpu_orchestration_entry(PTO2Runtime *rt, const ChipStorageTaskArgs &args) {
    Tensor x = from_tensor_arg(args.tensor(0)), y = from_tensor_arg(args.tensor(1)), out = from_tensor_arg(args.tensor(2));
    uint32_t shape[2] = {args.tensor(0).shapes[0], args.tensor(0).shapes[1]};
    LOG_INFO(rt, "count %d", static_cast<int>(args.scalar(0)));
    PTO2_SCOPE(rt) {
        Arg first;
        first.add_input(x);
        first.add_input(y);
        first.add_output(TensorCreateInfo(shape, 2, DataType::FLOAT32));
        SubmitResult sum = pto2_rt_submit_aiv_task(rt, 0, first);
        Arg second;
        second.add_input(sum.outputs.get_ref(0));
        second.add_input(y);
        second.add_output(out);
        SubmitResult last = pto2_rt_submit_aiv_task(rt, 0, second);
        pto2_rt_add_dependency(rt, sum.task_id, last.task_id);
    }
}
