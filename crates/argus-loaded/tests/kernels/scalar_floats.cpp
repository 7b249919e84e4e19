// core: aiv
// expect: 15360 15488 16896 16256 16448 49216 1 16384 3 12 5 16512 1
// Arithmetic in small floats as plain C++ writes it: mixed with floats, doubles and integers, compared, in unions and
// in the functions of the standard library.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <pto/pto-inst.hpp>

template <typename T>
static float dot(const __gm__ T *a, const __gm__ T *b, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum += static_cast<float>(a[i]) * static_cast<float>(b[i]);
    }
    return sum;
}

template <typename T>
static uint16_t bits(T value) {
    uint16_t result;
    std::memcpy(&result, &value, sizeof(result));
    return result;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    __gm__ int32_t *out = reinterpret_cast<__gm__ int32_t *>(args[0]);
    __gm__ half *h = reinterpret_cast<__gm__ half *>(args[1]);
    __gm__ bfloat16_t *b = reinterpret_cast<__gm__ bfloat16_t *>(args[1] + 1024);
    const half one = 1.0;
    h[0] = one;
    h[1] = one + half(0.125f);
    h[2] = h[0] * 2 + 1.0f;
    out[0] = bits(h[0]);
    out[1] = bits(h[1]);
    out[2] = bits(static_cast<half>(std::max<float>(h[2], h[1])));
    b[0] = 1;
    b[1] = b[0] * 2.0f + 1.0;
    b[2] = -b[1];
    out[3] = bits(b[0]);
    out[4] = bits(b[1]);
    out[5] = bits(b[2]);
    out[6] = b[2] < b[0] && b[0] <= 1 && b[1] != b[2] && !(b[0] == 0.0f);
    bfloat16_t copied[3] = {};
    std::memcpy(copied, b, sizeof(copied));
    copied[0] += 1.0f;
    out[7] = bits(copied[0]);
    float m = -std::numeric_limits<float>::infinity();
    m = std::max(m, static_cast<float>(b[1]));
    out[8] = static_cast<int32_t>(std::sqrt(m * m));
    out[9] = static_cast<int32_t>(dot<half>(h, h, 3) + 0.75f);
    double wide = b[1];
    wide += b[0] + b[0];
    out[10] = static_cast<int32_t>(wide);
    union {
        uint16_t u;
        bfloat16_t b;
    } raw = {0x4080};
    b[3] = raw.b;
    out[11] = bits(b[3]);
    h[3] = b[3];
    b[4] = h[3];
    out[12] = b[4] == b[3] && h[3] == half(4);
}
