//! One record compared with what it should be.

use std::ops::Range;

use argus_abi::{DType, Kind};
use argus_dump::read::{PayloadError, Record, Scalar};
use argus_facts::number::{element, number};

use argus_facts::{Expected, with_causes};

use crate::metrics::{
    Judgement, Metrics, Pair, Tolerance, ToleranceError, judge, measure, rms, wrong_elements,
};
use crate::search::Options;
use crate::verdict::Agreement;

/// Tolerances that were asked for; what is not given is the default of the dtype.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    pub rtol: Option<f64>,
    pub atol: Option<f64>,
    /// Fraction of elements that may be out of tolerance.
    pub outliers: Option<f64>,
}

impl Limits {
    /// Whether every part of it makes sense.
    pub fn check(&self) -> Result<(), ToleranceError> {
        self.tolerance(DType::F32, None).map(drop)
    }

    /// For values of a dtype, each of which sums up so many terms. Integers stay exact unless both bounds are
    /// given: a bound that was meant for floats must not hide a wrong index.
    pub fn tolerance(&self, dtype: DType, reduction: Option<u64>) -> Result<Tolerance, ToleranceError> {
        self.with_default(dtype, Tolerance::default_for(dtype, reduction))
    }

    /// What was asked for, else values that are equal.
    pub fn exact(&self, dtype: DType) -> Result<Tolerance, ToleranceError> {
        self.with_default(dtype, Tolerance::EXACT)
    }

    fn with_default(&self, dtype: DType, default: Tolerance) -> Result<Tolerance, ToleranceError> {
        let tolerance = match (self.rtol, self.atol) {
            (None, None) => default,
            (Some(rtol), Some(atol)) => Tolerance::new(rtol, atol)?,
            (Some(rtol), None) => {
                let given = default.with_rtol(rtol)?;
                if dtype.is_float() { given } else { default }
            }
            (None, Some(atol)) => {
                let given = Tolerance::new(default.rtol(), atol)?;
                if dtype.is_float() { given } else { default }
            }
        };
        match self.outliers {
            Some(fraction) => tolerance.with_outliers(fraction),
            None => Ok(tolerance),
        }
    }
}

/// How one record compares.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Index of the record in the dump that is searched.
    pub record: usize,
    pub argument: u32,
    pub kind: Kind,
    /// What it was compared with.
    pub with: String,
    /// Index of that record, if it is one.
    pub expected_record: Option<usize>,
    pub agreement: Agreement,
    pub judgement: Option<Judgement>,
    pub tolerance: Option<Tolerance>,
    /// Of pairs that differ, or of all if that was asked for.
    pub metrics: Option<Box<Metrics>>,
    /// Elements that the task does not define; they were left out.
    pub unchecked: u64,
    /// Ranges of elements that are out of tolerance, in logical order.
    pub wrong: Vec<Range<u64>>,
    /// Ranges of elements that were not judged.
    pub unjudged: Vec<Range<u64>>,
}

impl Comparison {
    fn new(record: &Record, with: String, agreement: Agreement) -> Comparison {
        Comparison {
            record: record.index,
            argument: record.arg_index,
            kind: record.kind,
            with,
            expected_record: None,
            agreement,
            judgement: None,
            tolerance: None,
            metrics: None,
            unchecked: 0,
            wrong: Vec::new(),
            unjudged: Vec::new(),
        }
    }

    pub(crate) fn equal(record: &Record, with: String) -> Comparison {
        Comparison::new(record, with, Agreement::Equal)
    }

    pub(crate) fn unknown(record: &Record, with: String, why: String) -> Comparison {
        Comparison::new(record, with, Agreement::Unknown(why))
    }

    /// A side has no bytes: damage is told from what was never there.
    pub(crate) fn without(record: &Record, with: String, error: &PayloadError) -> Comparison {
        let why = with_causes(error);
        let agreement = if error.is_damage() { Agreement::Damaged(why) } else { Agreement::Unknown(why) };
        Comparison::new(record, with, agreement)
    }

    /// Whether it was compared, whatever came out.
    pub fn is_judged(&self) -> bool {
        matches!(self.agreement, Agreement::Equal | Agreement::Within | Agreement::Beyond)
    }
}

