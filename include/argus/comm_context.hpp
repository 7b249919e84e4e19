// What a kernel knows of the ranks it talks to.
#ifndef ARGUS_COMM_CONTEXT_HPP_
#define ARGUS_COMM_CONTEXT_HPP_

#include <stdint.h>

struct CommContext {
    uint64_t workSpace;
    uint64_t workSpaceSize;
    uint32_t rankId;
    uint32_t rankNum;
    uint64_t winSize;
    uint64_t windowsIn[64];
    uint64_t windowsOut[64];
};
static_assert(sizeof(CommContext) == 1056, "kernels find windows by offset");

using CommDeviceContext = CommContext;

#endif  // ARGUS_COMM_CONTEXT_HPP_
