// tensormap_and_ringbuffer with April's prefix.
#include "pto_orchestration_api.h"

extern "C" __attribute__((visibility("default"))) void build(const ChipStorageTaskArgs &args) {
    Tensor results = from_tensor_arg(args.tensor(1));
    uint32_t one[1] = {1}, at[1] = {0};
    Tensor word = results.view(one, at);
    Arg task;
    task.add_inout(word);
    task.add_scalar(4);
    pto2_rt_scope_begin();
    pto2_rt_submit_aiv_task(1, task);
    pto2_rt_submit_task(MixedKernels{-1, 1, -1}, task);
    pto2_rt_scope_end();
    Arg on_aic;
    on_aic.add_input(word);
    on_aic.add_output(word);
    pto2_rt_submit_aic_task(2, on_aic);
    LOG_ALWAYS("always");
    LOG_INFO("%s", word.dump().c_str());
    if (pto2_rt_is_fatal()) {
        pto2_rt_report_fatal(PTO2_ERROR_INVALID_ARGS, "it is not");
    }
}
