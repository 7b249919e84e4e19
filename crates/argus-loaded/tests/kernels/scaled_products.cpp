// core: aic
// chip: a5
// expect: 128 1
// Small floats with scales: loads with both types spelled out, tensors by layout, scale tiles placed by the operand's
// address, pads in L1.
#include <cstdint>
#include <pto/pto-inst.hpp>
#include <pto/npu/a5/utils.hpp>
#include "pto/common/pto_tile.hpp"
#include <pto/common/constants.hpp>
#include "tensor.h"

using namespace pto;

template <typename T, int M, int K, int N>
static AICORE void product(__gm__ T *a, __gm__ float8_e8m0_t *as, __gm__ T *b, __gm__ float8_e8m0_t *bs, __gm__ float *c) {
    constexpr int kBlocks = K / 32;
    constexpr int kC0 = C0_SIZE_BYTE / sizeof(T);
    static_assert(kC0 == 32, "a box is 32 bytes wide");
    using GlobalA = GlobalTensor<T, TileShape2D<T, M, K>, BaseShape2D<T, M, K>, Layout::ND>;
    using GlobalB = GlobalTensor<T, TileShape2D<T, K, N, Layout::ND>, BaseShape2D<T, K, N, Layout::ND>, Layout::ND>;
    using GlobalAs =
        GlobalTensor<float8_e8m0_t, TileShape2D<float8_e8m0_t, M, kBlocks, Layout::MX_A_ZZ>, BaseShape2D<float8_e8m0_t, M, kBlocks, Layout::MX_A_ZZ>, Layout::MX_A_ZZ>;
    using GlobalBs =
        GlobalTensor<float8_e8m0_t, TileShape2D<float8_e8m0_t, kBlocks, N, Layout::MX_B_NN>, BaseShape2D<float8_e8m0_t, kBlocks, N, Layout::MX_B_NN>, Layout::MX_B_NN>;
    using MatA = Tile<TileType::Mat, T, M, K, BLayout::ColMajor, M, K, SLayout::RowMajor, 512>;
    using MatB = Tile<TileType::Mat, T, K, N, BLayout::ColMajor, K, N, SLayout::RowMajor, 512>;
    using MatAs = Tile<TileType::Mat, float8_e8m0_t, M, kBlocks, BLayout::RowMajor, M, kBlocks, SLayout::RowMajor, 32>;
    using MatBs = Tile<TileType::Mat, float8_e8m0_t, kBlocks, N, BLayout::ColMajor, kBlocks, N, SLayout::ColMajor, 32>;
    GlobalA ga(a);
    GlobalB gb(b);
    GlobalAs gas(as);
    GlobalBs gbs(bs);
    MatA ma;
    MatB mb;
    MatAs mas;
    MatBs mbs;
    TASSIGN(ma, 0x0);
    TASSIGN(mb, 0x10000);
    TASSIGN(mas, 0x20000);
    TASSIGN(mbs, 0x30000);
    TLOAD<MatA, GlobalA>(ma, ga);
    TLOAD<MatB, GlobalB>(mb, gb);
    TLOAD(mas, gas);
    TLOAD(mbs, gbs);
    TFILLPAD(ma, ma);
    TileLeft<T, M, K> left;
    TileRight<T, K, N> right;
    TileAcc<float, M, N> acc;
    TileLeftScale<float8_e8m0_t, M, kBlocks> left_scale;
    TileRightScale<float8_e8m0_t, kBlocks, N> right_scale;
    TASSIGN(left, 0x0);
    TASSIGN(right, 0x0);
    TASSIGN(acc, 0x0);
    TASSIGN(left_scale, pto::GetScaleAddr(left.data()));
    TASSIGN(right_scale, pto::GetScaleAddr(right.data()));
    TMOV(left, ma);
    TMOV(right, mb);
    TMOV(left_scale, mas);
    TMOV(right_scale, mbs);
    TMATMUL_MX(acc, left, left_scale, right, right_scale);
    GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<M * N, M * N, M * N, N, 1>> gc(c);
    TSTORE(gc, acc);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    __gm__ int32_t *out = reinterpret_cast<__gm__ int32_t *>(args[0]);
    uint8_t *bytes = reinterpret_cast<uint8_t *>(args[1]);
    auto *a = reinterpret_cast<float8_e4m3_t *>(bytes);
    auto *b = a + 16 * 64;
    auto *as = reinterpret_cast<float8_e8m0_t *>(b + 64 * 32);
    auto *bs = as + 64;
    float *c = reinterpret_cast<float *>(bs + 64);
    for (int i = 0; i < 2048; i++) {
        a[i % 1024] = float8_e4m3_t(1.0f);
        b[i] = float8_e4m3_t(0.5f);
    }
    for (int i = 0; i < 64; i++) {
        as[i] = float8_e8m0_t(2.0f);
        bs[i] = float8_e8m0_t(2.0f);
    }
    product<float8_e4m3_t, 16, 64, 32>(a, as, b, bs, c);
    out[0] = int32_t(c[0]);
    out[1] = c[0] == c[511];
}
