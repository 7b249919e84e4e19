// August's workspaces of the copy engines; no simulated chip has one.
#ifndef ARGUS_DMA_WORKSPACE_HPP_
#define ARGUS_DMA_WORKSPACE_HPP_

#include "argus/intrinsic.hpp"

enum { DMA_WORKSPACE_SDMA = 0, DMA_WORKSPACE_URMA = 1, DMA_WORKSPACE_KIND_COUNT = 2 };

static inline uint8_t *get_dma_workspace(int64_t *args, int kind) {
    if (kind < 0 || kind >= DMA_WORKSPACE_KIND_COUNT) {
        return nullptr;
    }
    return reinterpret_cast<uint8_t *>(argus_global_context(args)->dma_workspace[kind]);
}

#endif  // ARGUS_DMA_WORKSPACE_HPP_
