// What an object holds of the engine it is bound to. The support source defines it, headers use it.
#ifndef ARGUS_BOUND_HPP_
#define ARGUS_BOUND_HPP_

#include "argus/kernel_abi.h"

namespace argus {

// Ends a kernel whose instruction the engine did not complete. The engine remembers why.
struct __attribute__((visibility("hidden"))) Halt {};

// Hidden, so that objects with equal names never see each other's.
extern __attribute__((visibility("hidden"))) const ArgusKernelTable *engine;
// The core that this thread runs on. `__thread` and not `thread_local`: it is a plain word without set-up or clean-up.
extern __attribute__((visibility("hidden"))) __thread ArgusCore *core;

// A place in the kernel's source. As a default argument it is the place of the call.
struct Site {
    const char *file;
    uint32_t length;
    uint32_t line;

    static constexpr Site here(const char *file = __builtin_FILE(), uint32_t length = __builtin_strlen(__builtin_FILE()),
                               uint32_t line = __builtin_LINE()) {
        return {file, length, line};
    }
};

// An instruction in the making. Everything typed is filled in by templates; the call is not one.
struct Issue : ArgusInstruction {
    // What the counts do not reach is never read, so it is not cleared: that would cost more than all the rest.
    Issue(ArgusOpcode code, const Site &at) {
        opcode = static_cast<uint16_t>(code);
        tile_count = 0;
        global_count = 0;
        scalar_count = 0;
        line = at.line;
        file = at.file;
        file_length = at.length;
        pipe = nullptr;
        result = nullptr;
    }

    Issue &tile(const ArgusTile &operand) {
        tiles[tile_count++] = &operand;
        return *this;
    }

    Issue &global(const ArgusGlobal &operand) {
        globals[global_count++] = &operand;
        return *this;
    }

    Issue &scalar(uint8_t dtype, uint64_t bits) {
        scalar_types[scalar_count] = dtype;
        scalars[scalar_count++] = bits;
        return *this;
    }

    // An option: a template argument, an offset, an enumerator.
    Issue &option(int64_t value) { return scalar(7, static_cast<uint64_t>(value)); }

    void run() const {
        if (engine->issue(core, this) != ARGUS_DONE) {
            throw Halt();
        }
    }
};

}  // namespace argus

#endif  // ARGUS_BOUND_HPP_
