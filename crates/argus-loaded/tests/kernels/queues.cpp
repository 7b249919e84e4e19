// core: aic aiv
// Queues between cores, by using-declarations and explicit template arguments alone, with every member that kernels
// touch. Compiled only: two cores are needed to run it.
#include <cstdint>
#include <pto/pto-inst.hpp>
#include <pto/common/fifo.hpp>
#include "tensor.h"
#include "intrinsic.h"

#if defined(__CPU_SIM)
#define pypto_runtime_subblock_id 0
#endif

using pto::Direction;
using pto::TileSplitAxis;
using pto::TileType;
using pto::TPipe;

using Acc = pto::TileAcc<float, 32, 64>;
using AccI = pto::TileAcc<int32_t, 32, 64>;
using Half = pto::Tile<TileType::Vec, float, 16, 64>;
using HalfI = pto::Tile<TileType::Vec, int32_t, 16, 64>;
using Weights = pto::Tile<TileType::Vec, bfloat16_t, 16, 64, pto::BLayout::RowMajor, -1, -1>;
using Landed = pto::Tile<TileType::Mat, bfloat16_t, 32, 64, pto::BLayout::ColMajor, 32, 64, pto::SLayout::RowMajor, 512>;

using Four = TPipe<0, Direction::DIR_C2V, 4 * 32 * 64, 2>;
using Five = TPipe<2, pto::DIR_V2C, 8192, 8, 8>;
using Six = TPipe<4, Direction::DIR_BOTH, 16384, 4, 4, true>;
using Gm = TPipe<6, Direction::DIR_C2V_GM, 32768, 2, 2, true>;
using GmBack = TPipe<8, Direction::DIR_V2C_GM, 32768, 2, 2>;

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
    __gm__ float *slots = reinterpret_cast<__gm__ float *>(args[1]);
    Four four((__gm__ void *)nullptr, 0x0, 0x0);
    Five five(nullptr, (uint32_t)0, (uint32_t)0x10000);
    Six six((__gm__ void *)(slots), 0u, 0u);
    Gm gm(slots, 0x0, 0x0);
    GmBack back = GmBack(slots, 0x0, 0x0);
    (void)gm, (void)back;
#if defined(__DAV_CUBE__)
    Acc acc;
    TASSIGN(acc, 0x0);
    AccI sums;
    TASSIGN(sums, 0x0);
    Landed landed;
    TPUSH<Four, Acc, TileSplitAxis::TILE_UP_DOWN>(four, acc);
    TPUSH<Six, Acc, TileSplitAxis::TILE_NO_SPLIT>(six, acc);
    TPUSH<Four, AccI, pto::TILE_LEFT_RIGHT>(four, sums);
    TPOP<Five, Landed, TileSplitAxis::TILE_UP_DOWN>(five, landed);
    TFREE<Five, TileSplitAxis::TILE_UP_DOWN>(five);
    gm.prod.setAllocateStatus(true);
    gm.prod.setRecordStatus(false);
    gm.prod.setEntryOffset(64);
    gm.prod.record();
    gm.prod.record<Acc, TileSplitAxis::TILE_NO_SPLIT>();
    gm.prod.template record<TileSplitAxis::TILE_NO_SPLIT>();
#endif
#if defined(__DAV_VEC__)
    Half half_tile;
    TASSIGN(half_tile, 0x0);
    HalfI ints;
    TASSIGN(ints, 0x0);
    Weights weights(16, 64);
    TASSIGN(weights, 0x4000);
    TPOP<Four, Half, TileSplitAxis::TILE_UP_DOWN>(four, half_tile);
    TPOP<Four, HalfI, TileSplitAxis::TILE_LEFT_RIGHT>(four, ints);
    TFREE<Four, TileSplitAxis::TILE_UP_DOWN>(four);
    TPUSH<Five, Weights, TileSplitAxis::TILE_UP_DOWN>(five, weights);
    gm.cons.setWaitStatus(true);
    gm.cons.setFreeStatus(true);
    gm.cons.setEntryOffset(128);
    gm.cons.setentryOffset(128);
    const uint32_t tile_id = gm.cons.getTileId();
    const int lane = get_sub_block_id(args) + static_cast<int>(get_subblockid());
    reinterpret_cast<__gm__ int32_t *>(args[0])[0] = static_cast<int32_t>(tile_id) + lane;
#endif
}
