// c = a b on the matrix core; operands are in slots 0, 1 and 2
#include "../matrix.h"

using InL1 = Tile<TileType::Mat, float, kEdge, kEdge, BLayout::ColMajor, kEdge, kEdge, SLayout::RowMajor, 512>;

extern "C" void kernel_entry(int64_t *args) {
    Matrix a(data(args, 0)), b(data(args, 1)), c(data(args, 2));
    InL1 a_l1, b_l1;
    TileLeft<float, kEdge, kEdge> left;
    TileRight<float, kEdge, kEdge> right;
    TileAcc<float, kEdge, kEdge> sum;
    TASSIGN(a_l1, 0);
    TASSIGN(b_l1, kBytes);
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    TASSIGN(sum, 0);

    TLOAD(a_l1, a);
    TLOAD(b_l1, b);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(left, a_l1);
    TMOV(right, b_l1);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    TMATMUL(sum, left, right);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    TSTORE(c, sum);
    pipe_sync();
}
