// c[g] = the sum over k of a[g, k] b[g, k]; how many there are is read from a tensor of numbers, and one from a scalar.
#include <stdint.h>

#include "pto_orchestration_api.h"

extern "C" {

PTO2OrchestrationConfig aicpu_orchestration_config(const ChipStorageTaskArgs &args) {
    (void)args;
    return PTO2OrchestrationConfig{.expected_arg_count = 5};
}

void aicpu_orchestration_entry(const ChipStorageTaskArgs &args) {
    Tensor a = from_tensor_arg(args.tensor(0));
    Tensor b = from_tensor_arg(args.tensor(1));
    Tensor c = from_tensor_arg(args.tensor(2));
    const int64_t *counts = args.tensor(3).data_as<int64_t>();
    const uint32_t groups = static_cast<uint32_t>(counts[0]), steps = static_cast<uint32_t>(args.scalar(0));
    const uint32_t side = static_cast<uint32_t>(counts[1]);
    uint32_t shape[1] = {side * side};
    TensorCreateInfo like(shape, 1, DataType::FLOAT32);
    for (uint32_t g = 0; g < groups; g++) {
        PTO2_SCOPE() {
            uint32_t to[1] = {g * side * side};
            Tensor sum = c.view(shape, to);
            for (uint32_t k = 0; k < steps; k++) {
                uint32_t at[1] = {(g * steps + k) * side * side};
                Tensor left = a.view(shape, at), right = b.view(shape, at);
                Arg product;
                product.add_input(left, right);
                product.add_output(like);
                TaskOutputTensors made = rt_submit_aic_task(0, product);
                Arg add;
                add.add_input(made.get_ref(0));
                add.add_inout(sum);
                rt_submit_aiv_task(1, add);
            }
        }
    }
}

}  // extern "C"
