// out = x + 1; the second task ends badly, if a case says so.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

using Rows = GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<1, 1, 1, 16, 1>>;
using Block = Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor>;

static float *data(int64_t *args, int slot) {
    auto *tensor = reinterpret_cast<Tensor *>(args[slot]);
    return reinterpret_cast<float *>(tensor->buffer.addr) + tensor->start_offset;
}

static volatile int zero = 0;
static volatile int *volatile nowhere = nullptr;

__attribute__((noinline)) static int deeper(int depth) {
    volatile char room[4096];
    room[depth % 4096] = 1;
    return zero == 0 ? deeper(depth + 1) + room[0] : depth;
}

__attribute__((noinline)) static void end_badly() {
#if defined(CRASH_NULL)
    *nowhere = 1;
#elif defined(CRASH_ABORT)
    abort();
#elif defined(CRASH_DIVIDE)
    zero = 7 / zero;
#elif defined(CRASH_STACK)
    zero = deeper(0) == 3;
#elif defined(CRASH_EXIT)
    exit(3);
#elif defined(CRASH_QUICK_EXIT)
    _exit(4);
#elif defined(CRASH_LOOP)
    while (zero == 0) {
    }
#elif defined(CRASH_MEMORY)
    for (;;) {
        char *block = new char[64 << 20];
        memset(block, 1, 64 << 20);
    }
#elif defined(CRASH_THROW)
    throw std::runtime_error("thrown on purpose");
#elif defined(LARGE_LOCALS)
    volatile char room[7 << 20];
    for (size_t at = 0; at < sizeof(room); at += 4096) {
        room[at] = 1;
    }
#elif defined(CRASH_TRAP)
    __builtin_trap();
#endif
}

extern "C" void kernel_entry(int64_t *args) {
    Rows x(data(args, 0));
    Rows out(data(args, 1));
    Block tile;
    TASSIGN(tile, 0);

    TLOAD(tile, x);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADDS(tile, tile, 1.0f);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, tile);
    if (args[2] == 1) {
        end_badly();
    }
}
