//! What counts as agreement, and the defaults of each dtype.

use std::fmt;

use argus_abi::DType;
use serde::Serialize;
use thiserror::Error;

/// Distance from 1 to the next f32: the unit in which accumulators lose precision.
const F32_STEP: f64 = f32::EPSILON as f64;
/// Steps of f32 that two right implementations of one function (`exp`, a fused multiply-add, another order of
/// a few operations) may be apart.
const FUNCTION_STEPS: f64 = 64.0;
/// Steps of f32 per square root of the reduction's length. Rounding errors of a sum of n terms grow as a
/// random walk, with the square root of n; four covers its tails.
const REDUCTION_STEPS: f64 = 4.0;

/// How far an output may be from what was expected: `|actual - expected| <= atol + rtol * |expected|`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tolerance {
    rtol: f64,
    atol: f64,
    /// What `atol` grows by, as a part of the root mean square of what is expected; see [`Tolerance::for_data`].
    #[serde(skip)]
    of_rms: f64,
    equal_nan: bool,
    ignore_non_finite: bool,
    outliers: f64,
    #[serde(skip)]
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    Given,
    Default { dtype: DType, reduction: Option<u64> },
}

/// A tolerance that would accept everything or nothing, or that is not a number.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ToleranceError {
    #[error("{which} is {value}; a tolerance must be a finite number of at least 0")]
    Bound { which: &'static str, value: f64 },
    #[error("the budget of outliers is {value}; it is a fraction, at least 0 and below 1")]
    Outliers { value: f64 },
}

impl Tolerance {
    /// Only equal values pass.
    pub const EXACT: Tolerance = Tolerance {
        rtol: 0.0,
        atol: 0.0,
        of_rms: 0.0,
        equal_nan: true,
        ignore_non_finite: false,
        outliers: 0.0,
        origin: Origin::Given,
    };

    pub fn new(rtol: f64, atol: f64) -> Result<Tolerance, ToleranceError> {
        for (which, value) in [("rtol", rtol), ("atol", atol)] {
            // NaN fails both tests: it is neither finite nor at least 0.
            if !(value.is_finite() && value >= 0.0) {
                return Err(ToleranceError::Bound { which, value });
            }
        }
        Ok(Tolerance { rtol, atol, ..Tolerance::EXACT })
    }

    /// The tolerance for results of this dtype, each of which sums up `reduction` terms.
    ///
    /// Two right implementations differ in two ways. Each rounds its result to the dtype, so they may end on
    /// neighbouring values: two steps of the dtype for FLOAT32, FLOAT16 and BFLOAT16, one for the small
    /// floats, whose second neighbour is another number altogether. And each computes in f32 in its own order:
    /// 64 steps of f32 for functions, 4 times the square root of the reduction's length for sums. The second
    /// part is absolute as well as relative, because a sum whose terms cancel keeps the error of its terms. How
    /// large the terms are is taken from the data: the absolute part is in units of the root mean square of what
    /// is expected ([`Tolerance::for_data`]), so that a tensor of small numbers is held to small errors.
    ///
    /// So BFLOAT16 is judged by steps of BFLOAT16 and never by bounds of FLOAT32. FP8E8M0 holds scales, where
    /// one step is a factor of two: exact. Integers and BOOL do not round: exact.
    pub fn default_for(dtype: DType, reduction: Option<u64>) -> Tolerance {
        let origin = Origin::Default { dtype, reduction };
        // Steps of the dtype relative to its value, and the distance of its smallest neighbours.
        let (steps, quantum) = match dtype {
            DType::F32 => (2.0 * F32_STEP, 0.0),
            DType::F16 => (2.0 * 2f64.powi(-10), 2.0 * 2f64.powi(-24)),
            DType::Bf16 => (2.0 * 2f64.powi(-7), 0.0),
            DType::Fp8E4M3Fn => (2f64.powi(-3), 2f64.powi(-9)),
            DType::Fp4E2M1 => (0.5, 0.5),
            _ => return Tolerance { origin, ..Tolerance::EXACT },
        };
        let terms = reduction.unwrap_or(1).max(1) as f64;
        let computing = F32_STEP * (FUNCTION_STEPS + REDUCTION_STEPS * terms.sqrt());
        Tolerance { rtol: steps + computing, atol: quantum, of_rms: computing, origin, ..Tolerance::EXACT }
    }

