use std::fs;

use argus_abi::DType;
use argus_dump::stats::{Accumulator, Statistics};
use argus_dump::summary::{Distinct, Summary, summarise};
use argus_facts::number::{Number, is_subnormal, number};
use serde_json::{Value, json};

use crate::common::bytes;
use crate::python;

/// Special bits of a float type: NaN, infinities where there are any, zeros, subnormals, and a one.
fn specials(dtype: DType) -> &'static [u64] {
    match dtype {
        DType::F32 => &[0x7fc0_0000, 0x7f80_0001, 0x7f80_0000, 0xff80_0000, 0x8000_0000, 0, 1, 0x807f_ffff],
        DType::F16 => &[0x7e00, 0x7c01, 0x7c00, 0xfc00, 0x8000, 0, 1, 0x83ff, 0x3c00],
        DType::Bf16 => &[0x7fc0, 0x7f81, 0x7f80, 0xff80, 0x8000, 0, 1, 0x807f, 0x3f80],
        DType::Fp8E4M3Fn => &[0x7f, 0xff, 0x80, 0, 1, 0x87, 0x38],
        DType::Fp8E8M0 => &[0xff, 0, 1, 127],
        DType::Fp4E2M1 => &[0, 8, 1, 9, 7],
        _ => &[0, u64::MAX, 1 << 63, 1 << 31, 1 << 15, 1],
    }
}

fn put(dtype: DType, payload: &mut [u8], index: usize, bits: u64) {
    if dtype == DType::Fp4E2M1 {
        let shift = index % 2 * 4;
        payload[index / 2] = payload[index / 2] & !(15 << shift) | ((bits as u8 & 15) << shift);
    } else {
        let width = dtype.size();
        payload[index * width..][..width].copy_from_slice(&bits.to_le_bytes()[..width]);
    }
}

fn get(dtype: DType, payload: &[u8], index: usize) -> u64 {
    if dtype == DType::Fp4E2M1 {
        return u64::from(payload[index / 2] >> (index % 2 * 4) & 15);
    }
    let mut word = [0; 8];
    word[..dtype.size()].copy_from_slice(&payload[index * dtype.size()..][..dtype.size()]);
    u64::from_le_bytes(word)
}

/// Payloads of one type: random bits with special values among them, tame numbers, few values, one value.
fn payloads(dtype: DType, count: usize) -> Vec<Vec<u8>> {
    let len = dtype.packed_bytes(count as u64).unwrap() as usize;
    let wild = {
        let mut payload = bytes(dtype as u64 + 1, len);
        for index in (0..count).step_by(5) {
            put(dtype, &mut payload, index, specials(dtype)[index / 5 % specials(dtype).len()]);
        }
        payload
    };
    let few = |values: usize| {
        let mut payload = vec![0xff; len];
        for (index, random) in bytes(count as u64 + 77, count).into_iter().enumerate() {
            let pick = usize::from(random) % values;
            put(dtype, &mut payload, index, [3u64, 5, 6, 2][pick % 4] + 16 * (pick / 4) as u64);
        }
        payload
    };
    // The unused half of the last byte of an odd number of FP4 is not zero.
    vec![wild, bytes(count as u64, len), few(1), few(2), few(16), few(17)]
}

/// A sum that remembers what rounding took away: of a million terms a plain one loses ten digits.
fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}

