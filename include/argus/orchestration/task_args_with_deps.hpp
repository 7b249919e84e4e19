// Task arguments that carry the ids they depend on, instead of borrowing an array.
#ifndef ARGUS_ORCHESTRATION_TASK_ARGS_WITH_DEPS_HPP_
#define ARGUS_ORCHESTRATION_TASK_ARGS_WITH_DEPS_HPP_

#include "argus/orchestration/task_args.hpp"

namespace argus {

template <typename Base, uint32_t Room>
class WithDeps : public Base {
  public:
    WithDeps() = default;
    WithDeps(const WithDeps &) = delete;
    WithDeps &operator=(const WithDeps &) = delete;

    void set_dependencies(const PTO2TaskId *, uint32_t) = delete;

    // Adds to the ids that were given before.
    template <typename... Ids>
    void add_dep(Ids... ids) {
        (add_one(ids), ...);
    }

    void reset() {
        Base::reset();
        count_ = 0;
    }

  private:
    void add_one(PTO2TaskId id) {
        if (count_ == Room) {
            return this->refuse("add_dep: more dependencies than the type has room for");
        }
        ids_[count_++] = id;
        this->use_dependencies(ids_, count_);
    }

    PTO2TaskId ids_[Room];
    uint32_t count_ = 0;
};

}  // namespace argus

#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST
template <uint32_t Room = 16>
class CoreTaskArgsWithDeps : public argus::WithDeps<CoreTaskArgs, Room> {};
#else
template <uint32_t Room = 16>
class ArgWithDeps : public argus::WithDeps<Arg, Room> {};
#endif

#endif  // ARGUS_ORCHESTRATION_TASK_ARGS_WITH_DEPS_HPP_
