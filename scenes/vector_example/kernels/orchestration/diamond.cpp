// f = (a + b + 1) (a + b + 2) + (a + b): one sum feeds two tasks, whose results meet again.
#include <stdint.h>

#include "pto_orchestration_api.h"

enum Kernel { ADD = 0, ADD_SCALAR = 1, MUL = 2 };

extern "C" {

PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &) {
    return PTO2OrchestrationConfig{.expected_arg_count = 3};
}

void aicpu_orchestration_entry(const ChipTaskArgs &args) {
    const ChipTensor &a = args.tensor(0).ref();
    const ChipTensor &b = args.tensor(1).ref();
    const ChipTensor &f = args.tensor(2).ref();
    const TensorCreateInfo like(a.shapes, a.ndims, a.dtype);
    const uint32_t dimensions = 3;

    CoreTaskArgs sum;
    sum.add_input(a, b);
    sum.add_output(like);
    const TaskOutputTensors summed = rt_submit_aiv_task(ADD, sum);
    const ChipTensor &c = summed.get_ref(0);

    PTO2_SCOPE() {
        CoreTaskArgs plus_one, plus_two;
        for (CoreTaskArgs *plus : {&plus_one, &plus_two}) {
            plus->add_input(c);
            plus->add_output(like);
            plus->add_scalar(plus == &plus_one ? 1.0f : 2.0f);
            plus->add_scalar(dimensions);
        }
        const TaskOutputTensors d = rt_submit_aiv_task(ADD_SCALAR, plus_one);
        const TaskOutputTensors e = rt_submit_aiv_task(ADD_SCALAR, plus_two);

        CoreTaskArgs product;
        product.add_input(d.get_ref(0), e.get_ref(0));
        product.add_output(like);
        product.add_scalar(dimensions);
        const TaskOutputTensors g = rt_submit_aiv_task(MUL, product);

        CoreTaskArgs result;
        result.add_input(g.get_ref(0), c);
        result.add_output(f);
        rt_submit_aiv_task(ADD, result);
    }
}

}  // extern "C"
