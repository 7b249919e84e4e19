// core: aiv
// expect: 21 18 31 28 1065353216 7 3 4 12 1 9 2 1 6 5
// What a generator writes for a vector core: tiles of eleven parameters with dynamic valid shapes, constants in
// variables, cache names of its own, loop-carried tile handles, flags around everything.
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "tensor.h"
#include "intrinsic.h"
#include <atomic>

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__ [aicore]
#endif

#if defined(__CPU_SIM)
#undef ENTIRE_DATA_CACHE
#undef SINGLE_CACHE_LINE
#undef DSB_DDR
#undef dcci
#undef dsb
#undef CACHELINE_OUT
namespace cache_line_t {
constexpr int ENTIRE_DATA_CACHE = 1;
constexpr int SINGLE_CACHE_LINE = 0;
constexpr int CACHELINE_OUT = 2;
}  // namespace cache_line_t
typedef int mem_dsb_t;
#define DSB_DDR 0
static inline void dcci(...) {}
static inline void dsb(mem_dsb_t) {}
#endif

using namespace pto;

template <typename To, typename From>
static __aicore__ inline To ptoas_bitcast(From from) {
    static_assert(sizeof(To) == sizeof(From), "one width");
    union {
        From from;
        To to;
    } u = {from};
    return u.to;
}

template <typename ChipTensor>
static __aicore__ inline auto ptoas_data(ChipTensor &t) -> decltype(t.data()) {
    return t.data();
}

template <typename... Pack>
static __aicore__ inline void ptoas_ignore(Pack &&...) {}

using V11 = Tile<TileType::Vec, float, 1, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>;
using I11 = Tile<TileType::Vec, int32_t, 1, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>;

static __aicore__ void scale_and_add(__gm__ float *v1, __gm__ int32_t *v2, int64_t v3) {
    unsigned v4 = 1;
    const int64_t v5 = 64;
    const int64_t v6 = 1;
    const float v7 = 2.0f;
    const int32_t v8 = 5;
    const bfloat16_t v9 = 0.0f;
    RoundMode v10 = RoundMode::CAST_RINT;
    SaturationMode v11 = SaturationMode::OFF;
    using T = float;
    set_mask_norm();
    set_vector_mask(-1, -1);

    pto::Shape<1, 1, 1, -1, -1> v12 = pto::Shape<1, 1, 1, -1, -1>(v6, v5);
    pto::Stride<-1, -1, -1, -1, 1> v13 = pto::Stride<-1, -1, -1, -1, 1>(v5, v5, v5, v5);
    GlobalTensor<float, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND> v14 =
        GlobalTensor<float, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND>(v1 + (v6 * v3 - v6 * v3), v12, v13);
    V11 v15 = V11(v6, v5);
    uint64_t v16 = (uint64_t)0;
    TASSIGN(v15, v16);
    V11 v17 = V11(v6, v5);
    TASSIGN(v17, (uint64_t)256);
    I11 v18 = I11(v6, v5);
    TASSIGN(v18, (uint64_t)512);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    TLOAD(v15, v14);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(v17, v15, v7);
    pipe_barrier(PIPE_V);
    V11 v19;
    v19 = v17;
    V11 v20;
    v20 = v15;
    for (size_t v21 = (size_t)0; v21 < (size_t)2; v21 += (size_t)v4) {
        TADDS(v19, v19, v7);
        pipe_barrier(PIPE_V);
        TADD(v20, v19, v20);
        pipe_barrier(PIPE_V);
        V11 v22;
        v22 = v20;
        v20 = v19;
        v19 = v22;
    }
    TCVT(v18, v19, v10, v11);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    pto::Shape<1, 1, 1, -1, -1> v23 = pto::Shape<1, 1, 1, -1, -1>(v6, 4);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND> v24(v2, v23, v13);
    v18.SetValidShape(1, 2);
    TSTORE(v24, v18);
    I11 v25 = I11(v6, v5);
    TASSIGN(v25, (uint64_t)1024);
    TEXPANDS(v25, v8 * 2);
    v25.SetValidShape(v6, 2);
    GlobalTensor<int32_t, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND> v26(v2 + 2, v23, v13);
    TSTORE(v26, v18);
    pipe_barrier(PIPE_ALL);
    TSTORE<I11, GlobalTensor<int32_t, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND>, AtomicType::AtomicAdd>(v26, v25);
    pipe_barrier(PIPE_MTE3);
    dcci(ptoas_data(v26), cache_line_t::ENTIRE_DATA_CACHE);
    dcci((__gm__ void *)0, cache_line_t::SINGLE_CACHE_LINE, cache_line_t::CACHELINE_OUT);
    dsb((mem_dsb_t)0);
    dsb(DSB_DDR);
    v2[4] = ptoas_bitcast<int32_t>(v7 / 2.0f);
    ptoas_ignore(v9, sizeof(T));
}

