// The graph by hand: every call of the legacy interface.
#include <iostream>
#include <vector>

#include "orchestration_api.h"

extern "C" {

// result = (a + 3) + 3, both as parts of one argument each.
int build_graph(OrchestrationRuntime *runtime, const ChipStorageTaskArgs &args) {
    const ContinuousTensor &a = args.tensor(0);
    const ContinuousTensor &result = args.tensor(1);
    if (args.scalar(0) == 1) {
        return -7;
    }
    void *spare = device_malloc(runtime, 64);
    device_free(runtime, spare);
    void *in = device_malloc(runtime, a.nbytes());
    void *out = device_malloc(runtime, a.nbytes());
    if (in == nullptr || out == nullptr || copy_to_device(runtime, in, a.data_as<void>(), a.nbytes()) != 0) {
        return -1;
    }
    TensorInfo like = make_tensor_info_from_tensor_arg(a);
    TensorInfo two[2] = {like, like};
    std::vector<int> tasks;
    void *from[2] = {in, out};
    for (int i = 0; i < 2; i++) {
        uint64_t slots[3] = {reinterpret_cast<uint64_t>(from[i]), 3, reinterpret_cast<uint64_t>(out)};
        if (i == 0) {
            tasks.push_back(add_task_with_tensor_info(runtime, slots, 3, 4, CoreType::AIV, two, 2));
        } else {
            tasks.push_back(add_task(runtime, slots, 3, 4, CoreType::AIV));
            set_tensor_info_to_task(runtime, tasks[1], two, 2);
        }
    }
    add_successor(runtime, tasks[0], tasks[1]);
    char *host = result.data_as<char>();
    record_tensor_pair(runtime, host, out, 8);
    record_tensor_pair(runtime, host + 8, static_cast<char *>(out) + 8, a.nbytes() - 8);
    print_runtime(runtime);
    switch (args.scalar(0)) {
        case 2:
            add_successor(runtime, 0, 9);
            break;
        case 3:
            record_tensor_pair(runtime, &like, out, 4);
            break;
        case 4: {
            uint64_t slots[17] = {};
            add_task(runtime, slots, 17, 4, CoreType::AIV);
            break;
        }
        case 5:
            std::cout << "";
            if (device_malloc(runtime, size_t{1} << 62) != nullptr) {
                return -5;
            }
            break;
    }
    return get_task_count(runtime) == 2 ? 0 : -3;
}

}  // extern "C"
