// Must not compile: a temporary would be gone when the task is submitted.
#include "pto_orchestration_api.h"

void submit(const Tensor &tensor, const uint32_t shape[], const uint32_t offsets[]) {
    Arg task;
    task.add_input(tensor.view(shape, offsets));
    rt_submit_aiv_task(0, task);
}
