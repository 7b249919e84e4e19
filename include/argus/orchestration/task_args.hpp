// The arguments of a task while an orchestration describes it.
//
// Tensors and create-infos are remembered by address and must outlive the submission. A mistake is latched: the
// first one is reported when the task is submitted.
#ifndef ARGUS_ORCHESTRATION_TASK_ARGS_HPP_
#define ARGUS_ORCHESTRATION_TASK_ARGS_HPP_

#include "argus/orchestration/tensors.hpp"

enum class TensorArgType : int32_t { INPUT = 0, OUTPUT = 1, INOUT = 2, OUTPUT_EXISTING = 3, NO_DEP = 4 };

enum class PredicateOp : uint32_t { NONE = 0, EQ = 1, NE = 2, GT = 3, LT = 4, GE = 5, LE = 6 };

// A condition on one element, looked at when the task is ready: if it does not hold, the task completes without
// running.
struct CoreTaskPredicate {
    struct Operand {
        const argus::Tensor *tensor = nullptr;
        uint32_t ndims = 0;
        uint32_t indices[argus::MAX_DIMS] = {};
    };
    Operand operand = {};
    PredicateOp op = PredicateOp::NONE;
    int64_t target = 0;
};

namespace argus {

constexpr int32_t TIMING_SLOTS = 16;

// How often a task runs. Sources find out which of the two spellings exists, so there is only ever one.
class LaunchSpec {
  public:
#if ARGUS_FRONT_A5 && ARGUS_FRONT_RUNTIME == ARGUS_RUNTIME_TRB
    void set_core_num(int16_t count) { blocks_ = count; }
#else
    void set_block_num(int16_t count) { blocks_ = count; }
#endif
    void set_require_sync_start(bool require) { sync_start_ = require; }

    int32_t blocks() const { return blocks_; }
    bool sync_start() const { return sync_start_; }

  private:
    int16_t blocks_ = 1;
    bool sync_start_ = false;
};

// One tensor of an argument list: a tensor, or a create-info.
class TensorRef {
  public:
    TensorRef(const void *item, TensorArgType type) : item_(item), type_(type) {}
    TensorRef(const TensorRef &) = delete;
    TensorRef &operator=(const TensorRef &) = delete;

    const Tensor &ref() const {
        ARGUS_CHECK(type_ != TensorArgType::OUTPUT);
        return *static_cast<const Tensor *>(item_);
    }
    const TensorCreateInfo &create_info() const {
        ARGUS_CHECK(type_ == TensorArgType::OUTPUT);
        return *static_cast<const TensorCreateInfo *>(item_);
    }

  private:
    const void *item_;
    TensorArgType type_;
};

// The type under which a dump shows a scalar. June shows all of them as raw bits.
template <typename T>
constexpr DataType scalar_type() {
#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST
    if constexpr (std::is_enum_v<T>) {
        return scalar_type<std::underlying_type_t<T>>();
    } else if constexpr (std::is_same_v<T, float>) {
        return DataType::FLOAT32;
    } else if constexpr (std::is_same_v<T, bool>) {
        return DataType::BOOL;
    } else if constexpr (std::is_integral_v<T>) {
        constexpr bool sign = std::is_signed_v<T>;
        switch (sizeof(T)) {
            case 1:
                return sign ? DataType::INT8 : DataType::UINT8;
            case 2:
                return sign ? DataType::INT16 : DataType::UINT16;
            case 4:
                return sign ? DataType::INT32 : DataType::UINT32;
            default:
                return sign ? DataType::INT64 : DataType::UINT64;
        }
    }
#endif
    return DataType::UINT64;
}

template <uint32_t MaxTensors, uint32_t MaxScalars>
class TaskArgs {
  public:
    LaunchSpec launch_spec;
    bool has_error = false;
    const char *error_msg = nullptr;

    // Tensors that the task reads.
    template <typename... Ts>
    void add_input(Ts &&...tensors) {
        (add_existing(tensors, TensorArgType::INPUT, Lvalue<Ts>()), ...);
    }

