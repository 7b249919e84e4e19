//! Outputs against references, within a tolerance.

use argus_abi::DType;
use argus_facts::number::{Number, element};
use serde::{Serialize, Serializer};
use thiserror::Error;

/// How far an output may be from its reference: `|actual - expected| <= atol + rtol * |expected|`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tolerance {
    rtol: f64,
    atol: f64,
}

/// A tolerance that would accept everything or nothing, or that is not a number.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{which} is {value}; a tolerance must be a finite number of at least 0")]
pub struct ToleranceError {
    which: &'static str,
    value: f64,
}

/// An output and its reference that cannot be compared element by element.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OutputMismatch {
    #[error("output `{name}` has {actual} elements, its reference has {expected}")]
    Length { name: String, actual: u64, expected: u64 },
    #[error("output `{name}` is {actual}, its reference is {expected}")]
    Type { name: String, actual: DType, expected: DType },
    #[error("there is a reference for `{name}`, which is not an argument of the scene")]
    NoOutput { name: String },
}

impl Tolerance {
    /// Only equal values pass.
    pub const EXACT: Self = Self { rtol: 0.0, atol: 0.0 };

    pub fn new(rtol: f64, atol: f64) -> Result<Self, ToleranceError> {
        for (which, value) in [("rtol", rtol), ("atol", atol)] {
            // NaN fails both tests: it is neither finite nor at least 0.
            if !(value.is_finite() && value >= 0.0) {
                return Err(ToleranceError { which, value });
            }
        }
        Ok(Self { rtol, atol })
    }

    pub fn rtol(self) -> f64 {
        self.rtol
    }

    pub fn atol(self) -> f64 {
        self.atol
    }
}

/// One element that is out of tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mismatch {
    pub index: usize,
    #[serde(serialize_with = "number_or_name")]
    pub actual: f64,
    #[serde(serialize_with = "number_or_name")]
    pub expected: f64,
}

/// What the comparison of one output found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputVerdict {
    pub name: String,
    pub tolerance: Tolerance,
    pub elements: usize,
    pub mismatches: usize,
    /// NaNs in the output. Each is a mismatch, whatever the reference holds.
    pub nan_actual: usize,
    /// NaNs in the reference. Each is a mismatch, whatever the output holds.
    pub nan_expected: usize,
    /// Infinite when an element is NaN, or infinite on one side only.
    #[serde(serialize_with = "number_or_name")]
    pub max_abs_error: f64,
    /// Over elements whose reference is not 0: against 0 any error is infinitely large.
    #[serde(serialize_with = "number_or_name")]
    pub max_rel_error: f64,
    /// The first element with the largest absolute error; `None` when every element is equal.
    pub worst_index: Option<usize>,
    pub first_mismatch: Option<Mismatch>,
    pub pass: bool,
}

/// Compares an output with its reference, as `torch.allclose` does with `equal_nan=False`. Both are given as element
/// type and bytes in logical order.
pub fn compare(
    name: &str,
    actual: (DType, &[u8]),
    expected: (DType, &[u8]),
    tolerance: Tolerance,
) -> Result<OutputVerdict, OutputMismatch> {
    let dtype = expected.0;
    if actual.0 != dtype {
        return Err(OutputMismatch::Type { name: name.to_owned(), actual: actual.0, expected: dtype });
    }
    let (actual, expected) = (actual.1, expected.1);
    if actual.len() != expected.len() {
        let (actual, expected) = (count(dtype, actual), count(dtype, expected));
        return Err(OutputMismatch::Length { name: name.to_owned(), actual, expected });
    }
    let elements = count(dtype, expected) as usize;
    let mut verdict = OutputVerdict {
        name: name.to_owned(),
        tolerance,
        elements,
        mismatches: 0,
        nan_actual: 0,
        nan_expected: 0,
        max_abs_error: 0.0,
        max_rel_error: 0.0,
        worst_index: None,
        first_mismatch: None,
        pass: true,
    };
    for index in 0..elements {
        let number = |bytes| element(dtype, bytes, index as u64);
        if let (Some(actual), Some(expected)) = (number(actual), number(expected)) {
            verdict.add(index, actual, expected);
        }
    }
    verdict.pass = verdict.mismatches == 0;
    Ok(verdict)
}

/// The elements that these bytes hold.
fn count(dtype: DType, bytes: &[u8]) -> u64 {
    let bytes = bytes.len() as u64;
    if dtype == DType::Fp4E2M1 { bytes * 2 } else { bytes / dtype.size() as u64 }
}

