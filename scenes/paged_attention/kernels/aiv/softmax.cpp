// Weights of one block: p = exp(scale s - m), with m the maximum of each row and l the sum of its rounded weights.
// Columns outside the context have weight 0.
#include "../attention.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    using Block = Tile<TileType::Vec, float, kHeads, kBlock>;
    using Inside = Tile<TileType::Vec, float, kHeads, kBlock, BLayout::RowMajor, kHeads, -1>;
    using Padded = Tile<TileType::Vec, float, kHeads, kBlock, BLayout::RowMajor, kHeads, kBlock, SLayout::NoneBox, 512, PadValue::Min>;
    using Rounded = Tile<TileType::Vec, bfloat16_t, kHeads, kBlock>;
    using Column = Tile<TileType::Vec, float, kHeads, 1, BLayout::ColMajor>;
    using Row = Tile<TileType::Vec, float, 1, kHeads>;

    // The first operand is cut to the columns inside the context; the whole block follows it in memory.
    const uint32_t inside_cols = tensor(args, 0)->shapes[1];
    const float scale = from_u64<float>(args[4]);
    Matrix<float, kHeads, kBlock> scores(data<float>(args, 0));
    Matrix<bfloat16_t, kHeads, kBlock> weights(data<bfloat16_t>(args, 1));
    PerHead maxima(data<float>(args, 2)), sums(data<float>(args, 3));

    Block s, tmp;
    Inside inside(inside_cols);
    Padded padded;
    Rounded p;
    Column max, sum;
    Row max_row;
    TASSIGN(s, 0x0);
    TASSIGN(inside, 0x0);
    TASSIGN(padded, 0x0);
    TASSIGN(tmp, 0x1000);
    TASSIGN(p, 0x2000);
    TASSIGN(max, 0x3000);
    TASSIGN(sum, 0x3800);

    TLOAD(s, scores);
    HAND_OVER(PIPE_MTE2, PIPE_V);
    TFILLPAD_INPLACE(padded, inside);
    pipe_barrier(PIPE_V);
    TMULS(s, s, scale);
    pipe_barrier(PIPE_V);
    TROWMAX(max, s, tmp);
    pipe_barrier(PIPE_V);
    // A row without any column inside must not become inf - inf.
    TRESHAPE(max_row, max);
    TMAXS(max_row, max_row, -1e30f);
    pipe_barrier(PIPE_V);
    TROWEXPANDSUB(s, s, max);
    pipe_barrier(PIPE_V);
    TEXP(s, s);
    pipe_barrier(PIPE_V);
    TCVT(p, s, RoundMode::CAST_ROUND);
    pipe_barrier(PIPE_V);
    // The sum must be that of the weights that the next kernel will see.
    TCVT(s, p, RoundMode::CAST_ROUND);
    pipe_barrier(PIPE_V);
    TROWSUM(sum, s, tmp);
    HAND_OVER(PIPE_V, PIPE_MTE3);
    TSTORE(maxima, max);
    TSTORE(sums, sum);
    TSTORE(weights, p);
    pipe_sync();
}
