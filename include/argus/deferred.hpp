// What a kernel leaves behind if its task is complete only later: conditions on words in memory, or a code.
#ifndef ARGUS_DEFERRED_HPP_
#define ARGUS_DEFERRED_HPP_

#include "argus/bound.hpp"
#include "argus/intrinsic.hpp"

namespace argus {

// The one kind of condition that can come true here: a counter has reached a value. Copy engines, which the other kinds
// wait for, no simulated chip has.
constexpr int32_t COUNTER_REACHED = 0;

// The conditions of one call of a kernel. The support source makes room for them and waits for them afterwards.
struct Deferred {
    uint32_t count = 0;
    int32_t error = 0;
    // Where the last condition was registered.
    Site at = {"", 0, 0};
    DeferredCompletionEntry entries[MAX_COMPLETIONS_PER_TASK];
};

extern __attribute__((visibility("hidden"))) __thread Deferred *deferred;

}  // namespace argus

#endif  // ARGUS_DEFERRED_HPP_
