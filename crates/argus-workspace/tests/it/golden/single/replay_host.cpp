// Puts the captured arguments of weigh into device memory, launches it, and brings back what it
// wrote. Run it in the workspace: payload files are read from payload/, results are written to output/.
#include <acl/acl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

extern "C" void launch_replay(uint32_t blocks, void *stream, void *args);

namespace {

constexpr std::size_t kSlots = 50;
constexpr std::size_t kLocalContextSlot = 48;
constexpr std::size_t kGlobalContextSlot = 49;
constexpr std::size_t kMaxDims = 5;
constexpr int32_t kDevice = 0;
constexpr uint32_t kBlocks = 1;

// What a kernel finds behind a tensor slot.
struct Tensor {
    uint64_t addr;
    uint64_t size;
    uint64_t owner;
    uint64_t start_offset;
    int32_t version;
    uint32_t ndims;
    uint8_t dtype;
    uint8_t manual_dep;
    uint8_t is_contiguous;
    uint8_t addr_space;
    uint32_t shapes[kMaxDims];
    uint64_t extent;
    uint32_t strides[kMaxDims];
    uint8_t reserved[36];
};
static_assert(sizeof(Tensor) == 128, "kernels read the descriptor by offset");
static_assert(offsetof(Tensor, dtype) == 40 && offsetof(Tensor, shapes) == 44, "kernels read the descriptor by offset");
static_assert(offsetof(Tensor, extent) == 64 && offsetof(Tensor, strides) == 72, "kernels read the descriptor by offset");

// What a kernel finds behind the two context slots; each on cache lines of its own.
struct Contexts {
    int32_t block_idx;
    int32_t block_num;
    uint8_t local_reserved[56];
    int32_t sub_block_id;
    uint8_t global_reserved[60];
};
static_assert(sizeof(Contexts) == 128 && offsetof(Contexts, sub_block_id) == 64, "contexts are read by offset");

struct Buffer {
    uint64_t size;
    const char *payload; // nullptr: every byte is `fill`
    uint8_t fill;
    const char *output; // nullptr: the kernel does not write it
};

struct TensorArg {
    std::size_t slot;
    std::size_t buffer;
    uint64_t base;     // bytes from the buffer's start to the address that the view counts from
    Tensor descriptor; // without its address
};

struct ScalarArg {
    std::size_t slot;
    uint64_t bits;
};

struct Core {
    int32_t block_idx;
    int32_t block_num;
    int32_t sub_block_id;
};

constexpr std::array<Buffer, 2> kBuffers = { {
    { 80u, "payload/buffer_00.bin", 0, nullptr },
    { 64u, "payload/buffer_01.bin", 0, "output/buffer_01.bin" },
} };

constexpr std::array<TensorArg, 3> kTensors = { {
    // a: input, INT32
    { 0, 0, 0u,
      { 0, 80u, UINT64_MAX, 3u, 0, 2, 2, 0, 0, 0,
        { 2u, 4u, 0u, 0u, 0u }, 17u, { 10u, 2u, 0u, 0u, 0u }, {} } },
    // b: input, INT32
    { 1, 1, 0u,
      { 0, 64u, UINT64_MAX, 0u, 0, 2, 2, 0, 1, 0,
        { 2u, 4u, 0u, 0u, 0u }, 8u, { 4u, 1u, 0u, 0u, 0u }, {} } },
    // out: output, INT32
    { 2, 1, 20u,
      { 0, 44u, UINT64_MAX, 3u, 0, 2, 2, 0, 1, 0,
        { 2u, 4u, 0u, 0u, 0u }, 8u, { 4u, 1u, 0u, 0u, 0u }, {} } },
} };

constexpr std::array<ScalarArg, 2> kScalars = { {
    { 4, 0xfffffffffffffffdu }, // weight
    { 5, 0x80000000000000ffu }, // marker
} };

constexpr std::array<Core, 1> kAicCores = { {
    { 0, 1, 0 },
} };

[[noreturn]] void fail(const std::string &what)
{
    std::fprintf(stderr, "replay_host: %s\n", what.c_str());
    std::exit(1);
}

void check(aclError code, const char *call)
{
    if (code != ACL_SUCCESS) {
        fail(std::string(call) + " failed with code " + std::to_string(static_cast<int>(code)));
    }
}

uint8_t *allocate(std::size_t bytes)
{
    void *memory = nullptr;
    check(aclrtMalloc(&memory, bytes == 0 ? 1 : bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    return static_cast<uint8_t *>(memory);
}

void to_device(void *device, const void *host, std::size_t bytes)
{
    if (bytes != 0) {
        check(aclrtMemcpy(device, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy to the device");
    }
}

std::vector<uint8_t> read_payload(const char *path, uint64_t size)
{
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) {
        fail(std::string("cannot open ") + path + "; run the program in the workspace");
    }
    if (static_cast<uint64_t>(file.tellg()) != size) {
        fail(std::string(path) + " does not have " + std::to_string(size) + " bytes");
    }
    std::vector<uint8_t> bytes(size);
    file.seekg(0);
    file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(size));
    if (!file) {
        fail(std::string("cannot read ") + path);
    }
    return bytes;
}

void write_output(const char *path, const std::vector<uint8_t> &bytes)
{
    if (mkdir("output", 0700) != 0 && errno != EEXIST) {
        fail("cannot make the directory output");
    }
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) {
        fail(std::string("cannot write ") + path);
    }
}

// One row of slots for each core, with the contexts of that core; nullptr when there is no core.
template <std::size_t N>
void *make_rows(const std::array<Core, N> &cores, const std::array<uint64_t, kSlots> &common, std::vector<void *> &owned)
{
    if (N == 0) {
        return nullptr;
    }
    auto *contexts = allocate(N * sizeof(Contexts));
    owned.push_back(contexts);
    std::vector<Contexts> host_contexts(N);
    std::vector<uint64_t> host_rows;
    for (std::size_t core = 0; core < N; ++core) {
        host_contexts[core] = Contexts{ cores[core].block_idx, cores[core].block_num, {}, cores[core].sub_block_id, {} };
        std::array<uint64_t, kSlots> row = common;
        const auto address = reinterpret_cast<uint64_t>(contexts + core * sizeof(Contexts));
        row[kLocalContextSlot] = address + offsetof(Contexts, block_idx);
        row[kGlobalContextSlot] = address + offsetof(Contexts, sub_block_id);
        host_rows.insert(host_rows.end(), row.begin(), row.end());
    }
    to_device(contexts, host_contexts.data(), N * sizeof(Contexts));
    auto *rows = allocate(host_rows.size() * sizeof(uint64_t));
    owned.push_back(rows);
    to_device(rows, host_rows.data(), host_rows.size() * sizeof(uint64_t));
    return rows;
}

} // namespace

int main()
{
    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(kDevice), "aclrtSetDevice");
    aclrtStream stream = nullptr;
    check(aclrtCreateStream(&stream), "aclrtCreateStream");