    /// The same with its absolute part for data whose root mean square is `rms`.
    pub fn for_data(self, rms: f64) -> Tolerance {
        Tolerance { atol: self.atol.max(self.of_rms * rms), ..self }
    }

    /// Whether the absolute part depends on the data.
    pub fn depends_on_data(&self) -> bool {
        self.of_rms > 0.0
    }

    /// The same with another relative bound.
    pub fn with_rtol(self, rtol: f64) -> Result<Tolerance, ToleranceError> {
        let Tolerance { rtol, .. } = Tolerance::new(rtol, 0.0)?;
        Ok(Tolerance { rtol, origin: Origin::Given, ..self })
    }

    /// Whether both come from one rule, whatever the data is.
    pub fn same_rule(&self, other: &Tolerance) -> bool {
        let rule = |tolerance: &Tolerance| Tolerance {
            atol: if tolerance.depends_on_data() { 0.0 } else { tolerance.atol },
            ..*tolerance
        };
        rule(self) == rule(other)
    }

    /// Whether NaN agrees with NaN; it does unless this says otherwise.
    pub fn with_equal_nan(self, equal_nan: bool) -> Tolerance {
        Tolerance { equal_nan, ..self }
    }

    /// Leaves elements with NaN or an infinity on either side out of the verdict. They are still counted.
    pub fn with_non_finite_ignored(self, ignore_non_finite: bool) -> Tolerance {
        Tolerance { ignore_non_finite, ..self }
    }

    /// The fraction of elements that may be beyond the bounds. NaN and infinities are never covered by it.
    pub fn with_outliers(self, outliers: f64) -> Result<Tolerance, ToleranceError> {
        if (0.0..1.0).contains(&outliers) {
            Ok(Tolerance { outliers, ..self })
        } else {
            Err(ToleranceError::Outliers { value: outliers })
        }
    }

    pub fn rtol(&self) -> f64 {
        self.rtol
    }

    pub fn atol(&self) -> f64 {
        self.atol
    }

    pub fn equal_nan(&self) -> bool {
        self.equal_nan
    }

    pub fn ignores_non_finite(&self) -> bool {
        self.ignore_non_finite
    }

    pub fn outliers(&self) -> f64 {
        self.outliers
    }

    /// How many of so many elements may be beyond the bounds.
    pub fn budget(&self, elements: u64) -> u64 {
        // A little up, because 0.29 * 100 is 28.999999999999996.
        (self.outliers * elements as f64 * (1.0 + 1e-12)) as u64
    }

