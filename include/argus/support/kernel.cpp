// Compiled into every kernel object beside the kernel's own source: the exported function, the table of the engine,
// and the core that this thread runs on. It needs nothing of the kernel but its entry, so kernels that include no
// header are bound the same way.
#include <exception>
#include <stdio.h>
#include <string.h>

#include "argus/deferred.hpp"
#include "argus/support/kernel_entry.h"

namespace argus {

const ArgusKernelTable *engine = nullptr;
__thread ArgusCore *core = nullptr;
__thread Deferred *deferred = nullptr;

namespace {

// A completion that is none: the reference's number for it.
constexpr int32_t COMPLETION_INVALID = 101;

// Hands on what the kernel left behind: its task waits for it, while the core takes the next one. The code that ends the
// run, or 0.
int32_t settle(const Deferred &left) {
    if (left.error != 0) {
        return left.error > 0 ? left.error : COMPLETION_INVALID;
    }
    for (uint32_t i = 0; i < left.count; i++) {
        const DeferredCompletionEntry &entry = left.entries[i];
        if (entry.completion_type != COUNTER_REACHED || entry.addr == 0 || entry.addr % sizeof(int32_t) != 0) {
            return COMPLETION_INVALID;
        }
        const Site &at = left.at;
        const int32_t value = static_cast<int32_t>(entry.expected_value);
        if (engine->complete_when(core, entry.addr, value, at.file, at.length, at.line) != ARGUS_DONE) {
            throw Halt();
        }
    }
    return 0;
}

// Nothing may unwind into the engine: whatever leaves the kernel ends here.
int32_t call(ArgusCore *on, int64_t *args, char *message, size_t room) {
    Deferred left;
    core = on;
    deferred = &left;
    int32_t status = ARGUS_DONE;
    const char *thrown = nullptr;
    try {
        kernel_entry(args);
        status = -settle(left);
    } catch (const Halt &) {
        status = ARGUS_HALTED;
    } catch (const std::exception &error) {
        status = ARGUS_EXCEPTION;
        thrown = error.what();
        if (room > 0) {
            strncpy(message, thrown, room - 1);
            message[room - 1] = '\0';
        }
    } catch (...) {
        status = ARGUS_EXCEPTION;
    }
    if (status == ARGUS_EXCEPTION && thrown == nullptr && room > 0) {
        message[0] = '\0';
    }
    core = nullptr;
    deferred = nullptr;
    return status;
}

constexpr ArgusKernelObject object = {sizeof(ArgusKernelObject), ARGUS_KERNEL_ABI, call};

}  // namespace
}  // namespace argus

// Debuggers call these by name, with the stack of the kernel below them.
extern "C" __attribute__((visibility("default"))) const char *argus_show_tile(const ArgusTile *tile, uint32_t rows, uint32_t cols) {
    return argus::engine->show_tile(argus::core, tile, rows, cols);
}
extern "C" __attribute__((visibility("default"))) const char *argus_show_tensor(const void *tensor, uint32_t rows, uint32_t cols) {
    return argus::engine->show_tensor(argus::core, tensor, rows, cols);
}
// The same on stderr, for debuggers that do not print long texts.
extern "C" __attribute__((visibility("default"))) void argus_print_tile(const ArgusTile *tile, uint32_t rows, uint32_t cols) {
    fprintf(stderr, "%s\n", argus_show_tile(tile, rows, cols));
}
extern "C" __attribute__((visibility("default"))) void argus_print_tensor(const void *tensor, uint32_t rows, uint32_t cols) {
    fprintf(stderr, "%s\n", argus_show_tensor(tensor, rows, cols));
}

extern "C" __attribute__((visibility("default"))) const ArgusKernelObject *argus_kernel_bind(const ArgusKernelTable *table) {
    if (table->abi == ARGUS_KERNEL_ABI && table->size >= sizeof(ArgusKernelTable)) {
        argus::engine = table;
    }
    return &argus::object;
}
