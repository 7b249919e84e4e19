// Merges a block into the running state; after the last block the output is the state's values by its sums. The first
// block replaces the state, which is never read then.
#include "../attention.h"

using Values = Tile<TileType::Vec, float, kHeads, kHeadDim>;
using Column = Tile<TileType::Vec, float, kHeads, 1, BLayout::ColMajor>;
using Row = Tile<TileType::Vec, float, 1, kHeads>;

// Rescales block and state to the larger maximum of each row and adds them up: maxima to `m_max`, sums and values to
// the state's tiles. The block's tiles are used up.
static inline __aicore__ void merge(Column &m_new, Column &l_new, Values &o_new, Column &m, Column &l, Values &o, Column &m_max) {
    Row m_new_row, l_new_row, m_row, l_row, max_row;
    TRESHAPE(m_new_row, m_new);
    TRESHAPE(l_new_row, l_new);
    TRESHAPE(m_row, m);
    TRESHAPE(l_row, l);
    TRESHAPE(max_row, m_max);
    TMAX(max_row, m_row, m_new_row);
    pipe_barrier(PIPE_V);
    // The maxima become the factors exp(m - max) of state and block.
    TSUB(m_row, m_row, max_row);
    TSUB(m_new_row, m_new_row, max_row);
    pipe_barrier(PIPE_V);
    TEXP(m_row, m_row);
    TEXP(m_new_row, m_new_row);
    pipe_barrier(PIPE_V);
    TMUL(l_row, m_row, l_row);
    TMUL(l_new_row, m_new_row, l_new_row);
    TROWEXPANDMUL(o, o, m);
    TROWEXPANDMUL(o_new, o_new, m_new);
    pipe_barrier(PIPE_V);
    TADD(l_row, l_row, l_new_row);
    TADD(o, o, o_new);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    const bool is_first = args[7] != 0, is_last = args[8] != 0;
    PerHead block_m(data<float>(args, 0)), block_l(data<float>(args, 1));
    Matrix<float, kHeads, kHeadDim> block_o(data<float>(args, 2));
    PerHead state_m(data<float>(args, 3)), state_l(data<float>(args, 4));
    Matrix<float, kHeads, kHeadDim> state_o(data<float>(args, 5)), out(data<float>(args, 6));

    Column m_new, l_new, m, l, m_max;
    Values o_new, o;
    TASSIGN(m_new, 0x0);
    TASSIGN(l_new, 0x200);
    TASSIGN(m, 0x400);
    TASSIGN(l, 0x600);
    TASSIGN(m_max, 0x800);
    TASSIGN(o_new, 0x1000);
    TASSIGN(o, 0x2000);

    TLOAD(m_new, block_m);
    TLOAD(l_new, block_l);
    TLOAD(o_new, block_o);
    Column m_done = m_new, l_done = l_new;
    Values o_done = o_new;
    if (is_first) {
        HAND_OVER(PIPE_MTE2, PIPE_MTE3);
    } else {
        TLOAD(m, state_m);
        TLOAD(l, state_l);
        TLOAD(o, state_o);
        HAND_OVER(PIPE_MTE2, PIPE_V);
        merge(m_new, l_new, o_new, m, l, o, m_max);
        HAND_OVER(PIPE_V, PIPE_MTE3);
        m_done = m_max;
        l_done = l;
        o_done = o;
    }
    TSTORE(state_m, m_done);
    TSTORE(state_l, l_done);
    if (is_first || !is_last) {
        // Nothing reads the values that the last block would leave.
        TSTORE(state_o, o_done);
    }
    if (is_last) {
        if (is_first) {
            HAND_OVER(PIPE_MTE2, PIPE_V);
        } else {
            pipe_barrier(PIPE_V);
        }
        // Not in place: the store of the state may still be reading.
        Values quotient = is_first ? o : o_new;
        TROWEXPANDDIV(quotient, o_done, l_done);
        HAND_OVER(PIPE_V, PIPE_MTE3);
        TSTORE(out, quotient);
    }
    pipe_sync();
}
