//! The full set of metrics of one pair.
//!
//! Every element is looked at, in the same chunks as the judging pass, so sums do not depend on the number of
//! threads. What has no value (a relative error where zero was expected, a cosine of a zero vector) is `None`
//! and not a number that looks like one.

use argus_facts::number::Number;
use multiversion::multiversion;
use serde::Serialize;

use super::format::{Compared, Format, with_format};
use super::histogram::{Counts, Histogram};
use super::judge::{BATCH, Judge, Judgement, NonFinite, Tally, Verdict, for_batches, in_chunks};
use super::pair::{Element, Pair, number_or_name};
use super::tolerance::Tolerance;

/// Sums side by side; the compiler spreads them over vector registers.
const LANES: usize = 4;

/// Everything about how far one payload is from another.
///
/// Distances, sums and ratios are over elements that are finite on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    pub verdict: Verdict,
    pub elements: u64,
    /// Elements that are finite on both sides.
    pub finite: u64,
    /// Whether every element agrees, without the budget of outliers: `numpy.allclose`.
    pub allclose: bool,
    /// Elements that do not agree, those of `non_finite` included unless the tolerance ignores them.
    pub beyond: u64,
    /// `beyond` of `elements`.
    pub fraction_beyond: f64,
    pub non_finite: NonFinite,
    /// NaN on both sides.
    pub nan_both: u64,
    /// The same infinity on both sides.
    pub inf_both: u64,
    /// The largest distance.
    #[serde(serialize_with = "number_or_name")]
    pub max_abs: Number,
    /// The largest distance as a part of what was expected, where that is not zero.
    pub max_rel: Option<f64>,
    /// The largest distance in steps of the dtype: 1 for neighbours.
    pub max_ulp: u64,
    pub mean_ulp: Option<f64>,
    /// The square root of the mean square of distances.
    pub rmse: Option<f64>,
    /// The length of the difference as a part of the length of what was expected.
    pub relative_l2: Option<f64>,
    /// The cosine of the angle between both, seen as vectors.
    pub cosine: Option<f64>,
    pub zeros_actual: u64,
    pub zeros_expected: u64,
    pub histogram: Histogram,
    /// The first element that does not agree.
    pub first: Option<Element>,
    /// The worst one, as in [`Judgement::worst`].
    pub worst: Option<Element>,
}

/// Measures a pair.
pub fn measure(pair: &Pair<'_>, tolerance: &Tolerance) -> Metrics {
    with_format!(pair.dtype(), format => measure_as(pair, tolerance, format))
}

fn measure_as<F: Format>(pair: &Pair<'_>, tolerance: &Tolerance, format: F) -> Metrics {
    let judge = Judge::new(pair, tolerance, format);
    let chunks = in_chunks(pair, &|from, to| {
        let mut sums = Sums::new();
        sums.tally.bits_differ = !pair.same_bits(from, to);
        for_batches(pair, format, from, to, |base, actual, expected| {
            if judge.look(base, actual, expected, &mut sums.tally) {
                sums.add(format, actual, expected);
            } else {
                sums.add_finite(format, actual, expected);
            }
        });
        sums
    });
    let sums = chunks.into_iter().reduce(|mut all, later| {
        all.join(&later);
        all
    });
    sums.unwrap_or_else(Sums::new).finish::<F>(pair, tolerance)
}

struct Sums<D> {
    tally: Tally<D>,
    finite: u64,
    nan_both: u64,
    inf_both: u64,
    max_rel: Option<f64>,
    max_ulp: u64,
    ulps: u128,
    squares: f64,
    actual_squares: f64,
    expected_squares: f64,
    product: f64,
    zeros_actual: u64,
    zeros_expected: u64,
    histogram: Counts,
}

impl<D: Copy + PartialOrd + Default> Sums<D> {
    fn new() -> Sums<D> {
        Sums {
            tally: Tally::new(),
            finite: 0,
            nan_both: 0,
            inf_both: 0,
            max_rel: None,
            max_ulp: 0,
            ulps: 0,
            squares: 0.0,
            actual_squares: 0.0,
            expected_squares: 0.0,
            product: 0.0,
            zeros_actual: 0,
            zeros_expected: 0,
            histogram: Counts::new(),
        }
    }

