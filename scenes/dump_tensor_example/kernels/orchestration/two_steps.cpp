// f = (a + b) + 1 in two tasks, the second in place. Every buffer, task and edge is made by hand.
#include <cstring>

#include "orchestration_api.h"

extern "C" int build_two_steps(OrchestrationRuntime *runtime, const ChipStorageTaskArgs &args) {
    if (args.tensor_count() != 3) {
        return -1;
    }
    const size_t bytes = args.tensor(0).nbytes();
    const uint64_t count = args.tensor(0).numel();
    void *a = device_malloc(runtime, bytes);
    void *b = device_malloc(runtime, bytes);
    void *f = device_malloc(runtime, bytes);
    copy_to_device(runtime, a, args.tensor(0).data_as<void>(), bytes);
    copy_to_device(runtime, b, args.tensor(1).data_as<void>(), bytes);
    record_tensor_pair(runtime, args.tensor(2).data_as<void>(), f, bytes);

    const TensorInfo like = make_tensor_info_from_tensor_arg(args.tensor(0));
    TensorInfo three[3] = {like, like, like};
    uint64_t sum[4] = {reinterpret_cast<uint64_t>(a), reinterpret_cast<uint64_t>(b), reinterpret_cast<uint64_t>(f), count};
    const int first = add_task_with_tensor_info(runtime, sum, 4, 0, CoreType::AIV, three, 3);

    const float k = 1.0f;
    uint64_t k_bits = 0;
    std::memcpy(&k_bits, &k, sizeof(k));
    uint64_t more[3] = {reinterpret_cast<uint64_t>(f), k_bits, count};
    const int second = add_task(runtime, more, 3, 1, CoreType::AIV);
    TensorInfo one[1] = {like};
    set_tensor_info_to_task(runtime, second, one, 1);

    add_successor(runtime, first, second);
    return 0;
}