/// Compares a payload with the bytes that it should be. `expected` says what is special about them.
pub(crate) fn compare(
    record: &Record,
    actual: &[u8],
    wanted: &[u8],
    with: String,
    expected: Option<&Expected>,
    options: Options,
) -> Comparison {
    let (Some(dtype), Some(elements)) = (record.dtype, record.numel()) else {
        return Comparison::unknown(record, with, "its dtype is unknown".to_owned());
    };
    let reduction = expected.and_then(|expected| expected.reduction);
    let tolerance = match expected {
        Some(expected) if expected.exact => options.limits.exact(dtype),
        _ => options.limits.tolerance(dtype, reduction),
    };
    let tolerance = match tolerance {
        Ok(tolerance) => scaled(tolerance, dtype, elements, actual, wanted),
        Err(error) => return Comparison::unknown(record, with, with_causes(&error)),
    };
    // Elements that the task does not define are made equal on both sides.
    let mask = expected.and_then(|expected| expected.unchecked.as_deref());
    let masked = mask.map(|mask| {
        let mut wanted = wanted.to_vec();
        let left_out = take_over(dtype, mask, actual, &mut wanted);
        (wanted, left_out)
    });
    let (wanted, unchecked) =
        masked.as_ref().map_or((wanted, 0), |(bytes, count)| (bytes.as_slice(), *count));
    let mut comparison = judged(record, dtype, elements, actual, wanted, with, tolerance, options.full);
    comparison.unchecked = unchecked;
    comparison.unjudged = mask.map_or_else(Vec::new, set_ranges);
    if unchecked == elements && elements > 0 {
        comparison.agreement = Agreement::Unknown("its task defines no element of it".to_owned());
    }
    comparison
}

/// The tolerance for values as large as those expected. Equal bytes need none.
fn scaled(tolerance: Tolerance, dtype: DType, elements: u64, actual: &[u8], wanted: &[u8]) -> Tolerance {
    if !tolerance.depends_on_data() || actual == wanted {
        return tolerance;
    }
    match Pair::new(dtype, elements, wanted, wanted) {
        Ok(pair) => tolerance.for_data(rms(&pair)),
        // Said where both sides become a pair.
        Err(_) => tolerance,
    }
}

/// Where a mask is set.
fn set_ranges(mask: &[bool]) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (index, _) in mask.iter().enumerate().filter(|(_, set)| **set) {
        extend(&mut ranges, index as u64);
    }
    ranges
}

/// Adds an element behind all that are there.
fn extend(ranges: &mut Vec<Range<u64>>, index: u64) {
    match ranges.last_mut() {
        Some(last) if last.end == index => last.end += 1,
        _ => ranges.push(index..index + 1),
    }
}

/// Wrong elements that are told apart. Of more scattered ones the whole tensor counts as wrong: where exactly
/// would cost more than it tells.
const MAX_RANGES: usize = 1 << 16;

fn wrong_ranges(pair: &Pair<'_>, tolerance: &Tolerance) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    for (word, mut bits) in wrong_elements(pair, tolerance).into_iter().enumerate() {
        while bits != 0 {
            extend(&mut ranges, word as u64 * 64 + u64::from(bits.trailing_zeros()));
            bits &= bits - 1;
        }
        if ranges.len() > MAX_RANGES {
            return std::iter::once(0..pair.elements()).collect();
        }
    }
    ranges
}

/// Compares a float payload with wider floats: what it holds is widened, which changes nothing, and judged by
/// the tolerance of its own dtype.
pub(crate) fn compare_widened(
    record: &Record,
    actual: &[u8],
    wanted: &[u8],
    with: String,
    options: Options,
) -> Comparison {
    let (Some(dtype), Some(elements)) = (record.dtype, record.numel()) else {
        return Comparison::unknown(record, with, "its dtype is unknown".to_owned());
    };
    let tolerance = match options.limits.tolerance(dtype, None) {
        Ok(tolerance) => scaled(tolerance, DType::F32, elements, &[], wanted),
        Err(error) => return Comparison::unknown(record, with, with_causes(&error)),
    };
    match widen(dtype, actual, elements) {
        Some(widened) => {
            judged(record, DType::F32, elements, &widened, wanted, with, tolerance, options.full)
        }
        None => Comparison::unknown(record, with, "its payload ends early".to_owned()),
    }
}

