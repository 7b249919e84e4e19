//! Metrics against slow, obvious loops: values in f64, integers in i128, one element at a time.

use argus_abi::DType;
use argus_facts::number::{Number, number};
use argus_find::metrics::{Judgement, Metrics, NonFinite, Pair, Tolerance, Verdict, judge, measure};
use proptest::prelude::*;

use crate::data::{Dice, odd_bits, pack};

/// What the loops below find.
#[derive(Default)]
struct Obvious {
    beyond: u64,
    wrong: Vec<(usize, bool, f64)>,
    non_finite: NonFinite,
    max_float: f64,
    max_whole: u64,
    max_rel: Option<f64>,
    ulps: Vec<u128>,
    square: f64,
    actual_square: f64,
    expected_square: f64,
    product: f64,
    finite: u64,
}

/// Where a value lies among all values of its dtype, counted from zero.
fn place(dtype: DType, bits: u64) -> i128 {
    match number(dtype, bits) {
        Number::Signed(value) => i128::from(value),
        Number::Unsigned(value) => i128::from(value),
        Number::Bool(value) => i128::from(value),
        Number::Float(_) if dtype == DType::Fp8E8M0 => i128::from(bits),
        Number::Float(_) => {
            let half = 1i128 << (dtype.bits() - 1);
            let bits = i128::from(bits);
            if bits >= half { half - bits } else { bits }
        }
    }
}

fn obvious(dtype: DType, actual: &[u64], expected: &[u64], tolerance: &Tolerance) -> Obvious {
    let mut found = Obvious::default();
    for (index, (&actual_bits, &expected_bits)) in actual.iter().zip(expected).enumerate() {
        let (actual, expected) = (number(dtype, actual_bits), number(dtype, expected_bits));
        let (a, e) = (actual.as_f64(), expected.as_f64());
        if !a.is_finite() || !e.is_finite() {
            let counts = &mut found.non_finite;
            let wrong = if a.is_nan() && e.is_nan() {
                counts.nan_both += u64::from(!tolerance.equal_nan());
                !tolerance.equal_nan()
            } else if a.is_nan() {
                counts.nan_actual += 1;
                true
            } else if e.is_nan() {
                counts.nan_expected += 1;
                true
            } else if a.is_infinite() && e.is_infinite() {
                counts.inf_opposite += u64::from(a != e);
                a != e
            } else if a.is_infinite() {
                counts.inf_actual += 1;
                true
            } else {
                counts.inf_expected += 1;
                true
            };
            if wrong && !tolerance.ignores_non_finite() {
                found.beyond += 1;
                found.wrong.push((index, true, 0.0));
            }
            continue;
        }
        found.finite += 1;
        let (distance, beyond) = if let Number::Float(_) = actual {
            let distance = (a - e).abs();
            found.max_float = found.max_float.max(distance);
            (distance, distance > tolerance.atol() + tolerance.rtol() * e.abs())
        } else {
            let whole = (place(dtype, actual_bits) - place(dtype, expected_bits)).unsigned_abs() as u64;
            found.max_whole = found.max_whole.max(whole);
            let beyond = if tolerance.rtol() == 0.0 {
                u128::from(whole) > tolerance.atol() as u128
            } else {
                whole as f64 > tolerance.atol() + tolerance.rtol() * e.abs()
            };
            (whole as f64, beyond)
        };
        if beyond {
            found.beyond += 1;
            found.wrong.push((index, false, distance));
        }
        found.ulps.push((place(dtype, actual_bits) - place(dtype, expected_bits)).unsigned_abs());
        if e != 0.0 {
            found.max_rel = Some(found.max_rel.unwrap_or(0.0).max(distance / e.abs()));
        }
        found.square += distance * distance;
        found.actual_square += a * a;
        found.expected_square += e * e;
        found.product += a * e;
    }
    found
}

fn near(found: Option<f64>, wanted: Option<f64>) -> bool {
    match (found, wanted) {
        (Some(found), Some(wanted)) => (found - wanted).abs() <= 1e-11 * wanted.abs().max(1e-300),
        (found, wanted) => found == wanted,
    }
}

