//! What was done to the wrong elements' values.

use argus_abi::DType;
use argus_facts::number::{Number, number};

use super::field::{Field, MOST, evidence_bits, finding};
use super::{Confidence, Finding, Input, Pattern};
use crate::metrics::{Shown, raw_bits};

/// Steps that differently rounded results may be apart.
const ROUNDING_STEPS: u64 = 4;
/// The same for floats of eight bits and less.
const SMALL_ROUNDING_STEPS: u64 = 1;
/// So many elements in their last bits are a habit.
const ROUNDED_ENOUGH: u64 = 8;
/// So many of them leave no doubt.
const ROUNDED_PLENTY: u64 = 32;
/// Deviations of the mean that chance hardly shows.
const BIASED: f64 = 4.0;
/// Bits so low change with rounding.
const ROUNDING_BITS: u32 = 3;
/// Evidence of a flipped bit if all other elements are the same bit for bit: nothing else is wrong.
const NOTHING_ELSE_BITS: f64 = 10.0;

/// Values that are looked for elsewhere.
const COMMON_VALUES: usize = 16;

/// Zeros in place of values.
pub(super) fn zeros(field: &Field<'_>) -> Option<Finding> {
    let zero = |index: usize| field.actual(index) == 0.0;
    if !field.plausible(zero) {
        return None;
    }
    let matches = field.count_wrong(zero);
    let chance = field.share(|index| field.expected(index) == 0.0);
    let all = matches == field.count && (0..field.elements).all(zero);
    let pattern = if all { Pattern::AllZeros } else { Pattern::ZerosWhereWrong };
    finding(pattern, evidence_bits(matches, field.count, chance, 1), matches, field.count, || {
        if all {
            format!("all {} elements are 0, {} of them should not be", field.elements, field.count)
        } else {
            format!("{matches} of {} wrong elements are 0", field.count)
        }
    })
}

/// The sign of every wrong element.
pub(super) fn sign_flipped(field: &Field<'_>) -> Option<Finding> {
    let opposite = |index: usize, other: usize| {
        let expected = field.expected(other);
        expected != 0.0 && field.close(-field.actual(index), expected)
    };
    if !field.plausible(|index| opposite(index, index)) {
        return None;
    }
    let matches = field.count_wrong(|index| opposite(index, index));
    let bits = evidence_bits(matches, field.count, field.chance(opposite), 1);
    finding(Pattern::SignFlipped, bits, matches, field.count, || {
        format!("{matches} of {} wrong elements equal the expected value with the other sign", field.count)
    })
}

/// One factor for every wrong element.
pub(super) fn scaled(field: &Field<'_>) -> Option<Finding> {
    let ratios = field.sample.iter().map(|&index| field.actual(index) / field.expected(index));
    let mut ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite() && *ratio != 0.0).collect();
    if (ratios.len() as f64) < MOST * field.sample.len() as f64 {
        return None;
    }
    ratios.sort_by(f64::total_cmp);
    let factor = *ratios.get(ratios.len() / 2)?;
    let precision = 4.0 * relative_step(field.dtype);
    // One is no scaling, minus one is a flipped sign, and a coarse dtype cannot tell.
    if precision >= 0.25 || (factor.abs() - 1.0).abs() <= precision {
        return None;
    }
    // Integers round to the next whole number.
    let slack = if field.dtype.is_float() { 0.0 } else { 0.5 };
    let times = |index: usize, other: usize| {
        let wanted = factor * field.expected(other);
        (field.actual(index) - wanted).abs() <= precision * wanted.abs() + slack
    };
    if !field.plausible(|index| times(index, index)) {
        return None;
    }
    let matches = field.count_wrong(|index| times(index, index));
    // One ratio was used up to know the factor.
    let bits = evidence_bits(matches.saturating_sub(1), field.count, field.chance(times), 1);
    let factor = nearest_simple(factor, precision);
    finding(Pattern::Scaled { factor }, bits, matches, field.count, || {
        format!(
            "{matches} of {} wrong elements equal {} times the expected value",
            field.count,
            Shown(Number::Float(factor))
        )
    })
}

/// How far neighbours of a value are apart, as a part of the value.
fn relative_step(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-10),
        DType::Bf16 => 2f64.powi(-7),
        DType::Fp8E4M3Fn => 2f64.powi(-3),
        DType::Fp4E2M1 | DType::Fp8E8M0 => 1.0,
        // FLOAT32, and integers, which are exact as far as f64 is.
        _ => f64::from(f32::EPSILON),
    }
}

/// The factor as a whole number or a whole part of one, if it is one.
fn nearest_simple(factor: f64, precision: f64) -> f64 {
    let near = |simple: f64| simple != 0.0 && (factor - simple).abs() <= precision * simple.abs();
    let whole = factor.round();
    let part = 1.0 / (1.0 / factor).round();
    match () {
        () if near(whole) => whole,
        () if part.is_finite() && near(part) => part,
        () => factor,
    }
}

