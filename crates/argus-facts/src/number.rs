//! Raw bits of every element type as numbers.

use argus_abi::DType;
use half::{bf16, f16};

/// A number without loss: no element type needs more than one of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Float(f64),
    Signed(i64),
    Unsigned(u64),
    Bool(bool),
}

impl Number {
    /// The nearest f64.
    #[inline]
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Float(value) => value,
            Number::Signed(value) => value as f64,
            Number::Unsigned(value) => value as f64,
            Number::Bool(value) => f64::from(u8::from(value)),
        }
    }
}

/// The element with this number in a payload, counted in logical order; `None` behind its end.
///
/// Two FP4 lie in one byte, the first in its low half.
pub fn element(dtype: DType, payload: &[u8], index: u64) -> Option<Number> {
    if dtype == DType::Fp4E2M1 {
        let byte = *payload.get(usize::try_from(index / 2).ok()?)?;
        return Some(number(dtype, u64::from(if index.is_multiple_of(2) { byte & 15 } else { byte >> 4 })));
    }
    let width = dtype.size();
    let start = usize::try_from(index).ok()?.checked_mul(width)?;
    let raw = payload.get(start..start.checked_add(width)?)?;
    let mut bits = [0; 8];
    bits[..width].copy_from_slice(raw);
    Some(number(dtype, u64::from_le_bytes(bits)))
}

/// The number that the low bits of `bits` mean in `dtype`.
#[inline]
pub fn number(dtype: DType, bits: u64) -> Number {
    match dtype {
        DType::F32 => Number::Float(f64::from(f32::from_bits(bits as u32))),
        DType::F16 => Number::Float(f16::from_bits(bits as u16).to_f64()),
        DType::Bf16 => Number::Float(bf16::from_bits(bits as u16).to_f64()),
        DType::Fp8E4M3Fn => Number::Float(fp8_e4m3fn(bits as u8)),
        DType::Fp8E8M0 => Number::Float(fp8_e8m0(bits as u8)),
        DType::Fp4E2M1 => Number::Float(fp4_e2m1(bits as u8)),
        DType::I8 => Number::Signed(i64::from(bits as i8)),
        DType::I16 => Number::Signed(i64::from(bits as i16)),
        DType::I32 => Number::Signed(i64::from(bits as i32)),
        DType::I64 => Number::Signed(bits as i64),
        DType::U8 => Number::Unsigned(bits & 0xff),
        DType::U16 => Number::Unsigned(bits & 0xffff),
        DType::U32 => Number::Unsigned(bits & 0xffff_ffff),
        DType::U64 => Number::Unsigned(bits),
        DType::Bool => Number::Bool(bits & 0xff != 0),
    }
}

/// The bits of the element that is nearest to `value`, ties to even. `None` for an integer type that does not have
/// exactly this value.
pub fn nearest(dtype: DType, value: f64) -> Option<u64> {
    let whole = |low: f64, high: f64| {
        (value.fract() == 0.0 && (low..=high).contains(&value)).then_some(value as i128 as u64)
    };
    match dtype {
        DType::F32 => Some(u64::from((value as f32).to_bits())),
        DType::F16 => Some(u64::from(f16::from_f64(value).to_bits())),
        DType::Bf16 => Some(u64::from(bf16::from_f64(value).to_bits())),
        DType::Fp8E4M3Fn | DType::Fp8E8M0 => Some(nearest_of(dtype, 256, value)),
        DType::Fp4E2M1 => Some(nearest_of(dtype, 16, value)),
        DType::I8 => Some(whole(-128.0, 127.0)? & 0xff),
        DType::I16 => Some(whole(-32768.0, 32767.0)? & 0xffff),
        DType::I32 => Some(whole(f64::from(i32::MIN), f64::from(i32::MAX))? & 0xffff_ffff),
        // The largest f64 below 2^63 and 2^64.
        DType::I64 => whole(i64::MIN as f64, 9_223_372_036_854_774_784.0),
        DType::U64 => whole(0.0, 18_446_744_073_709_549_568.0),
        DType::U8 => whole(0.0, 255.0),
        DType::U16 => whole(0.0, 65535.0),
        DType::U32 => whole(0.0, f64::from(u32::MAX)),
        DType::Bool => whole(0.0, 1.0),
    }
}

