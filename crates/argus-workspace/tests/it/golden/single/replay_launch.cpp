// The only place that knows the launch syntax of the device compiler.
#include <cstdint>

#ifndef __aicore__
#define __aicore__ [aicore]
#endif

extern "C" __global__ __aicore__ void replay_entry(__gm__ int64_t *args);

extern "C" void launch_replay(uint32_t blocks, void *stream, void *args)
{
    replay_entry<<<blocks, nullptr, stream>>>((__gm__ int64_t *)args);
}
