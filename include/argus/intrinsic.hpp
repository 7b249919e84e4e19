// What a kernel reads from the contexts behind slots 48 and 49 of its arguments.
#ifndef ARGUS_INTRINSIC_HPP_
#define ARGUS_INTRINSIC_HPP_

#include "argus/tensor.hpp"

constexpr uint32_t MAX_COMPLETIONS_PER_TASK = 64;

// A condition for the completion of a task.
struct DeferredCompletionEntry {
    uint64_t addr;
    uint64_t backend_cookie;
    uint32_t expected_value;
    uint32_t engine;
    int32_t completion_type;
    int32_t reserved;
};
static_assert(sizeof(DeferredCompletionEntry) == 32, "kernels may write entries by offset");

// Where a task that completes later says what it waits for. All ones in the token: it does not.
struct AsyncCtx {
    volatile uint32_t *completion_count;
    volatile int32_t *completion_error_code;
    volatile DeferredCompletionEntry *completion_entries;
    uint32_t completion_capacity;
    PTO2TaskId task_token;
};

// What differs from block to block. Chips differ in the names of the fields, so both are there.
struct LocalContext {
    union {
        int32_t block_idx;
        int32_t s_block_idx;
    };
    union {
        int32_t block_num;
        int32_t s_block_num;
    };
    AsyncCtx async_ctx;
};
static_assert(sizeof(LocalContext) == 48, "the runtime writes contexts by offset");

// What differs from core to core.
struct GlobalContext {
    int32_t sub_block_id;
    int32_t reserved;
    uint64_t dma_workspace[2];
};

constexpr int ARGUS_LOCAL_CONTEXT_SLOT = 48;
constexpr int ARGUS_GLOBAL_CONTEXT_SLOT = 49;

static inline const LocalContext *argus_local_context(const int64_t *args) {
    return reinterpret_cast<const LocalContext *>(args[ARGUS_LOCAL_CONTEXT_SLOT]);
}
static inline const GlobalContext *argus_global_context(const int64_t *args) {
    return reinterpret_cast<const GlobalContext *>(args[ARGUS_GLOBAL_CONTEXT_SLOT]);
}

static inline int32_t get_block_idx(int64_t *args) { return argus_local_context(args)->block_idx; }
static inline int32_t get_block_num(int64_t *args) { return argus_local_context(args)->block_num; }
static inline int32_t get_sub_block_id(int64_t *args) { return argus_global_context(args)->sub_block_id; }

#endif  // ARGUS_INTRINSIC_HPP_
