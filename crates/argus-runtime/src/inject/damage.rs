//! Wrong bytes out of right ones, and how far apart they are.
//!
//! Works on the elements of a view in logical order. Element types of less than a byte are left alone.

use argus_abi::DType;
use argus_facts::number::{Number, element};
use half::{bf16, f16};

use super::InjectionKind;

/// Bytes that take the place of what a kernel wrote, and what was done to them.
pub struct Damage {
    pub bytes: Vec<u8>,
    pub what: String,
}

/// How far two payloads are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// Elements whose bits differ.
    pub changed: u64,
    /// Elements whose values differ by more than the type's tolerance.
    pub beyond: u64,
    pub max: f64,
}

/// Beyond `atol + rtol * |right|` a difference cannot be mistaken for rounding of the type. Integers and types
/// without a value here differ or do not.
fn tolerance(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F32 => (1e-3, 1e-5),
        DType::F16 => (1e-2, 1e-4),
        DType::Bf16 => (4e-2, 1e-4),
        _ => (0.0, 0.0),
    }
}

/// Compares payloads of one length; `right` is what the kernel wrote.
pub fn distance(dtype: DType, right: &[u8], wrong: &[u8]) -> Distance {
    let mut distance = Distance::default();
    let (rtol, atol) = tolerance(dtype);
    for (right, wrong) in right.chunks_exact(dtype.size()).zip(wrong.chunks_exact(dtype.size())) {
        if right == wrong {
            continue;
        }
        distance.changed += 1;
        let value = |raw| element(dtype, raw, 0).map(Number::as_f64);
        let (apart, allowed) = match (value(right), value(wrong)) {
            (Some(right), Some(wrong)) if right.is_nan() && wrong.is_nan() => (0.0, 0.0),
            (Some(right), Some(wrong)) if right == wrong => (0.0, 0.0),
            (Some(right), Some(wrong)) if right.is_finite() && wrong.is_finite() => {
                ((right - wrong).abs(), atol + rtol * right.abs())
            }
            _ => (f64::INFINITY, 0.0),
        };
        distance.max = distance.max.max(apart);
        distance.beyond += u64::from(apart > allowed);
    }
    distance
}

/// The damage of a kind to an output, if it can be done there with an effect. `before` is what the output held
/// before the task.
pub fn damage(
    kind: InjectionKind,
    dtype: DType,
    shape: &[u32],
    before: &[u8],
    right: &[u8],
) -> Option<Damage> {
    if dtype.bits() < 8 || right.is_empty() {
        return None;
    }
    let width = dtype.size();
    let made = match kind {
        InjectionKind::Scale => scaled(dtype, right)?,
        InjectionKind::Bitflip => {
            let element = right.len() / width / 2;
            let mut bytes = right.to_vec();
            // The highest bit is a sign's; the one below it is the top of an exponent.
            bytes[element * width + width - 1] ^= 0x40;
            Damage { bytes, what: format!("the top exponent bit of element {element} was flipped") }
        }
        InjectionKind::Nan => {
            let element = right.len() / width / 2;
            let mut bytes = right.to_vec();
            bytes[element * width..][..width].copy_from_slice(nan(dtype)?);
            Damage { bytes, what: format!("element {element} became NaN") }
        }
        InjectionKind::ZeroRow => one_row(dtype, shape, right, "became 0", |row| row.fill(0))?,
        InjectionKind::ShiftRow => {
            one_row(dtype, shape, right, "moved one place up", |row| row.rotate_right(width))?
        }
        InjectionKind::SkipWrite => {
            Damage { bytes: before.to_vec(), what: "holds what it held before the task".into() }
        }
        InjectionKind::StaleRead => return None,
    };
    (distance(dtype, right, &made.bytes).beyond > 0).then_some(made)
}

fn nan(dtype: DType) -> Option<&'static [u8]> {
    match dtype {
        DType::F32 => Some(&[0, 0, 0xC0, 0x7F]),
        DType::F16 => Some(&[0, 0x7E]),
        DType::Bf16 => Some(&[0xC0, 0x7F]),
        DType::Fp8E4M3Fn => Some(&[0x7F]),
        DType::Fp8E8M0 => Some(&[0xFF]),
        _ => None,
    }
}

fn scaled(dtype: DType, right: &[u8]) -> Option<Damage> {
    let mut bytes = right.to_vec();
    for raw in bytes.chunks_exact_mut(dtype.size()) {
        let mut word = [0; 8];
        word[..raw.len()].copy_from_slice(raw);
        let bits = u64::from_le_bytes(word);
        let doubled: u64 = match dtype {
            DType::F32 => (f32::from_bits(bits as u32) * 2.0).to_bits().into(),
            DType::F16 => f16::from_f32(f16::from_bits(bits as u16).to_f32() * 2.0).to_bits().into(),
            DType::Bf16 => bf16::from_f32(bf16::from_bits(bits as u16).to_f32() * 2.0).to_bits().into(),
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => bits << 1,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => bits << 1,
            DType::Bool | DType::Fp8E4M3Fn | DType::Fp8E8M0 | DType::Fp4E2M1 => return None,
        };
        raw.copy_from_slice(&doubled.to_le_bytes()[..raw.len()]);
    }
    Some(Damage { bytes, what: "every element was doubled".into() })
}

