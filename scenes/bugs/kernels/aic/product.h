// c = a b: both operands through L1 to the matrix unit, and the product back out.
#pragma once
#include "../attention.h"

template <int M, int K, int N, typename AInL1, typename BInL1, typename A, typename B>
static inline __aicore__ void product(A a, B b, __gm__ float *c) {
    AInL1 a_l1;
    BInL1 b_l1;
    TileLeft<bfloat16_t, M, K> left;
    TileRight<bfloat16_t, K, N> right;
    TileAcc<float, M, N> sum;
    Matrix<float, M, N> result(c);
    TASSIGN(a_l1, 0x0);
    TASSIGN(b_l1, 0x8000);
    TASSIGN(left, 0x0);
    TASSIGN(right, 0x0);
    TASSIGN(sum, 0x0);

    TLOAD(a_l1, a);
    TLOAD(b_l1, b);
    HAND_OVER(PIPE_MTE2, PIPE_MTE1);
    TMOV(left, a_l1);
    TMOV(right, b_l1);
    HAND_OVER(PIPE_MTE1, PIPE_M);
#ifdef UNINITIALISED
    TMATMUL_ACC(sum, sum, left, right);
#else
    TMATMUL(sum, left, right);
#endif
    HAND_OVER(PIPE_M, PIPE_FIX);
    TSTORE(result, sum);
    pipe_sync();
}

// In boxes that lie column by column, rows inside; and the other way round, as a transposed operand arrives.
template <int Rows, int Cols>
using InL1 = Tile<TileType::Mat, bfloat16_t, Rows, Cols, BLayout::ColMajor, Rows, Cols, SLayout::RowMajor, 512>;
template <int Rows, int Cols>
using TransposedInL1 = Tile<TileType::Mat, bfloat16_t, Rows, Cols, BLayout::RowMajor, Rows, Cols, SLayout::ColMajor, 512>;
