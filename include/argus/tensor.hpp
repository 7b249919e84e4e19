// The tensor descriptor that orchestrations describe tasks with and kernels receive, and the small types in it.
//
// Kernels read fields only; orchestrations also take views. A front directory gives the type its public name:
// Tensor in the June generation, ChipTensor in August.
#ifndef ARGUS_TENSOR_HPP_
#define ARGUS_TENSOR_HPP_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

// Element types, by their number in descriptors and dumps.
enum class DataType : uint8_t {
    FLOAT32 = 0,
    FLOAT16 = 1,
    INT32 = 2,
    INT16 = 3,
    INT8 = 4,
    UINT8 = 5,
    BFLOAT16 = 6,
    INT64 = 7,
    UINT64 = 8,
    UINT16 = 9,
    UINT32 = 10,
    BOOL = 11,
    FP8E4M3FN = 12,
    FP8E8M0 = 13,
    FP4E2M1 = 14,
};

// Bytes of one element; 0 for a number that names no type. FP4 counts as one byte.
inline uint64_t get_element_size(DataType dtype) {
    constexpr uint8_t bytes[] = {4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1};
    const size_t number = static_cast<size_t>(dtype);
    return number < sizeof(bytes) ? bytes[number] : 0;
}

inline const char *get_dtype_name(DataType dtype) {
    constexpr const char *names[] = {"FLOAT32", "FLOAT16", "INT32",  "INT16",  "INT8",      "UINT8",   "BFLOAT16", "INT64",
                                     "UINT64",  "UINT16",  "UINT32", "BOOL",   "FP8E4M3FN", "FP8E8M0", "FP4E2M1"};
    const size_t number = static_cast<size_t>(dtype);
    return number < sizeof(names) / sizeof(names[0]) ? names[number] : "UNKNOWN";
}

enum class AddressSpace : uint8_t { HOST = 0, DEVICE = 1 };

// A task's name: ring in the upper half, the ring's counter in the lower. Left uninitialised by default, as
// arrays of ids are common.
struct PTO2TaskId {
    uint64_t raw;

    static constexpr PTO2TaskId make(uint8_t ring, uint32_t local) {
        return PTO2TaskId{static_cast<uint64_t>(ring) << 32 | local};
    }
    static constexpr PTO2TaskId invalid() { return PTO2TaskId{UINT64_MAX}; }
    constexpr bool is_valid() const { return raw != UINT64_MAX; }
    constexpr bool is_invalid() const { return raw == UINT64_MAX; }
    constexpr uint8_t ring() const { return static_cast<uint8_t>(raw >> 32); }
    constexpr uint32_t local() const { return static_cast<uint32_t>(raw); }
    constexpr bool operator==(const PTO2TaskId &other) const { return raw == other.raw; }
    constexpr bool operator!=(const PTO2TaskId &other) const { return raw != other.raw; }
};

