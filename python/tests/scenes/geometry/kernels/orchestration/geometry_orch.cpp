// As many blocks as the chip has clusters; the orchestration writes into a tensor what it found.
#include <stdint.h>

#include "pto_orchestration_api.h"

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args) {
    const ChipTensor &out = args.tensor(0).ref();
    const ChipTensor &layout = args.tensor(1).ref();
    const int32_t clusters = rt_available_cluster_count();
    const uint32_t first[1] = {0}, second[1] = {1};
    set_tensor_data(layout, 1, first, clusters);
    set_tensor_data(layout, 1, second, rt_available_aiv_count());

    CoreTaskArgs task;
    task.add_inout(out);
    task.add_scalar(0, 1);
#ifdef SRC_A5_RUNTIME_TENSORMAP_AND_RINGBUFFER_RUNTIME_PTO_TYPES_H_
    task.launch_spec.set_core_num(clusters);
#else
    task.launch_spec.set_block_num(clusters);
#endif
    rt_submit_aiv_task(0, task);
}
