// Signals and copies between ranks. Every rank's window is memory of this process.
#ifndef ARGUS_COMM_HPP_
#define ARGUS_COMM_HPP_

#include "argus/instructions.hpp"

namespace pto {
namespace comm {

using Signal = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>>;

template <int Rows, int Cols>
struct Signal2D : GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, DYNAMIC, 1>> {
    using Base = GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, DYNAMIC, 1>>;
    explicit Signal2D(int32_t *words, int64_t stride = Cols) : Base(words, Shape<1, 1, 1, Rows, Cols>(), Stride<1, 1, 1, DYNAMIC, 1>(stride)) {}
};

template <typename G>
inline void TNOTIFY(G &signal, int32_t value, NotifyOp op, argus::Site at = argus::Site::here()) {
    static_assert(std::is_same_v<typename G::DType, int32_t>, "TNOTIFY: signals are 32-bit integers");
    const ArgusGlobal walk = signal.argus_walk();
    argus::Issue(ARGUS_OP_TNOTIFY, at).global(walk).option(value).option(static_cast<int64_t>(op)).run();
}

template <typename G>
inline void TWAIT(G &signal, int32_t value, WaitCmp compare, argus::Site at = argus::Site::here()) {
    static_assert(std::is_same_v<typename G::DType, int32_t>, "TWAIT: signals are 32-bit integers");
    const ArgusGlobal walk = signal.argus_walk();
    argus::Issue(ARGUS_OP_TWAIT, at).global(walk).option(value).option(static_cast<int64_t>(compare)).run();
}

// Copies go from tensor to tensor; the staging tile is the device's.
template <AtomicType Atomic = AtomicType::AtomicNone, typename D, typename S, typename T>
    requires(is_tile_data_v<T>)
inline RecordEvent TPUT(D &dst, S &src, T &stage, argus::Site at = argus::Site::here()) {
    static_assert(std::is_same_v<typename D::DType, typename S::DType>, "TPUT: tensors have one element type");
    const ArgusGlobal to = dst.argus_walk(), from = src.argus_walk();
    argus::Issue(ARGUS_OP_TPUT, at).tile(stage.tile).global(to).global(from).option(static_cast<int64_t>(Atomic)).run();
    return {};
}
template <AtomicType Atomic = AtomicType::AtomicNone, typename D, typename S, typename T, typename U>
    requires(is_tile_data_v<T> && is_tile_data_v<U>)
inline RecordEvent TPUT(D &dst, S &src, T &ping, U &, argus::Site at = argus::Site::here()) {
    return TPUT<Atomic>(dst, src, ping, at);
}

struct AsyncSession {
    uint64_t handle = 0;
};

// What an asynchronous copy returns. The copy is complete by then.
struct AsyncEvent {
    uint64_t handle = 0;
    DmaEngine engine = DmaEngine::SDMA;

    bool valid() const { return true; }
    bool Wait(const AsyncSession &) const { return true; }
    bool Test(const AsyncSession &) const { return true; }
};

template <DmaEngine Engine = DmaEngine::SDMA, typename D, typename S>
inline AsyncEvent TPUT_ASYNC(D &dst, S &src, AsyncSession &, argus::Site at = argus::Site::here()) {
    static_assert(std::is_same_v<typename D::DType, typename S::DType>, "TPUT_ASYNC: tensors have one element type");
    const ArgusGlobal to = dst.argus_walk(), from = src.argus_walk();
    argus::Issue(ARGUS_OP_TPUT_ASYNC, at).global(to).global(from).run();
    return {0, Engine};
}

namespace sdma {
struct SdmaBaseConfig {
    uint64_t block_bytes;
    uint64_t comm_block_offset;
    uint32_t queue_num;
};
}  // namespace sdma

}  // namespace comm

struct PrefetchAsyncContext {
    uint8_t *workspace;
    comm::AsyncSession session;

    explicit PrefetchAsyncContext(uint8_t *workspace) : workspace(workspace) {}
};

template <typename G>
inline comm::AsyncEvent TPREFETCH_ASYNC(G &src, PrefetchAsyncContext &, argus::Site at = argus::Site::here()) {
    const ArgusGlobal walk = src.argus_walk();
    argus::Issue(ARGUS_OP_TPREFETCH_ASYNC, at).global(walk).run();
    return {0, comm::DmaEngine::SDMA};
}

}  // namespace pto

#endif  // ARGUS_COMM_HPP_
