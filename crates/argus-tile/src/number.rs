//! Numbers: how the element types are widened, narrowed and rounded.
//!
//! All conversions are written out here, without branches, so that loops over them vectorise and give the
//! same bits on every machine.

use bytemuck::Pod;
use half::{bf16, f16};

use crate::scalar::ScalarValue;

/// bf16 to f32: exact.
#[inline(always)]
pub(crate) fn widen_bf16(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// f32 to bf16, nearest, ties to even. A NaN stays one: the quiet bit is set because the kept half of its
/// payload may be zero.
#[inline(always)]
pub(crate) fn narrow_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7FFF + ((bits >> 16) & 1)) >> 16;
    let quiet = (bits >> 16) | 0x40;
    let is_nan = bits & 0x7FFF_FFFF > 0x7F80_0000;
    bf16::from_bits(if is_nan { quiet } else { rounded } as u16)
}

/// f16 to f32: exact; a NaN becomes quiet.
#[inline(always)]
pub(crate) fn widen_f16(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let magnitude = (bits & 0x7FFF) << 13;
    // The f16 exponent read as an f32 exponent is too small by 112; the multiplication puts it right and
    // normalises subnormals on the way.
    let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    let special = magnitude | 0x7F80_0000 | (((magnitude > 0x0F80_0000) as u32) << 22);
    let value = if magnitude >= 0x0F80_0000 { special } else { scaled };
    f32::from_bits(value | (bits & 0x8000) << 16)
}

/// f32 to f16, nearest, ties to even; a NaN keeps the top of its payload and becomes quiet.
#[inline(always)]
pub(crate) fn narrow_f16(x: f32) -> f16 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7FFF_FFFF;
    // Adding 0.5 aligns the units of an f16 subnormal with those of the sum, and rounds to them.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3F00_0000);
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xFFF + odd) >> 13;
    let nan = 0x7E00 | ((magnitude >> 13) & 0x3FF);
    let value = if magnitude > 0x7F80_0000 {
        nan
    } else if magnitude >= 143 << 23 {
        0x7C00
    } else if magnitude < 113 << 23 {
        subnormal
    } else {
        normal
    };
    f16::from_bits((value | (bits >> 16 & 0x8000)) as u16)
}

/// f64 to f32 rounded to odd: what is narrowed further afterwards is rounded once, not twice.
#[inline(always)]
pub(crate) fn narrow_f64_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    if back == x || x.is_nan() {
        return nearest;
    }
    let truncated = nearest.to_bits() - (back.abs() > x.abs()) as u32;
    f32::from_bits(truncated | 1)
}

/// An f64 as a 32-bit integer the way the reference machine casts: out of range and NaN give the smallest.
#[inline(always)]
pub(crate) fn cast_i32(x: f32) -> i32 {
    if (-2147483648.0..2147483648.0).contains(&x) { x as i32 } else { i32::MIN }
}

/// The element types that instructions compute with. Methods whose standard namesakes behave differently
/// have names of their own.
pub(crate) trait Element: Pod + PartialOrd {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// `self + left * right` as the matrix unit adds a product: floats round once.
    fn add_product(self, left: Self, right: Self) -> Self;
    fn neg(self) -> Self;
    /// Whether dividing by this value has no answer.
    fn is_zero_divisor(self) -> bool;
    /// A scalar operand converted to the type.
    fn from_scalar(value: ScalarValue) -> Self;

    /// `(a < b) ? b : a`, which returns a NaN in `self` and drops one in `other`.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self.less(other) { other } else { self }
    }

    /// `(b < a) ? b : a`.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        if other.less(self) { other } else { self }
    }

    fn less(self, other: Self) -> bool;

    /// `v < 0 ? -v : v`, so that minus zero stays what it is.
    #[inline(always)]
    fn magnitude(self) -> Self {
        if self.less(Self::zeroed()) { self.neg() } else { self }
    }
}

/// The element types that TEXP, TLOG and the roots work on.
pub(crate) trait Float: Element {
    fn widen(self) -> f32;
    fn narrow(x: f32) -> Self;
    /// Rounds once.
    fn narrow_f64(x: f64) -> Self;
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Element for $type {
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            /// Divisors are checked before the loop; zero is answered with zero to keep it free of panics.
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn add_product(self, left: Self, right: Self) -> Self {
                self.wrapping_add(left.wrapping_mul(right))
            }
            #[inline(always)]
            fn neg(self) -> Self { self.wrapping_neg() }
            #[inline(always)]
            fn is_zero_divisor(self) -> bool { self == 0 }
            fn from_scalar(value: ScalarValue) -> Self { value.to_i32() as $type }
            #[inline(always)]
            fn less(self, other: Self) -> bool { self < other }
        }
    )*};
}

