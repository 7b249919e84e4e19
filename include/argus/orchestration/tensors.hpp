// Tensors as an orchestration makes them: over memory that exists, or as requests for memory.
#ifndef ARGUS_ORCHESTRATION_TENSORS_HPP_
#define ARGUS_ORCHESTRATION_TENSORS_HPP_

#include <string>

#include "argus/orchestration/runtime.hpp"

#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST
using ChipTensor = argus::Tensor;
#else
using argus::Tensor;
#endif

// A tensor that the runtime is to allocate. It must outlive the submission it is added to.
struct TensorCreateInfo {
    uint64_t initial_value = 0;
    bool has_initial_value = false;
    uint8_t reserved[15] = {};
    uint64_t start_offset = 0;
    int32_t version = 0;
    uint32_t ndims = 0;
    DataType dtype = DataType::FLOAT32;
    bool manual_dep = false;
    bool is_contiguous = true;
    uint8_t padding = 0;
    uint32_t shapes[argus::MAX_DIMS] = {};

    TensorCreateInfo() = default;

    TensorCreateInfo(const uint32_t shape[], uint32_t rank, DataType type = DataType::FLOAT32, bool manual = false)
        : ndims(rank), dtype(type), manual_dep(manual) {
        ARGUS_CHECK(rank >= 1 && rank <= argus::MAX_DIMS);
        for (uint32_t i = 0; i < rank; i++) {
            shapes[i] = shape[i];
        }
    }

    // Fills the new buffer with the raw bits of this element.
    template <typename T = uint64_t>
    void set_initial_value(T value) {
        initial_value = to_u64(value);
        has_initial_value = true;
    }

    // Before the runtime pads it.
    uint64_t buffer_size_bytes() const {
        uint64_t bytes = get_element_size(dtype);
        for (uint32_t i = 0; i < ndims; i++) {
            bytes *= shapes[i];
        }
        return bytes;
    }
};

static_assert(sizeof(TensorCreateInfo) == sizeof(ArgusCreateInfo), "the runtime reads it as an ArgusCreateInfo");
static_assert(offsetof(TensorCreateInfo, shapes) == offsetof(ArgusCreateInfo, shapes), "likewise");

namespace argus {

inline std::string in_words(const Tensor &tensor) {
    std::string text = std::string(get_dtype_name(tensor.dtype)) + " [";
    for (uint32_t i = 0; i < tensor.ndims && i < MAX_DIMS; i++) {
        text += (i == 0 ? "" : ", ") + std::to_string(tensor.shapes[i]);
    }
    return text + "] at element " + std::to_string(tensor.start_offset) + " of " + std::to_string(tensor.buffer.size) + " bytes";
}

inline Tensor contiguous_at(uint64_t addr, uint64_t bytes, const uint32_t shape[], uint32_t rank, DataType dtype,
                            bool manual, int32_t version) {
    ARGUS_CHECK(rank >= 1 && rank <= MAX_DIMS);
    Tensor tensor{};
    tensor.buffer = {addr, bytes};
    tensor.owner_task_id = PTO2TaskId::invalid();
    tensor.version = version;
    tensor.ndims = rank;
    tensor.dtype = dtype;
    tensor.manual_dep = manual;
    tensor.set_row_major(shape);
    tensor.settle();
    return tensor;
}

inline Tensor external(void *addr, const uint32_t shape[], uint32_t rank, DataType dtype, bool manual, int32_t version,
                       AddressSpace space) {
    Tensor tensor = contiguous_at(reinterpret_cast<uintptr_t>(addr), 0, shape, rank, dtype, manual, version);
    tensor.buffer.size = tensor.nbytes();
    tensor.address_space = space;
    return tensor;
}

}  // namespace argus

// A contiguous tensor over memory of the caller.
#if ARGUS_FRONT_GENERATION >= ARGUS_GENERATION_AUGUST
inline argus::Tensor make_tensor_external(void *addr, const uint32_t shapes[], uint32_t ndims,
                                          DataType dtype = DataType::FLOAT32, bool manual_dep = false,
                                          int32_t version = 0, AddressSpace space = AddressSpace::HOST) {
    return argus::external(addr, shapes, ndims, dtype, manual_dep, version, space);
}
#else
inline argus::Tensor make_tensor_external(void *addr, const uint32_t shapes[], uint32_t ndims,
                                          DataType dtype = DataType::FLOAT32, bool manual_dep = false,
                                          int32_t version = 0) {
    return argus::external(addr, shapes, ndims, dtype, manual_dep, version, AddressSpace::HOST);
}
#endif

// A contiguous tensor of a create-info's shape at an address.
inline void init_tensor_from_create_info(argus::Tensor &tensor, const TensorCreateInfo &info, void *addr,
                                         uint64_t size) {
    tensor = argus::contiguous_at(reinterpret_cast<uintptr_t>(addr), size, info.shapes, info.ndims, info.dtype,
                                  info.manual_dep, info.version);
}

#endif  // ARGUS_ORCHESTRATION_TENSORS_HPP_