impl OutputVerdict {
    fn add(&mut self, index: usize, actual: Number, expected: Number) {
        let error = difference(actual, expected);
        let (actual, expected) = (actual.as_f64(), expected.as_f64());
        self.nan_actual += usize::from(actual.is_nan());
        self.nan_expected += usize::from(expected.is_nan());
        if error > self.max_abs_error {
            self.max_abs_error = error;
            self.worst_index = Some(index);
        }
        if expected != 0.0 {
            self.max_rel_error = self.max_rel_error.max(relative_error(error, expected));
        }
        let allowed = self.tolerance.atol + self.tolerance.rtol * expected.abs();
        // An infinite reference makes the allowance infinite; it must not excuse a finite output.
        if error.is_infinite() || error > allowed {
            self.mismatches += 1;
            self.first_mismatch.get_or_insert(Mismatch { index, actual, expected });
        }
    }
}

/// The distance of two elements. That of integers is exact: two of 64 bits may be the same f64 and still differ.
fn difference(actual: Number, expected: Number) -> f64 {
    let integer = |number| match number {
        Number::Signed(value) => Some(i128::from(value)),
        Number::Unsigned(value) => Some(i128::from(value)),
        Number::Bool(value) => Some(i128::from(value)),
        Number::Float(_) => None,
    };
    match (integer(actual), integer(expected)) {
        (Some(actual), Some(expected)) => (actual - expected).unsigned_abs() as f64,
        _ => absolute_error(actual.as_f64(), expected.as_f64()),
    }
}

/// Never NaN: what has no distance is infinitely far.
fn absolute_error(actual: f64, expected: f64) -> f64 {
    // Equal infinities have no difference, yet they are equal.
    if actual == expected {
        return 0.0;
    }
    let error = (actual - expected).abs();
    if error.is_nan() { f64::INFINITY } else { error }
}

fn relative_error(error: f64, expected: f64) -> f64 {
    if error == 0.0 || error.is_infinite() { error } else { error / expected.abs() }
}

