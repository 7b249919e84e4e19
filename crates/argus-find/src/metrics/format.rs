//! Bits of each dtype as values, distances and places on the number line.
//!
//! A [`Format`] is what the loops of this module know about a dtype. Floats measure distance in f64, integers
//! in u64, exactly.

use std::sync::LazyLock;

use argus_abi::DType;
use argus_facts::number::{Number, number};

use super::screen;
use super::tolerance::Tolerance;

/// One element against another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Compared<D> {
    /// Two finite values, so far apart.
    Apart(D),
    NanBoth,
    /// The same infinity.
    InfBoth,
    NanActual,
    NanExpected,
    InfActual,
    InfExpected,
    /// Infinities of opposite signs.
    InfOpposite,
}

/// A tolerance, prepared for loops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) atol: f64,
    pub(crate) rtol: f64,
    /// The largest whole distance within `atol`.
    whole: u64,
}

impl Limits {
    pub(crate) fn from_tolerance(tolerance: &Tolerance) -> Limits {
        // The cast rounds down and stays within u64.
        Limits { atol: tolerance.atol(), rtol: tolerance.rtol(), whole: tolerance.atol() as u64 }
    }
}

/// What the loops know about a dtype.
pub(crate) trait Format: Copy + Send + Sync {
    type Distance: Copy + PartialOrd + Default + Send + Sync;

    /// The bits of as many elements as `bits` has room for, from the start of `bytes`. The rest of the trait
    /// takes such bits.
    fn unpack(self, bytes: &[u8], bits: &mut [u64]);

    /// The nearest f64.
    fn value(self, bits: u64) -> f64;

    /// How far apart; not finite if one of both is not.
    fn distance(self, actual: u64, expected: u64) -> Self::Distance;

    fn is_finite(distance: Self::Distance) -> bool;

    fn compare(self, actual: u64, expected: u64) -> Compared<Self::Distance>;

    fn beyond(self, distance: Self::Distance, expected: u64, limits: &Limits) -> bool;

    /// Where finite values lie on a line on which neighbours are one apart and both zeros are one place.
    fn place(self, bits: u64) -> u64;

    fn as_f64(distance: Self::Distance) -> f64;

    fn as_number(distance: Self::Distance) -> Number;

    /// The largest distance in a block, if every element is clearly within the limits. `seen` is a distance
    /// that was met elsewhere: a result that is not above it need not be exact.
    fn screen(self, _: &[u8], _: &[u8], _: &Limits, _seen: Self::Distance) -> Option<Self::Distance> {
        None
    }
}

/// How a float of any width compares. `screen` is the fast loop of those that have one.
macro_rules! float {
    ($name:ty, sign $sign:expr, $unpack:expr, $value:expr $(, screen $screen:expr)?) => {
        impl Format for $name {
            type Distance = f64;

            #[inline(always)]
            fn unpack(self, bytes: &[u8], bits: &mut [u64]) {
                $unpack(bytes, bits)
            }

            #[inline(always)]
            fn value(self, bits: u64) -> f64 {
                let value: fn($name, u64) -> f64 = $value;
                value(self, bits)
            }

            #[inline(always)]
            fn distance(self, actual: u64, expected: u64) -> f64 {
                (self.value(actual) - self.value(expected)).abs()
            }

            #[inline(always)]
            fn is_finite(distance: f64) -> bool {
                distance < f64::INFINITY
            }

            #[inline(always)]
            fn compare(self, actual: u64, expected: u64) -> Compared<f64> {
                compare_floats(self.value(actual), self.value(expected))
            }

            #[inline(always)]
            fn beyond(self, distance: f64, expected: u64, limits: &Limits) -> bool {
                distance > limits.atol + limits.rtol * self.value(expected).abs()
            }

            #[inline(always)]
            fn place(self, bits: u64) -> u64 {
                const MIDDLE: u64 = 1 << 63;
                let sign: u64 = $sign;
                let magnitude = bits & !sign;
                if bits & sign == 0 { MIDDLE + magnitude } else { MIDDLE - magnitude }
            }

            fn as_f64(distance: f64) -> f64 {
                distance
            }

            fn as_number(distance: f64) -> Number {
                Number::Float(distance)
            }

            $(fn screen(self, actual: &[u8], expected: &[u8], limits: &Limits, seen: f64) -> Option<f64> {
                $screen(actual, expected, limits, seen)
            })?
        }
    };
}

