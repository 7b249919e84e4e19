// Mistakes that a graph which is built ahead finds while it is built.
#include <stdint.h>

#include "pto_orchestration_api.h"

static void spread(int16_t blocks) {
    CoreTaskArgs task;
    task.launch_spec.set_block_num(blocks);
    MixedKernels whole{0, 1, 1};
    rt_submit_task(whole, task);
}

static ChipTensor of_nobody(void *memory) {
    const uint32_t shape[1] = {4};
    ChipTensor made = make_tensor_external(memory, shape, 1, DataType::FLOAT32);
    made.owner_task_id = PTO2TaskId::make(0, 77);
    return made;
}

extern "C" {

void no_blocks(const ChipTaskArgs &) { spread(0); }

void too_many_blocks(const ChipTaskArgs &) { spread(20000); }

void read_of_nobody(const ChipTaskArgs &) {
    float memory[4] = {};
    const uint32_t at[1] = {0};
    (void)get_tensor_data<float>(of_nobody(memory), 1, at);
}

void write_of_nobody(const ChipTaskArgs &) {
    float memory[4] = {};
    const uint32_t at[1] = {0};
    set_tensor_data(of_nobody(memory), 1, at, 1.0f);
}

}  // extern "C"
