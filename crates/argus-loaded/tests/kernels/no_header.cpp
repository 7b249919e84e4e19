// core: aiv aic
// expect: 42
// A kernel that includes nothing of ours and names the core in an attribute of the vendor's compiler.
#include <cstdint>

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__ [aicore]
#endif

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    volatile int64_t turns = 42;
    int32_t *out = (__gm__ int32_t *)args[0];
    while (turns > 0) {
        *out += 1;
        turns = turns - 1;
    }
}