// The bits of a scalar in a 64-bit slot, zero-extended from its own width.
template <typename T>
inline uint64_t to_u64(T value) {
    static_assert(sizeof(T) <= 8, "a scalar argument has at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    return bits;
}

// The scalar whose bits are in the low bytes of a slot.
template <typename T>
inline T from_u64(uint64_t bits) {
    static_assert(sizeof(T) <= 8, "a scalar argument has at most 8 bytes");
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

namespace argus {

// Ends the orchestration with an exception. Only orchestration objects define it: kernels take no views.
[[noreturn]] void assertion_failed(const char *condition, const char *file, int line);

}  // namespace argus

#define ARGUS_CHECK(condition) \
    ((condition) ? static_cast<void>(0) : ::argus::assertion_failed(#condition, __FILE__, __LINE__))

namespace argus {

constexpr uint32_t MAX_DIMS = 5;

struct Buffer {
    uint64_t addr;
    uint64_t size;
};

// A view of a buffer in device memory. Offsets and strides count elements; entries of shapes and strides at
// or beyond ndims mean nothing.
struct alignas(64) Tensor {
    Buffer buffer;
    PTO2TaskId owner_task_id;
    uint64_t start_offset;
    int32_t version;
    uint32_t ndims;
    DataType dtype;
    bool manual_dep;
    bool is_contiguous;
    AddressSpace address_space;
    uint32_t shapes[MAX_DIMS];
    uint64_t extent_elem_cache;
    uint32_t strides[MAX_DIMS];
    uint8_t reserved[36];

    template <typename T>
    T *data_as() const {
        return reinterpret_cast<T *>(static_cast<uintptr_t>(buffer.addr));
    }

    uint64_t numel() const {
        uint64_t count = 1;
        for (uint32_t i = 0; i < ndims; i++) {
            count *= shapes[i];
        }
        return count;
    }

    uint64_t nbytes() const { return numel() * get_element_size(dtype); }

    // The box of `shape` at `offsets`. A view is tracked unless the call says otherwise, whatever its parent was.
    Tensor view(const uint32_t shape[], const uint32_t offsets[], bool manual = false) const {
        Tensor result = *this;
        result.manual_dep = manual;
        bool empty = false;
        for (uint32_t i = 0; i < ndims; i++) {
            empty = empty || shape[i] == 0;
            result.shapes[i] = shape[i];
        }
        for (uint32_t i = 0; i < ndims && !empty; i++) {
            ARGUS_CHECK(static_cast<uint64_t>(offsets[i]) + shape[i] <= shapes[i]);
            result.start_offset += static_cast<uint64_t>(offsets[i]) * strides[i];
        }
        result.settle();
        return result;
    }

    // The same elements in another shape; only contiguous views have one.
    Tensor reshape(const uint32_t shape[], uint32_t rank, bool manual = false) const {
        ARGUS_CHECK(is_contiguous);
        ARGUS_CHECK(rank >= 1 && rank <= MAX_DIMS);
        Tensor result = *this;
        result.manual_dep = manual;
        result.ndims = rank;
        result.set_row_major(shape);
        ARGUS_CHECK(result.numel() == numel());
        result.settle();
        return result;
    }

    Tensor transpose(uint32_t x, uint32_t y, bool manual = false) const {
        ARGUS_CHECK(x < ndims && y < ndims);
        uint32_t order[MAX_DIMS] = {0, 1, 2, 3, 4};
        order[x] = y;
        order[y] = x;
        return permute(order, manual);
    }

    Tensor permute(const uint32_t order[], bool manual = false) const {
        Tensor result = *this;
        result.manual_dep = manual;
        uint32_t seen = 0;
        for (uint32_t i = 0; i < ndims; i++) {
            ARGUS_CHECK(order[i] < ndims);
            seen |= 1u << order[i];
            result.shapes[i] = shapes[order[i]];
            result.strides[i] = strides[order[i]];
        }
        ARGUS_CHECK(seen == (1u << ndims) - 1);
        result.settle();
        return result;
    }

    Tensor slice(uint32_t dim, uint32_t start, uint32_t end, uint32_t step = 1, bool manual = false) const {
        ARGUS_CHECK(dim < ndims && start <= end && end <= shapes[dim] && step >= 1);
        Tensor result = *this;
        result.manual_dep = manual;
        result.shapes[dim] = static_cast<uint32_t>((static_cast<uint64_t>(end) - start + step - 1) / step);
        result.strides[dim] = strides[dim] * step;
        if (start != end) {
            result.start_offset += static_cast<uint64_t>(start) * strides[dim];
        }
        result.settle();
        return result;
    }

    // The tensor in words, for a message. Only orchestrations have the function behind it.
    template <typename Self = Tensor>
    auto dump() const {
        return in_words(static_cast<const Self &>(*this));
    }

    // Takes over a shape and gives it row-major strides. Dimensions of size 0 count as 1, so that strides stay
    // positive.
    void set_row_major(const uint32_t shape[]) {
        uint64_t stride = 1;
        for (uint32_t i = ndims; i-- > 0;) {
            ARGUS_CHECK(stride <= UINT32_MAX);
            shapes[i] = shape[i];
            strides[i] = static_cast<uint32_t>(stride);
            stride *= shape[i] == 0 ? 1 : shape[i];
        }
    }

    // Derives extent and contiguity from shape and strides.
    void settle() {
        uint64_t extent = 1, expected = 1;
        bool row_major = true, empty = false;
        for (uint32_t i = ndims; i-- > 0;) {
            empty = empty || shapes[i] == 0;
            row_major = row_major && strides[i] == expected;
            expected *= shapes[i];
            extent += shapes[i] == 0 ? 0 : static_cast<uint64_t>(shapes[i] - 1) * strides[i];
        }
        is_contiguous = empty || row_major;
        extent_elem_cache = empty ? 0 : extent;
    }
};

static_assert(sizeof(Tensor) == 128 && alignof(Tensor) == 64, "kernels find fields by offset");
static_assert(offsetof(Tensor, start_offset) == 24 && offsetof(Tensor, dtype) == 40, "kernels find fields by offset");
static_assert(offsetof(Tensor, shapes) == 44 && offsetof(Tensor, strides) == 72, "kernels find fields by offset");
static_assert(std::is_trivial<Tensor>::value && std::is_trivial<PTO2TaskId>::value, "sources leave them uninitialised");

}  // namespace argus

#endif  // ARGUS_TENSOR_HPP_
