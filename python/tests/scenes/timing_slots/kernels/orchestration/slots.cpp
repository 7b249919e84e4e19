// Three tasks in a row; the first two count into one window of time, the last into another.
#include <stdint.h>

#include "pto_orchestration_api.h"

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args) {
    const ChipTensor &a = args.tensor(0).ref();
    const ChipTensor &b = args.tensor(1).ref();
    const ChipTensor &out = args.tensor(2).ref();
    const TensorCreateInfo like(a.shapes, a.ndims, a.dtype);

    CoreTaskArgs first;
    first.add_input(a, b);
    first.add_output(like);
    first.set_task_timing_slot(2);
    const TaskOutputTensors x = rt_submit_aiv_task(0, first);

    CoreTaskArgs second;
    second.add_input(x.get_ref(0), b);
    second.add_output(like);
    second.set_task_timing_slot(2);
    const TaskOutputTensors y = rt_submit_aiv_task(0, second);

    CoreTaskArgs third;
    third.add_input(y.get_ref(0), b);
    third.add_output(out);
    third.set_task_timing_slot(5);
    rt_submit_aiv_task(0, third);
}