/// Floats as f32, which holds all of them; `None` if the payload ends early.
pub(crate) fn widen(dtype: DType, payload: &[u8], elements: u64) -> Option<Vec<u8>> {
    let word = |index| element(dtype, payload, index).map(|number| (number.as_f64() as f32).to_le_bytes());
    (0..elements).map(word).collect::<Option<Vec<_>>>().map(|words| words.concat())
}

#[expect(clippy::too_many_arguments, reason = "all of it belongs to one comparison, and there is one caller")]
fn judged(
    record: &Record,
    dtype: DType,
    elements: u64,
    actual: &[u8],
    wanted: &[u8],
    with: String,
    tolerance: Tolerance,
    full: bool,
) -> Comparison {
    let shape: Option<Vec<u32>> = record.shape().iter().map(|&extent| u32::try_from(extent).ok()).collect();
    let pair = Pair::new(dtype, elements, actual, wanted);
    let pair = pair.and_then(|pair| match &shape {
        Some(shape) => pair.shaped(shape),
        None => Ok(pair),
    });
    let pair = match pair {
        Ok(pair) => pair,
        Err(error) => return Comparison::unknown(record, with, with_causes(&error)),
    };
    let judgement = judge(&pair, &tolerance);
    let agreement = match judgement.verdict {
        crate::metrics::Verdict::BitEqual => Agreement::Equal,
        crate::metrics::Verdict::Within => Agreement::Within,
        crate::metrics::Verdict::Beyond => Agreement::Beyond,
    };
    let measured = full || agreement == Agreement::Beyond;
    let metrics = measured.then(|| Box::new(measure(&pair, &tolerance)));
    let wrong = if agreement == Agreement::Beyond { wrong_ranges(&pair, &tolerance) } else { Vec::new() };
    let (judgement, tolerance) = (Some(judgement), Some(tolerance));
    Comparison { judgement, tolerance, metrics, wrong, ..Comparison::new(record, with, agreement) }
}

/// Copies the elements of the mask; how many there are.
pub(crate) fn take_over(dtype: DType, mask: &[bool], from: &[u8], to: &mut [u8]) -> u64 {
    let mut count = 0;
    for (index, _) in mask.iter().enumerate().filter(|(_, unchecked)| **unchecked) {
        count += 1;
        if dtype == DType::Fp4E2M1 {
            let keep = if index.is_multiple_of(2) { 0xf0 } else { 0x0f };
            if let (Some(&from), Some(to)) = (from.get(index / 2), to.get_mut(index / 2)) {
                *to = *to & keep | from & !keep;
            }
        } else {
            let range = index * dtype.size()..(index + 1) * dtype.size();
            if let (Some(from), Some(to)) = (from.get(range.clone()), to.get_mut(range)) {
                to.copy_from_slice(from);
            }
        }
    }
    count
}

/// Scalars agree when their bits do. A dump that rounded one leaves it open unless the numbers are as equal as
/// six digits can be.
pub(crate) fn compare_scalars(actual: &Record, expected: &Record, with: String) -> Comparison {
    debug_assert!(actual.kind == Kind::Scalar);
    let agreement = match (actual.scalar, expected.scalar) {
        (Some(Scalar::Bits(a)), Some(Scalar::Bits(b))) if a == b => Agreement::Equal,
        (Some(Scalar::Bits(_)), Some(Scalar::Bits(_))) => Agreement::Beyond,
        (Some(a), Some(b)) => match (value(actual, a), value(expected, b)) {
            (Some(a), Some(b)) if a == b || (a - b).abs() <= 1e-5 * b.abs() || a.is_nan() && b.is_nan() => {
                Agreement::Within
            }
            (Some(_), Some(_)) => Agreement::Beyond,
            _ => Agreement::Unknown("its dtype is unknown".to_owned()),
        },
        _ => Agreement::Unknown("its value was not captured".to_owned()),
    };
    Comparison::new(actual, with, agreement)
}

fn value(record: &Record, scalar: Scalar) -> Option<f64> {
    match scalar {
        Scalar::Rounded(value) => Some(value),
        Scalar::Bits(bits) => record.dtype.map(|dtype| number(dtype, bits).as_f64()),
    }
}

/// The bits of a scalar, as far as they are known; a rounded float gives those of its nearest f32.
pub(crate) fn exact_bits(record: &Record) -> Option<u64> {
    match record.scalar? {
        Scalar::Bits(bits) => Some(bits),
        Scalar::Rounded(value) => Some(u64::from((value as f32).to_bits())),
    }
}
