// A kernel that asks which block it is, or several kernels of one cluster: produce_consume.
// Compiled once for each kind of core. Every core has a row of 50 argument slots of its own, because the
// contexts behind slots 48 and 49 differ from core to core.
#include <cstdint>
// The compiler's own names of the two kinds of core, under the names that kernels test.
#if !defined(__DAV_CUBE__) && (defined(__DAV_C220_CUBE__) || defined(__DAV_C310_CUBE__))
#define __DAV_CUBE__ 1
#endif
#if !defined(__DAV_VEC__) && (defined(__DAV_C220_VEC__) || defined(__DAV_C310_VEC__))
#define __DAV_VEC__ 1
#endif
#ifndef EVENT_ID7
#define EVENT_ID7 static_cast<event_t>(7)
#endif
#ifndef PIPE_FIX
#define PIPE_FIX static_cast<pipe_t>(10)
#endif

#if defined(__DAV_CUBE__)
#define kernel_entry replay_aic
#include "kernel/mix/produce.cpp"
#undef kernel_entry
#endif
#if defined(__DAV_VEC__)
#define kernel_entry replay_aiv0
#include "kernel/mix/consume.cpp"
#undef kernel_entry
#endif

#ifndef __aicore__
#define __aicore__ [aicore]
#endif

extern "C" __global__ __aicore__ void replay_entry(__gm__ int64_t *aic_args, __gm__ int64_t *aiv_args)
{
    (void)aic_args;
    (void)aiv_args;
#if defined(__DAV_CUBE__)
    const uint32_t row = get_block_idx();
    if (row < 2u) {
        replay_aic(aic_args + row * 50u);
    }
#endif
#if defined(__DAV_VEC__)
    const uint32_t lane = get_subblockid();
    const uint32_t row = get_block_idx() * 2u + lane;
    if (row < 4u) {
        if (lane == 0u) {
            replay_aiv0(aiv_args + row * 50u);
        }
        if (lane == 1u) {
            replay_aiv0(aiv_args + row * 50u);
        }
    }
#endif
}