    /// Adds the finite elements of a batch; what is left of the others is counted.
    fn add_finite<F: Format<Distance = D>>(&mut self, format: F, actual: &[u64], expected: &[u64]) {
        let mut finite = ([0; BATCH], [0; BATCH]);
        let mut count = 0;
        for (&actual, &expected) in actual.iter().zip(expected) {
            match format.compare(actual, expected) {
                Compared::Apart(_) => {
                    (finite.0[count], finite.1[count]) = (actual, expected);
                    count += 1;
                    continue;
                }
                Compared::NanBoth => self.nan_both += 1,
                Compared::InfBoth => self.inf_both += 1,
                _ => {}
            }
            self.zeros_actual += u64::from(format.value(actual) == 0.0);
            self.zeros_expected += u64::from(format.value(expected) == 0.0);
        }
        self.add(format, &finite.0[..count], &finite.1[..count]);
    }

    /// Adds a batch of finite elements.
    fn add<F: Format<Distance = D>>(&mut self, format: F, actual: &[u64], expected: &[u64]) {
        let mut errors = [0.0; BATCH];
        let totals = totals(format, actual, expected, &mut errors);
        for &error in &errors[..actual.len()] {
            self.histogram.add(error);
        }
        self.finite += actual.len() as u64;
        self.max_rel = larger(self.max_rel, (totals.relative >= 0.0).then_some(totals.relative));
        self.max_ulp = self.max_ulp.max(totals.max_ulp);
        self.ulps += (u128::from(totals.ulps_high) << 32) + u128::from(totals.ulps_low);
        self.squares += totals.squares;
        self.actual_squares += totals.actual_squares;
        self.expected_squares += totals.expected_squares;
        self.product += totals.product;
        self.zeros_actual += totals.zeros_actual;
        self.zeros_expected += totals.zeros_expected;
    }

    fn join(&mut self, later: &Sums<D>) {
        self.tally.join(&later.tally);
        self.finite += later.finite;
        self.nan_both += later.nan_both;
        self.inf_both += later.inf_both;
        self.max_rel = larger(self.max_rel, later.max_rel);
        self.max_ulp = self.max_ulp.max(later.max_ulp);
        self.ulps += later.ulps;
        self.squares += later.squares;
        self.actual_squares += later.actual_squares;
        self.expected_squares += later.expected_squares;
        self.product += later.product;
        self.zeros_actual += later.zeros_actual;
        self.zeros_expected += later.zeros_expected;
        self.histogram.join(&later.histogram);
    }

    fn finish<F: Format<Distance = D>>(self, pair: &Pair<'_>, tolerance: &Tolerance) -> Metrics {
        let Judgement { verdict, elements, beyond, non_finite, max_abs, first, worst } =
            self.tally.finish::<F>(pair, tolerance);
        let finite = self.finite;
        let mean = |sum: f64| (finite > 0).then(|| sum / finite as f64);
        let lengths = self.actual_squares.sqrt() * self.expected_squares.sqrt();
        let expected_length = self.expected_squares.sqrt();
        Metrics {
            verdict,
            elements,
            finite,
            allclose: beyond == 0,
            beyond,
            fraction_beyond: if elements == 0 { 0.0 } else { beyond as f64 / elements as f64 },
            non_finite,
            nan_both: self.nan_both,
            inf_both: self.inf_both,
            max_abs,
            max_rel: self.max_rel,
            max_ulp: self.max_ulp,
            mean_ulp: mean(self.ulps as f64),
            rmse: mean(self.squares).map(f64::sqrt),
            relative_l2: (expected_length > 0.0).then(|| self.squares.sqrt() / expected_length),
            // Rounding may carry it a little over its bounds.
            cosine: (lengths > 0.0).then(|| (self.product / lengths).clamp(-1.0, 1.0)),
            zeros_actual: self.zeros_actual,
            zeros_expected: self.zeros_expected,
            histogram: self.histogram.finish(),
            first: first.and_then(|index| pair.element(index)),
            worst: worst.and_then(|index| pair.element(index)),
        }
    }
}

fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

/// Sums over one batch.
struct Totals {
    /// Below 0 if zero is expected everywhere.
    relative: f64,
    max_ulp: u64,
    /// The upper and the lower halves of distances in steps, so that neither sum overflows.
    ulps_high: u64,
    ulps_low: u64,
    squares: f64,
    actual_squares: f64,
    expected_squares: f64,
    product: f64,
    zeros_actual: u64,
    zeros_expected: u64,
}