/// One and the same bit of every wrong element.
pub(super) fn bit_flipped(field: &Field<'_>) -> Option<Finding> {
    let change = |index: usize| field.actual_bits(index) ^ field.expected_bits(index);
    let mask = change(*field.sample.first()?);
    let bit = mask.trailing_zeros();
    let sign = field.dtype.bits() - 1;
    let is_sign = bit == sign && (field.dtype.is_float() && field.dtype != DType::Fp8E8M0);
    // The sign is a pattern of its own; a BOOL has one bit only; low bits are rounding.
    if mask.count_ones() != 1 || is_sign || field.dtype == DType::Bool || bit < ROUNDING_BITS {
        return None;
    }
    if !field.plausible(|index| change(index) == mask) {
        return None;
    }
    let matches = field.count_wrong(|index| change(index) == mask);
    let others_equal = (0..field.elements).filter(|&index| change(index) != 0).count() as u64 == field.count;
    // A change of that size would have to leave all lower bits alone, each time. Round numbers have no lower
    // bits, and one value in place of another common one may differ in a single bit, too.
    let lower = |&index: &usize| bit.saturating_sub(field.expected_bits(index).trailing_zeros());
    let lower = field.sample.iter().map(lower).sum::<u32>() as f64 / field.sample.len() as f64;
    let each = lower.min(-common(field).log2());
    let bits = matches as f64 * each + if others_equal { NOTHING_ELSE_BITS } else { 0.0 };
    finding(Pattern::BitFlipped { bit }, bits, matches, field.count, || {
        let rest = if others_equal { "; all other elements are equal bit for bit" } else { "" };
        format!("{matches} of {} wrong elements differ in bit {bit} and in no other{rest}", field.count)
    })
}

/// How common the wrong elements' values are among the expected ones; zero if none is there.
fn common(field: &Field<'_>) -> f64 {
    let values = field.sample.iter().take(COMMON_VALUES).map(|&index| field.actual_bits(index));
    let values: Vec<u64> = values.collect();
    let hits = (0..field.elements).filter(|&index| values.contains(&field.expected_bits(index))).count();
    hits as f64 / field.elements as f64
}

/// NaN or infinities that should not be there, and where they come from.
pub(super) fn non_finite(field: &Field<'_>, inputs: &[Input<'_>]) -> Option<Finding> {
    let made = |index: usize| !field.actual(index).is_finite() && field.expected(index).is_finite();
    let explains = field.count_wrong(made);
    let first = field.wrong().find(|&index| made(index))?;
    let nans = field.count_wrong(|index| made(index) && field.actual(index).is_nan());
    let what = format!(
        "{nans} NaN and {} infinities where finite values are expected, the first at {:?}",
        explains - nans,
        field.pair.coordinates(first as u64)
    );
    let origin = inputs.iter().find_map(|input| {
        let (count, at) = non_finite_of(input)?;
        Some((input.label, format!("{} has {count}, the first at element {at}", input.label)))
    });
    let (pattern, confidence, why) = match origin {
        Some((label, why)) => {
            (Pattern::NonFiniteInherited { label: label.to_owned() }, Confidence::Likely, why)
        }
        None if inputs.is_empty() => {
            (Pattern::NonFiniteUnknown, Confidence::Likely, "no inputs to look for their origin".to_owned())
        }
        None => (Pattern::NonFiniteMade, Confidence::Strong, "no input has any".to_owned()),
    };
    Some(Finding { pattern, confidence, explains, evidence: format!("{what}; {why}") })
}

/// How many elements of an input are not finite, and the first of them.
fn non_finite_of(input: &Input<'_>) -> Option<(usize, usize)> {
    if !input.dtype.is_float() {
        return None;
    }
    let elements = (input.bytes.len() as u64 * 8 / u64::from(input.dtype.bits())) as usize;
    let is_there =
        |&index: &usize| !number(input.dtype, raw_bits(input.dtype, input.bytes, index)).as_f64().is_finite();
    let mut found = (0..elements).filter(is_there);
    let first = found.next()?;
    Some((1 + found.count(), first))
}

/// Values held at a limit.
pub(super) fn saturated(field: &Field<'_>) -> Option<Finding> {
    let limits = limits(field.dtype);
    let held = |limit: f64| field.sample.iter().filter(|&&index| field.actual(index) == limit).count();
    let &limit = limits.iter().max_by_key(|&&limit| held(limit))?;
    let at_limit = |index: usize| field.actual(index) == limit;
    let matches = field.count_wrong(at_limit);
    // Other errors may come on top; a plateau is what many share.
    if 2 * matches < field.count || matches == 0 {
        return None;
    }
    let over = field.count_wrong(|index| {
        let expected = field.expected(index);
        at_limit(index) && expected.abs() >= limit.abs() && expected.signum() == limit.signum()
    });
    let chance = field.share(|index| field.expected(index) == limit);
    let bits = evidence_bits(matches, field.count, chance, limits.len() as u64);
    let limit = exact(field.dtype, limit);
    let found = finding(Pattern::Saturated { limit }, bits, matches, matches, || {
        format!(
            "{matches} of {} wrong elements are exactly {}; {over} of them should be beyond it",
            field.count,
            Shown(limit)
        )
    })?;
    // Held at a limit that nothing should reach is a plateau, too, but a stranger one: all must share it.
    let sure = over as f64 >= MOST * matches as f64;
    if !sure && (matches as f64) < MOST * field.count as f64 {
        return None;
    }
    Some(Finding { confidence: if sure { found.confidence } else { Confidence::Likely }, ..found })
}

