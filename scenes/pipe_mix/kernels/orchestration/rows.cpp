// Each task takes 32 rows of A, of the bias and of C, and all of B.
#include <stdint.h>

#include "pto_orchestration_api.h"

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args) {
    constexpr uint32_t rows = 32;
    const ChipTensor &a = args.tensor(0).ref();
    const ChipTensor &b = args.tensor(1).ref();
    const ChipTensor &bias = args.tensor(2).ref();
    const ChipTensor &c = args.tensor(3).ref();
    const MixedKernels kernels{0, 1, 1};
    for (uint32_t first = 0; first < a.shapes[0]; first += rows) {
        const ChipTensor a_rows = a.slice(0, first, first + rows);
        const ChipTensor bias_rows = bias.slice(0, first, first + rows);
        const ChipTensor c_rows = c.slice(0, first, first + rows);
        CoreTaskArgs task;
        task.add_input(a_rows, b);
        task.add_input(bias_rows);
        task.add_output(c_rows);
        rt_submit_task(kernels, task);
    }
}
