// Element types that the compiler lacks, under the names kernels use, and the number of each type.
#ifndef ARGUS_NUMBERS_HPP_
#define ARGUS_NUMBERS_HPP_

#include <stdint.h>
#include <string.h>

#include <type_traits>

using half = _Float16;
using float16_t = half;
using aclFloat16 = half;
using float32_t = float;

namespace argus {

template <typename To, typename From>
constexpr To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits have one width");
    return __builtin_bit_cast(To, from);
}

// f64 to f32 rounded to odd: what is rounded again afterwards is rounded once in effect.
constexpr float narrow_to_odd(double x) {
    const float nearest = static_cast<float>(x);
    const double back = nearest;
    if (back == x || x != x) {
        return nearest;
    }
    uint32_t bits = bits_as<uint32_t>(nearest);
    const double over = back < 0 ? -back : back, wanted = x < 0 ? -x : x;
    bits -= over > wanted ? 1 : 0;
    return bits_as<float>(bits | 1);
}

}  // namespace argus

// The upper half of a float. Conversions round to nearest, ties to even; each operation rounds its result.
struct bfloat16_t {
    uint16_t bits;

    bfloat16_t() = default;
    constexpr bfloat16_t(float x) : bits(rounded(argus::bits_as<uint32_t>(x))) {}
    constexpr bfloat16_t(double x) : bfloat16_t(argus::narrow_to_odd(x)) {}
    constexpr bfloat16_t(half x) : bfloat16_t(static_cast<float>(x)) {}
    template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    constexpr bfloat16_t(T x) : bfloat16_t(static_cast<double>(x)) {}

    constexpr operator float() const { return argus::bits_as<float>(static_cast<uint32_t>(bits) << 16); }

    constexpr bfloat16_t operator-() const {
        bfloat16_t result = *this;
        result.bits = bits ^ 0x8000;
        return result;
    }
    constexpr bfloat16_t operator+() const { return *this; }
    constexpr bfloat16_t &operator+=(bfloat16_t other) { return *this = bfloat16_t(float(*this) + float(other)); }
    constexpr bfloat16_t &operator-=(bfloat16_t other) { return *this = bfloat16_t(float(*this) - float(other)); }
    constexpr bfloat16_t &operator*=(bfloat16_t other) { return *this = bfloat16_t(float(*this) * float(other)); }
    constexpr bfloat16_t &operator/=(bfloat16_t other) { return *this = bfloat16_t(float(*this) / float(other)); }

  private:
    static constexpr uint16_t rounded(uint32_t wide) {
        const bool nan = (wide & 0x7FFFFFFF) > 0x7F800000;
        return static_cast<uint16_t>(nan ? (wide >> 16) | 0x40 : (wide + 0x7FFF + ((wide >> 16) & 1)) >> 16);
    }
};

static_assert(sizeof(bfloat16_t) == 2 && std::is_trivial_v<bfloat16_t>, "kernels point to it and leave it uninitialised");

namespace argus {

template <typename T>
using OnlyBf16 = std::enable_if_t<std::is_same_v<T, bfloat16_t>, int>;

}  // namespace argus

// Templates, so that an operation with another type is that type's and not ambiguous.
template <typename T, argus::OnlyBf16<T> = 0>
constexpr T operator+(T a, T b) {
    return a += b;
}
template <typename T, argus::OnlyBf16<T> = 0>
constexpr T operator-(T a, T b) {
    return a -= b;
}
template <typename T, argus::OnlyBf16<T> = 0>
constexpr T operator*(T a, T b) {
    return a *= b;
}
template <typename T, argus::OnlyBf16<T> = 0>
constexpr T operator/(T a, T b) {
    return a /= b;
}

namespace argus {

// One byte that holds a small float: a sign, if there is one, exponent and mantissa. Tiles and tensors hold such
// bytes; the engine reads them.
template <int ExponentBits, int MantissaBits, int Number>
struct SmallFloat {
    uint8_t bits;

    SmallFloat() = default;
    explicit SmallFloat(float x) : bits(encode(x)) {}

