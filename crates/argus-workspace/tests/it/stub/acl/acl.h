// Device memory of the host program's calls, on the host. Fresh memory is not zero, and what is not freed is an
// error at the end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

using aclError = int;
using aclrtStream = void *;
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST };
enum aclrtMemcpyKind { ACL_MEMCPY_HOST_TO_DEVICE = 1, ACL_MEMCPY_DEVICE_TO_HOST = 2 };
constexpr aclError ACL_SUCCESS = 0;

inline int stub_allocations = 0;
inline int stub_stream = 0;

inline aclError aclInit(const char *) { return 0; }
inline aclError aclrtSetDevice(int32_t device) { return device; }
inline aclError aclrtResetDevice(int32_t) { return 0; }
inline aclError aclrtCreateStream(aclrtStream *stream)
{
    *stream = &stub_stream;
    return 0;
}
inline aclError aclrtDestroyStream(aclrtStream) { return 0; }
inline aclError aclrtSynchronizeStream(aclrtStream) { return 0; }
inline aclError aclrtMalloc(void **memory, std::size_t size, aclrtMemMallocPolicy)
{
    const std::size_t whole = (size + 511) / 512 * 512;
    *memory = std::aligned_alloc(512, whole);
    std::memset(*memory, 0xCD, whole);
    ++stub_allocations;
    return size == 0 ? 100000 : 0;
}
inline aclError aclrtFree(void *memory)
{
    std::free(memory);
    --stub_allocations;
    return 0;
}
inline aclError aclrtMemset(void *memory, std::size_t room, int32_t value, std::size_t size)
{
    std::memset(memory, value, size);
    return size <= room ? 0 : 100000;
}
inline aclError aclrtMemcpy(void *to, std::size_t room, const void *from, std::size_t size, aclrtMemcpyKind)
{
    std::memcpy(to, from, size);
    return size <= room ? 0 : 100000;
}
inline aclError aclFinalize() { return stub_allocations == 0 ? 0 : 500000; }
