// c = a b + bias: the matrix core multiplies column tile by column tile and pushes each product; each vector core pops
// half of its rows, adds its part of the bias and stores it.
//
// The queue has fewer slots than there are column tiles, so the matrix core gets ahead, waits for the vector cores and
// continues. One source is compiled for both.
#include <cstdint>
#include <pto/pto-inst.hpp>
#include <pto/common/fifo.hpp>

#include "intrinsic.h"
#include "pipe_sync.h"
#include "tensor.h"

using namespace pto;

constexpr int kRows = 32, kDepth = 32, kCols = 64, kTiles = 8;
constexpr int kWidth = kTiles * kCols;
constexpr int kHalf = kRows / 2;
constexpr int kSlots = 2;

using Queue = TPipe<0, Direction::DIR_C2V, kHalf * kCols * sizeof(float), kSlots>;

static inline __aicore__ __gm__ float *data(__gm__ int64_t *args, int slot) {
    __gm__ ChipTensor *tensor = reinterpret_cast<__gm__ ChipTensor *>(args[slot]);
    return reinterpret_cast<__gm__ float *>(tensor->buffer.addr) + tensor->start_offset;
}

#if defined(__DAV_CUBE__)

static __aicore__ void feed(Queue &queue, __gm__ int64_t *args) {
    using Left = GlobalTensor<float, Shape<1, 1, 1, kRows, kDepth>, Stride<1, 1, 1, kDepth, 1>>;
    using Columns = GlobalTensor<float, Shape<1, 1, 1, kDepth, kCols>, Stride<1, 1, 1, kWidth, 1>>;
    using Product = TileAcc<float, kRows, kCols>;
    Tile<TileType::Mat, float, kRows, kDepth, BLayout::ColMajor, kRows, kDepth, SLayout::RowMajor, 512> a_l1;
    Tile<TileType::Mat, float, kDepth, kCols, BLayout::ColMajor, kDepth, kCols, SLayout::RowMajor, 512> b_l1;
    TileLeft<float, kRows, kDepth> left;
    TileRight<float, kDepth, kCols> right;
    Product sum;
    TASSIGN(a_l1, 0);
    TASSIGN(b_l1, kRows * kDepth * sizeof(float));
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    TASSIGN(sum, 0);

    Left a(data(args, 0));
    TLOAD(a_l1, a);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(left, a_l1);
    for (int tile = 0; tile < kTiles; tile++) {
        Columns b(data(args, 1) + tile * kCols);
        TLOAD(b_l1, b);
        set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
        TMOV(right, b_l1);
        set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
        TMATMUL(sum, left, right);
        set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
        TPUSH<Queue, Product, TileSplitAxis::TILE_UP_DOWN>(queue, sum);
        // The next round uses the same buffers: it starts when the product has left them.
        pipe_sync();
    }
}

#else

static __aicore__ void add_bias(Queue &queue, __gm__ int64_t *args) {
    using Part = GlobalTensor<float, Shape<1, 1, 1, kHalf, kCols>, Stride<1, 1, 1, kWidth, 1>>;
    using Half = Tile<TileType::Vec, float, kHalf, kCols>;
    constexpr int bytes = kHalf * kCols * sizeof(float);
    Half product, bias, sum;
    TASSIGN(product, 0);
    TASSIGN(bias, bytes);
    TASSIGN(sum, 2 * bytes);

    const int first_row = kHalf * get_sub_block_id(args);
    for (int tile = 0; tile < kTiles; tile++) {
        const int at = first_row * kWidth + tile * kCols;
        Part from(data(args, 2) + at), to(data(args, 3) + at);
        TLOAD(bias, from);
        TPOP<Queue, Half, TileSplitAxis::TILE_UP_DOWN>(queue, product);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TADD(sum, product, bias);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(to, sum);
        pipe_sync();
        TFREE<Queue, TileSplitAxis::TILE_UP_DOWN>(queue);
    }
}

#endif

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    Queue queue(nullptr, 0, 0);
#if defined(__DAV_CUBE__)
    feed(queue, args);
#else
    add_bias(queue, args);
#endif
}