/// Damages the middle row, or the next one to which it makes a difference.
fn one_row(
    dtype: DType,
    shape: &[u32],
    right: &[u8],
    what: &str,
    change: impl Fn(&mut [u8]),
) -> Option<Damage> {
    let length = shape.last().map_or(1, |&length| length as usize) * dtype.size();
    let rows = right.len().checked_div(length)?;
    (0..rows).map(|row| (rows / 2 + row) % rows).find_map(|row| {
        let place = row * length..(row + 1) * length;
        let mut changed = right[place.clone()].to_vec();
        change(&mut changed);
        (distance(dtype, &right[place.clone()], &changed).beyond > 0).then(|| {
            let mut bytes = right.to_vec();
            bytes[place].copy_from_slice(&changed);
            Damage { bytes, what: format!("row {row} {what}") }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn made(kind: InjectionKind, shape: &[u32], right: &[f32]) -> Option<Vec<u8>> {
        damage(kind, DType::F32, shape, &floats(&vec![9.0; right.len()]), &floats(right))
            .map(|damage| damage.bytes)
    }

    #[test]
    fn each_kind_does_what_its_name_says() {
        let right = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let made = |kind| made(kind, &[3, 2], &right);
        assert_eq!(made(InjectionKind::Scale), Some(floats(&[2.0, 4.0, 6.0, 8.0, 10.0, 12.0])));
        // 4.0 is 0x40800000; without its top exponent bit 0x00800000 is the smallest normal number.
        let flipped = [1.0, 2.0, 3.0, f32::MIN_POSITIVE, 5.0, 6.0];
        assert_eq!(made(InjectionKind::Bitflip), Some(floats(&flipped)));
        let nan = [1.0, 2.0, 3.0, f32::from_bits(0x7FC0_0000), 5.0, 6.0];
        assert_eq!(made(InjectionKind::Nan), Some(floats(&nan)));
        assert_eq!(made(InjectionKind::ZeroRow), Some(floats(&[1.0, 2.0, 0.0, 0.0, 5.0, 6.0])));
        assert_eq!(made(InjectionKind::ShiftRow), Some(floats(&[1.0, 2.0, 4.0, 3.0, 5.0, 6.0])));
        assert_eq!(made(InjectionKind::SkipWrite), Some(floats(&[9.0; 6])));
    }

    #[test]
    fn what_makes_no_difference_is_not_done() {
        assert_eq!(made(InjectionKind::Scale, &[2], &[0.0, 1e-6]), None);
        assert_eq!(made(InjectionKind::ShiftRow, &[2, 2], &[1.0, 1.0, 2.0, 2.0]), None);
        assert_eq!(made(InjectionKind::SkipWrite, &[1], &[9.000_001]), None);
        let ints = damage(InjectionKind::Nan, DType::I32, &[1], &[0; 4], &[1, 0, 0, 0]);
        assert!(ints.is_none(), "integers have no NaN");
    }

    #[test]
    fn the_next_row_takes_the_place_of_one_without_a_difference() {
        let right = [7.0, 8.0, 0.0, 0.0];
        assert_eq!(made(InjectionKind::ZeroRow, &[2, 2], &right), Some(floats(&[0.0; 4])));
    }

    #[test]
    fn distances_are_those_of_the_values() {
        let far = distance(DType::F32, &floats(&[1.0, -0.0, 2.0]), &floats(&[1.5, 0.0, 2.0]));
        assert_eq!(far, Distance { changed: 2, beyond: 1, max: 0.5 });
        let nan = distance(DType::Bf16, &[0x80, 0x3F], &[0xC0, 0x7F]);
        assert_eq!(nan, Distance { changed: 1, beyond: 1, max: f64::INFINITY });
        let ints = distance(DType::I16, &(-3i16).to_le_bytes(), &4i16.to_le_bytes());
        assert_eq!(ints, Distance { changed: 1, beyond: 1, max: 7.0 });
        let small = distance(DType::Fp8E4M3Fn, &[1], &[2]);
        assert_eq!(small, Distance { changed: 1, beyond: 1, max: 1.0 / 512.0 });
    }

    #[test]
    fn half_types_are_doubled_in_their_own_format() {
        let half = |value: f32| f16::from_f32(value).to_le_bytes();
        let made = damage(InjectionKind::Scale, DType::F16, &[1], &[0; 2], &half(1.5)).unwrap();
        assert_eq!(made.bytes, half(3.0));
        let made = damage(InjectionKind::Scale, DType::Bf16, &[1], &[0; 2], &[0xC0, 0x3F]).unwrap();
        assert_eq!(made.bytes, [0x40, 0x40], "1.5 becomes 3");
    }
}
