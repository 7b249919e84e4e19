// One aic kernel, alone: weigh.
// Compiled once for each kind of core; the kernel is in the pass of its own kind, the other pass is empty.
#include <cstdint>
// The compiler's own names of the two kinds of core, under the names that kernels test.
#if !defined(__DAV_CUBE__) && (defined(__DAV_C220_CUBE__) || defined(__DAV_C310_CUBE__))
#define __DAV_CUBE__ 1
#endif
#if !defined(__DAV_VEC__) && (defined(__DAV_C220_VEC__) || defined(__DAV_C310_VEC__))
#define __DAV_VEC__ 1
#endif

#if defined(__DAV_CUBE__)
#define kernel_entry replay_aic
#include "kernel/aic/weigh.cpp"
#undef kernel_entry
#endif

#ifndef __aicore__
#define __aicore__ [aicore]
#endif

extern "C" __global__ __aicore__ void replay_entry(__gm__ int64_t *args)
{
#if defined(__DAV_CUBE__)
    replay_aic(args);
#else
    (void)args;
#endif
}