    explicit operator float() const {
        if (MantissaBits == 0) {
            return __builtin_ldexpf(1.0f, int(bits) - 127);
        }
        const int bias = (1 << (ExponentBits - 1)) - 1;
        const int exponent = (bits >> MantissaBits) & ((1 << ExponentBits) - 1);
        const int mantissa = bits & ((1 << MantissaBits) - 1);
        const float magnitude = exponent == 0 ? __builtin_ldexpf(float(mantissa), 1 - bias - MantissaBits)
                                              : __builtin_ldexpf(float(mantissa + (1 << MantissaBits)), exponent - bias - MantissaBits);
        return bits >> (ExponentBits + MantissaBits) & 1 ? -magnitude : magnitude;
    }

  private:
    // Towards zero, as the device does not round here.
    static uint8_t encode(float x) {
        const uint32_t wide = bits_as<uint32_t>(x);
        const int exponent = int(wide >> 23 & 0xFF) - 127;
        if (MantissaBits == 0) {
            return static_cast<uint8_t>(exponent + 127);
        }
        const int bias = (1 << (ExponentBits - 1)) - 1;
        const int kept = exponent + bias;
        const uint8_t sign = static_cast<uint8_t>((wide >> 31) << (ExponentBits + MantissaBits));
        if (kept <= 0) {
            const float steps = __builtin_ldexpf(x < 0 ? -x : x, bias + MantissaBits - 1);
            return sign | static_cast<uint8_t>(steps);
        }
        const uint32_t most = (1u << ExponentBits) - 1;
        const uint32_t clamped = uint32_t(kept) > most ? most : uint32_t(kept);
        return sign | static_cast<uint8_t>(clamped << MantissaBits | (wide >> (23 - MantissaBits) & ((1u << MantissaBits) - 1)));
    }
};

}  // namespace argus

using float8_e4m3_t = argus::SmallFloat<4, 3, 0>;
using float8_e5m2_t = argus::SmallFloat<5, 2, 1>;
using float8_e8m0_t = argus::SmallFloat<8, 0, 2>;
// Bytes of which the engine knows no arithmetic.
struct hifloat8_t {
    uint8_t bits;
};
struct float4_e2m1x2_t {
    uint8_t bits;
};
struct float4_e1m2x2_t {
    uint8_t bits;
};

namespace pto {
struct int4b_t {
    uint8_t bits;
};
}  // namespace pto

namespace argus {

// The number of an element type in descriptors: the DataType of tensors. Types without one count as bytes.
template <typename T>
struct DTypeOf {
    static_assert(sizeof(T) == 1, "a tile or tensor of this element type is not supported");
    static constexpr uint8_t value = 5;
};
#define ARGUS_DTYPE(type, number)                \
    template <>                                  \
    struct DTypeOf<type> {                       \
        static constexpr uint8_t value = number; \
    };
ARGUS_DTYPE(float, 0)
ARGUS_DTYPE(half, 1)
ARGUS_DTYPE(int32_t, 2)
ARGUS_DTYPE(int16_t, 3)
ARGUS_DTYPE(int8_t, 4)
ARGUS_DTYPE(uint8_t, 5)
ARGUS_DTYPE(bfloat16_t, 6)
ARGUS_DTYPE(int64_t, 7)
ARGUS_DTYPE(uint64_t, 8)
ARGUS_DTYPE(uint16_t, 9)
ARGUS_DTYPE(uint32_t, 10)
ARGUS_DTYPE(bool, 11)
ARGUS_DTYPE(float8_e4m3_t, 12)
ARGUS_DTYPE(float8_e8m0_t, 13)
ARGUS_DTYPE(float4_e2m1x2_t, 14)
#undef ARGUS_DTYPE

template <typename T>
constexpr uint8_t dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

// The bits of a scalar, zero-extended.
template <typename T>
inline uint64_t scalar_bits(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    return bits;
}

}  // namespace argus

#endif  // ARGUS_NUMBERS_HPP_