fn check(dtype: DType, actual: &[u64], expected: &[u64], tolerance: Tolerance) {
    let (actual_bytes, expected_bytes) = (pack(dtype, actual), pack(dtype, expected));
    let pair = Pair::new(dtype, actual.len() as u64, &actual_bytes, &expected_bytes).unwrap();
    let judged: Judgement = judge(&pair, &tolerance);
    let measured: Metrics = measure(&pair, &tolerance);
    let wanted = obvious(dtype, actual, expected, &tolerance);

    let never = if tolerance.ignores_non_finite() { 0 } else { wanted.non_finite.total() };
    let budget = (tolerance.outliers() * actual.len() as f64 + 1e-9).floor() as u64;
    let verdict = match () {
        () if never > 0 || wanted.beyond - never > budget => Verdict::Beyond,
        () if actual == expected => Verdict::BitEqual,
        () => Verdict::Within,
    };
    let max =
        if dtype.is_float() { Number::Float(wanted.max_float) } else { Number::Unsigned(wanted.max_whole) };
    // The first NaN or infinity, otherwise the first of the farthest.
    let farthest = wanted.wrong.iter().map(|&(.., distance)| distance).fold(0.0, f64::max);
    let worst = wanted
        .wrong
        .iter()
        .find(|&&(_, special, _)| special)
        .or_else(|| wanted.wrong.iter().find(|&&(.., distance)| distance == farthest))
        .map(|&(index, ..)| index as u64);
    let first = wanted.wrong.first().map(|&(index, ..)| index as u64);

    assert_eq!(judged.verdict, verdict);
    assert_eq!(judged.beyond, wanted.beyond);
    assert_eq!(judged.non_finite, wanted.non_finite);
    assert_eq!(judged.max_abs, max);
    assert_eq!(judged.first, first);
    // Distances of 64-bit integers are compared exactly, here only as f64.
    if dtype.bits() < 64 {
        assert_eq!(judged.worst, worst);
    }

    assert_eq!((measured.verdict, measured.beyond), (judged.verdict, judged.beyond));
    assert_eq!((measured.max_abs, measured.non_finite), (judged.max_abs, judged.non_finite));
    assert_eq!(measured.first.as_ref().map(|element| element.index), judged.first);
    assert_eq!(measured.worst.as_ref().map(|element| element.index), judged.worst);
    assert_eq!(measured.finite, wanted.finite);
    assert_eq!(measured.max_rel, wanted.max_rel);
    assert_eq!(u128::from(measured.max_ulp), wanted.ulps.iter().copied().max().unwrap_or(0));
    let count = wanted.finite as f64;
    let some = wanted.finite > 0;
    let total = wanted.ulps.iter().sum::<u128>() as f64;
    assert!(near(measured.mean_ulp, some.then(|| total / count)));
    assert!(near(measured.rmse, some.then(|| (wanted.square / count).sqrt())));
    let lengths = (wanted.actual_square.sqrt(), wanted.expected_square.sqrt());
    assert!(near(measured.relative_l2, (lengths.1 > 0.0).then(|| wanted.square.sqrt() / lengths.1)));
    let cosine = (lengths.0 * lengths.1 > 0.0).then(|| wanted.product / lengths.0 / lengths.1);
    assert_eq!(measured.cosine.is_some(), cosine.is_some());
    if let (Some(found), Some(wanted)) = (measured.cosine, cosine) {
        assert!((found - wanted).abs() < 1e-11, "{found} {wanted}");
    }
    let counted =
        measured.histogram.zero + measured.histogram.decades.iter().map(|bin| bin.count).sum::<u64>();
    assert_eq!(counted, wanted.finite);
}

/// Expected bits and a second side that differs here and there, a little or a lot.
fn sides(dtype: DType, elements: usize, change_one_in: u64, odd: bool, seed: u64) -> (Vec<u64>, Vec<u64>) {
    let mut dice = Dice(seed);
    let mask = u64::MAX >> (64 - dtype.bits());
    let truth = if dtype == DType::Bool { 1 } else { mask };
    let expected: Vec<u64> = (0..elements)
        .map(|_| {
            let bits =
                if odd { odd_bits(dtype, &mut dice) } else { crate::data::bits_of(dtype, dice.unit()) };
            bits & truth
        })
        .collect();
    let actual = expected.iter().map(|&bits| {
        if dice.below(change_one_in) > 0 {
            return bits;
        }
        let changed = match dice.below(4) {
            0 if odd => odd_bits(dtype, &mut dice),
            1 if odd => bits ^ 1 << dice.below(u64::from(dtype.bits())),
            // The next value in one direction or the other.
            2 => bits.wrapping_sub(1),
            _ => bits.wrapping_add(1),
        };
        changed & truth
    });
    let actual = actual.collect();
    (actual, expected)
}

