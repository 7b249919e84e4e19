#pragma once
#include <cstdint>
struct Tensor {
    uint64_t addr, size, owner, start_offset;
    int32_t version;
    uint32_t ndims;
    uint8_t dtype, flags[3];
    uint32_t shapes[5];
    uint64_t extent;
    uint32_t strides[5];
    uint8_t reserved[36];
};
inline int32_t &element(Tensor *t, uint32_t r, uint32_t c)
{
    auto *base = reinterpret_cast<int32_t *>(t->addr) + t->start_offset;
    return base[r * t->strides[0] + (t->ndims > 1 ? c * t->strides[1] : 0)];
}
