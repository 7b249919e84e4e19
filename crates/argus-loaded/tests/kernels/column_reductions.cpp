// core: aiv
// expect: 2048 2050 2048 256 258 256 -3
// Sums and maxima of columns in the type of the tiles, and of small floats in float: 2048 + 1 is no half, 256 + 1 no
// bfloat16.
#include <cstdint>
#include <pto/pto-inst.hpp>

using namespace pto;

template <typename T>
using Rows = Tile<TileType::Vec, T, 16, 64, BLayout::RowMajor, -1, -1>;
template <typename T>
using Row = Tile<TileType::Vec, T, 1, 64, BLayout::RowMajor, 1, -1>;

template <typename T>
static __aicore__ void reduce(__gm__ int32_t *out, float large) {
    Rows<T> rows(3, 64);
    Row<T> own(64);
    Row<float> wide(64);
    TASSIGN(rows, 0x0);
    TASSIGN(own, 0x4000);
    TASSIGN(wide, 0x5000);
    TEXPANDS(rows, T(1.0f));
    rows.SetValue(7, T(large));
    TCOLSUM(own, rows);
    out[0] = static_cast<int32_t>(static_cast<float>(own.GetValue(7)));
    TCOLSUM(wide, rows);
    out[1] = static_cast<int32_t>(wide.GetValue(7));
    TCOLMAX(wide, rows);
    out[2] = static_cast<int32_t>(wide.GetValue(7));
}

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
    __gm__ int32_t *out = reinterpret_cast<__gm__ int32_t *>(args[0]);
    reduce<half>(out, 2048.0f);
    reduce<bfloat16_t>(out + 3, 256.0f);
    Rows<float> rows(2, 64);
    Row<float> row(64);
    TASSIGN(rows, 0x0);
    TASSIGN(row, 0x4000);
    TEXPANDS(rows, -3.0f);
    TCOLMAX(row, rows);
    out[6] = static_cast<int32_t>(row.GetValue(63));
}
