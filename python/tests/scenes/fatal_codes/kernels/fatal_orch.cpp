// Runs into one limit after the other, by the number of the case: heap, task window, pool of edges.
#include <stdint.h>

#include "pto_orchestration_api.h"

namespace {

const uint32_t kShape[1] = {256};

PTO2TaskId fence() {
    CoreTaskArgs args;
    return rt_submit_dummy_task(args).task_id();
}

void two_buffers_of_the_whole_heap() {
    const TensorCreateInfo info(kShape, 1, DataType::FLOAT32);
    alloc_tensors(info);
    alloc_tensors(info);
}

// Scopes from the fourth on share a ring; none of them is too large alone.
void nest(int depth) {
    PTO2_SCOPE() {
        fence();
        fence();
        if (depth > 0) {
            nest(depth - 1);
        }
    }
}

void one_task_with_many_edges() {
    PTO2TaskId ids[8];
    for (PTO2TaskId &id : ids) {
        id = fence();
    }
    CoreTaskArgs args;
    args.set_dependencies(ids, 8);
    rt_submit_dummy_task(args);
}

}  // namespace

extern "C" void heap_entry(const ChipTaskArgs &) { two_buffers_of_the_whole_heap(); }
extern "C" void window_entry(const ChipTaskArgs &) { nest(6); }
extern "C" void edges_entry(const ChipTaskArgs &) { one_task_with_many_edges(); }