/// Sums up a batch of finite elements, in lanes so that it becomes vector code, and writes their errors.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn totals<F: Format>(format: F, actual: &[u64], expected: &[u64], errors: &mut [f64; BATCH]) -> Totals {
    let mut relative = [-1.0f64; LANES];
    let (mut max_ulp, mut ulps_high, mut ulps_low) = ([0u64; LANES], [0u64; LANES], [0u64; LANES]);
    let (mut squares, mut product) = ([0f64; LANES], [0f64; LANES]);
    let (mut actual_squares, mut expected_squares) = ([0f64; LANES], [0f64; LANES]);
    let (mut zeros_actual, mut zeros_expected) = ([0u64; LANES], [0u64; LANES]);
    let mut add = |lane: usize, actual: u64, expected: u64, error: &mut f64| {
        *error = F::as_f64(format.distance(actual, expected));
        let (value, wanted) = (format.value(actual), format.value(expected));
        let part = if wanted == 0.0 { -1.0 } else { *error / wanted.abs() };
        relative[lane] = if part > relative[lane] { part } else { relative[lane] };
        let ulps = format.place(actual).abs_diff(format.place(expected));
        max_ulp[lane] = max_ulp[lane].max(ulps);
        ulps_high[lane] += ulps >> 32;
        ulps_low[lane] += ulps & 0xffff_ffff;
        squares[lane] += *error * *error;
        actual_squares[lane] += value * value;
        expected_squares[lane] += wanted * wanted;
        product[lane] += value * wanted;
        zeros_actual[lane] += u64::from(value == 0.0);
        zeros_expected[lane] += u64::from(wanted == 0.0);
    };
    let (actual_rows, actual_rest) = actual.as_chunks::<LANES>();
    let (expected_rows, expected_rest) = expected.as_chunks::<LANES>();
    let (error_rows, _) = errors.as_chunks_mut::<LANES>();
    for ((actual, expected), errors) in actual_rows.iter().zip(expected_rows).zip(error_rows) {
        for lane in 0..LANES {
            add(lane, actual[lane], expected[lane], &mut errors[lane]);
        }
    }
    let rest = actual_rest.iter().zip(expected_rest).zip(&mut errors[actual_rows.len() * LANES..]);
    for (lane, ((&actual, &expected), error)) in rest.enumerate() {
        add(lane, actual, expected, error);
    }
    Totals {
        relative: relative.into_iter().fold(-1.0, f64::max),
        max_ulp: max_ulp.into_iter().fold(0, u64::max),
        ulps_high: ulps_high.iter().sum(),
        ulps_low: ulps_low.iter().sum(),
        squares: squares.iter().sum(),
        actual_squares: actual_squares.iter().sum(),
        expected_squares: expected_squares.iter().sum(),
        product: product.iter().sum(),
        zeros_actual: zeros_actual.iter().sum(),
        zeros_expected: zeros_expected.iter().sum(),
    }
}

#[cfg(test)]
mod tests {
    use argus_abi::DType;

    use super::*;
    use crate::metrics::{Decade, judge};

    fn measured(
        dtype: DType,
        elements: u64,
        actual: &[u8],
        expected: &[u8],
        tolerance: Tolerance,
    ) -> Metrics {
        measure(&Pair::new(dtype, elements, actual, expected).unwrap(), &tolerance)
    }

    fn f32_bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn a_small_pair_by_hand() {
        // Differences 0, 1, -2, 0.
        let (actual, expected) = (f32_bytes(&[3.0, 5.0, 0.0, 0.0]), f32_bytes(&[3.0, 4.0, 2.0, 0.0]));
        let pair = Pair::new(DType::F32, 4, &actual, &expected).unwrap().shaped(&[2, 2]).unwrap();
        let found = measure(&pair, &Tolerance::new(0.25, 0.0).unwrap());
        assert_eq!((found.beyond, found.fraction_beyond, found.allclose), (1, 0.25, false));
        assert_eq!((found.max_abs, found.max_rel), (Number::Float(2.0), Some(1.0)));
        // Five is 2^21 steps above four: 2^23 steps from four to eight. Two is 2^30 by its bits.
        assert_eq!(found.max_ulp, 0x4000_0000);
        assert_eq!(found.mean_ulp, Some((0x4000_0000 + (1 << 21)) as f64 / 4.0));
        assert_eq!(found.rmse, Some((5.0f64 / 4.0).sqrt()));
        assert_eq!(found.relative_l2, Some(5.0f64.sqrt() / 29.0f64.sqrt()));
        // (9 + 20) / sqrt(9 + 25) / sqrt(9 + 16 + 4)
        assert!((found.cosine.unwrap() - 29.0 / (34.0f64 * 29.0).sqrt()).abs() < 1e-15);
        assert_eq!((found.zeros_actual, found.zeros_expected), (2, 1));
        assert_eq!(found.histogram.zero, 2);
        assert_eq!(found.histogram.decades, [Decade { exponent: 0, count: 2 }]);
        assert_eq!(found.first, found.worst);
        let worst = found.worst.unwrap();
        assert_eq!((worst.index, worst.at), (2, vec![1, 0]));
        assert_eq!((worst.actual, worst.expected), (Number::Float(0.0), Number::Float(2.0)));
    }

