// core: aiv aic
// expect: 1 4 32 16 2 7 1 32 5 5 8 3
// Members and numbers of the interface that templates of kernels use.
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <pto/pto-inst.hpp>
#include <pto/common/constants.hpp>
#include "tensor.h"
#include "intrinsic.h"
using namespace pto;

using T0 = Tile<TileType::Vec, float, 16, 32, BLayout::RowMajor, 8, 24>;
using T1 = Tile<TileType::Mat, half, 32, 64, BLayout::ColMajor, 32, 64, SLayout::RowMajor, 512>;
using T2 = Tile<TileType::Vec, float, 16, 32, BLayout::RowMajor, -1, -1>;
using T3 = TileAcc<float, 16, 32>;
using T4 = TileLeft<int8_t, 16, 32>;
using T5 = TileRight<float, 16, 32>;
static_assert(std::is_same_v<T0::DType, float> && std::is_same_v<T0::TileDType, float *>, "types");
static_assert(T0::Loc == TileType::Vec && T0::Rows == 16 && T0::Cols == 32 && T0::ValidRow == 8 && T0::ValidCol == 24, "shapes");
static_assert(T0::Numel == 512 && T0::RowStride == 32 && T0::ColStride == 1 && T0::isRowMajor && !T0::isBoxedLayout, "strides");
static_assert(T0::GetValidRow() == 8 && T0::GetValidCol() == 24, "static valid shapes are constants");
static_assert(T1::isBoxedLayout && T1::isInnerRowMajor && !T1::isInnerColMajor && T1::InnerRows == 16 && T1::InnerCols == 16, "boxes");
static_assert(T1::InnerNumel == 256 && T1::SFractalSize == 512 && T1::BFractal == BLayout::ColMajor && T1::SFractal == SLayout::RowMajor, "boxes");
static_assert(T3::InnerRows == 16 && T3::InnerCols == 16 && T3::SFractalSize == 1024, "accumulators");
static_assert(T4::InnerCols == 32 && T4::BFractal == BLayout::ColMajor, "left operands");
static_assert(T5::InnerRows == 8 && T5::SFractal == SLayout::ColMajor, "right operands");
static_assert(T0::PadVal == PadValue::Null && T0::Compact == CompactMode::Null, "pads");
static_assert(is_tile_data_v<T0> && !is_tile_data_v<int> && !is_conv_tile_v<T0>, "traits");
static_assert(is_global_data_v<GlobalTensor<float, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>>> && !is_global_data_v<T0>, "traits");
static_assert(C0_SIZE_BYTE / sizeof(bfloat16_t) == 16 && DYNAMIC == -1 && std::is_same_v<decltype(DYNAMIC), const int>, "constants");
static_assert(int(RoundMode::CAST_NONE) == 0 && int(RoundMode::CAST_RINT) == 1 && int(RoundMode::CAST_ROUND) == 2 && int(RoundMode::CAST_FLOOR) == 3, "rounding");
static_assert(int(RoundMode::CAST_CEIL) == 4 && int(RoundMode::CAST_TRUNC) == 5 && int(RoundMode::CAST_ODD) == 6, "rounding");
static_assert(int(SaturationMode::ON) == 0 && int(SaturationMode::OFF) == 1 && int(MaskPattern::P0101) == 1 && int(MaskPattern::P1111) == 7, "modes");
static_assert(uint64_t(PadValue::CustomBase) == 0x100000000ull && int(Layout::MX_A_ZZ) == 6 && int(Layout::MX_B_NN) == 9 && int(Layout::MAX) == 22, "layouts");
static_assert(int(comm::WaitCmp::GE) == 3 && int(comm::NotifyOp::AtomicAdd) == 0 && int(CmpMode::GE) == 5, "comparisons");
static_assert(TILE_UP_DOWN == 1 && TileSplitAxis::TILE_LEFT_RIGHT == 2 && Direction::DIR_BOTH == 3 && DIR_V2C_CTRL == 4, "queues");
static_assert(int(Coalesce::Elem) == 1 && int(ScatterOOB::Wrap) == 3 && int(AccPhase::Final) == 3 && int(STPhase::Partial) == 2, "options");
static_assert(EVENT_ID0 == 0 && EVENT_ID7 == 7 && PIPE_FIX == 7 && std::is_same_v<::event_t, int> && std::is_same_v<::pipe_t, int>, "flags");

template <typename Tensor>
static __aicore__ int rank_of(Tensor &) {
    return Tensor::staticShape[3];
}

template <pipe_t Src, pipe_t Dst>
static __aicore__ void hand_over(event_t id) {
    set_flag(Src, Dst, id);
    wait_flag(Src, Dst, id);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    int32_t *out = reinterpret_cast<int32_t *>(args[0]);
    float *memory = reinterpret_cast<float *>(args[1]);
    T2 d(4, 32);
    out[0] = d.GetValidRow() == 4;
    d.SetValidRow(16);
    T2 same = d;
    same.SetValidCol(8);
    d.SetValidShape(4, 32);
    out[1] = int32_t(d.GetValidRow());
    out[2] = int32_t(d.GetValidCol());
    out[3] = int32_t(same.GetValidRow());
    Shape<1, 1, 1, -1, -1> shape(2, 7);
    Stride<-1, -1, -1, -1, 1> stride(1, 1, 1, 32);
    GlobalTensor<float, Shape<1, 1, 1, -1, -1>, Stride<-1, -1, -1, -1, 1>> g(memory, shape, stride);
    out[4] = int32_t(g.GetShape(3));
    out[5] = int32_t(g.GetShape(4));
    out[6] = g.GetStride(4) == 1 && g.GetStride(3) == 32 && g.GetShape(5) == -1;
    GlobalTensor<float, Shape<1, 1, 1, 32, 16>, Stride<512, 512, 512, 16, 1>> fixed(memory);
    out[7] = rank_of(fixed);
    static_assert(decltype(fixed)::GetShape<4>() == 16 && decltype(fixed)::GetStride<3>() == 16, "static numbers are constants");
    // Five values whatever is dynamic; none means ones.
    Shape<1, 1, 1, -1, -1> five(9, 9, 9, 5, 5), ones;
    out[8] = int32_t(GlobalTensor<float, Shape<1, 1, 1, -1, -1>, Stride<-1, -1, -1, -1, 1>>(memory, five, stride).GetShape(3));
    out[9] = 4 + int32_t(GlobalTensor<float, Shape<1, 1, 1, -1, -1>, Stride<-1, -1, -1, -1, 1>>(memory, ones, stride).GetShape(3));
    hand_over<PIPE_MTE2, PIPE_S>(EVENT_ID3);
    hand_over<PIPE_S, PIPE_MTE2>(static_cast<::event_t>(args[2] & 1));
    for (pipe_t pipe : {PIPE_S, PIPE_MTE2, PIPE_MTE3, PIPE_ALL}) {
        pipe_barrier(pipe);
    }
    T2 tiles[2];
    for (auto &tile : tiles) {
        tile.SetValidShape(4, 8);
    }
    out[10] = int32_t(tiles[1].GetValidCol());
    LocalContext *local = reinterpret_cast<LocalContext *>(args[48]);
    GlobalContext *global = reinterpret_cast<GlobalContext *>(args[49]);
    out[11] = (local != nullptr) + 2 * (global != nullptr);
    (void)get_sub_block_id(args);
}
