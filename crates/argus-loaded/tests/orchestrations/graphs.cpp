// Graphs as tasks, in every form of the call.
#include "pto_orchestration_api.h"

static void twice(const GraphTaskArgs &args) {
    CoreTaskArgs task;
    const ChipTensor &word = args.tensor(0).ref();
    task.add_inout(word);
    task.add_scalar(args.scalar(0));
    rt_submit_aiv_task(1, task);
    rt_submit_aiv_task(1, task);
}

static void times(const GraphTaskArgs &args, int count, uint64_t more) {
    PTO2_SCOPE() {
        for (int i = 0; i < count; i++) {
            CoreTaskArgs task;
            const ChipTensor &word = args.tensor(0).ref();
            task.add_inout(word);
            task.add_scalar(args.scalar(0) + more);
            rt_submit_aiv_task(1, task);
        }
    }
}

static void waits(const GraphTaskArgs &args) {
    uint32_t zero[1] = {0};
    get_tensor_data(args.tensor(0).ref(), 1, zero);
}

extern "C" __attribute__((visibility("default"))) void build(const ChipTaskArgs &args) {
    const ChipTensor &word = args.tensor(1).ref();
    GraphTaskArgs boundary;
    boundary.add_inout(word);
    boundary.add_scalar(uint64_t{1});
    rt_submit_graph(&twice, boundary);
    rt_submit_graph(7, &twice, boundary);
    rt_submit_graph(&times, boundary, 3, 9);
    rt_submit_graph(8, +[](const GraphTaskArgs &inner, int) { twice(inner); }, boundary, 0);
    if (args.scalar(0) == 1) {
        rt_submit_graph(&waits, boundary);
    }
}