/// JSON has no NaN and no infinities; a name keeps them apart where a plain number would become null.
pub fn number_or_name<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.collect_str(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares plain values.
    fn compare_f32(actual: &[f32], expected: &[f32], tolerance: Tolerance) -> OutputVerdict {
        let bytes = bytemuck::cast_slice;
        compare("out", (DType::F32, bytes(actual)), (DType::F32, bytes(expected)), tolerance).unwrap()
    }

    fn within(rtol: f64, atol: f64, actual: f32, expected: f32) -> bool {
        compare_f32(&[actual], &[expected], Tolerance::new(rtol, atol).unwrap()).pass
    }

    #[test]
    fn tolerances_must_be_finite_and_not_negative() {
        for bad in [f64::NAN, -1e-9, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Tolerance::new(bad, 0.0).is_err(), "{bad}");
            assert!(Tolerance::new(0.0, bad).is_err(), "{bad}");
        }
        assert_eq!(
            Tolerance::new(1e-3, f64::NAN).unwrap_err().to_string(),
            "atol is NaN; a tolerance must be a finite number of at least 0"
        );
        let tolerance = Tolerance::new(1e-3, 0.0).unwrap();
        assert_eq!((tolerance.rtol(), tolerance.atol()), (1e-3, 0.0));
        assert_eq!(Tolerance::new(0.0, 0.0).unwrap(), Tolerance::EXACT);
    }

    #[test]
    fn the_limit_itself_passes() {
        // 0.5 + 0.25 * |-8| = 2.5, all exact in binary.
        assert!(within(0.25, 0.5, -10.5, -8.0));
        assert!(!within(0.25, 0.5, (-10.5f32).next_down(), -8.0));
        // The reference sets the scale, not the output.
        assert!(!within(0.25, 0.5, -8.0, -5.5));
    }

    #[test]
    fn errors_are_taken_in_f64() {
        // In f32 the difference of these would be infinite.
        assert!(within(2.0, 0.0, f32::MAX, -f32::MAX));
        assert!(!within(1.9, 0.0, f32::MAX, -f32::MAX));
    }

    #[test]
    fn nan_never_matches() {
        assert!(!within(1.0, 1.0, f32::NAN, 0.0));
        assert!(!within(1.0, 1.0, 0.0, f32::NAN));
        assert!(!within(1.0, 1.0, f32::NAN, f32::NAN));
    }

    #[test]
    fn infinities_match_only_themselves() {
        assert!(within(0.0, 0.0, f32::INFINITY, f32::INFINITY));
        assert!(!within(1.0, 1.0, f32::NEG_INFINITY, f32::INFINITY));
        assert!(!within(1.0, 1.0, 1.0, f32::INFINITY));
        assert!(!within(1.0, 1.0, f32::INFINITY, 1.0));
    }

    #[test]
    fn zeros_of_either_sign_are_equal() {
        assert!(within(0.0, 0.0, -0.0, 0.0));
    }

    #[test]
    fn a_verdict_says_how_far_and_where() {
        let actual = [1.0f32, 2.5, 0.125, 8.0, 5.0];
        let expected = [1.0f32, 2.0, 0.0, 4.0, 4.0];
        let verdict = compare_f32(&actual, &expected, Tolerance::new(0.25, 0.125).unwrap());
        assert_eq!((verdict.elements, verdict.mismatches, verdict.pass), (5, 1, false));
        assert_eq!((verdict.max_abs_error, verdict.worst_index), (4.0, Some(3)));
        // 0.125 against 0 is left out; 8 against 4 is the largest ratio.
        assert_eq!(verdict.max_rel_error, 1.0);
        assert_eq!(verdict.first_mismatch, Some(Mismatch { index: 3, actual: 8.0, expected: 4.0 }));
    }

    #[test]
    fn the_first_mismatch_need_not_be_the_worst() {
        let verdict = compare_f32(&[1.0, 9.0], &[0.0, 0.0], Tolerance::EXACT);
        assert_eq!(verdict.first_mismatch.map(|mismatch| mismatch.index), Some(0));
        assert_eq!(verdict.worst_index, Some(1));
    }

    #[test]
    fn nans_are_counted_on_each_side_and_are_the_worst() {
        let actual = [f32::NAN, 100.0, 1.0, f32::NAN];
        let expected = [1.0, 1.0, f32::NAN, f32::NAN];
        let verdict = compare_f32(&actual, &expected, Tolerance::EXACT);
        assert_eq!((verdict.nan_actual, verdict.nan_expected, verdict.mismatches), (2, 2, 4));
        assert_eq!((verdict.max_abs_error, verdict.worst_index), (f64::INFINITY, Some(0)));
    }

    #[test]
    fn equal_outputs_have_no_worst_element() {
        let verdict = compare_f32(&[1.0, f32::INFINITY], &[1.0, f32::INFINITY], Tolerance::EXACT);
        assert!(verdict.pass);
        assert_eq!((verdict.max_abs_error, verdict.max_rel_error), (0.0, 0.0));
        assert_eq!((verdict.worst_index, verdict.first_mismatch), (None, None));
    }

    #[test]
    fn integers_out_of_reach_of_a_float_are_told_apart() {
        let same = |actual: i64, expected: i64| {
            let (actual, expected) = (actual.to_le_bytes(), expected.to_le_bytes());
            compare("i", (DType::I64, &actual), (DType::I64, &expected), Tolerance::EXACT).unwrap().pass
        };
        let big = (1 << 60) + 1;
        assert!(same(big, big));
        assert!(!same(big, big - 1));
    }

    #[test]
    fn every_element_type_is_read_as_its_numbers() {
        let verdict = compare("h", (DType::Bf16, &[0x80, 0x3f]), (DType::Bf16, &[0, 0x40]), Tolerance::EXACT);
        assert_eq!(verdict.unwrap().first_mismatch, Some(Mismatch { index: 0, actual: 1.0, expected: 2.0 }));
        // Two FP4 in one byte: 0.5 and 6 against 0.5 and 4.
        let verdict = compare("q", (DType::Fp4E2M1, &[0x71]), (DType::Fp4E2M1, &[0x61]), Tolerance::EXACT);
        let verdict = verdict.unwrap();
        assert_eq!((verdict.elements, verdict.mismatches, verdict.max_abs_error), (2, 1, 2.0));
    }

    #[test]
    fn another_element_type_is_an_error() {
        let error = compare("o", (DType::F32, &[0; 4]), (DType::I32, &[0; 4]), Tolerance::EXACT).unwrap_err();
        assert_eq!(error.to_string(), "output `o` is FLOAT32, its reference is INT32");
    }

    #[test]
    fn what_json_has_no_number_for_is_written_as_a_name() {
        struct Shown(f64);
        impl std::fmt::Display for Shown {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                number_or_name(&self.0, f)
            }
        }
        let shown = [1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|value| Shown(value).to_string());
        assert_eq!(shown, ["1.5", "NaN", "inf", "-inf"]);
    }

    #[test]
    fn buffers_of_different_lengths_are_an_error() {
        let error =
            compare("out", (DType::F32, &[0; 4]), (DType::F32, &[0; 8]), Tolerance::EXACT).unwrap_err();
        assert_eq!(error.to_string(), "output `out` has 1 elements, its reference has 2");
    }
}