/// The nearest of a type with few values, found by looking at each.
fn nearest_of(dtype: DType, codes: u64, value: f64) -> u64 {
    let meaning = |code: u64| number(dtype, code).as_f64();
    if value.is_nan() {
        return (0..codes).find(|&code| meaning(code).is_nan()).unwrap_or(0);
    }
    let fits = |code: &u64| {
        !meaning(*code).is_nan() && meaning(*code).is_sign_negative() == value.is_sign_negative()
    };
    let all = (0..codes).filter(fits);
    // A code with a clear last bit wins a tie.
    let best = all.min_by(|&a, &b| {
        let key = |code: u64| ((meaning(code) - value).abs(), code & 1);
        key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    best.unwrap_or(0)
}

/// Whether the bits mean a float that is not zero and has the smallest exponent, so that it lacks precision.
pub fn is_subnormal(dtype: DType, bits: u64) -> bool {
    // Masks of exponent and mantissa.
    let (exponent, mantissa) = match dtype {
        DType::F32 => (0x7f80_0000, 0x007f_ffff),
        DType::F16 => (0x7c00, 0x03ff),
        DType::Bf16 => (0x7f80, 0x007f),
        DType::Fp8E4M3Fn => (0x78, 0x07),
        DType::Fp4E2M1 => (0x6, 0x1),
        // FP8E8M0 has no mantissa, integers have no exponent.
        _ => return false,
    };
    bits & exponent == 0 && bits & mantissa != 0
}

/// Sign, four bits of exponent with bias 7, three of mantissa; no infinities, all ones is NaN.
fn fp8_e4m3fn(bits: u8) -> f64 {
    let mantissa = f64::from(bits & 7);
    let magnitude = match bits >> 3 & 15 {
        15 if bits & 7 == 7 => f64::NAN,
        0 => mantissa / 8.0 * 2f64.powi(-6),
        exponent => (1.0 + mantissa / 8.0) * 2f64.powi(i32::from(exponent) - 7),
    };
    if bits & 0x80 == 0 { magnitude } else { -magnitude }
}

/// An exponent with bias 127 and nothing else; all ones is NaN.
fn fp8_e8m0(bits: u8) -> f64 {
    if bits == 0xff { f64::NAN } else { 2f64.powi(i32::from(bits) - 127) }
}

/// Sign, two bits of exponent, one of mantissa.
fn fp4_e2m1(bits: u8) -> f64 {
    const MAGNITUDES: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let magnitude = MAGNITUDES[usize::from(bits & 7)];
    if bits & 8 == 0 { magnitude } else { -magnitude }
}

/// Whether a value has the pattern that fresh memory is filled with, all bits set. As an f32, f16 or bf16 that is a
/// NaN that no instruction produces, so an element that holds it was never written. Narrower types have too few NaNs
/// to tell, and integers none.
#[inline]
pub fn is_unwritten(dtype: DType, value: Number) -> bool {
    let fill = match dtype {
        DType::F32 => u64::from(u32::MAX),
        DType::F16 | DType::Bf16 => u64::from(u16::MAX),
        _ => return false,
    };
    match (value, number(dtype, fill)) {
        (Number::Float(value), Number::Float(fill)) => value.to_bits() == fill.to_bits(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_mean_what_their_definitions_say() {
        assert_eq!(fp8_e4m3fn(0x7e), 448.0);
        assert_eq!(fp8_e4m3fn(0x38), 1.0);
        assert_eq!(fp8_e4m3fn(0x01), 2f64.powi(-9));
        assert_eq!(fp8_e4m3fn(0xb8), -1.0);
        assert!(fp8_e4m3fn(0x7f).is_nan() && fp8_e4m3fn(0xff).is_nan());
        assert_eq!(fp8_e8m0(127), 1.0);
        assert_eq!(fp8_e8m0(0), 2f64.powi(-127));
        assert!(fp8_e8m0(255).is_nan());
        assert_eq!(fp4_e2m1(0xf), -6.0);
        assert!(fp4_e2m1(8) == 0.0 && fp4_e2m1(8).is_sign_negative());
    }

    #[test]
    fn elements_are_found_by_their_number() {
        let payload = [0x12, 0x34, 0xff, 0xff];
        assert_eq!(element(DType::U16, &payload, 0), Some(Number::Unsigned(0x3412)));
        assert_eq!(element(DType::I16, &payload, 1), Some(Number::Signed(-1)));
        assert_eq!(element(DType::I16, &payload, 2), None);
        assert_eq!(element(DType::Fp4E2M1, &payload, 0), Some(Number::Float(1.0)));
        assert_eq!(element(DType::Fp4E2M1, &payload, 1), Some(Number::Float(0.5)));
        assert_eq!(element(DType::Fp4E2M1, &payload, 8), None);
        assert_eq!(element(DType::U64, &payload, u64::MAX), None);
    }

    #[test]
    fn the_nearest_element_has_the_value_or_is_the_next_to_it() {
        for dtype in DType::ALL {
            for code in 0..if dtype == DType::Bool { 2 } else { 16 } {
                let value = number(dtype, code).as_f64();
                if !value.is_nan() {
                    assert_eq!(nearest(dtype, value), Some(code), "{dtype} {code}");
                }
            }
        }
        assert_eq!(nearest(DType::F32, 0.1), Some(0x3dcc_cccd));
        assert_eq!(nearest(DType::Bf16, 1.0 + 1.0 / 256.0), Some(0x3f80), "a tie goes to the even one");
        assert_eq!(nearest(DType::Fp4E2M1, 2.5), Some(4), "between 2 and 3");
        assert_eq!(nearest(DType::Fp8E4M3Fn, 1e9), Some(0x7e), "the largest there is");
        assert_eq!((nearest(DType::I8, -1.0), nearest(DType::I8, 128.0)), (Some(0xff), None));
        assert_eq!((nearest(DType::U8, 0.5), nearest(DType::I32, f64::NAN)), (None, None));
    }

    #[test]
    fn integers_take_their_own_bits_only() {
        assert_eq!(number(DType::I16, 0xffff_ffff), Number::Signed(-1));
        assert_eq!(number(DType::U16, 0xffff_ffff), Number::Unsigned(0xffff));
        assert_eq!(number(DType::I32, 0x1_8000_0000), Number::Signed(i64::from(i32::MIN)));
        assert_eq!(number(DType::Bool, 0x100), Number::Bool(false));
    }

    #[test]
    fn only_the_fill_pattern_is_unwritten() {
        for (dtype, bits) in [(DType::F32, 32u32), (DType::F16, 16), (DType::Bf16, 16)] {
            let ones = u64::MAX >> (64 - bits);
            assert!(is_unwritten(dtype, number(dtype, ones)), "{dtype}");
            // Another sign, another last bit, the NaN of arithmetic, infinities, numbers.
            let other = [ones >> 1, ones - 1, ones ^ (1 << (bits - 3)), 0, 1];
            let quiet = if dtype == DType::F32 { 0xffc0_0000 } else { 0xffc0 };
            for bits in other.into_iter().chain([quiet]) {
                assert!(!is_unwritten(dtype, number(dtype, bits)), "{dtype} {bits:#x}");
            }
        }
        assert!(!is_unwritten(DType::I32, number(DType::I32, 0xffff_ffff)));
    }
}
