//! The loops that see most bytes: is every element of this block clearly within the limits?
//!
//! Screens answer with the exact largest distance, or with "look closer". Neither answer depends on the CPU; a
//! closer look is always right, so these loops may ask for one whenever the fast arithmetic cannot be sure.
//!
//! f32 is compared in f64. The 16-bit floats are compared in f32, two elements per 32-bit word, which is three
//! times as fast. That arithmetic rounds, so its limits are drawn in by [`MARGIN`], which is wider than all its
//! rounding together; and its largest distance counts only if no distance in the block can have been rounded.

use multiversion::multiversion;

use super::format::{F16_REBIAS, Format, Limits};

/// Words side by side; the compiler spreads them over vector registers.
const LANES: usize = 16;
/// The same for elements that are counted one by one.
const COUNT_LANES: usize = 8;
/// One f32 operation is off by 2^-24 of its result. Near the smallest BFLOAT16 (2^-133) the product of `rtol`
/// and a value has as few as 16 bits, where rounding is 2^-17. This is more than the sum of both.
const MARGIN: f64 = 1.0 / 32768.0;
/// Smaller limits count as 0 in f32 arithmetic, which would round them up.
const SMALLEST_LIMIT: f64 = 1e-30;

pub(super) fn f32(actual: &[u8], expected: &[u8], limits: &Limits, _seen: f64) -> Option<f64> {
    let (largest, clear) = f32_block(actual, expected, limits.atol, limits.rtol);
    // An infinite limit would admit an infinite distance, but infinities are not a matter of limits.
    (clear && largest < f64::INFINITY).then_some(largest)
}

pub(super) fn bf16(actual: &[u8], expected: &[u8], limits: &Limits, seen: f64) -> Option<f64> {
    let (largest, clear) = bf16_block(actual, expected, drawn_in(limits.atol), drawn_in(limits.rtol));
    narrow_result(actual, expected, (largest, clear), limits, seen, |magnitude| {
        let exponent = i32::from(magnitude >> 7).max(1);
        2f64.powi(exponent - 127 - 7)
    })
}

pub(super) fn f16(actual: &[u8], expected: &[u8], limits: &Limits, seen: f64) -> Option<f64> {
    let (largest, clear) = f16_block(actual, expected, drawn_in(limits.atol), drawn_in(limits.rtol));
    narrow_result(actual, expected, (largest, clear), limits, seen, |magnitude| {
        let exponent = i32::from(magnitude >> 10).max(1);
        2f64.powi(exponent - 15 - 10)
    })
}

/// A limit that f32 arithmetic may use: never more than the true one, after all its rounding.
fn drawn_in(limit: f64) -> f32 {
    if limit < SMALLEST_LIMIT { 0.0 } else { (limit * (1.0 - MARGIN)).min(f64::from(f32::MAX)) as f32 }
}

