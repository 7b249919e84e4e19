use argus_abi::DType;
use argus_abi::capture::argument_flags;
use argus_dump::stats::{Accumulator, Statistics};
use argus_dump::{DumpOptions, Journal, RunEnd, StatsMode};
use argus_facts::number::{Number, number};

use crate::common::{bytes, deliver, start, tensor};

/// Every element of a packed payload.
fn elements(dtype: DType, bytes: &[u8], count: usize) -> Vec<Number> {
    (0..count)
        .map(|index| {
            let bits = if dtype == DType::Fp4E2M1 {
                u64::from(bytes[index / 2] >> (index % 2 * 4) & 15)
            } else {
                let mut word = [0; 8];
                word[..dtype.size()].copy_from_slice(&bytes[index * dtype.size()..][..dtype.size()]);
                u64::from_le_bytes(word)
            };
            number(dtype, bits)
        })
        .collect()
}

fn exact(value: Number) -> i128 {
    match value {
        Number::Signed(value) => value.into(),
        Number::Unsigned(value) => value.into(),
        Number::Bool(value) => value.into(),
        Number::Float(_) => panic!("not an integer"),
    }
}

fn check(dtype: DType, bytes: &[u8], count: usize, got: &Statistics) {
    let all = elements(dtype, bytes, count);
    let values: Vec<f64> = all.iter().map(|value| value.as_f64()).collect();
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    assert_eq!(got.nan, values.iter().filter(|value| value.is_nan()).count() as u64, "{dtype}");
    assert_eq!(got.inf, values.iter().filter(|value| value.is_infinite()).count() as u64, "{dtype}");
    assert_eq!(got.zero, values.iter().filter(|value| **value == 0.0).count() as u64, "{dtype}");
    if dtype.is_float() {
        let known = values.iter().copied().filter(|value| !value.is_nan());
        assert_eq!(got.min, known.clone().reduce(f64::min).map(Number::Float), "{dtype}");
        assert_eq!(got.max, known.reduce(f64::max).map(Number::Float), "{dtype}");
    } else {
        assert_eq!(got.min.map(exact), all.iter().copied().map(exact).min(), "{dtype}");
        assert_eq!(got.max.map(exact), all.iter().copied().map(exact).max(), "{dtype}");
    }
    if finite.is_empty() {
        assert_eq!(got.mean, None, "{dtype}");
    } else {
        let mean = finite.iter().sum::<f64>() / finite.len() as f64;
        let size = finite.iter().fold(0.0f64, |size, value| size.max(value.abs()));
        assert!((got.mean.unwrap() - mean).abs() <= size * 1e-12, "{dtype}: {:?} is not {mean}", got.mean);
    }
}

/// Random bytes hold NaN and infinities of every small type; the wide ones get them put in.
fn payload(dtype: DType, count: usize) -> Vec<u8> {
    let len = dtype.packed_bytes(count as u64).unwrap() as usize;
    let mut payload = bytes(dtype as u64 + 1, len);
    let special: &[u64] = match dtype {
        DType::F32 => &[0x7fc0_0000, 0x7f80_0000, 0xff80_0000, 0x8000_0000, 0, 1],
        DType::F16 => &[0x7e00, 0x7c00, 0xfc00, 0x8000, 0, 1],
        DType::Bf16 => &[0x7fc0, 0x7f80, 0xff80, 0x8000, 0, 1],
        _ => &[0, 0, u64::MAX, 1 << 63, 1 << 31, 1 << 15],
    };
    let width = dtype.size();
    for (place, bits) in payload.chunks_exact_mut(width).step_by(7).zip(special.iter().cycle()).take(60) {
        place.copy_from_slice(&bits.to_le_bytes()[..width]);
    }
    payload
}

#[test]
fn they_are_what_a_naive_computation_says() {
    for dtype in DType::ALL {
        for count in [0, 1, 2, 7, 8, 9, 1023, 1024, 1025, 5001] {
            let payload = payload(dtype, count);
            for piece in [1, 3, 5, 4096, usize::MAX >> 1] {
                let mut accumulator = Accumulator::new(dtype, count as u64);
                payload.chunks(piece).for_each(|piece| accumulator.update(piece));
                check(dtype, &payload, count, &accumulator.finish());
            }
        }
    }
}

#[test]
fn nothing_but_nan_and_nothing_but_infinity() {
    let of = |bits: u32| {
        let mut accumulator = Accumulator::new(DType::F32, 100);
        accumulator.update(&bits.to_le_bytes().repeat(100));
        accumulator.finish()
    };
    let nan = of(0x7fc0_0000);
    assert_eq!((nan.min, nan.max, nan.mean, nan.nan), (None, None, None, 100));
    let infinite = of(0xff80_0000);
    assert_eq!(
        (infinite.min, infinite.mean, infinite.inf),
        (Some(Number::Float(f64::NEG_INFINITY)), None, 100)
    );
}

#[test]
fn they_come_beside_or_instead_of_the_payload() {
    for (mode, flags, stored) in [
        (StatsMode::Beside, 0, true),
        (StatsMode::Instead, 0, false),
        (StatsMode::Off, argument_flags::STATS_ONLY, false),
    ] {
        for dtype in DType::ALL {
            let directory = tempfile::tempdir().unwrap();
            let payload = payload(dtype, 999);
            let mut writer = start(directory.path(), DumpOptions { stats: mode, ..DumpOptions::default() });
            let mut entry = tensor(1, 0, payload.len() as u64);
            entry.dtype = dtype as u8;
            entry.shapes[0] = 999;
            entry.flags |= flags;
            deliver(&mut writer, &entry, &payload, 101).unwrap();
            writer.finish(RunEnd::default()).unwrap();
            let journal = Journal::open(&directory.path().join("tensor_dump.journal")).unwrap();
            let record = journal.arguments().next().unwrap();
            check(dtype, &payload, 999, &Statistics::from_record(&record).unwrap());
            assert_eq!(record.head.bin_size, if stored { payload.len() as u64 } else { 0 });
            assert_eq!(record.head.payload_bytes, payload.len() as u64);
            // Equality can be judged by the checksum even if the bytes were not kept.
            assert_eq!(record.head.checksum, xxhash_rust::xxh3::xxh3_128(&payload).to_be_bytes());
            let bin = std::fs::read(directory.path().join("tensor_dump.bin")).unwrap();
            assert!(bin == if stored { payload } else { Vec::new() });
            let manifest = std::fs::read(directory.path().join("tensor_dump.json")).unwrap();
            let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
            let record = &manifest["tensors"][0];
            assert!(record["statistics"]["zero"].is_u64());
            assert_eq!(record.get("payload").is_some(), !stored);
        }
    }
}