fn tolerances() -> impl Strategy<Value = Tolerance> {
    let bounds = prop_oneof![
        Just((0.0, 0.0)),
        Just((1e-5, 1e-5)),
        Just((0.25, 0.5)),
        Just((0.0, 3.0)),
        Just((1.0, 1e30)),
        Just((1e-40, 1e-44)),
        Just((0.02, 0.0)),
    ];
    (bounds, any::<bool>(), any::<bool>(), prop_oneof![Just(0.0), Just(0.01), Just(0.5)]).prop_map(
        |((rtol, atol), equal_nan, ignore, outliers)| {
            let tolerance = Tolerance::new(rtol, atol).unwrap().with_equal_nan(equal_nan);
            tolerance.with_non_finite_ignored(ignore).with_outliers(outliers).unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn metrics_are_those_of_obvious_loops(
        dtype in proptest::sample::select(DType::ALL.as_slice()),
        elements in prop_oneof![0usize..70, 500usize..9000],
        change_one_in in prop_oneof![Just(1u64), Just(5), Just(1000)],
        odd in any::<bool>(),
        seed in any::<u64>(),
        tolerance in tolerances(),
        by_default in any::<bool>(),
    ) {
        let (actual, expected) = sides(dtype, elements, change_one_in, odd, seed);
        let tolerance = if by_default { Tolerance::default_for(dtype, Some(64)) } else { tolerance };
        check(dtype, &actual, &expected, tolerance);
    }
}

#[test]
fn every_pair_of_small_floats_is_judged_as_its_values_say() {
    for dtype in [DType::Fp8E4M3Fn, DType::Fp8E8M0, DType::Fp4E2M1] {
        let all = 1u64 << dtype.bits();
        let actual: Vec<u64> = (0..all * all).map(|index| index / all).collect();
        let expected: Vec<u64> = (0..all * all).map(|index| index % all).collect();
        for tolerance in [Tolerance::EXACT, Tolerance::default_for(dtype, None)] {
            check(dtype, &actual, &expected, tolerance);
        }
    }
}

#[test]
fn payloads_of_several_chunks_are_those_of_obvious_loops() {
    for (dtype, elements) in [(DType::Bf16, 1_200_003), (DType::F32, 600_001), (DType::I64, 300_001)] {
        let (actual, expected) = sides(dtype, elements, 10_000, false, 11);
        check(dtype, &actual, &expected, Tolerance::default_for(dtype, None));
        check(dtype, &actual, &expected, Tolerance::EXACT);
    }
}

/// The limit must fall between two neighbouring values exactly where f64 says, also where the fast loops
/// compute in f32: at large, small and subnormal values.
#[test]
fn elements_at_the_limit_fall_on_the_right_side() {
    for dtype in [DType::Bf16, DType::F16, DType::F32] {
        let top = u64::from(dtype.bits() == 32);
        let mut dice = Dice(5);
        for _ in 0..400 {
            let exponent_bits = if dtype == DType::F16 { 0x7bff } else { 0x7f7f };
            let expected = dice.below(exponent_bits - 8) << (16 * top) | dice.below(2) << (15 + 16 * top);
            let actual = expected + 1 + dice.below(6);
            let (a, e) = (number(dtype, actual).as_f64(), number(dtype, expected).as_f64());
            if e == 0.0 {
                continue;
            }
            // The distance itself, and the last f64 below it.
            let ratio = (a - e).abs() / e.abs();
            for rtol in [ratio, ratio.next_up(), ratio.next_down()] {
                check(dtype, &[actual; 3], &[expected; 3], Tolerance::new(rtol, 0.0).unwrap());
            }
            for atol in [(a - e).abs(), (a - e).abs().next_down()] {
                check(dtype, &[actual; 3], &[expected; 3], Tolerance::new(0.0, atol).unwrap());
            }
        }
    }
}
