// What an orchestration is called with.
#ifndef ARGUS_ORCHESTRATION_ENTRY_ARGS_HPP_
#define ARGUS_ORCHESTRATION_ENTRY_ARGS_HPP_

#include "argus/orchestration/task_args.hpp"

// How many arguments the orchestration wants; 0: it does not say.
struct PTO2OrchestrationConfig {
    int expected_arg_count;
};

#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST

class ChipTaskArgs : public Arg<256, 128> {};

#else

// A tensor argument before it is a tensor: an address and a shape.
struct ContinuousTensor {
    uint64_t data;
    uint32_t shapes[argus::MAX_DIMS];
    uint32_t ndims;
    DataType dtype;
    uint8_t child_memory;

    template <typename T>
    T *data_as() const {
        return reinterpret_cast<T *>(static_cast<uintptr_t>(data));
    }

    uint64_t numel() const {
        uint64_t count = 1;
        for (uint32_t i = 0; i < ndims; i++) {
            count *= shapes[i];
        }
        return count;
    }

    uint64_t nbytes() const { return numel() * get_element_size(dtype); }
};

static_assert(sizeof(ContinuousTensor) == 40, "an entry argument has 40 bytes");

class ChipStorageTaskArgs {
  public:
    static constexpr int32_t CAPACITY = 128;

    const ContinuousTensor &tensor(int32_t index) const {
        ARGUS_CHECK(index >= 0 && index < tensor_count_);
        return tensors_[index];
    }
    uint64_t scalar(int32_t index) const {
        ARGUS_CHECK(index >= 0 && index < scalar_count_);
        return scalars_[index];
    }
    int32_t tensor_count() const { return tensor_count_; }
    int32_t scalar_count() const { return scalar_count_; }

    // For the code that makes the call.
    void add_tensor(const ContinuousTensor &tensor) {
        ARGUS_CHECK(tensor_count_ < CAPACITY);
        tensors_[tensor_count_++] = tensor;
    }
    void add_scalar(uint64_t bits) {
        ARGUS_CHECK(scalar_count_ < CAPACITY);
        scalars_[scalar_count_++] = bits;
    }

  private:
    ContinuousTensor tensors_[CAPACITY];
    uint64_t scalars_[CAPACITY];
    int32_t tensor_count_ = 0;
    int32_t scalar_count_ = 0;
};

static_assert(sizeof(ChipStorageTaskArgs) == 6152, "128 tensors, 128 scalars, two counts");

inline Tensor from_tensor_arg(const ContinuousTensor &arg, bool manual_dep = false, int32_t version = 0) {
    return make_tensor_external(arg.data_as<void>(), arg.shapes, arg.ndims, arg.dtype, manual_dep, version);
}

#endif

#endif  // ARGUS_ORCHESTRATION_ENTRY_ARGS_HPP_
