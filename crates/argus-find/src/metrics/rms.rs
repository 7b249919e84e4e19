//! How large the values of a payload are.

use super::format::{Format, with_format};
use super::judge::{for_batches, in_chunks};
use super::pair::Pair;

/// The root mean square of the finite expected values; 0 if there is none.
pub fn rms(pair: &Pair<'_>) -> f64 {
    with_format!(pair.dtype(), format => rms_as(pair, format))
}

fn rms_as<F: Format>(pair: &Pair<'_>, format: F) -> f64 {
    let sums = in_chunks(pair, &|from, to| {
        let (mut sum, mut count) = (0.0, 0u64);
        for_batches(pair, format, from, to, |_, _, expected| {
            for value in expected.iter().map(|&bits| format.value(bits)).filter(|value| value.is_finite()) {
                sum += value * value;
                count += 1;
            }
        });
        (sum, count)
    });
    let (sum, count) = sums.iter().fold((0.0, 0), |(sum, count), part| (sum + part.0, count + part.1));
    if count == 0 { 0.0 } else { (sum / count as f64).sqrt() }
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
}
