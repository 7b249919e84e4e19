// core: aiv
// expect: 7 12 5 9 9 18 9 1 1
// Signals, windows of other ranks, puts with and without addition and with a second staging tile.
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "pto/comm/comm_types.hpp"
#include "pto/comm/pto_comm_inst.hpp"
#include <pto/comm/async_common/async_types.hpp>
#include "platform_comm/comm_context.h"
#include "tensor.h"

using namespace pto;

template <typename T>
static __aicore__ __gm__ T *CommRemotePtr(__gm__ CommContext *ctx, __gm__ T *local, int peer) {
    const uint64_t offset = reinterpret_cast<uint64_t>(local) - ctx->windowsIn[ctx->rankId];
    return reinterpret_cast<__gm__ T *>(ctx->windowsIn[peer] + offset);
}

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
    __gm__ int32_t *out = reinterpret_cast<__gm__ int32_t *>(args[0]);
    __gm__ float *window = reinterpret_cast<__gm__ float *>(args[1]);
    static CommContext ctx;
    ctx.rankId = 0;
    ctx.rankNum = 2;
    ctx.winSize = 1024;
    ctx.windowsIn[0] = reinterpret_cast<uint64_t>(window);
    ctx.windowsIn[1] = reinterpret_cast<uint64_t>(window + 256);
    __gm__ int32_t *flag = out + 0;
    pto::comm::Signal signal(flag);
    pto::comm::TNOTIFY(signal, (int32_t)7, pto::comm::NotifyOp::AtomicAdd);
    pto::comm::TWAIT(signal, 7, pto::comm::WaitCmp::GE);
    __gm__ int32_t *second = out + 1;
    pto::comm::Signal other(second);
    pto::comm::TNOTIFY(other, (int32_t)12, pto::comm::NotifyOp::Set);
    pto::comm::Signal2D<1, 2> both(out);
    pto::comm::TWAIT(both, 6, pto::comm::WaitCmp::GT);
    out[2] = ctx.rankNum + 3;

    using Shape5 = Shape<1, 1, 1, 1, 8>;
    using Stride5 = Stride<8, 8, 8, 8, 1>;
    using Global = GlobalTensor<float, Shape5, Stride5, Layout::ND>;
    using Stage = Tile<TileType::Vec, float, 1, 8, BLayout::RowMajor, -1, -1>;
    Stage ping(1, 8), pong(1, 8);
    TASSIGN(ping, 0x0);
    TASSIGN(pong, 0x10000);
    for (int i = 0; i < 8; i++) {
        window[i] = 9.f;
    }
    __gm__ float *remote = CommRemotePtr(&ctx, window, 1);
    Global src(window), dst(remote);
    pto::comm::TPUT(dst, src, ping);
    out[3] = int32_t(remote[0]);
    pto::comm::TPUT<pto::AtomicType::AtomicNone>(dst, src, ping);
    out[4] = int32_t(remote[7]);
    pto::comm::TPUT<pto::AtomicType::AtomicAdd>(dst, src, ping);
    out[5] = int32_t(remote[7]);
    pto::comm::TPUT(dst, src, ping, pong);
    out[6] = int32_t(remote[3]);
    pto::comm::AsyncSession session;
    auto event = pto::comm::TPUT_ASYNC(dst, src, session);
    out[7] = event.Wait(session);
    pto::comm::AsyncEvent copy = event;
    out[8] = copy.valid() && copy.Test(session);
    pipe_barrier(PIPE_ALL);
}
