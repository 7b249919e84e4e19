// core: aiv
// expect: 3 -6 2 1 -1 0 2147483645 -2 250 44 65534 -1 -9
// Integers without a sign: they wrap, compare and divide as such.
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "tensor.h"
using namespace pto;

template <typename T>
struct Pair {
    Tile<TileType::Vec, T, 1, 32> a, b, c;
    Pair(T x, T y) {
        TASSIGN(a, 0);
        TASSIGN(b, 0x1000);
        TASSIGN(c, 0x2000);
        TEXPANDS(a, x);
        TEXPANDS(b, y);
    }
    int32_t first() { return static_cast<int32_t>(c.GetValue(0)); }
};

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    int32_t *out = reinterpret_cast<int32_t *>(args[0]);
    Pair<uint32_t> w(4294967290u, 2u);
    TADDS(w.c, w.a, 9u);
    out[0] = w.first();  // 2^32 - 6 + 9
    TMOV(w.c, w.a);
    out[1] = w.first();
    TMINS(w.c, w.a, 2u);
    out[2] = w.first();  // not -6
    TSUBS(w.c, w.b, 1u);
    out[3] = w.first();
    TSUB(w.c, w.c, w.b);
    out[4] = w.first();  // 1 - 2 wraps
    TMAX(w.c, w.a, w.b);
    TSUB(w.c, w.c, w.a);
    out[5] = w.first();  // the larger is a
    TDIV(w.c, w.a, w.b);
    out[6] = w.first();  // (2^32 - 6) / 2
    TNEG(w.c, w.b);
    out[7] = w.first();
    Pair<uint8_t> bytes(250, 50);
    TMAX(bytes.c, bytes.a, bytes.b);
    out[8] = bytes.first();
    TADD(bytes.c, bytes.a, bytes.b);
    out[9] = bytes.first();  // 300 - 256
    Pair<uint16_t> halves(65535, 2);
    TMUL(halves.c, halves.a, halves.b);
    out[10] = halves.first();
    Pair<int16_t> with_sign(-1, 2);
    TMINS(with_sign.c, with_sign.a, int16_t(5));
    out[11] = with_sign.first();
    Tile<TileType::Vec, uint32_t, 8, 1, BLayout::ColMajor> sums;
    Tile<TileType::Vec, uint32_t, 8, 8> m, tmp;
    TASSIGN(sums, 0x4000), TASSIGN(m, 0x5000), TASSIGN(tmp, 0x6000);
    TEXPANDS(m, 4294967295u);
    TROWSUM(sums, m, tmp);
    out[12] = static_cast<int32_t>(sums.GetValue(0)) - 1;  // 8 (2^32 - 1)
}
