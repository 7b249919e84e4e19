// What the device compiler supplies to a kernel.
#pragma once
#include <cstdint>
#define __global__
#define __gm__
#define __aicore__
extern "C" uint32_t stub_block;
extern "C" uint32_t stub_lane;
inline uint32_t get_block_idx() { return stub_block; }
inline uint32_t get_subblockid() { return stub_lane; }