#[inline(always)]
fn unpack<const WIDTH: usize>(bytes: &[u8], bits: &mut [u64], decode: impl Fn([u8; WIDTH]) -> u64) {
    for (bits, &raw) in bits.iter_mut().zip(bytes.as_chunks::<WIDTH>().0) {
        *bits = decode(raw);
    }
}

#[inline(always)]
fn compare_floats(actual: f64, expected: f64) -> Compared<f64> {
    let distance = (actual - expected).abs();
    // Finite values of these dtypes are never infinitely far apart in f64.
    if distance < f64::INFINITY {
        return Compared::Apart(distance);
    }
    match (actual.is_nan(), expected.is_nan(), actual.is_infinite(), expected.is_infinite()) {
        (true, true, ..) => Compared::NanBoth,
        (true, ..) => Compared::NanActual,
        (_, true, ..) => Compared::NanExpected,
        (.., true, true) if actual == expected => Compared::InfBoth,
        (.., true, true) => Compared::InfOpposite,
        (.., true, false) => Compared::InfActual,
        (.., false, _) => Compared::InfExpected,
    }
}

#[derive(Clone, Copy)]
pub(crate) struct F32;
float!(
    F32,
    sign 1 << 31,
    |bytes, bits| unpack(bytes, bits, |raw| u64::from(u32::from_le_bytes(raw))),
    |_, bits| f64::from(f32::from_bits(bits as u32)),
    screen screen::f32
);

#[derive(Clone, Copy)]
pub(crate) struct F16;
float!(
    F16,
    sign 1 << 15,
    |bytes, bits| unpack(bytes, bits, |raw| u64::from(u16::from_le_bytes(raw))),
    |_, bits| f64::from(f16_to_f32(bits as u16)),
    screen screen::f16
);

#[derive(Clone, Copy)]
pub(crate) struct Bf16;
float!(
    Bf16,
    sign 1 << 15,
    |bytes, bits| unpack(bytes, bits, |raw| u64::from(u16::from_le_bytes(raw))),
    |_, bits| f64::from(f32::from_bits((bits as u32) << 16)),
    screen screen::bf16
);

/// Exact, without a branch on the value, so that loops over it become vector code.
#[inline(always)]
fn f16_to_f32(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff) << 13;
    // Exponent and mantissa now sit where an f32 has them; only the bias differs, subnormals included.
    let finite = (f32::from_bits(magnitude) * F16_REBIAS).to_bits();
    let special = magnitude | 0x7f80_0000;
    let value = if bits & 0x7c00 == 0x7c00 { special } else { finite };
    f32::from_bits(value | u32::from(bits & 0x8000) << 16)
}

/// 2^112: the bias of f32 less that of f16.
pub(super) const F16_REBIAS: f32 = f32::from_bits((127 + 112) << 23);

