// core: aiv aic
// expect: 3 4 5
// Names of the caches as the device's compiler knows them: with their enumerations and without, after a macro of the
// same name that a source defined before the header.
#include <cstdint>
#define SINGLE_CACHE_LINE 0
#define dcci(...)
#include <pto/pto-inst.hpp>
#include "intrinsic.h"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
    volatile __gm__ int32_t *out = reinterpret_cast<__gm__ int32_t *>(args[0]);
    out[0] = 3;
    dcci(&out[0], SINGLE_CACHE_LINE, CACHELINE_OUT);
    out[1] = 4;
    dcci(out, ENTIRE_DATA_CACHE);
    out[2] = 5;
    dcci(out + 2, cache_line_t::SINGLE_CACHE_LINE, dcci_dst_t::CACHELINE_OUT);
    dcci((__gm__ void *)0, cache_line_t::ENTIRE_DATA_CACHE);
    dsb(DSB_DDR);
    dsb((mem_dsb_t)0);
}
