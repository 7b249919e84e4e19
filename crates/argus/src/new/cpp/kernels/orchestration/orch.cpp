// out = k (a + b): for each half of the rows one task adds and one multiplies.
#include <stdint.h>

#include "pto_orchestration_api.h"

extern "C" void aicpu_orchestration_entry(const ChipStorageTaskArgs &args) {
    Tensor a = from_tensor_arg(args.tensor(0));
    Tensor b = from_tensor_arg(args.tensor(1));
    Tensor out = from_tensor_arg(args.tensor(2));
    uint64_t k = args.scalar(0);

    uint32_t half[2] = {32, 64};
    TensorCreateInfo like_half(half, 2, DataType::FLOAT32);
    for (uint32_t first : {0u, 32u}) {
        uint32_t offset[2] = {first, 0};
        Tensor a_rows = a.view(half, offset);
        Tensor b_rows = b.view(half, offset);
        Tensor out_rows = out.view(half, offset);

        Arg add;
        add.add_input(a_rows, b_rows);
        add.add_output(like_half);
        TaskOutputTensors sum = rt_submit_aiv_task(0, add);

        Arg scale;
        scale.add_input(sum.get_ref(0));
        scale.add_output(out_rows);
        scale.add_scalar(k);
        rt_submit_aiv_task(1, scale);
    }
}
