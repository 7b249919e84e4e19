//! How often which values occur, drawn in a line.

use argus_facts::number::Number;

use crate::Array;
use crate::number::float;

const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A histogram of more elements would not look different, only come later: every n-th counts then.
const LOOKED_AT: u64 = 1 << 22;

/// Counts of finite values in equal steps from the smallest to the largest.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub min: f64,
    pub max: f64,
    pub counts: Vec<u64>,
}

impl Histogram {
    /// `None` if there is no finite value.
    pub fn new(array: &Array<'_>, elements: u64, bins: usize) -> Option<Histogram> {
        let step = elements.div_ceil(LOOKED_AT).max(1);
        let values = || {
            let picked = (0..elements.div_ceil(step)).map(move |index| index * step);
            picked.filter_map(|index| array.get(index)).map(Number::as_f64).filter(|value| value.is_finite())
        };
        let (min, max) = values()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| (min.min(value), max.max(value)));
        if min > max {
            return None;
        }
        let mut counts = vec![0u64; bins.max(1)];
        let last = counts.len() - 1;
        for value in values() {
            // The difference of two finite numbers may overflow; halves never do.
            let share = (value / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0);
            let bin = if share.is_nan() { 0 } else { ((share * counts.len() as f64) as usize).min(last) };
            counts[bin] += 1;
        }
        Some(Histogram { min, max, counts })
    }

    /// `-1.5 ▁▃█▂ 2.`
    pub fn line(&self) -> String {
        format!("{} {} {}", float(self.min, 4), self.bars(), float(self.max, 4))
    }

    /// One character per bin. Whatever occurs at all has a bar.
    pub fn bars(&self) -> String {
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1);
        let bar = |&count: &u64| {
            let height = count as f64 / most as f64 * (BARS.len() - 1) as f64;
            BARS[(height.ceil() as usize).min(BARS.len() - 1)]
        };
        self.counts.iter().map(bar).collect()
    }
}

#[cfg(test)]
mod tests {
    use argus_abi::DType;

    use super::*;

    #[test]
    fn values_are_counted_between_the_extremes() {
        let payload: Vec<u8> = [0f32, 0.0, 1.0, 2.0, 4.0, f32::NAN, f32::INFINITY]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let array = Array { dtype: DType::F32, payload: &payload };
        let histogram = Histogram::new(&array, 7, 4).unwrap();
        assert_eq!(histogram, Histogram { min: 0.0, max: 4.0, counts: vec![2, 1, 1, 1] });
        assert_eq!(histogram.line(), "0. █▄▄▄ 4.");
    }

    #[test]
    fn extremes_of_the_type_and_constants_are_no_trouble() {
        let payload: Vec<u8> = [f32::MIN, f32::MAX].iter().flat_map(|v| v.to_le_bytes()).collect();
        let array = Array { dtype: DType::F32, payload: &payload };
        assert_eq!(Histogram::new(&array, 2, 3).unwrap().counts, [1, 0, 1]);
        let array = Array { dtype: DType::U8, payload: &[7, 7, 7] };
        assert_eq!(Histogram::new(&array, 3, 2).unwrap().counts, [3, 0]);
        let nan = f32::NAN.to_le_bytes();
        assert_eq!(Histogram::new(&Array { dtype: DType::F32, payload: &nan }, 1, 2), None);
    }
}
