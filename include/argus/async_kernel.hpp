// How a kernel hands the completion of its task to a counter or a copy engine.
#ifndef ARGUS_ASYNC_KERNEL_HPP_
#define ARGUS_ASYNC_KERNEL_HPP_

#include "argus/comm.hpp"
#include "argus/deferred.hpp"
#include "argus/error_codes.hpp"

constexpr uint32_t COMPLETION_ENGINE_SDMA = 0u;
constexpr uint32_t COMPLETION_ENGINE_ROCE = 1u;
constexpr uint32_t COMPLETION_ENGINE_URMA = 2u;
constexpr uint32_t COMPLETION_ENGINE_CCU = 3u;
constexpr int32_t COMPLETION_TYPE_COUNTER = argus::COUNTER_REACHED;
constexpr int32_t COMPLETION_TYPE_SDMA_EVENT_RECORD = 1;

// Kernels initialise it with braces, in this order.
struct CompletionToken {
    uint64_t addr;
    uint32_t expected_value;
    uint32_t engine;
    int32_t completion_type;
    uint64_t backend_cookie;
};

// A thread that the kernel itself started has nothing to complete.
static inline AsyncCtx get_async_ctx(int64_t *) {
    argus::Deferred *here = argus::deferred;
    if (here == nullptr) {
        return {nullptr, nullptr, nullptr, 0, PTO2TaskId::invalid()};
    }
    return {&here->count, &here->error, here->entries, MAX_COMPLETIONS_PER_TASK, PTO2TaskId::make(0, 0)};
}
static inline bool async_ctx_is_deferred(const AsyncCtx &context) { return context.task_token.is_valid(); }

namespace pto2 {
namespace detail {
static inline void defer_error(AsyncCtx &context, int32_t code) {
    if (async_ctx_is_deferred(context) && context.completion_error_code != nullptr) {
        *context.completion_error_code = code;
    }
}
// On the chip this writes cache lines back.
static inline void defer_flush(AsyncCtx &) {}
}  // namespace detail
}  // namespace pto2

static inline bool register_completion_condition(AsyncCtx &context, const CompletionToken &token,
                                                 argus::Site at = argus::Site::here()) {
    if (!async_ctx_is_deferred(context) || context.completion_count == nullptr || context.completion_error_code == nullptr ||
        context.completion_entries == nullptr) {
        return false;
    }
    const uint32_t count = *context.completion_count;
    if (count >= context.completion_capacity) {
        *context.completion_error_code = PTO2_ERROR_ASYNC_WAIT_OVERFLOW;
        return false;
    }
    volatile DeferredCompletionEntry &entry = context.completion_entries[count];
    entry.addr = token.addr;
    entry.backend_cookie = token.backend_cookie;
    entry.expected_value = token.expected_value;
    entry.engine = token.engine;
    entry.completion_type = token.completion_type;
    *context.completion_count = count + 1;
    if (argus::deferred != nullptr) {
        argus::deferred->at = at;
    }
    return true;
}

static inline void send_notification(volatile void *address, int32_t value, pto::comm::NotifyOp op, argus::Site at = argus::Site::here()) {
    pto::comm::Signal signal(reinterpret_cast<int32_t *>(const_cast<void *>(address)));
    pto::comm::TNOTIFY(signal, value, op, at);
}

static inline void save_expected_notification_counter(AsyncCtx &context, volatile void *address, uint32_t expected,
                                                      argus::Site at = argus::Site::here()) {
    const CompletionToken token = {reinterpret_cast<uint64_t>(address), expected, COMPLETION_ENGINE_SDMA, COMPLETION_TYPE_COUNTER, 0};
    register_completion_condition(context, token, at);
    pto2::detail::defer_flush(context);
}

#endif  // ARGUS_ASYNC_KERNEL_HPP_