using C11 = Tile<TileType::Vec, uint32_t, 1, 32, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>;
using S11 = Tile<TileType::Vec, float, 1, 32, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>;
using R11 = Tile<TileType::Vec, float, 1, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>;
using N11 = Tile<TileType::Vec, int32_t, 1, 32, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null>;

// The three largest of eight numbers with their places, by a sort of records.
static __aicore__ void top(__gm__ int32_t *out) {
    const int64_t n = 8;
    S11 scores = S11(1, n);
    C11 places = C11(1, n);
    R11 records = R11(1, 2 * n);
    N11 order = N11(1, n);
    TASSIGN(scores, 0);
    TASSIGN(places, 0x1000);
    TASSIGN(records, 0x2000);
    TASSIGN(order, 0x3000);
    const float values[8] = {3.f, 1.f, 4.f, 1.f, 5.f, 9.f, 2.f, 12.f};
    for (uint32_t i = 0; i < 8; i++) {
        scores.SetValue(i, values[i]);
    }
    TCI<C11, uint32_t, 0>(places, 0u);
    pipe_barrier(PIPE_ALL);
    TSORT32(records, scores, places);
    pipe_barrier(PIPE_V);
    TGATHER<N11, R11, MaskPattern::P1010>(order, records);
    pipe_barrier(PIPE_ALL);
    out[0] = order.GetValue(0);
    const float best = scores.GetValue(uint32_t(order.GetValue(0)));
    out[1] = int32_t(best / 4);
    S11 sorted = S11(1, n);
    TASSIGN(sorted, 0x4000);
    TGATHER<S11, R11, MaskPattern::P0101>(sorted, records);
    pipe_barrier(PIPE_ALL);
    out[2] = int32_t(sorted.GetValue(3));
    out[3] = int32_t(sorted.GetValue(0));
}

// A gather by index, a merge of two lists, a reciprocal square root with scratch, a concatenation.
static __aicore__ void more(__gm__ int32_t *out) {
    S11 x = S11(1, 8), tmp = S11(1, 8);
    N11 at = N11(1, 8);
    TASSIGN(x, 0), TASSIGN(tmp, 0x1000), TASSIGN(at, 0x2000);
    for (uint32_t i = 0; i < 8; i++) {
        x.SetValue(i, float(1 + (i == 2 ? 8 : 0)));
        at.SetValue(i, int32_t(2));
    }
    TCI<N11, int32_t, 0>(at, int32_t(0));
    S11 picked = S11(1, 8);
    TASSIGN(picked, 0x3000);
    TGATHER(picked, x, at, tmp);
    out[0] = int32_t(picked.GetValue(1));
    out[1] = int32_t(picked.GetValue(2));
    TEXPANDS(x, 0.25f);
    TRSQRT(picked, x, tmp);
    out[2] = int32_t(picked.GetValue(0));
    TRSQRT(picked, picked);
    out[3] = int32_t(picked.GetValue(0) + 0.5f);

    R11 a = R11(1, 4), b = R11(1, 4), merged = R11(1, 8), scratch = R11(1, 8);
    TASSIGN(a, 0x4000), TASSIGN(b, 0x5000), TASSIGN(merged, 0x6000), TASSIGN(scratch, 0x7000);
    const float left[2] = {6.f, 2.f}, right[2] = {5.f, 1.f};
    for (uint32_t i = 0; i < 2; i++) {
        a.SetValue(2 * i, left[i]), a.SetValue(2 * i + 1, 0.f);
        b.SetValue(2 * i, right[i]), b.SetValue(2 * i + 1, 0.f);
    }
    a.SetValidShape(1, 2), b.SetValidShape(1, 2), merged.SetValidShape(1, 4);
    pto::MrgSortExecutedNumList list{0, 0, 0, 0};
    TMRGSORT<R11, R11, R11, R11, false>(merged, list, scratch, a, b);
    pipe_barrier(PIPE_ALL);
    out[4] = int32_t(merged.GetValue(0));
    out[5] = int32_t(merged.GetValue(2));
}

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
    __gm__ int32_t *out = reinterpret_cast<__gm__ int32_t *>(args[0]);
    __gm__ float *in = reinterpret_cast<__gm__ float *>(args[1]);
    for (int i = 0; i < 64; i++) {
        in[i] = i % 2 == 0 ? 3.f : 2.5f;
    }
    scale_and_add(in, out, args[2]);
    top(out + 5);
    more(out + 9);
}
