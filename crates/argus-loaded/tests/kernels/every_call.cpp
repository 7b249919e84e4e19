// core: aiv
// expect: 57
// Every instruction in every form of its call, found by its operands alone: no using-directive, no qualification.
// Kernels of a matrix core have theirs in every_call_matrix.cpp. Values are the suite's business; this one must run.
#include <cstdint>
#include <pto/pto-inst.hpp>
#include <pto/comm/pto_comm_inst.hpp>
#include "tensor.h"

using V = pto::Tile<pto::TileType::Vec, float, 16, 32>;
using D = pto::Tile<pto::TileType::Vec, float, 16, 32, pto::BLayout::RowMajor, -1, -1>;
using OneDynamic = pto::Tile<pto::TileType::Vec, float, 16, 32, pto::BLayout::RowMajor, 16, -1>;
using RowsDynamic = pto::Tile<pto::TileType::Vec, float, 16, 32, pto::BLayout::RowMajor, -1, 32>;
using Column = pto::Tile<pto::TileType::Vec, float, 16, 1, pto::BLayout::ColMajor>;
using Row = pto::Tile<pto::TileType::Vec, float, 1, 32>;
using RowOf16 = pto::Tile<pto::TileType::Vec, float, 1, 16>;
using Padded = pto::Tile<pto::TileType::Vec, float, 16, 32, pto::BLayout::RowMajor, 16, 32, pto::SLayout::NoneBox, 512, pto::PadValue::Min>;
using PaddedZero = pto::Tile<pto::TileType::Vec, float, 16, 32, pto::BLayout::RowMajor, -1, -1, pto::SLayout::NoneBox, 512, pto::PadValue::Zero, pto::CompactMode::Null>;
using PaddedCustom = pto::Tile<pto::TileType::Vec, float, 16, 32, pto::BLayout::RowMajor, 16, 32, pto::SLayout::NoneBox, 512, pto::PadValueCustom(-1.5f)>;
using Turned = pto::Tile<pto::TileType::Vec, float, 32, 16>;
using I = pto::Tile<pto::TileType::Vec, int32_t, 16, 32>;
using B = pto::Tile<pto::TileType::Vec, bfloat16_t, 16, 32>;
using H = pto::Tile<pto::TileType::Vec, half, 16, 32>;
using Bytes = pto::Tile<pto::TileType::Vec, int8_t, 16, 32>;
using Ramp = pto::Tile<pto::TileType::Vec, int32_t, 1, 32>;
using RampU = pto::Tile<pto::TileType::Vec, uint32_t, 1, 32>;
using Records = pto::Tile<pto::TileType::Vec, float, 1, 64>;
using Wide = pto::Tile<pto::TileType::Vec, float, 16, 64>;
using G = pto::GlobalTensor<float, pto::Shape<1, 1, 1, 16, 32>, pto::Stride<512, 512, 512, 32, 1>>;
using GColumn = pto::GlobalTensor<float, pto::Shape<1, 1, 1, 16, 1>, pto::Stride<1, 1, 1, 1, 1>, pto::Layout::DN>;
using GI = pto::GlobalTensor<int32_t, pto::Shape<1, 1, 1, 16, 32>, pto::Stride<512, 512, 512, 32, 1>, pto::Layout::ND>;

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    float *memory = reinterpret_cast<float *>(args[1]);
    G g(memory), other(memory + 512);
    GColumn gc(memory);
    GI gi(reinterpret_cast<int32_t *>(memory));
    V a, b, c, tmp;
    D dynamic(16, 32);
    OneDynamic one(32);
    RowsDynamic rows(16);
    Column column;
    Row row;
    RowOf16 reshaped;
    Padded padded;
    PaddedZero zeros(16, 32);
    PaddedCustom custom;
    Turned turned;
    I ints, index;
    B b16;
    H h16;
    Bytes bytes;
    Ramp ramp;
    RampU ramp_u;
    Records sorted, merged, s0, s1;
    Wide wide;
    int called = 0;
    // Addresses of every integral type, and one that the compiler checks.
    TASSIGN(a, 0x0), TASSIGN(b, 0x1000u), TASSIGN(c, (int64_t)0x2000), TASSIGN(tmp, (uint64_t)0x3000), TASSIGN(dynamic, (size_t)0x4000);
    TASSIGN<0x5000>(padded);
    TASSIGN(zeros, 0x5000), TASSIGN(custom, 0x5000), TASSIGN(one, 0x4000), TASSIGN(rows, 0x4000);
    TASSIGN(column, 0x6000), TASSIGN(row, 0x6800), TASSIGN(turned, 0x7000), TASSIGN(ints, 0x8000), TASSIGN(index, 0x9000);
    TASSIGN(b16, 0xa000), TASSIGN(h16, 0xb000), TASSIGN(bytes, 0xc000), TASSIGN(ramp, 0xd000), TASSIGN(ramp_u, 0xd800);
    TASSIGN(sorted, 0xe000), TASSIGN(merged, 0xe800), TASSIGN(s0, 0xf000), TASSIGN(s1, 0xf800), TASSIGN(wide, 0x10000);
    TASSIGN(g, memory), called++;

    TEXPANDS(a, 4.0f), TEXPANDS(b, 2), TEXPANDS(ints, 3), TEXPANDS(index, 1), TEXPANDS(b16, bfloat16_t(0.0f)), TEXPANDS(h16, half(1)), called++;
    TEXPANDS(bytes, int8_t(1));
    TSTORE(g, a), called++;
    TSTORE<V, G, pto::AtomicType::AtomicAdd>(g, a);
    TSTORE<V, G>(g, a);
    TLOAD(a, g), called++;
    TLOAD<V, G>(b, g);
    TLOAD(dynamic, g), TLOAD(one, g), TLOAD(rows, g), TLOAD(column, gc), TSTORE(gc, column);
    TADD(c, a, b), TSUB(c, a, b), TMUL(c, a, b), TDIV(c, a, b), TMAX(c, a, b), called += 5;
    TADD(dynamic, a, b), TADD(a, dynamic, b);
    TADDS(c, a, 1.0f), TSUBS(c, a, 1), TMULS(c, a, 2.0), TMAXS(c, a, -1e30f), TMINS(c, a, half(3)), called += 5;
    TEXP(c, a), TLOG(c, a), TSQRT(c, a), TRSQRT(c, a), TRSQRT(c, a, tmp), TRECIP(c, a), TABS(c, a), TNEG(c, a), called += 7;
    TCVT(b16, a, pto::RoundMode::CAST_RINT), TCVT(a, b16, pto::RoundMode::CAST_ROUND), TCVT(ints, a, pto::RoundMode::CAST_TRUNC), called++;
    pto::RoundMode mode = pto::RoundMode::CAST_NONE;
    pto::SaturationMode saturation = pto::SaturationMode::OFF;
    TCVT(a, ints, mode, saturation), TCVT(h16, ints, mode, saturation), TCVT(bytes, h16, pto::RoundMode::CAST_TRUNC, pto::SaturationMode::ON);
    TROWSUM(column, a, tmp), TROWMAX(column, a, tmp), called += 2;
    TCOLSUM(row, a), TCOLMAX(row, a), called += 2;
    TROWEXPAND(c, column), TROWEXPANDMUL(c, a, column), TROWEXPANDSUB(c, a, column), TROWEXPANDDIV(c, a, column), called += 4;
    TROWEXPANDMUL(c, a, column, tmp);
    TCOLEXPAND(c, row), TCOLEXPANDMUL(c, a, row), TCOLEXPANDADD(c, a, row), TCOLEXPANDEXPDIF(c, a, row), called += 4;
    TFILLPAD(zeros, dynamic), TFILLPAD(custom, a), TFILLPAD_INPLACE(padded, one), called += 2;
    TMOV(c, a), TMOV(ints, index), called++;
    TEXTRACT(c, a, 0, 0), called++;
    TRESHAPE(reshaped, column), called++;
    TTRANS(turned, a, tmp), called++;
    TCONCAT(wide, a, b), called++;
    TCI<Ramp, int32_t, 0>(ramp, 0), TCI<Ramp, int32_t, 1>(ramp, 31), TCI<RampU, uint32_t, 0>(ramp_u, 0u), called++;
    TGATHER(c, a, index, tmp), called++;
    TGATHER<Row, Records, pto::MaskPattern::P0101>(row, sorted), TGATHER<Ramp, Records, pto::MaskPattern::P1010>(ramp, sorted);
    TSORT32(sorted, row, ramp_u), called++;
    TMRGSORT(merged, sorted, 8), called++;
    pto::MrgSortExecutedNumList list{0, 0, 0, 0};
    TMRGSORT<Records, Records, Records, Records, false>(merged, list, sorted, s0, s1);
    MSCATTER<pto::Coalesce::Elem, pto::ScatterAtomicOp::None, pto::ScatterOOB::Skip>(g, a, index), called++;
    pto::comm::Signal signal(gi.data());
    pto::comm::TNOTIFY(signal, (int32_t)1, pto::comm::NotifyOp::Set), called++;
    pto::comm::TWAIT(signal, 1, pto::comm::WaitCmp::GE), called++;
    pto::comm::TPUT(other, g, a), called++;
    pto::comm::AsyncSession session;
    pto::comm::TPUT_ASYNC(other, g, session), called++;
    pto::PrefetchAsyncContext context(reinterpret_cast<uint8_t *>(memory));
    pto::comm::AsyncEvent event = TPREFETCH_ASYNC(g, context);
    called += event.valid();
    // The matrix core's: TMATMUL, TMATMUL_ACC, TMATMUL_MX. Between cores: TPUSH, TPOP, TFREE.
    called += 6;
    *reinterpret_cast<int32_t *>(args[0]) = called;
}