integer!(i8, i16, i32, u8, u16, u32);

impl Element for f32 {
    #[inline(always)]
    fn add(self, other: f32) -> f32 {
        self + other
    }
    #[inline(always)]
    fn sub(self, other: f32) -> f32 {
        self - other
    }
    #[inline(always)]
    fn mul(self, other: f32) -> f32 {
        self * other
    }
    #[inline(always)]
    fn div(self, other: f32) -> f32 {
        self / other
    }
    /// One instruction where the loop around it is compiled for fused operations, else a call that gives the
    /// same bits.
    #[inline(always)]
    fn add_product(self, left: f32, right: f32) -> f32 {
        left.mul_add(right, self)
    }
    #[inline(always)]
    fn neg(self) -> f32 {
        -self
    }
    #[inline(always)]
    fn is_zero_divisor(self) -> bool {
        false
    }
    fn from_scalar(value: ScalarValue) -> f32 {
        value.to_f32()
    }
    #[inline(always)]
    fn less(self, other: f32) -> bool {
        self < other
    }
}

impl Float for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
    #[inline(always)]
    fn narrow(x: f32) -> f32 {
        x
    }
    #[inline(always)]
    fn narrow_f64(x: f64) -> f32 {
        x as f32
    }
}

/// Operations on 16-bit floats: in f32, each result rounded. For the four operations and the square root
/// f32 is wide enough that rounding twice gives what rounding once would.
macro_rules! small_float {
    ($type:ty, $widen:ident, $narrow:ident, $scalar:ident) => {
        impl Element for $type {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                $narrow($widen(self) + $widen(other))
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                $narrow($widen(self) - $widen(other))
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                $narrow($widen(self) * $widen(other))
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                $narrow($widen(self) / $widen(other))
            }
            #[inline(always)]
            fn add_product(self, left: Self, right: Self) -> Self {
                $narrow($widen(left).mul_add($widen(right), $widen(self)))
            }
            #[inline(always)]
            fn neg(self) -> Self {
                Self::from_bits(self.to_bits() ^ 0x8000)
            }
            #[inline(always)]
            fn is_zero_divisor(self) -> bool {
                false
            }
            fn from_scalar(value: ScalarValue) -> Self {
                value.$scalar()
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                $widen(self) < $widen(other)
            }
        }

        impl Float for $type {
            #[inline(always)]
            fn widen(self) -> f32 {
                $widen(self)
            }
            #[inline(always)]
            fn narrow(x: f32) -> Self {
                $narrow(x)
            }
            #[inline(always)]
            fn narrow_f64(x: f64) -> Self {
                $narrow(narrow_f64_odd(x))
            }
        }
    };
}

small_float!(f16, widen_f16, narrow_f16, to_f16);
small_float!(bf16, widen_bf16, narrow_bf16, to_bf16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widening_and_narrowing_agree_with_the_half_crate_for_every_16_bit_pattern() {
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert_eq!(widen_f16(a).to_bits(), f16::to_f32_const(a).to_bits(), "f16 {bits:#06x}");
            assert_eq!(widen_f16(a).is_nan(), a.is_nan());
            if !a.is_nan() {
                assert_eq!(narrow_f16(widen_f16(a)), a);
            }
            if !b.is_nan() {
                assert_eq!(narrow_bf16(widen_bf16(b)), b);
            }
        }
    }

    #[test]
    fn narrowing_rounds_like_the_half_crate() {
        let mut state = 0x9E37_79B9u32;
        for _ in 0..2_000_000 {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let x = f32::from_bits(state);
            assert_eq!(narrow_f16(x).to_bits(), f16::from_f32_const(x).to_bits(), "{state:#010x}");
            assert_eq!(narrow_bf16(x).to_bits(), bf16::from_f32_const(x).to_bits(), "{state:#010x}");
        }
    }

    #[test]
    fn narrowing_from_f64_rounds_once() {
        let x = f64::from(1u32 << 30) + f64::from(1u32 << 22) + 1.0;
        assert_eq!(bf16::narrow_f64(x).to_f32(), 1_082_130_432.0);
        assert_eq!(bf16::narrow(x as f32).to_f32(), 1_073_741_824.0);
        assert_eq!(f16::narrow_f64(1e300).to_bits(), 0x7C00);
        assert_eq!(f16::narrow_f64(-1e-300).to_bits(), 0x8000);
        assert!(f16::narrow_f64(f64::NAN).is_nan());
    }
}
