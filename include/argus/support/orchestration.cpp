// The second translation unit of every orchestration object: what the object exports to the runtime, and what the
// headers only declare. It is compiled with the include path of the first one and so learns what that one is.

#include <stdarg.h>
#include <stdio.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "argus_front.h"
#if ARGUS_FRONT_RUNTIME == ARGUS_RUNTIME_HBG_RAW
#include "orchestration_api.h"
#else
#include "pto_orchestration_api.h"
#endif

namespace argus {
namespace {

// Set for the length of one call. Without a destructor: the object may be gone when the thread ends.
thread_local const ArgusOrchestrationTable *bound = nullptr;

class AssertionFailed : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

std::string formatted(const char *format, va_list values) {
    va_list again;
    va_copy(again, values);
    const int length = vsnprintf(nullptr, 0, format, again);
    va_end(again);
    if (length < 0) {
        return format;
    }
    std::string text(static_cast<size_t>(length) + 1, '\0');
    vsnprintf(text.data(), text.size(), format, values);
    text.pop_back();
    return text;
}

// Runs code of the object and turns what it throws into text.
template <typename Body>
int32_t guarded(char *message, size_t message_size, Body body) {
    try {
        body();
        return ARGUS_CALL_DONE;
    } catch (const std::exception &error) {
        snprintf(message, message_size, "%s", error.what());
    } catch (...) {
        snprintf(message, message_size, "an exception that is not a std::exception");
    }
    return ARGUS_CALL_THREW;
}

void bind(const ArgusOrchestrationTable *table) { bound = table; }

#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST

using EntryArgs = ChipTaskArgs;

void take_over(EntryArgs &to, const ArgusEntryArgs &from) {
    for (uint32_t i = 0; i < from.tensor_count; i++) {
        to.add_input(reinterpret_cast<const Tensor *>(from.tensors)[i]);
    }
    to.add_scalars(from.scalars, from.scalar_count);
    if (to.has_error) {
        throw std::runtime_error("an orchestration takes at most 256 tensors and 128 scalars");
    }
}

#else

using EntryArgs = ChipStorageTaskArgs;

void take_over(EntryArgs &to, const ArgusEntryArgs &from) {
    if (from.tensor_count > EntryArgs::CAPACITY || from.scalar_count > EntryArgs::CAPACITY) {
        throw std::runtime_error("an orchestration takes at most 128 tensors and 128 scalars");
    }
    for (uint32_t i = 0; i < from.tensor_count; i++) {
        const ArgusTensor &tensor = from.tensors[i];
        ContinuousTensor arg{};
        arg.data = tensor.addr;
        std::copy(tensor.shapes, tensor.shapes + MAX_DIMS, arg.shapes);
        arg.ndims = tensor.ndims;
        arg.dtype = static_cast<DataType>(tensor.dtype);
        to.add_tensor(arg);
    }
    for (uint32_t i = 0; i < from.scalar_count; i++) {
        to.add_scalar(from.scalars[i]);
    }
}

#endif

int32_t call(void *entry, const ArgusEntryArgs *args, int32_t *returned, char *message, size_t message_size) {
    *returned = 0;
    return guarded(message, message_size, [&] {
        auto entry_args = std::make_unique<EntryArgs>();
        take_over(*entry_args, *args);
#if ARGUS_FRONT_RUNTIME == ARGUS_RUNTIME_HBG_RAW
        using Entry = int (*)(OrchestrationRuntime *, const EntryArgs &);
        auto *runtime = reinterpret_cast<OrchestrationRuntime *>(const_cast<ArgusOrchestrationTable *>(bound));
        *returned = reinterpret_cast<Entry>(entry)(runtime, *entry_args);
#elif ARGUS_FRONT_RUNTIME == ARGUS_RUNTIME_ABG
        using Entry = void (*)(PTO2Runtime *, const EntryArgs &);
        auto *runtime = reinterpret_cast<PTO2Runtime *>(const_cast<ArgusOrchestrationTable *>(bound));
        reinterpret_cast<Entry>(entry)(runtime, *entry_args);
#else
        using Entry = void (*)(const EntryArgs &);
        reinterpret_cast<Entry>(entry)(*entry_args);
#endif
    });
}

int32_t configure(void *function, const ArgusEntryArgs *args, int32_t *expected_arg_count, char *message,
                  size_t message_size) {
    *expected_arg_count = 0;
    return guarded(message, message_size, [&] {
        auto entry_args = std::make_unique<EntryArgs>();
        take_over(*entry_args, *args);
        using Configure = PTO2OrchestrationConfig (*)(const EntryArgs &);
        *expected_arg_count = reinterpret_cast<Configure>(function)(*entry_args).expected_arg_count;
    });
}

}  // namespace

const ArgusOrchestrationTable &runtime() {
    if (bound == nullptr) {
        throw std::runtime_error("the runtime was called from a thread that runs no orchestration");
    }
    return *bound;
}

void log(uint32_t level, const char *function, const char *format, ...) {
    va_list values;
    va_start(values, format);
    const std::string text = formatted(format, values);
    va_end(values);
    const ArgusOrchestrationTable &table = runtime();
    table.log(table.host, level, function, text.c_str());
}

void report_fatal(int32_t code, const char *function, const char *format, ...) {
    va_list values;
    va_start(values, format);
    const std::string text = formatted(format, values);
    va_end(values);
    const ArgusOrchestrationTable &table = runtime();
    table.report_fatal(table.host, code, function, text.c_str());
}

void assertion_failed(const char *condition, const char *file, int line) {
    throw AssertionFailed(std::string(file) + ":" + std::to_string(line) + ": assertion failed: " + condition);
}

}  // namespace argus

extern "C" __attribute__((visibility("default"))) const ArgusOrchestrationObject *argus_orchestration(void) {
    static const ArgusOrchestrationObject object = {
        sizeof(ArgusOrchestrationObject), ARGUS_ORCHESTRATION_ABI, ARGUS_FRONT_GENERATION, ARGUS_FRONT_RUNTIME,
        argus::bind, argus::call, argus::configure,
    };
    return &object;
}
