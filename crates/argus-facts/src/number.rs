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
    fn integers_take_their_own_bits_only() {
        assert_eq!(number(DType::I16, 0xffff_ffff), Number::Signed(-1));
        assert_eq!(number(DType::U16, 0xffff_ffff), Number::Unsigned(0xffff));
        assert_eq!(number(DType::I32, 0x1_8000_0000), Number::Signed(i64::from(i32::MIN)));
        assert_eq!(number(DType::Bool, 0x100), Number::Bool(false));
    }
}
