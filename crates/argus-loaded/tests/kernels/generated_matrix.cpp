// core: aic
// expect: 64 64 64 64 128 128 0 0
// What a generator writes for a matrix core: operands cut out of L1 in both left layouts, flags set before the loop and
// drained after it, event ids that are computed, an accumulator that goes through the loop.
#include <cstdint>
#include "pto/pto-inst.hpp"
#include "tensor.h"
#include "intrinsic.h"
using namespace pto;

template <typename LeftTile>
static __aicore__ void product(__gm__ half *a, __gm__ half *b, __gm__ float *c, int64_t v1) {
    using MatA = Tile<TileType::Mat, half, 16, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null>;
    using MatB = Tile<TileType::Mat, half, 64, 16, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Null>;
    using Right = Tile<TileType::Right, half, 16, 16, BLayout::RowMajor, -1, -1, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Null>;
    using Acc = Tile<TileType::Acc, float, 16, 16, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Null>;
    const int64_t v2 = 16, v3 = 64;
    MatA ma = MatA(v2, v3);
    MatB mb = MatB(v3, v2);
    TASSIGN(ma, (uint64_t)0);
    TASSIGN(mb, (uint64_t)8192);
    GlobalTensor<half, pto::Shape<1, 1, 1, 16, 64>, pto::Stride<1024, 1024, 1024, 64, 1>, pto::Layout::ND> ga(a);
    GlobalTensor<half, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<-1, -1, -1, -1, -1>, pto::Layout::ND> gb(
        b, pto::Shape<1, 1, 1, -1, -1>(1, 1, 1, v3, v2), pto::Stride<-1, -1, -1, -1, -1>(v3 * v2, v3 * v2, v3 * v2, v2, 1));
    TLOAD(ma, ga);
    TLOAD(mb, gb);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    Acc acc = Acc(v2, v2);
    TASSIGN(acc, (uint64_t)0);
    LeftTile left[2];
    Right right[2];
    for (int i = 0; i < 2; i++) {
        left[i].SetValidShape(v2, v2);
        right[i].SetValidShape(v2, v2);
        TASSIGN(left[i], (uint64_t)(i * 512));
        TASSIGN(right[i], (uint64_t)(i * 512));
    }
    set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    set_flag(PIPE_M, PIPE_MTE1, EVENT_ID1);
    for (int64_t k = 0; k < 4; k += 1) {
        const int64_t cur = k % 2;
        wait_flag(PIPE_M, PIPE_MTE1, static_cast<::event_t>(cur));
        TEXTRACT(left[cur], ma, 0, k * 16);
        TEXTRACT(right[cur], mb, k * 16, 0);
        set_flag(PIPE_MTE1, PIPE_M, static_cast<::event_t>(cur));
        wait_flag(PIPE_MTE1, PIPE_M, static_cast<::event_t>(cur));
        if (k == 0) {
            TMATMUL(acc, left[cur], right[cur]);
        } else {
            pipe_barrier(PIPE_M);
            TMATMUL_ACC(acc, acc, left[cur], right[cur]);
        }
        set_flag(PIPE_M, PIPE_MTE1, static_cast<::event_t>(cur));
    }
    wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID1);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>, pto::Layout::ND> gc(c);
    TSTORE(gc, acc);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    pipe_barrier(PIPE_FIX);
    pipe_barrier(PIPE_MTE1);
    pipe_barrier(PIPE_MTE2);
    (void)v1;
}

// Bytes times bytes in 32-bit integers.
static __aicore__ void integers(__gm__ int8_t *a, __gm__ int32_t *c) {
    using Mat = Tile<TileType::Mat, int8_t, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor>;
    using Left = TileLeft<int8_t, 32, 32>;
    using Right = TileRight<int8_t, 32, 32>;
    using Acc = TileAcc<int32_t, 32, 32>;
    Mat m;
    Left l;
    Right r;
    Acc acc;
    TASSIGN(m, 0), TASSIGN(l, 0), TASSIGN(r, 0), TASSIGN(acc, 0);
    GlobalTensor<int8_t, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>> g(a);
    TLOAD(m, g);
    TMOV(l, m);
    TMOV(r, m);
    TMATMUL(acc, l, r);
    GlobalTensor<int32_t, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>> gc(c);
    TSTORE(gc, acc);
}

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
    int32_t *out = reinterpret_cast<int32_t *>(args[0]);
    auto *a = reinterpret_cast<half *>(args[1]);
    half *b = a + 1024;
    float *c = reinterpret_cast<float *>(b + 1024);
    for (int i = 0; i < 1024; i++) {
        a[i] = half(1);
        b[i] = i % 16 < 2 ? half(1) : half(0.5f);
    }
    using Nz = Tile<TileType::Left, half, 16, 16, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Normal>;
    using Zz = Tile<TileType::Left, half, 16, 16, BLayout::RowMajor, -1, -1, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Normal>;
    product<Nz>(a, b, c, 0);
    out[0] = int32_t(c[0]), out[1] = int32_t(2 * c[255]);
    product<Zz>(a, b, c, 0);
    out[2] = int32_t(c[16]), out[3] = int32_t(2 * c[18]);
    int8_t *bytes = reinterpret_cast<int8_t *>(a);
    int32_t *sums = reinterpret_cast<int32_t *>(a + 4096);
    for (int i = 0; i < 1024; i++) {
        bytes[i] = 2;
    }
    integers(bytes, sums);
    out[4] = sums[0], out[5] = sums[1023];
}