    // Tensors that the task reads and writes.
    template <typename... Ts>
    void add_inout(Ts &&...tensors) {
        (add_existing(tensors, TensorArgType::INOUT, Lvalue<Ts>()), ...);
    }

    // Tensors that the task reads without being ordered after their writers.
    template <typename... Ts>
    void add_no_dep(Ts &&...tensors) {
        (add_existing(tensors, TensorArgType::NO_DEP, Lvalue<Ts>()), ...);
    }

    // Existing tensors that the task only writes, or create-infos of tensors that the runtime allocates for it.
    template <typename First, typename... Ts>
    void add_output(First &&first, Ts &&...rest) {
        using Kind = std::remove_cv_t<std::remove_reference_t<First>>;
        static_assert((std::is_same_v<std::remove_cv_t<std::remove_reference_t<Ts>>, Kind> && ...),
                      "add_output takes tensors or create-infos, not both in one call");
        add_one_output(first, Lvalue<First>());
        (add_one_output(rest, Lvalue<Ts>()), ...);
    }

    // Numbers, each in a slot of its own, zero-extended from its own width.
    template <typename... Ts>
    void add_scalar(Ts &&...values) {
        (add_one_scalar(values, std::is_lvalue_reference_v<Ts>), ...);
    }

    void add_scalars(const uint64_t *values, uint32_t count) {
        for (uint32_t i = 0; i < count; i++) {
            push_scalar(values[i], DataType::UINT64, nullptr);
        }
    }

    void add_scalars_i32(const int32_t *values, uint32_t count) {
        for (uint32_t i = 0; i < count; i++) {
            push_scalar(to_u64(values[i]), scalar_type<int32_t>(), nullptr);
        }
    }

    template <uint32_t T, uint32_t S>
    void copy_scalars_from(const TaskArgs<T, S> &from, uint32_t first, uint32_t count) {
        if (first > from.scalar_total() || count > from.scalar_total() - first) {
            return refuse("copy_scalars_from: the source has fewer scalars");
        }
        for (uint32_t i = 0; i < count; i++) {
            push_scalar(from.scalar_bits(first + i), from.scalar_dtype(first + i), nullptr);
        }
    }

    // Tasks that must complete first. The array is the caller's and is read at the submission.
    void set_dependencies(const PTO2TaskId *ids, uint32_t count) {
        if (count != 0 && dependency_count_ != 0) {
            return refuse("set_dependencies was called twice");
        }
        dependencies_ = ids;
        dependency_count_ = count;
    }

    // Every dependency here orders and retains nothing else, whatever its kind.
    template <typename Kind>
    void set_dependencies_with_kinds(const PTO2TaskId *ids, const Kind *, uint32_t count) {
        set_dependencies(ids, count);
    }

    // Marks arguments for the capture of marked arguments. They are found by address, so they are marked after they
    // were added; without arguments the whole task is marked.
    template <typename... Ts>
    void dump(Ts &&...arguments) {
        if constexpr (sizeof...(Ts) == 0) {
            static_assert(sizeof...(Ts) != 0 || ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST,
                          "dump names what it marks");
            marks_all_ = true;
        } else {
            (mark(arguments, Lvalue<Ts>()), ...);
        }
    }

#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST
    // A hint that consumers may be placed before this task is done. It changes no result; here it changes nothing.
    void set_allow_early_resolve(bool allow = true) { early_resolve_ = allow; }

    void set_predicate(const CoreTaskPredicate &predicate) { predicate_ = predicate; }

    // A slot in which the vendor's tools time the task.
    void set_task_timing_slot(int32_t slot) {
        if (slot < 0 || slot >= TIMING_SLOTS) {
            return refuse("set_task_timing_slot: a slot is 0 to 15");
        }
        timing_slot_ = static_cast<int8_t>(slot);
    }