    std::vector<void *> owned;
    std::array<uint8_t *, kBuffers.size()> buffers = {};
    for (std::size_t index = 0; index < kBuffers.size(); ++index) {
        const Buffer &buffer = kBuffers[index];
        buffers[index] = allocate(buffer.size);
        owned.push_back(buffers[index]);
        if (buffer.payload != nullptr) {
            to_device(buffers[index], read_payload(buffer.payload, buffer.size).data(), buffer.size);
        } else if (buffer.size != 0) {
            check(aclrtMemset(buffers[index], buffer.size, buffer.fill, buffer.size), "aclrtMemset");
        }
    }

    std::array<uint64_t, kSlots> slots = {};
    auto *descriptors = allocate(kTensors.size() * sizeof(Tensor));
    owned.push_back(descriptors);
    for (std::size_t index = 0; index < kTensors.size(); ++index) {
        const TensorArg &tensor = kTensors[index];
        Tensor descriptor = tensor.descriptor;
        descriptor.addr = reinterpret_cast<uint64_t>(buffers[tensor.buffer]) + tensor.base;
        to_device(descriptors + index * sizeof(Tensor), &descriptor, sizeof(Tensor));
        slots[tensor.slot] = reinterpret_cast<uint64_t>(descriptors + index * sizeof(Tensor));
    }
    for (const ScalarArg &scalar : kScalars) {
        slots[scalar.slot] = scalar.bits;
    }

    void *aic_args = make_rows(kAicCores, slots, owned);
    launch_replay(kBlocks, stream, aic_args);
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");

    for (std::size_t index = 0; index < kBuffers.size(); ++index) {
        const Buffer &buffer = kBuffers[index];
        if (buffer.output == nullptr) {
            continue;
        }
        std::vector<uint8_t> bytes(buffer.size);
        if (buffer.size != 0) {
            check(aclrtMemcpy(bytes.data(), bytes.size(), buffers[index], bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST),
                  "aclrtMemcpy from the device");
        }
        write_output(buffer.output, bytes);
    }

    for (void *memory : owned) {
        check(aclrtFree(memory), "aclrtFree");
    }
    check(aclrtDestroyStream(stream), "aclrtDestroyStream");
    check(aclrtResetDevice(kDevice), "aclrtResetDevice");
    check(aclFinalize(), "aclFinalize");
    return 0;
}