    #[test]
    fn small_floats_are_counted_in_their_own_steps() {
        let bf16 = |bits: u16| bits.to_le_bytes();
        let found = measured(DType::Bf16, 1, &bf16(0x3f81), &bf16(0x3f80), Tolerance::EXACT);
        assert_eq!((found.max_ulp, found.max_abs), (1, Number::Float(1.0 / 128.0)));
        // Across zero: from the smallest positive to the smallest negative value it is two steps.
        let found = measured(DType::F16, 1, &bf16(0x0001), &bf16(0x8001), Tolerance::EXACT);
        assert_eq!((found.max_ulp, found.max_abs), (2, Number::Float(2f64.powi(-23))));
        // FP4: 6 and -6 are 14 steps apart, -0 and 0 none.
        let found = measured(DType::Fp4E2M1, 2, &[0x87], &[0x0f], Tolerance::EXACT);
        assert_eq!((found.max_ulp, found.mean_ulp, found.beyond), (14, Some(7.0), 1));
        let found = measured(DType::Fp8E8M0, 1, &[130], &[127], Tolerance::EXACT);
        assert_eq!((found.max_ulp, found.max_abs), (3, Number::Float(7.0)));
    }

    #[test]
    fn wide_integers_are_exact() {
        let (low, high) = (i64::MIN.to_le_bytes(), i64::MAX.to_le_bytes());
        let found = measured(DType::I64, 1, &low, &high, Tolerance::EXACT);
        assert_eq!((found.max_abs, found.max_ulp), (Number::Unsigned(u64::MAX), u64::MAX));
        let (even, odd) = ((1u64 << 63).to_le_bytes(), ((1u64 << 63) + 1).to_le_bytes());
        let found = measured(DType::U64, 1, &even, &odd, Tolerance::EXACT);
        assert_eq!((found.max_abs, found.beyond), (Number::Unsigned(1), 1));
        let found = measured(DType::U64, 1, &even, &odd, Tolerance::new(0.0, 1.0).unwrap());
        assert_eq!(found.verdict, Verdict::Within);
    }

    #[test]
    fn any_byte_but_zero_is_true() {
        let found = measured(DType::Bool, 3, &[2, 0, 1], &[1, 0, 0], Tolerance::EXACT);
        assert_eq!((found.beyond, found.zeros_actual, found.zeros_expected), (1, 1, 2));
        assert_eq!(found.first.unwrap().index, 2);
    }

    #[test]
    fn what_has_no_value_is_none() {
        let zeros = f32_bytes(&[0.0, -0.0]);
        let found = measured(DType::F32, 2, &f32_bytes(&[1.0, 0.0]), &zeros, Tolerance::EXACT);
        assert_eq!((found.max_rel, found.relative_l2, found.cosine), (None, None, None));
        assert_eq!(found.rmse, Some(0.5f64.sqrt()));
        let nans = f32_bytes(&[f32::NAN, f32::INFINITY]);
        let found = measured(DType::F32, 2, &nans, &nans, Tolerance::EXACT);
        assert_eq!((found.finite, found.nan_both, found.inf_both, found.beyond), (0, 1, 1, 0));
        assert_eq!((found.rmse, found.mean_ulp, found.verdict), (None, None, Verdict::BitEqual));
    }

    #[test]
    fn other_bytes_of_one_truth_are_not_equal_bits_to_the_judge_either() {
        let pair = Pair::new(DType::Bool, 1, &[2], &[1]).unwrap();
        assert_eq!(judge(&pair, &Tolerance::EXACT).verdict, Verdict::Within);
        assert_eq!(measure(&pair, &Tolerance::EXACT).verdict, Verdict::Within);
    }

    #[test]
    fn metrics_serialize_with_names_for_what_json_has_no_number_for() {
        let found = measured(DType::F32, 1, &f32_bytes(&[f32::NAN]), &f32_bytes(&[1.5]), Tolerance::EXACT);
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(
            json["worst"],
            serde_json::json!({"index": 0, "at": [0], "actual": "NaN", "expected": 1.5})
        );
        assert_eq!(json["verdict"], "beyond");
    }
}