/// What a block of 16-bit floats tells: `step` is the distance from a value with these bits (without sign) to
/// its neighbour.
fn narrow_result(
    actual: &[u8],
    expected: &[u8],
    (largest, clear): (f32, bool),
    limits: &Limits,
    seen: f64,
    step: impl Fn(u16) -> f64,
) -> Option<f64> {
    if !clear || largest == f32::INFINITY {
        return None;
    }
    let rounded = f64::from(largest);
    // Whatever was rounded to `largest` is below its neighbour.
    if largest == 0.0 || f64::from(largest.next_up()) <= seen {
        return Some(rounded);
    }
    // A difference needs more bits than an f32 has only if one value is less than 2^-13 of the other. Then the
    // distance is nearly the larger value, and to be within the limits it must be below 2.1 * atol, or rtol
    // above one half.
    if limits.rtol <= 0.5 && rounded > 4.0 * limits.atol {
        return Some(rounded);
    }
    // All values are multiples of the step of the smallest one, so all distances are. An f32 holds multiples
    // up to 2^24 exactly.
    let smallest = smallest_magnitude(actual).min(smallest_magnitude(expected));
    let exact = smallest == u16::MAX || rounded < step(smallest) * 16_777_216.0;
    exact.then_some(rounded)
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn f32_block(actual: &[u8], expected: &[u8], atol: f64, rtol: f64) -> (f64, bool) {
    let mut largest = [0f64; LANES];
    let mut beyond = [0u64; LANES];
    for_words(actual, expected, |lane, actual, expected| {
        let (actual, expected) = (f64::from(f32::from_bits(actual)), f64::from(f32::from_bits(expected)));
        let distance = (actual - expected).abs();
        // NaN is within nothing.
        beyond[lane] |= if distance <= atol + rtol * expected.abs() { 0 } else { 1 };
        largest[lane] = if distance > largest[lane] { distance } else { largest[lane] };
    });
    let largest = largest.iter().fold(0.0, |largest: f64, &lane| largest.max(lane));
    (largest, beyond.iter().all(|&lane| lane == 0))
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn bf16_block(actual: &[u8], expected: &[u8], atol: f32, rtol: f32) -> (f32, bool) {
    let halves = |word: u32| [f32::from_bits(word << 16), f32::from_bits(word & 0xffff_0000)];
    // NaN and infinities have no finite distance, which shows.
    narrow_block(actual, expected, atol, rtol, halves, |_| 0)
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn f16_block(actual: &[u8], expected: &[u8], atol: f32, rtol: f32) -> (f32, bool) {
    // Exponent and mantissa move to where an f32 has them, the sign stays, the multiplication mends the bias.
    let widen = |high_half: u32| f32::from_bits((high_half as i32 >> 3) as u32 & 0x8fff_e000) * F16_REBIAS;
    // An exponent of all ones carries into the place of the sign.
    let special = |word: u32| (word & 0x7c00_7c00) + 0x0400_0400;
    narrow_block(actual, expected, atol, rtol, |word| [widen(word << 16), widen(word)], special)
}

/// The largest distance, and whether all are within the limits, for floats that an f32 holds. `special` sets
/// the places of signs for words whose halves do not give the right f32.
#[inline(always)]
fn narrow_block(
    actual: &[u8],
    expected: &[u8],
    atol: f32,
    rtol: f32,
    halves: impl Fn(u32) -> [f32; 2],
    special: impl Fn(u32) -> u32,
) -> (f32, bool) {
    let mut largest = [0f32; LANES];
    let mut beyond = [0u32; LANES];
    let mut odd = [0u32; LANES];
    for_words(actual, expected, |lane, actual, expected| {
        odd[lane] |= special(actual) | special(expected);
        let ([actual_low, actual_high], [low, high]) = (halves(actual), halves(expected));
        let (distance_low, distance_high) = ((actual_low - low).abs(), (actual_high - high).abs());
        // NaN is within nothing.
        beyond[lane] |= if distance_low <= atol + rtol * low.abs() { 0 } else { 1 };
        beyond[lane] |= if distance_high <= atol + rtol * high.abs() { 0 } else { 1 };
        let distance = if distance_low > distance_high { distance_low } else { distance_high };
        largest[lane] = if distance > largest[lane] { distance } else { largest[lane] };
    });
    let largest = largest.iter().fold(0.0, |largest: f32, &lane| largest.max(lane));
    let odd = odd.iter().any(|lane| lane & 0x8000_8000 != 0);
    (largest, !odd && beyond.iter().all(|&lane| lane == 0))
}

/// What a closer look at a batch counts. Distances are right only if all elements are finite.
pub(super) struct Counted<D> {
    pub(super) finite: bool,
    pub(super) beyond: u64,
    pub(super) largest: D,
    /// The largest distance beyond the limits.
    pub(super) worst: D,
}

/// Counts the elements of a batch, given by their bits, without saying which.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub(super) fn count<F: Format>(
    format: F,
    actual: &[u64],
    expected: &[u64],
    limits: &Limits,
) -> Counted<F::Distance> {
    let zero = F::Distance::default();
    let mut special = [0u64; COUNT_LANES];
    let mut beyond = [0u64; COUNT_LANES];
    let mut largest = [zero; COUNT_LANES];
    let mut worst = [zero; COUNT_LANES];
    let mut each = |lane: usize, actual: u64, expected: u64| {
        let distance = format.distance(actual, expected);
        let outside = format.beyond(distance, expected, limits);
        special[lane] |= if F::is_finite(distance) { 0 } else { 1 };
        beyond[lane] += u64::from(outside);
        largest[lane] = if distance > largest[lane] { distance } else { largest[lane] };
        let offence = if outside { distance } else { zero };
        worst[lane] = if offence > worst[lane] { offence } else { worst[lane] };
    };
    let (actual_rows, actual_rest) = actual.as_chunks::<COUNT_LANES>();
    let (expected_rows, expected_rest) = expected.as_chunks::<COUNT_LANES>();
    for (actual, expected) in actual_rows.iter().zip(expected_rows) {
        for lane in 0..COUNT_LANES {
            each(lane, actual[lane], expected[lane]);
        }
    }
    for (lane, (&actual, &expected)) in actual_rest.iter().zip(expected_rest).enumerate() {
        each(lane, actual, expected);
    }
    let greatest = |lanes: [F::Distance; COUNT_LANES]| {
        lanes.into_iter().fold(zero, |greatest, lane| if lane > greatest { lane } else { greatest })
    };
    Counted {
        finite: special.iter().all(|&lane| lane == 0),
        beyond: beyond.iter().sum(),
        largest: greatest(largest),
        worst: greatest(worst),
    }
}

/// The bits of a whole batch.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
pub(super) fn unpack<F: Format>(format: F, bytes: &[u8], bits: &mut [u64]) {
    format.unpack(bytes, bits);
}

/// Calls `each` with every pair of 32-bit words and the lane it belongs to. The rest of a block that does not
/// fill all lanes is filled up with zeros on both sides, which agree.
#[inline(always)]
fn for_words(actual: &[u8], expected: &[u8], mut each: impl FnMut(usize, u32, u32)) {
    let (actual_rows, actual_rest) = actual.as_chunks::<{ 4 * LANES }>();
    let (expected_rows, expected_rest) = expected.as_chunks::<{ 4 * LANES }>();
    let mut row = |actual: &[u8; 4 * LANES], expected: &[u8; 4 * LANES]| {
        let (actual, expected) = (actual.as_chunks::<4>().0, expected.as_chunks::<4>().0);
        for lane in 0..LANES {
            each(lane, u32::from_le_bytes(actual[lane]), u32::from_le_bytes(expected[lane]));
        }
    };
    for (actual, expected) in actual_rows.iter().zip(expected_rows) {
        row(actual, expected);
    }
    let (mut actual, mut expected) = ([0; 4 * LANES], [0; 4 * LANES]);
    actual[..actual_rest.len()].copy_from_slice(actual_rest);
    expected[..expected_rest.len()].copy_from_slice(expected_rest);
    row(&actual, &expected);
}

/// The smallest bits without sign that are not those of zero; `u16::MAX` if all are.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn smallest_magnitude(bytes: &[u8]) -> u16 {
    // One less: zero becomes the largest number.
    let below =
        bytes.as_chunks::<2>().0.iter().fold(u16::MAX, |smallest, &raw| {
            smallest.min((u16::from_le_bytes(raw) & 0x7fff).wrapping_sub(1))
        });
    below.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Tolerance;

    fn limits(rtol: f64, atol: f64) -> Limits {
        Limits::from_tolerance(&Tolerance::new(rtol, atol).unwrap())
    }

    fn bf16_bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|&value| half::bf16::from_f32(value).to_le_bytes()).collect()
    }

    #[test]
    fn a_block_clearly_within_gives_its_largest_distance() {
        let (actual, expected) = (bf16_bytes(&[1.0, 2.0, 3.0]), bf16_bytes(&[1.0, 2.25, 3.0]));
        assert_eq!(bf16(&actual, &expected, &limits(0.0, 0.5), 0.0), Some(0.25));
        assert_eq!(bf16(&actual, &expected, &limits(0.0, 0.125), 0.0), None);
    }

    #[test]
    fn a_distance_on_the_limit_needs_a_closer_look() {
        let (actual, expected) = (bf16_bytes(&[2.0]), bf16_bytes(&[2.25]));
        assert_eq!(bf16(&actual, &expected, &limits(0.0, 0.25), 0.0), None);
    }

    #[test]
    fn a_rounded_largest_distance_needs_a_closer_look_unless_it_does_not_matter() {
        // 2^20 - 2^-20 has 40 bits.
        let (actual, expected) = (bf16_bytes(&[1048576.0]), bf16_bytes(&[2f32.powi(-20)]));
        let wide = limits(0.0, 1e9);
        assert_eq!(bf16(&actual, &expected, &wide, 0.0), None);
        assert_eq!(bf16(&actual, &expected, &wide, 2e6), Some(1048576.0));
    }

    type Screen = fn(&[u8], &[u8], &Limits, f64) -> Option<f64>;
    type Value = fn(u16) -> f64;

    /// One pair of any bits at a time, under limits that are just wide enough.
    #[test]
    fn an_answer_is_never_rounded_and_never_beyond() {
        let formats: [(Screen, Value); 2] = [
            (bf16, |bits| half::bf16::from_bits(bits).to_f64()),
            (f16, |bits| half::f16::from_bits(bits).to_f64()),
        ];
        let mut state = 1u64;
        let mut answers = 0;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (actual, expected) = ((state >> 48) as u16, (state >> 32) as u16);
            let rtol = [0.0, 0.015, 0.5, 0.9][(state >> 30) as usize % 4];
            for (answer, value) in formats {
                let (a, e) = (value(actual), value(expected));
                let distance = (a - e).abs();
                let missing = (distance - rtol * e.abs()).max(0.0);
                if !missing.is_finite() {
                    continue;
                }
                for atol in [missing * 0.9999, missing * 1.001, missing * 3.0] {
                    let found =
                        answer(&actual.to_le_bytes(), &expected.to_le_bytes(), &limits(rtol, atol), 0.0);
                    if let Some(found) = found {
                        assert_eq!(found, distance, "{actual:#x} {expected:#x} {rtol} {atol}");
                        assert!(distance <= atol + rtol * e.abs(), "{actual:#x} {expected:#x} {rtol} {atol}");
                        answers += 1;
                    }
                }
            }
        }
        assert!(answers > 100_000, "{answers}");
    }

    #[test]
    fn special_values_always_need_a_closer_look() {
        let wide = limits(1.0, 1e30);
        for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let one = bf16_bytes(&[0.0; 40].map(|_| 1.0));
            let mut other = one.clone();
            other[70..72].copy_from_slice(&half::bf16::from_f32(special).to_le_bytes());
            let mut halves = vec![0; 80];
            halves[70..72].copy_from_slice(&half::f16::from_f32(special).to_le_bytes());
            let mut words = vec![0; 80];
            words[72..76].copy_from_slice(&special.to_le_bytes());
            for (actual, expected) in [(&one, &other), (&other, &one), (&other, &other)] {
                assert_eq!(bf16(actual, expected, &wide, 0.0), None, "{special}");
            }
            let zeros = vec![0; 80];
            for (actual, expected) in [(&zeros, &halves), (&halves, &zeros), (&halves, &halves)] {
                assert_eq!(f16(actual, expected, &wide, 0.0), None, "{special}");
            }
            for (actual, expected) in [(&zeros, &words), (&words, &zeros), (&words, &words)] {
                assert_eq!(f32(actual, expected, &wide, 0.0), None, "{special}");
            }
        }
    }

    #[test]
    fn the_smallest_magnitude_leaves_zeros_out() {
        let bytes: Vec<u8> =
            [0u16, 0x8000, 0x8003, 0x0007].iter().flat_map(|bits| bits.to_le_bytes()).collect();
        assert_eq!(smallest_magnitude(&bytes), 3);
        assert_eq!(smallest_magnitude(&bytes[..4]), u16::MAX);
    }
}