    TensorRef tensor(int32_t index) const {
        ARGUS_CHECK(index >= 0 && static_cast<uint32_t>(index) < tensor_count_);
        return TensorRef(tensors_[index], static_cast<TensorArgType>(kinds_[index]));
    }

    uint64_t scalar(int32_t index) const {
        ARGUS_CHECK(index >= 0 && static_cast<uint32_t>(index) < scalar_count_);
        return scalars_[index];
    }

    TensorArgType tag(int32_t index) const {
        ARGUS_CHECK(index >= 0 && static_cast<uint32_t>(index) < tensor_count_);
        return static_cast<TensorArgType>(kinds_[index]);
    }
#endif

    int32_t tensor_count() const { return static_cast<int32_t>(tensor_count_); }
    int32_t scalar_count() const { return static_cast<int32_t>(scalar_count_); }

    // Everything but the launch specification.
    void reset() {
        tensor_count_ = 0;
        scalar_count_ = 0;
        has_error = false;
        error_msg = nullptr;
        dependencies_ = nullptr;
        dependency_count_ = 0;
        marks_ = 0;
        marks_all_ = false;
        predicate_ = {};
        early_resolve_ = false;
        timing_slot_ = -1;
    }

    void clear() { reset(); }

    // For the rest of these headers.

    ArgusTaskArgs describe() const {
        static_assert(sizeof(PTO2TaskId) == sizeof(uint64_t), "ids travel as numbers");
        const uint32_t arguments = tensor_count_ + scalar_count_;
        ArgusTaskArgs args{};
        args.tensors = tensors_;
        args.tensor_kinds = kinds_;
        args.scalars = scalars_;
        args.scalar_dtypes = types_;
        args.dependencies = reinterpret_cast<const uint64_t *>(dependencies_);
        args.error = has_error ? error_msg : nullptr;
        args.marks = !marks_all_ ? marks_ : arguments >= 64 ? UINT64_MAX : (uint64_t{1} << arguments) - 1;
        args.tensor_count = tensor_count_;
        args.scalar_count = scalar_count_;
        args.dependency_count = dependency_count_;
        args.blocks = launch_spec.blocks();
        args.sync_start = launch_spec.sync_start();
        args.early_resolve = early_resolve_;
        args.timing_slot = timing_slot_;
        return args;
    }

    const CoreTaskPredicate &predicate() const { return predicate_; }
    uint32_t scalar_total() const { return scalar_count_; }
    uint64_t scalar_bits(uint32_t index) const { return scalars_[index]; }
    DataType scalar_dtype(uint32_t index) const { return static_cast<DataType>(types_[index]); }

    void refuse(const char *message) {
        if (!has_error) {
            has_error = true;
            error_msg = message;
        }
    }

  protected:
    void push_tensor(const void *item, TensorArgType type) {
        if (scalar_count_ != 0) {
            return refuse("tensors must be added before scalars");
        }
        if (tensor_count_ == MaxTensors) {
            return refuse("too many tensors for one task");
        }
        tensors_[tensor_count_] = item;
        kinds_[tensor_count_++] = static_cast<uint8_t>(type);
    }

    // Without the check for a second call: ids that accumulate.
    void use_dependencies(const PTO2TaskId *ids, uint32_t count) {
        dependencies_ = ids;
        dependency_count_ = count;
    }

  private:
    // Says at compile time that a temporary would be gone before the submission.
    template <typename T>
    struct Lvalue {
        static_assert(std::is_lvalue_reference_v<T>, "tensors and create-infos must outlive the submission");
    };

    template <typename Any>
    void add_existing(const Tensor &tensor, TensorArgType type, Any) {
        push_tensor(&tensor, type);
    }

    template <typename Any>
    void add_one_output(const Tensor &tensor, Any) {
        push_tensor(&tensor, TensorArgType::OUTPUT_EXISTING);
    }

    template <typename Any>
    void add_one_output(const TensorCreateInfo &info, Any) {
        push_tensor(&info, TensorArgType::OUTPUT);
    }