/// Limits of this dtype and of those that values may have passed through.
fn limits(dtype: DType) -> Vec<f64> {
    let integer = |bits: u32, signed: bool| {
        let top = 2f64.powi(bits as i32 - i32::from(signed));
        if signed { vec![top - 1.0, -top] } else { vec![top - 1.0] }
    };
    let narrower = |signed: bool| {
        let widths = [8, 16, 32, 64].into_iter().filter(|&bits| bits <= dtype.bits());
        widths.flat_map(|bits| integer(bits, signed)).collect()
    };
    let both = |limits: &[f64]| limits.iter().flat_map(|&limit| [limit, -limit]).collect();
    // FP8E4M3FN, FLOAT16, BFLOAT16, FLOAT32.
    let bf16 = f64::from(f32::from_bits(0x7f7f_0000));
    match dtype {
        DType::F32 => both(&[448.0, 65504.0, bf16, f64::from(f32::MAX)]),
        DType::Bf16 => both(&[448.0, bf16]),
        DType::F16 => both(&[448.0, 65504.0]),
        DType::Fp8E4M3Fn => both(&[448.0]),
        DType::Fp4E2M1 => both(&[6.0]),
        DType::Fp8E8M0 => vec![2f64.powi(127)],
        DType::Bool => Vec::new(),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => narrower(true),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => narrower(false),
    }
}

/// A limit as the number of its dtype: the largest 64-bit integers are not f64.
fn exact(dtype: DType, limit: f64) -> Number {
    match dtype {
        _ if dtype.is_float() => Number::Float(limit),
        DType::U64 | DType::U32 | DType::U16 | DType::U8 => Number::Unsigned(limit as u64),
        _ => Number::Signed(limit as i64),
    }
}

/// Neighbouring values: right, but rounded differently.
pub(super) fn last_bits(field: &Field<'_>) -> Option<Finding> {
    // One step of a scale is a factor of two; integers do not round.
    if !field.dtype.is_float() || field.dtype == DType::Fp8E8M0 {
        return None;
    }
    let allowed = if field.dtype.bits() > 8 { ROUNDING_STEPS } else { SMALL_ROUNDING_STEPS };
    if !field.plausible(|index| steps(field, index).is_some_and(|steps| steps.unsigned_abs() <= allowed)) {
        return None;
    }
    let (mut differing, mut sum, mut squares, mut largest) = (0u64, 0i64, 0u64, 0u64);
    for index in 0..field.elements {
        if field.actual_bits(index) == field.expected_bits(index) {
            continue;
        }
        // NaN of other bits is NaN all the same.
        if field.actual(index).is_nan() && field.expected(index).is_nan() {
            continue;
        }
        let steps = steps(field, index)?;
        if steps.unsigned_abs() > allowed {
            return None;
        }
        differing += u64::from(steps != 0);
        sum += steps;
        squares += steps.unsigned_abs().pow(2);
        largest = largest.max(steps.unsigned_abs());
    }
    if differing < ROUNDED_ENOUGH {
        return None;
    }
    // The mean of that many steps in random directions strays by this much.
    let strays = (squares as f64).sqrt();
    let biased = sum.unsigned_abs() as f64 > BIASED * strays;
    let plenty = differing >= ROUNDED_PLENTY && !biased;
    Some(Finding {
        pattern: if biased { Pattern::LastBitsBiased } else { Pattern::LastBits },
        confidence: if plenty { Confidence::Strong } else { Confidence::Likely },
        explains: field.count,
        evidence: format!(
            "all {differing} differing elements of {} are within {largest} steps of {}, {:+.3} on average",
            field.elements,
            field.dtype,
            sum as f64 / differing as f64
        ),
    })
}

/// From the expected to the actual value, in steps of the dtype; `None` if one is not finite or they are far
/// apart.
fn steps(field: &Field<'_>, index: usize) -> Option<i64> {
    if !field.actual(index).is_finite() || !field.expected(index).is_finite() {
        return None;
    }
    let sign = 1u64 << (field.dtype.bits() - 1);
    let place = |bits: u64| {
        let magnitude = (bits & !sign) as i64;
        if bits & sign == 0 { magnitude } else { -magnitude }
    };
    Some(place(field.actual_bits(index)) - place(field.expected_bits(index)))
}
