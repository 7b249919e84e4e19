//! How large the values of a payload are.

use super::format::{Format, with_format};
use super::judge::{for_batches, in_chunks};
use super::pair::Pair;

/// Sums of squares and counts by binary exponent; the first holds zeros and numbers too small for f64's normal range.
type Bins = Vec<(f64, u64)>;

const EXPONENTS: usize = 2048;

/// Powers of two above the lower quarter of the numbers that still count. A mask of huge numbers, or one number that ran
/// away, would otherwise allow an error larger than all others are.
const SPAN: usize = 16;

/// The root mean square of the finite expected values, without those that are far larger than most; 0 if there is none.
pub fn rms(pair: &Pair<'_>) -> f64 {
    with_format!(pair.dtype(), format => rms_as(pair, format))
}

fn rms_as<F: Format>(pair: &Pair<'_>, format: F) -> f64 {
    let parts = in_chunks(pair, &|from, to| {
        let mut bins: Bins = vec![(0.0, 0); EXPONENTS];
        for_batches(pair, format, from, to, |_, _, expected| {
            for value in expected.iter().map(|&bits| format.value(bits)).filter(|value| value.is_finite()) {
                let bin = &mut bins[value.abs().to_bits() as usize >> 52];
                bin.0 += value * value;
                bin.1 += 1;
            }
        });
        bins
    });
    let mut bins: Bins = vec![(0.0, 0); EXPONENTS];
    for (bin, (sum, count)) in parts.iter().flat_map(|part| part.iter().enumerate()) {
        bins[bin].0 += sum;
        bins[bin].1 += count;
    }
    let ordinary = &bins[..largest_ordinary(&bins)];
    let (sum, count) = ordinary.iter().fold((0.0, 0), |(sum, count), bin| (sum + bin.0, count + bin.1));
    if count == 0 { 0.0 } else { (sum / count as f64).sqrt() }
}

/// Behind the last exponent that counts.
fn largest_ordinary(bins: &Bins) -> usize {
    let quarter = bins[1..].iter().map(|bin| bin.1).sum::<u64>().div_ceil(4);
    let mut below = 0;
    let lower = bins.iter().enumerate().skip(1).find(|(_, bin)| {
        below += bin.1;
        below >= quarter && below > 0
    });
    lower.map_or(1, |(exponent, _)| (exponent + SPAN + 1).min(bins.len()))
}

#[cfg(test)]
mod tests {
    use argus_abi::DType;

    use super::*;

    #[test]
    fn what_is_not_finite_does_not_count() {
        let values = [3.0f32, -4.0, f32::NAN, f32::NEG_INFINITY];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let of = |bytes: &[u8]| rms(&Pair::new(DType::F32, bytes.len() as u64 / 4, bytes, bytes).unwrap());
        assert_eq!(of(&bytes), 12.5f64.sqrt());
        assert_eq!((of(&bytes[8..]), of(&[])), (0.0, 0.0));
    }

    #[test]
    fn a_number_far_larger_than_the_others_does_not_count() {
        let of = |values: &[f32]| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            rms(&Pair::new(DType::F32, values.len() as u64, &bytes, &bytes).unwrap())
        };
        assert_eq!(of(&[3e38, 2.0, -2.0, 2.0]), 2.0);
        assert_eq!(of(&[-1e30, -1e30, 2.0, 2.0]), 2.0);
        // Numbers of one size, and zeros, count as they are.
        assert_eq!(of(&[65536.0, 1.0, 0.0, 0.0]), ((65536f64 * 65536.0 + 1.0) / 4.0).sqrt());
        assert_eq!(of(&[0.0, 0.0]), 0.0);
    }
}
