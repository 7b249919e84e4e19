// core: aiv aic
// expect: 3 5 1065353216 -2 65535 17 44 6 1 8 2 4 1 5 9
// Kernels without a tile: scalars of every width, words past the caches, unions, constants that the compiler computes,
// waiting for time to pass.
#include <cstdint>
#include <cstring>
#include <cmath>
#include <algorithm>
#include <chrono>
#include <thread>
#include <pto/pto-inst.hpp>
#include "tensor.h"
#include "intrinsic.h"
#include "pipe_sync.h"
#include "common/platform_config.h"

#ifdef PTO_CPUSTUB_HPP
#define dcci(...) \
    do {          \
    } while (0)
#endif
#ifndef SINGLE_CACHE_LINE
#define SINGLE_CACHE_LINE 0
#endif
#ifndef CACHELINE_OUT
#define CACHELINE_OUT 0
#endif
#ifndef SPIN_WAIT_HINT
#define SPIN_WAIT_HINT() ((void)0)
#endif

static constexpr int32_t kFloatsPerCacheLine = 16;
constexpr bfloat16_t kOne = 1.0f;
constexpr bfloat16_t kSum = kOne + bfloat16_t(2);
static_assert(float(kSum) == 3.0f && float(-kSum) == -3.0f, "constants of a small float");
constexpr half kHalf = half(0.5f);

namespace {
union Bits {
    float f;
    uint32_t u;
};
template <bool Twice>
AICORE inline int pick(int value) {
    if constexpr (Twice) {
        return value * 2;
    } else {
        return value;
    }
}
}  // namespace

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
    __gm__ int32_t *out = reinterpret_cast<__gm__ int32_t *>(args[0]);
    volatile __gm__ uint32_t *word = reinterpret_cast<volatile __gm__ uint32_t *>(args[1]);
    out[0] = int32_t(float(kSum));
    st_dev(5u, word, 0);
    out[1] = int32_t(ld_dev(word, 0));
    Bits bits;
    bits.f = 1.0f;
    out[2] = int32_t(bits.u);
    out[3] = int32_t(from_u64<int16_t>(to_u64<int16_t>(-2)));
    out[4] = int32_t(to_u64<uint16_t>(65535));
    set_st_atomic_cfg(ATOMIC_S32, ATOMIC_SUM);
    st_atomic(12, word);
    out[5] = int32_t(*word);
    out[6] = pick<true>(22);
    out[7] = static_cast<int32_t>(std::max(std::sqrt(36.0f), 2.0f));
    out[8] = float(kHalf) == 0.5f && half(1) / half(3) != half(0.3333f) + half(1);
    const uint64_t start = get_sys_cnt();
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(PLATFORM_PROF_SYS_CNT_FREQ / 1000);
    while (std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();
        SPIN_WAIT_HINT();
    }
    out[9] = get_sys_cnt() > start ? 8 : 0;
    float lowest = -INFINITY;
    out[10] = lowest < 0 ? 2 : 0;
    uint8_t raw[4] = {4, 0, 0, 0};
    int32_t copied;
    memcpy(&copied, raw, sizeof(copied));
    out[11] = copied;
    // The first of one block, here without a context that says so.
    out[12] = get_block_num(args) - get_block_idx(args) + static_cast<int32_t>(get_block_num() - get_block_idx());
    dcci(&out[0], SINGLE_CACHE_LINE, CACHELINE_OUT);
    for (int32_t i = 0; i < kFloatsPerCacheLine; i += kFloatsPerCacheLine) {
        out[13] = int32_t(from_u64<float>(args[2]));
    }
    const bfloat16_t rounded[2] = {kOne, 8};
    out[14] = int32_t(rounded[0] + rounded[1]);
    pipe_sync();
}