/// A float of at most eight bits: all its values in a table.
#[derive(Clone, Copy)]
pub(crate) struct Small<const NIBBLE: bool, const SIGN: u64>(&'static [f64; 256]);

pub(crate) type E4M3 = Small<false, 0x80>;
pub(crate) type E8M0 = Small<false, 0>;
pub(crate) type E2M1 = Small<true, 0x8>;

impl<const NIBBLE: bool, const SIGN: u64> Small<NIBBLE, SIGN> {
    #[inline(always)]
    fn unpack_small(bytes: &[u8], bits: &mut [u64]) {
        if !NIBBLE {
            return unpack(bytes, bits, |raw| u64::from(u8::from_le_bytes(raw)));
        }
        for (index, bits) in bits.iter_mut().enumerate() {
            *bits = u64::from(bytes[index / 2] >> (index % 2 * 4) & 15);
        }
    }

    #[inline(always)]
    fn look_up(self, bits: u64) -> f64 {
        self.0[bits as usize & 0xff]
    }
}

macro_rules! small {
    ($name:ident, $dtype:expr, sign $sign:expr) => {
        impl $name {
            pub(crate) fn new() -> $name {
                static VALUES: LazyLock<[f64; 256]> =
                    LazyLock::new(|| std::array::from_fn(|bits| number($dtype, bits as u64).as_f64()));
                Small(&VALUES)
            }
        }
        float!(
            $name,
            sign $sign,
            $name::unpack_small,
            |format: $name, bits| format.look_up(bits)
        );
    };
}

small!(E4M3, DType::Fp8E4M3Fn, sign 0x80);
small!(E8M0, DType::Fp8E8M0, sign 0);
small!(E2M1, DType::Fp4E2M1, sign 0x8);

/// An integer or BOOL. Its bits are its place on the line of all u64, so that places subtract exactly.
#[derive(Clone, Copy)]
pub(crate) struct Integer<const WIDTH: usize, const SIGNED: bool>;

/// Where zero lies for signed integers.
const SIGNED_ZERO: u64 = 1 << 63;

macro_rules! integer {
    ($width:literal, signed $signed:literal, $decode:expr) => {
        impl Format for Integer<$width, $signed> {
            type Distance = u64;

            #[inline(always)]
            fn unpack(self, bytes: &[u8], bits: &mut [u64]) {
                unpack::<$width>(bytes, bits, $decode);
            }

            #[inline(always)]
            fn value(self, bits: u64) -> f64 {
                if $signed { (bits ^ SIGNED_ZERO) as i64 as f64 } else { bits as f64 }
            }

            #[inline(always)]
            fn distance(self, actual: u64, expected: u64) -> u64 {
                actual.abs_diff(expected)
            }

            #[inline(always)]
            fn is_finite(_: u64) -> bool {
                true
            }

            #[inline(always)]
            fn compare(self, actual: u64, expected: u64) -> Compared<u64> {
                Compared::Apart(self.distance(actual, expected))
            }

            #[inline(always)]
            fn beyond(self, distance: u64, expected: u64, limits: &Limits) -> bool {
                if limits.rtol == 0.0 {
                    return distance > limits.whole;
                }
                let zero = if $signed { SIGNED_ZERO } else { 0 };
                distance as f64 > limits.atol + limits.rtol * expected.abs_diff(zero) as f64
            }

            #[inline(always)]
            fn place(self, bits: u64) -> u64 {
                bits
            }

            fn as_f64(distance: u64) -> f64 {
                distance as f64
            }

            fn as_number(distance: u64) -> Number {
                Number::Unsigned(distance)
            }
        }
    };
}

integer!(1, signed true, |raw| i64::from(i8::from_le_bytes(raw)) as u64 ^ SIGNED_ZERO);
integer!(2, signed true, |raw| i64::from(i16::from_le_bytes(raw)) as u64 ^ SIGNED_ZERO);
integer!(4, signed true, |raw| i64::from(i32::from_le_bytes(raw)) as u64 ^ SIGNED_ZERO);
integer!(8, signed true, |raw| u64::from_le_bytes(raw) ^ SIGNED_ZERO);
integer!(1, signed false, |raw| u64::from(u8::from_le_bytes(raw)));
integer!(2, signed false, |raw| u64::from(u16::from_le_bytes(raw)));
integer!(4, signed false, |raw| u64::from(u32::from_le_bytes(raw)));
integer!(8, signed false, u64::from_le_bytes);

/// Every byte but zero is true.
#[derive(Clone, Copy)]
pub(crate) struct Truth;

impl Format for Truth {
    type Distance = u64;

    #[inline(always)]
    fn unpack(self, bytes: &[u8], bits: &mut [u64]) {
        unpack(bytes, bits, |raw| u64::from(raw != [0]));
    }

    #[inline(always)]
    fn value(self, bits: u64) -> f64 {
        bits as f64
    }

    #[inline(always)]
    fn distance(self, actual: u64, expected: u64) -> u64 {
        actual.abs_diff(expected)
    }

    #[inline(always)]
    fn is_finite(_: u64) -> bool {
        true
    }

    #[inline(always)]
    fn compare(self, actual: u64, expected: u64) -> Compared<u64> {
        Compared::Apart(self.distance(actual, expected))
    }

    #[inline(always)]
    fn beyond(self, distance: u64, expected: u64, limits: &Limits) -> bool {
        Format::beyond(Integer::<1, false>, distance, expected, limits)
    }

    #[inline(always)]
    fn place(self, bits: u64) -> u64 {
        bits
    }

    fn as_f64(distance: u64) -> f64 {
        distance as f64
    }

    fn as_number(distance: u64) -> Number {
        Number::Unsigned(distance)
    }
}

/// Runs `$body` with `$format` bound to the format of a dtype.
macro_rules! with_format {
    ($dtype:expr, $format:ident => $body:expr) => {{
        use $crate::metrics::format;
        match $dtype {
            argus_abi::DType::F32 => {
                let $format = format::F32;
                $body
            }
            argus_abi::DType::F16 => {
                let $format = format::F16;
                $body
            }
            argus_abi::DType::Bf16 => {
                let $format = format::Bf16;
                $body
            }
            argus_abi::DType::Fp8E4M3Fn => {
                let $format = format::E4M3::new();
                $body
            }
            argus_abi::DType::Fp8E8M0 => {
                let $format = format::E8M0::new();
                $body
            }
            argus_abi::DType::Fp4E2M1 => {
                let $format = format::E2M1::new();
                $body
            }
            argus_abi::DType::I8 => {
                let $format = format::Integer::<1, true>;
                $body
            }
            argus_abi::DType::I16 => {
                let $format = format::Integer::<2, true>;
                $body
            }
            argus_abi::DType::I32 => {
                let $format = format::Integer::<4, true>;
                $body
            }
            argus_abi::DType::I64 => {
                let $format = format::Integer::<8, true>;
                $body
            }
            argus_abi::DType::U8 => {
                let $format = format::Integer::<1, false>;
                $body
            }
            argus_abi::DType::U16 => {
                let $format = format::Integer::<2, false>;
                $body
            }
            argus_abi::DType::U32 => {
                let $format = format::Integer::<4, false>;
                $body
            }
            argus_abi::DType::U64 => {
                let $format = format::Integer::<8, false>;
                $body
            }
            argus_abi::DType::Bool => {
                let $format = format::Truth;
                $body
            }
        }
    }};
}
pub(crate) use with_format;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_widens_to_the_value_it_means() {
        for bits in 0..=u16::MAX {
            let expected = half::f16::from_bits(bits).to_f32();
            let found = f16_to_f32(bits);
            assert!(
                found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                "{bits:#x}"
            );
        }
    }

    fn bits_of(format: impl Format, bytes: &[u8]) -> u64 {
        let mut bits = [0];
        format.unpack(bytes, &mut bits);
        bits[0]
    }

    #[test]
    fn neighbours_are_one_place_apart() {
        assert_eq!(F32.place(0x8000_0000), F32.place(0));
        assert_eq!(F32.place(1) - F32.place(0x8000_0001), 2);
        assert_eq!(F16.place(0x7bff) - F16.place(0xfbff), 2 * 0x7bff);
        assert_eq!(E8M0::new().place(128) - E8M0::new().place(127), 1);
        assert_eq!(E2M1::new().place(0x1).abs_diff(E2M1::new().place(0x9)), 2);
        let place = |value: i8| bits_of(Integer::<1, true>, &value.to_le_bytes());
        assert_eq!(place(127) - place(-128), 255);
    }

    #[test]
    fn integers_subtract_exactly() {
        let i64_bits = |value: i64| bits_of(Integer::<8, true>, &value.to_le_bytes());
        let distance = Integer::<8, true>.compare(i64_bits(i64::MAX), i64_bits(i64::MIN));
        assert_eq!(distance, Compared::Apart(u64::MAX));
        // Both are 2^63 as f64, yet they differ.
        let u64_bits = |value: u64| bits_of(Integer::<8, false>, &value.to_le_bytes());
        let distance = Integer::<8, false>.compare(u64_bits(1 << 63), u64_bits((1 << 63) + 1));
        assert_eq!(distance, Compared::Apart(1));
        let one = Limits::from_tolerance(&Tolerance::new(0.0, 1.9).unwrap());
        assert!(!Integer::<8, false>.beyond(1, 0, &one) && Integer::<8, false>.beyond(2, 0, &one));
    }

    #[test]
    fn each_pair_of_special_values_has_its_kind() {
        const INF: f64 = f64::INFINITY;
        const NAN: f64 = f64::NAN;
        for (actual, expected, kind) in [
            (NAN, NAN, Compared::NanBoth),
            (NAN, INF, Compared::NanActual),
            (NAN, 1.0, Compared::NanActual),
            (-INF, NAN, Compared::NanExpected),
            (0.0, NAN, Compared::NanExpected),
            (INF, INF, Compared::InfBoth),
            (-INF, INF, Compared::InfOpposite),
            (-INF, 3.0, Compared::InfActual),
            (3.0, INF, Compared::InfExpected),
            (3.0, -2.0, Compared::Apart(5.0)),
        ] {
            assert_eq!(compare_floats(actual, expected), kind, "{actual} {expected}");
        }
    }
}
