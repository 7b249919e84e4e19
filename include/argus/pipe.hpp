// Queues of tiles between the cores of a cluster.
#ifndef ARGUS_PIPE_HPP_
#define ARGUS_PIPE_HPP_

#include "argus/instructions.hpp"

namespace argus {

// The two ends of a queue on the device, where a kernel may hold back parts of the hand-over. Here an instruction is
// complete when it returns, so there is nothing to hold back; the entry offset moves slots in global memory.
struct PipeEnd {
    uint32_t entry_offset = 0;
    uint32_t tile = 0;

    void setEntryOffset(uint32_t offset) { entry_offset = offset; }
    void setentryOffset(uint32_t offset) { entry_offset = offset; }
    void setAllocateStatus(bool) {}
    void setRecordStatus(bool) {}
    void setWaitStatus(bool) {}
    void setFreeStatus(bool) {}
    uint32_t getTileId() const { return tile; }
    template <auto... Options>
    void record() {}
    template <typename T, auto... Options>
    void record() {}
};

}  // namespace argus

namespace pto {

template <uint8_t FlagID, uint8_t Dir, uint32_t SlotSize, uint32_t SlotNum, uint32_t LocalSlotNum = 2, bool NoSplit = false,
          bool UnitFlag = false>
struct TPipe {
    static_assert(Dir == DIR_C2V || Dir == DIR_V2C || Dir == DIR_BOTH || Dir == DIR_C2V_GM || Dir == DIR_V2C_GM || Dir == DIR_BOTH_GM,
                  "TPipe: this direction is not supported");

    argus::PipeEnd prod;
    argus::PipeEnd cons;

    TPipe(void *slots, uint32_t to_vector, uint32_t to_matrix) : slots(reinterpret_cast<uint64_t>(slots)), to_vector(to_vector), to_matrix(to_matrix) {}

    ArgusPipe argus_pipe(const argus::PipeEnd &end) const {
        constexpr uint8_t way = Dir > DIR_V2C_CTRL ? Dir - DIR_V2C_CTRL : Dir;
        return ArgusPipe{SlotSize, SlotNum, LocalSlotNum, FlagID, way, NoSplit, 0, slots == 0 ? 0 : slots + end.entry_offset};
    }

    // Where the device would put the next tile that is popped without an address of its own.
    template <typename T>
    uint32_t argus_landing() const {
        const uint64_t landing = (T::Loc == TileType::Vec ? to_vector : to_matrix) + uint64_t(cons.tile % LocalSlotNum) * SlotSize;
        // The last address is beyond every memory too.
        return landing < UINT32_MAX ? static_cast<uint32_t>(landing) : UINT32_MAX;
    }

  private:
    uint64_t slots;
    uint32_t to_vector;
    uint32_t to_matrix;
};

template <typename Pipe, typename T, TileSplitAxis Split>
inline RecordEvent TPUSH(Pipe &pipe, T &src, argus::Site at = argus::Site::here()) {
    static_assert(Split <= TILE_LEFT_RIGHT, "TPUSH: odd splits are not supported");
    const ArgusPipe fifo = pipe.argus_pipe(pipe.prod);
    argus::Issue issue(ARGUS_OP_TPUSH, at);
    issue.pipe = &fifo;
    issue.tile(src.tile).option(Split).run();
    pipe.prod.tile++;
    return {};
}

template <typename Pipe, typename T, TileSplitAxis Split>
inline RecordEvent TPOP(Pipe &pipe, T &dst, argus::Site at = argus::Site::here()) {
    static_assert(Split <= TILE_LEFT_RIGHT, "TPOP: odd splits are not supported");
    if (!dst.tile.assigned) {
        dst.tile.addr = pipe.template argus_landing<T>();
        dst.tile.assigned = 1;
    }
    const ArgusPipe fifo = pipe.argus_pipe(pipe.cons);
    argus::Issue issue(ARGUS_OP_TPOP, at);
    issue.pipe = &fifo;
    issue.tile(dst.tile).option(Split).run();
    pipe.cons.tile++;
    return {};
}

template <typename Pipe, TileSplitAxis Split>
inline RecordEvent TFREE(Pipe &pipe, argus::Site at = argus::Site::here()) {
    static_assert(Split <= TILE_LEFT_RIGHT, "TFREE: odd splits are not supported");
    const ArgusPipe fifo = pipe.argus_pipe(pipe.cons);
    argus::Issue issue(ARGUS_OP_TFREE, at);
    issue.pipe = &fifo;
    issue.option(Split).run();
    return {};
}

}  // namespace pto

#endif  // ARGUS_PIPE_HPP_
