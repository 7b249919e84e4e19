// An orchestration that waits for what a running kernel writes, and lets it go.
#include <cstdint>

#include "aicpu/cache_maintenance.h"
#include "pto_orchestration_api.h"

namespace {

constexpr int32_t SUM = 0;
constexpr int32_t HOLD = 5;

bool wait_for(volatile int32_t *word, int32_t value) {
    while (!rt_is_fatal()) {
        cache_invalidate_range(const_cast<const int32_t *>(word), sizeof(int32_t));
        if (*word == value) {
            return true;
        }
        SPIN_WAIT_HINT();
    }
    return false;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args) {
    const ChipTensor &state = orch_args.tensor(0).ref();
    const ChipTensor &out = orch_args.tensor(1).ref();
    volatile int32_t *words = state.data_as<int32_t>() + state.start_offset;
    PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
        CoreTaskArgs hold;
        hold.add_inout(state);
        hold.set_allow_early_resolve();
        const PTO2TaskId holder = rt_submit_aiv_task(HOLD, hold).task_id();
        if (!wait_for(words, 1)) {
            rt_report_fatal(PTO2_ERROR_EXPLICIT_ORCH_FATAL, "the holder never began");
            return;
        }
        CoreTaskArgsWithDeps<1> after;
        after.add_input(state);
        after.add_output(out);
        after.add_scalar(35);
        after.add_dep(holder);
        rt_submit_aiv_task(SUM, after);
        words[1] = 1;
        cache_flush_range(const_cast<const int32_t *>(words + 1), sizeof(int32_t));
    }
}