    template <typename T>
    void add_one_scalar(const T &value, bool lvalue) {
        static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>, "a scalar is a number");
        push_scalar(to_u64(value), scalar_type<T>(), lvalue ? &value : nullptr);
    }

    void push_scalar(uint64_t bits, DataType type, const void *source) {
        if (scalar_count_ == MaxScalars) {
            return refuse("too many scalars for one task");
        }
        scalars_[scalar_count_] = bits;
        sources_[scalar_count_] = source;
        types_[scalar_count_++] = static_cast<uint8_t>(type);
    }

    template <typename Any>
    void mark(const Tensor &tensor, Any) {
        mark_tensor(&tensor, false);
    }

    template <typename Any>
    void mark(const TensorCreateInfo &info, Any) {
        mark_tensor(&info, true);
    }

    template <typename T, typename Any>
    std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>> mark(const T &scalar, Any) {
        static_assert(sizeof(T) == 0 || ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST, "dump marks tensors only");
        for (uint32_t i = 0; i < scalar_count_; i++) {
            if (sources_[i] == &scalar) {
                marks_ |= uint64_t{1} << ((tensor_count_ + i) & 63);
                return;
            }
        }
        refuse("dump marks a scalar that was not added");
    }

    void mark_tensor(const void *item, bool created) {
        for (uint32_t i = 0; i < tensor_count_; i++) {
            if (tensors_[i] == item && (kinds_[i] == ARGUS_TENSOR_OUTPUT) == created) {
                marks_ |= uint64_t{1} << (i & 63);
                return;
            }
        }
        refuse("dump marks a tensor that was not added");
    }

    const void *tensors_[MaxTensors];
    uint64_t scalars_[MaxScalars];
    const void *sources_[MaxScalars];
    const PTO2TaskId *dependencies_ = nullptr;
    uint64_t marks_ = 0;
    uint32_t tensor_count_ = 0;
    uint32_t scalar_count_ = 0;
    uint32_t dependency_count_ = 0;
    uint8_t kinds_[MaxTensors];
    uint8_t types_[MaxScalars];
    bool marks_all_ = false;
    bool early_resolve_ = false;
    int8_t timing_slot_ = -1;
    CoreTaskPredicate predicate_ = {};
};

}  // namespace argus

#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST
template <uint32_t MaxTensors, uint32_t MaxScalars>
class Arg : public argus::TaskArgs<MaxTensors, MaxScalars> {
  public:
    Arg() = default;
    Arg(const Arg &) = delete;
    Arg &operator=(const Arg &) = delete;
};

using CoreTaskArgs = Arg<32, 16>;
#elif ARGUS_FRONT_RUNTIME == ARGUS_RUNTIME_ABG
// Create-infos are copied, so temporaries will do.
class Arg : public argus::TaskArgs<16, 128> {
  public:
    using argus::TaskArgs<16, 128>::add_output;

    Arg() = default;
    Arg(const Arg &) = delete;
    Arg &operator=(const Arg &) = delete;

    void add_output(const TensorCreateInfo &info) {
        if (created_ == 16) {
            return refuse("too many tensors for one task");
        }
        infos_[created_] = info;
        push_tensor(&infos_[created_++], TensorArgType::OUTPUT);
    }

    void add_output(TensorCreateInfo &info) { add_output(static_cast<const TensorCreateInfo &>(info)); }

    void add_output(TensorCreateInfo &&info) { add_output(static_cast<const TensorCreateInfo &>(info)); }

    void reset() {
        argus::TaskArgs<16, 128>::reset();
        created_ = 0;
    }

  private:
    TensorCreateInfo infos_[16];
    uint32_t created_ = 0;
};
#elif ARGUS_FRONT_GENERATION == ARGUS_GENERATION_APRIL
class Arg : public argus::TaskArgs<16, 128> {};
#else
class Arg : public argus::TaskArgs<16, 32> {};
#endif

#endif  // ARGUS_ORCHESTRATION_TASK_ARGS_HPP_