/// The obvious computation, in f64 and i128.
fn check(dtype: DType, payload: &[u8], count: usize, got: &Summary) {
    let bits: Vec<u64> = (0..count).map(|index| get(dtype, payload, index)).collect();
    let numbers: Vec<Number> = bits.iter().map(|&bits| number(dtype, bits)).collect();
    let values: Vec<f64> = numbers.iter().map(|number| number.as_f64()).collect();
    let n = |matching: &dyn Fn(f64) -> bool| values.iter().filter(|value| matching(**value)).count() as u64;
    assert_eq!(got.count, count as u64, "{dtype}");
    assert_eq!(got.nan, n(&f64::is_nan), "{dtype}");
    assert_eq!(got.positive_inf, n(&|value| value == f64::INFINITY), "{dtype}");
    assert_eq!(got.negative_inf, n(&|value| value == f64::NEG_INFINITY), "{dtype}");
    assert_eq!(got.zero, n(&|value| value == 0.0), "{dtype}");
    assert_eq!(
        got.subnormal,
        bits.iter().filter(|&&bits| is_subnormal(dtype, bits)).count() as u64,
        "{dtype}"
    );
    let mut different = bits.clone();
    different.sort_unstable();
    different.dedup();
    let distinct = if different.len() <= 16 { Distinct::Few(different.len() as u8) } else { Distinct::Many };
    assert_eq!(got.distinct, distinct, "{dtype} x {count}");
    if dtype.is_float() {
        let known = || values.iter().copied().filter(|value| !value.is_nan());
        assert_eq!(got.min, known().reduce(f64::min).map(Number::Float), "{dtype}");
        assert_eq!(got.max, known().reduce(f64::max).map(Number::Float), "{dtype}");
        assert_eq!(got.abs_max, known().map(f64::abs).reduce(f64::max).map(Number::Float), "{dtype}");
    } else {
        let exact = |number: Number| match number {
            Number::Signed(value) => i128::from(value),
            Number::Unsigned(value) => value.into(),
            Number::Bool(value) => value.into(),
            Number::Float(_) => panic!("not an integer"),
        };
        let all = || numbers.iter().copied().map(exact);
        assert_eq!(got.min.map(exact), all().min(), "{dtype}");
        assert_eq!(got.max.map(exact), all().max(), "{dtype}");
        assert_eq!(got.abs_max.map(exact), all().map(i128::abs).max(), "{dtype}");
    }
    let finite: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    if finite.is_empty() {
        assert_eq!((got.mean, got.std), (None, None), "{dtype}");
        return;
    }
    let mean = exact_sum(finite.iter().copied()) / finite.len() as f64;
    let squares = exact_sum(finite.iter().map(|value| (value - mean) * (value - mean)));
    let std = (squares / finite.len() as f64).sqrt();
    let size = finite.iter().fold(0.0f64, |size, value| size.max(value.abs()));
    assert!((got.mean.unwrap() - mean).abs() <= size * 1e-12, "{dtype}: mean {:?}, not {mean}", got.mean);
    assert!((got.std.unwrap() - std).abs() <= size * 1e-12, "{dtype}: deviation {:?}, not {std}", got.std);
}

#[test]
fn summaries_are_what_a_naive_computation_says() {
    for dtype in DType::ALL {
        for count in [0, 1, 2, 15, 16, 17, 255, 256, 257, 2047, 2048, 2049, 5001] {
            for payload in payloads(dtype, count) {
                check(dtype, &payload, count, &summarise(dtype, count as u64, &payload));
            }
        }
    }
}

#[test]
fn several_blocks_give_the_same_bits_with_any_number_of_threads() {
    let payload = bytes(9, (5 << 20) + 24);
    for dtype in DType::ALL {
        let elements = payload.len() as u64 * 8 / u64::from(dtype.bits());
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| summarise(dtype, elements, &payload))
        };
        let one = with(1);
        for threads in [2, 3, 8] {
            let other = with(threads);
            assert_eq!(one, other, "{dtype}");
            assert_eq!(one.std.map(f64::to_bits), other.std.map(f64::to_bits), "{dtype}");
            assert_eq!(one.mean.map(f64::to_bits), other.mean.map(f64::to_bits), "{dtype}");
        }
        if dtype.bits() >= 16 {
            check(dtype, &payload, elements as usize, &one);
        }
    }
}

