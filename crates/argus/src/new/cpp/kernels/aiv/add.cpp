// sum = a + b
#include "block.h"

extern "C" void kernel_entry(int64_t *args) {
    Rows a(data(args, 0)), b(data(args, 1)), sum(data(args, 2));
    Block left, right, result;
    TASSIGN(left, 0);
    TASSIGN(right, kBytes);
    TASSIGN(result, 2 * kBytes);

    TLOAD(left, a);
    TLOAD(right, b);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(result, left, right);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(sum, result);
}
