// z = x * y, with operands from FIRST_SLOT on: the slots before belong to other members of the task
#include "../matrix.h"

using Block = Tile<TileType::Vec, float, kEdge, kEdge>;

extern "C" void kernel_entry(int64_t *args) {
    Matrix x(data(args, FIRST_SLOT)), y(data(args, FIRST_SLOT + 1)), z(data(args, FIRST_SLOT + 2));
    Block a, b, c;
    TASSIGN(a, 0);
    TASSIGN(b, kBytes);
    TASSIGN(c, 2 * kBytes);

    TLOAD(a, x);
    TLOAD(b, y);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMUL(c, a, b);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(z, c);
    pipe_sync();
}
