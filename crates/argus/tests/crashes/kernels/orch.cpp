// Three steps, one after the other; after the second the orchestration ends badly, if a case says so.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <stdexcept>

#include "pto_orchestration_api.h"

static volatile int zero = 0;
static volatile int *volatile nowhere = nullptr;

__attribute__((noinline)) static int deeper(int depth) {
    volatile char room[4096];
    room[depth % 4096] = 1;
    return zero == 0 ? deeper(depth + 1) + room[0] : depth;
}

__attribute__((noinline)) static void end_badly() {
#if defined(CRASH_ORCHESTRATION_NULL)
    *nowhere = 1;
#elif defined(CRASH_ORCHESTRATION_ABORT)
    abort();
#elif defined(CRASH_ORCHESTRATION_EXIT)
    exit(5);
#elif defined(CRASH_ORCHESTRATION_LOOP)
    while (zero == 0) {
    }
#elif defined(CRASH_ORCHESTRATION_STACK)
    zero = deeper(0) == 3;
#elif defined(CRASH_ORCHESTRATION_MEMORY)
    for (;;) {
        char *block = new char[64 << 20];
        memset(block, 1, 64 << 20);
    }
#elif defined(CRASH_ORCHESTRATION_THROW)
    throw std::runtime_error("thrown on purpose");
#elif defined(LARGE_LOCALS)
    volatile char room[7 << 20];
    for (size_t at = 0; at < sizeof(room); at += 4096) {
        room[at] = 1;
    }
#endif
}

extern "C" void aicpu_orchestration_entry(const ChipStorageTaskArgs &args) {
    Tensor x = from_tensor_arg(args.tensor(0));
    Tensor out = from_tensor_arg(args.tensor(1));
    uint32_t shape[2] = {16, 16};
    TensorCreateInfo block(shape, 2, DataType::FLOAT32);

    Arg first;
    first.add_input(x);
    first.add_output(block);
    first.add_scalar(uint64_t(0));
    TaskOutputTensors one = rt_submit_aiv_task(0, first);

    Arg second;
    second.add_input(one.get_ref(0));
    second.add_output(block);
    second.add_scalar(uint64_t(1));
    TaskOutputTensors two = rt_submit_aiv_task(0, second);

    end_badly();

    Arg third;
    third.add_input(two.get_ref(0));
    third.add_output(out);
    third.add_scalar(uint64_t(2));
    rt_submit_aiv_task(0, third);
}
