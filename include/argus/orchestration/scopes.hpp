// Scopes: tensors that the runtime allocates inside one live until it ends.
#ifndef ARGUS_ORCHESTRATION_SCOPES_HPP_
#define ARGUS_ORCHESTRATION_SCOPES_HPP_

#include "argus/orchestration/runtime.hpp"

// How dependencies are found inside a scope: from overlapping views, or only from what is said.
enum class PTO2ScopeMode : uint8_t { AUTO = 0, MANUAL = 1 };

namespace argus {

inline void begin_scope(PTO2ScopeMode mode, const char *file, int line) {
    const ArgusOrchestrationTable &table = runtime();
    table.scope_begin(table.host, mode == PTO2ScopeMode::MANUAL, file, line);
}

inline void end_scope() {
    const ArgusOrchestrationTable &table = runtime();
    table.scope_end(table.host);
}

inline bool is_fatal() {
    const ArgusOrchestrationTable &table = runtime();
    return table.is_fatal(table.host) != 0;
}

struct Site {
    const char *file;
    int line;
};

// A scope as long as the object lives. After a fatal error it neither begins nor ends.
class ScopeGuard {
  public:
    explicit ScopeGuard(Site site, PTO2ScopeMode mode = PTO2ScopeMode::AUTO) : begun_(!is_fatal()) {
        if (begun_) {
            begin_scope(mode, site.file, site.line);
        }
    }
    // aicpu_build_graph passes its runtime everywhere and has one kind of scope.
    template <typename Runtime>
    ScopeGuard(Site site, Runtime *) : ScopeGuard(site) {}
    ScopeGuard(const ScopeGuard &) = delete;
    ScopeGuard &operator=(const ScopeGuard &) = delete;
    ~ScopeGuard() {
        if (begun_ && !is_fatal()) {
            end_scope();
        }
    }

  private:
    bool begun_;
};

}  // namespace argus

#define ARGUS_JOIN_(a, b) a##b
#define ARGUS_JOIN(a, b) ARGUS_JOIN_(a, b)
#define ARGUS_SCOPE_GUARD_(...) \
    ::argus::ScopeGuard ARGUS_JOIN(argus_scope_, __COUNTER__) { ::argus::Site{__FILE__, __LINE__}, ##__VA_ARGS__ }

// The block behind it is a scope.
#define PTO2_SCOPE(...) if (ARGUS_SCOPE_GUARD_(__VA_ARGS__); true)
// The rest of the enclosing block is a scope.
#define PTO2_SCOPE_GUARD(...) ARGUS_SCOPE_GUARD_(__VA_ARGS__)

#endif  // ARGUS_ORCHESTRATION_SCOPES_HPP_