#[test]
fn a_deviation_far_from_zero_keeps_its_digits() {
    // 2^60 + {0, 1, ..., 9}: in f64 they are all the same number.
    let close: Vec<u8> =
        (0..300_000i64).flat_map(|index| ((1i64 << 60) + index % 10).to_le_bytes()).collect();
    for dtype in [DType::I64, DType::U64] {
        let summary = summarise(dtype, 300_000, &close);
        assert!((summary.std.unwrap() - 8.25f64.sqrt()).abs() < 1e-9, "{:?}", summary.std);
    }
    // 16777215 and 16777216 in turn, the last two f32 that differ by one.
    let close: Vec<u8> =
        (0..600_000u32).flat_map(|index| ((0xff_ffff + index % 2) as f32).to_le_bytes()).collect();
    let summary = summarise(DType::F32, 600_000, &close);
    assert_eq!(summary.mean, Some(16_777_215.5));
    assert!((summary.std.unwrap() - 0.5).abs() < 1e-9);
    // One number a million times, which no sum holds exactly.
    let constant = 0.1f32.to_le_bytes().repeat(1 << 20);
    let summary = summarise(DType::F32, 1 << 20, &constant);
    assert_eq!((summary.mean, summary.std), (Some(f64::from(0.1f32)), Some(0.0)));
    assert_eq!(summary.distinct.to_string(), "constant");
}

#[test]
fn a_payload_shorter_than_its_shape_is_counted_as_far_as_it_goes() {
    let summary = summarise(DType::F32, 100, &[0, 0, 128, 63, 0, 0, 0, 64, 9]);
    assert_eq!((summary.count, summary.mean, summary.std), (2, Some(1.5), Some(0.5)));
    let summary = summarise(DType::Fp4E2M1, u64::MAX, &[0x72]);
    assert_eq!((summary.count, summary.max), (2, Some(Number::Float(6.0))));
    assert_eq!(summarise(DType::U8, 2, &[1, 2, 3]).max, Some(Number::Signed(2)));
}

#[test]
fn what_is_recorded_in_passing_is_a_part_of_the_summary() {
    for dtype in DType::ALL {
        for payload in payloads(dtype, 2049) {
            let mut accumulator = Accumulator::new(dtype, 2049);
            payload.chunks(997).for_each(|piece| accumulator.update(piece));
            let passing = accumulator.finish();
            let summary = summarise(dtype, 2049, &payload);
            let whole = Statistics::from(&summary);
            assert_eq!((passing.min, passing.max), (whole.min, whole.max));
            assert_eq!((passing.nan, passing.inf, passing.zero), (whole.nan, whole.inf, whole.zero));
            let size = summary.abs_max.map_or(0.0, Number::as_f64);
            if size.is_finite() {
                assert!((passing.mean.unwrap_or(0.0) - whole.mean.unwrap_or(0.0)).abs() <= size * 1e-12);
            }
        }
    }
}

#[test]
fn numpy_and_ml_dtypes_agree() {
    let directory = tempfile::tempdir().unwrap();
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for count in [0, 1, 17, 2049] {
            for payload in payloads(dtype, count) {
                let file = format!("{}.bin", cases.len());
                fs::write(directory.path().join(&file), &payload).unwrap();
                let summary = summarise(dtype, count as u64, &payload);
                cases.push(json!({
                    "file": file,
                    "dtype": dtype.name(),
                    "elements": count,
                    "summary": described(&summary),
                }));
            }
        }
    }
    fs::write(directory.path().join("summaries.json"), serde_json::to_vec(&cases).unwrap()).unwrap();
    python::run("check_summary.py", &[directory.path()]);
}

/// Numbers as text: Python reads both kinds exactly.
fn described(summary: &Summary) -> Value {
    let text = |value: Option<Number>| match value {
        None => Value::Null,
        Some(Number::Float(value)) => format!("{value:?}").into(),
        Some(Number::Signed(value)) => value.to_string().into(),
        Some(Number::Unsigned(value)) => value.to_string().into(),
        Some(Number::Bool(value)) => u8::from(value).to_string().into(),
    };
    json!({
        "min": text(summary.min),
        "max": text(summary.max),
        "abs_max": text(summary.abs_max),
        "mean": summary.mean.map(|mean| format!("{mean:?}")),
        "std": summary.std.map(|std| format!("{std:?}")),
        "zero": summary.zero,
        "nan": summary.nan,
        "positive_inf": summary.positive_inf,
        "negative_inf": summary.negative_inf,
        "subnormal": summary.subnormal,
        "distinct": summary.distinct.to_string(),
    })
}
