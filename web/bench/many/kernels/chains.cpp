// Each chain works on a tile of its own: odd steps add one, even steps halve, so that every value stays 1 or 2.
#include <stdint.h>

#include "pto_orchestration_api.h"

extern "C" void aicpu_orchestration_entry(const ChipStorageTaskArgs &args) {
    Tensor tiles = from_tensor_arg(args.tensor(0));
    uint32_t shape[2] = {8, 8};
    for (uint32_t step = 0; step < 391; ++step) {
        // A scope for each step, so that its tasks can be let go of.
        PTO2_SCOPE() {
            for (uint32_t chain = 0; chain < 256; ++chain) {
                uint32_t offset[2] = {8 * chain, 0};
                Tensor tile = tiles.view(shape, offset);
                Arg arg;
                arg.add_inout(tile);
                rt_submit_aiv_task(step % 2, arg);
            }
        }
    }
}