    /// One sentence for a report.
    pub fn describe(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bounds = Vec::new();
        if self.depends_on_data() {
            bounds.push(format!("{:.3e} * rms(expected)", self.of_rms));
        } else if self.atol > 0.0 {
            bounds.push(format!("{:.3e}", self.atol));
        }
        if self.rtol > 0.0 {
            bounds.push(format!("{:.3e} * |expected|", self.rtol));
        }
        match &bounds[..] {
            [] => write!(f, "values must be equal")?,
            bounds => write!(f, "|actual - expected| <= {}", bounds.join(" + "))?,
        }
        if !self.equal_nan {
            write!(f, ", NaN is wrong even against NaN")?;
        }
        if self.ignore_non_finite {
            write!(f, ", elements with NaN or infinity are left out")?;
        }
        if self.outliers > 0.0 {
            write!(f, ", {:.4} % of the elements may be out of tolerance", self.outliers * 100.0)?;
        }
        match self.origin {
            Origin::Given => Ok(()),
            Origin::Default { dtype, reduction: Some(terms) } if self.rtol > 0.0 => {
                write!(f, " (default for {dtype} and sums of {terms} terms)")
            }
            Origin::Default { dtype, .. } => write!(f, " (default for {dtype})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_must_be_finite_and_not_negative() {
        for bad in [f64::NAN, -1e-9, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Tolerance::new(bad, 0.0).is_err(), "{bad}");
            assert!(Tolerance::new(0.0, bad).is_err(), "{bad}");
            assert!(Tolerance::EXACT.with_outliers(bad).is_err(), "{bad}");
        }
        assert!(Tolerance::EXACT.with_outliers(1.0).is_err());
        assert_eq!(
            Tolerance::new(1e-3, f64::NAN).unwrap_err().to_string(),
            "atol is NaN; a tolerance must be a finite number of at least 0"
        );
    }

    #[test]
    fn a_budget_is_rounded_down() {
        let tolerance = Tolerance::EXACT.with_outliers(0.005).unwrap();
        assert_eq!((tolerance.budget(1000), tolerance.budget(199)), (5, 0));
        assert_eq!(Tolerance::EXACT.with_outliers(0.29).unwrap().budget(100), 29);
        assert_eq!(Tolerance::EXACT.budget(u64::MAX), 0);
    }

    #[test]
    fn defaults_follow_the_steps_of_the_dtype() {
        let default = |dtype, terms| Tolerance::default_for(dtype, terms);
        // (2 + 64 + 4) and (64 + 4) steps of 2^-23.
        let f32_default = default(DType::F32, None);
        assert_eq!((f32_default.rtol(), f32_default.atol()), (70.0 / 8388608.0, 0.0));
        // The absolute part is in units of the data's root mean square.
        assert_eq!(f32_default.for_data(1.0).atol(), 68.0 / 8388608.0);
        assert_eq!(f32_default.for_data(2e-6).atol(), 68.0 / 8388608.0 * 2e-6);
        // 4 * sqrt(1024) = 128.
        assert_eq!(default(DType::F32, Some(1024)).rtol(), 194.0 / 8388608.0);
        assert_eq!(default(DType::Bf16, None).rtol(), 1.0 / 64.0 + 68.0 / 8388608.0);
        assert_eq!(default(DType::F16, None).rtol(), 1.0 / 512.0 + 68.0 / 8388608.0);
        assert_eq!(default(DType::Fp8E4M3Fn, None).atol(), 1.0 / 512.0);
        assert_eq!(default(DType::Fp4E2M1, None).atol(), 0.5);
    }

    #[test]
    fn two_steps_of_a_dtype_are_within_its_default_and_eight_are_not() {
        for (dtype, one_up) in [(DType::F16, 2f64.powi(-10)), (DType::Bf16, 2f64.powi(-7))] {
            let tolerance = Tolerance::default_for(dtype, Some(4096)).for_data(1.0);
            let allowed = tolerance.atol() + tolerance.rtol();
            assert!(allowed >= 2.0 * one_up && allowed < 8.0 * one_up, "{dtype}");
        }
    }

    #[test]
    fn what_does_not_round_is_exact() {
        for dtype in [DType::I8, DType::U64, DType::Bool, DType::Fp8E8M0, DType::I32] {
            let tolerance = Tolerance::default_for(dtype, Some(1 << 20));
            assert_eq!((tolerance.rtol(), tolerance.atol()), (0.0, 0.0), "{dtype}");
        }
    }

    #[test]
    fn a_tolerance_describes_itself() {
        assert_eq!(
            Tolerance::default_for(DType::F32, Some(1024)).describe(),
            "|actual - expected| <= 2.289e-5 * rms(expected) + 2.313e-5 * |expected| \
             (default for FLOAT32 and sums of 1024 terms)"
        );
        assert_eq!(
            Tolerance::default_for(DType::I32, None).describe(),
            "values must be equal (default for INT32)"
        );
        let given = Tolerance::new(0.0, 0.5).unwrap().with_outliers(0.005).unwrap().with_equal_nan(false);
        assert_eq!(
            given.describe(),
            "|actual - expected| <= 5.000e-1, NaN is wrong even against NaN, \
             0.5000 % of the elements may be out of tolerance"
        );
    }
}
