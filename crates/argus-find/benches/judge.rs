//! What judging costs beside plainly reading the same bytes with all cores, and beside numpy on the same data.
//!
//! Two payloads of 2 GiB FLOAT32 and two of 1 GiB BFLOAT16, in memory. Every second element is off by one step
//! of its dtype, so that no block is equal and every element is within the tolerance: nothing can be skipped.
//! Throughput counts both payloads. `numpy.allclose` runs if the interpreter of the tests is there
//! (`cargo xtask python`); numpy has no BFLOAT16, so ml_dtypes and a cast to FLOAT32 come in.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use argus_abi::DType;
use argus_find::metrics::{Pair, Tolerance, Verdict, judge, measure};
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;

/// Bytes that a thread reads or fills at a time.
const PIECE: usize = 1 << 20;
/// Maps both payloads, touches every page, runs `numpy.allclose` as often as asked and prints the seconds that
/// took.
const NUMPY: &str = "
import sys, time
import numpy as np, ml_dtypes
actual, expected, dtype, rtol, atol, rounds = sys.argv[1:]
kind = {'FLOAT32': np.float32, 'BFLOAT16': ml_dtypes.bfloat16}[dtype]
actual, expected = (np.asarray(np.memmap(name, np.uint8, 'r')) for name in (actual, expected))
assert actual[::4096].any() and expected[::4096].any()
actual, expected = actual.view(kind), expected.view(kind)
wide = (lambda x: x) if dtype == 'FLOAT32' else (lambda x: x.astype(np.float32))
start = time.perf_counter()
for _ in range(int(rounds)):
    assert np.allclose(wide(actual), wide(expected), rtol=float(rtol), atol=float(atol), equal_nan=True)
print(time.perf_counter() - start)
";

struct Payloads {
    dtype: DType,
    actual: Vec<u8>,
    expected: Vec<u8>,
}

impl Payloads {
    fn new(dtype: DType, bytes: usize) -> Payloads {
        let mut payloads = Payloads { dtype, actual: vec![0; bytes], expected: vec![0; bytes] };
        let pieces = payloads.actual.par_chunks_mut(PIECE).zip(payloads.expected.par_chunks_mut(PIECE));
        pieces.enumerate().for_each(|(piece, (actual, expected))| {
            let mut state = piece as u64 + 1;
            let width = dtype.size();
            for (actual, expected) in actual.chunks_mut(width).zip(expected.chunks_mut(width)) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Values from 2^-8 to 1 with both signs; the bits of a BFLOAT16 are the upper half.
                let magnitude = 0x3b80_0000 + (state >> 33) as u32 % 0x0400_0000;
                let bits = (magnitude | (state >> 32) as u32 & 0x8000_0000) >> (32 - dtype.bits());
                let step = (state >> 30) as u32 & 1;
                expected.copy_from_slice(&bits.to_le_bytes()[..width]);
                actual.copy_from_slice(&(bits + step).to_le_bytes()[..width]);
            }
        });
        payloads
    }

    fn pair(&self) -> Pair<'_> {
        let elements = self.actual.len() / self.dtype.size();
        Pair::new(self.dtype, elements as u64, &self.actual, &self.expected).expect("whole payloads")
    }
}

/// Every byte, and nothing else.
fn read(bytes: &[u8]) -> u64 {
    let piece = |piece: &[u8]| {
        let words = piece.as_chunks::<8>().0.as_chunks::<8>().0;
        let mut sums = [0u64; 8];
        for row in words {
            for (sum, &word) in sums.iter_mut().zip(row) {
                *sum ^= u64::from_le_bytes(word);
            }
        }
        sums.into_iter().fold(0, |all, sum| all ^ sum)
    };
    bytes.par_chunks(PIECE).map(piece).reduce(|| 0, |one, other| one ^ other)
}

fn interpreter() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let python =
        std::env::var_os("ARGUS_PYTHON").map_or_else(|| root.join("target/python/bin/python"), Into::into);
    python.exists().then_some(python)
}

fn numpy(python: &Path, files: &[PathBuf; 2], dtype: DType, tolerance: &Tolerance, rounds: u64) -> Duration {
    let answer = Command::new(python)
        .args(["-c", NUMPY])
        .args(files)
        .args([dtype.name(), &tolerance.rtol().to_string(), &tolerance.atol().to_string()])
        .arg(rounds.to_string())
        .output()
        .expect("the interpreter starts");
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let seconds = String::from_utf8_lossy(&answer.stdout).trim().parse().expect("seconds");
    Duration::from_secs_f64(seconds)
}

fn judging(criterion: &mut Criterion, dtype: DType, bytes: usize) {
    let payloads = Payloads::new(dtype, bytes);
    let pair = payloads.pair();
    let tolerance = Tolerance::default_for(dtype, None);
    assert_eq!(judge(&pair, &tolerance).verdict, Verdict::Within);

    let mut group = criterion.benchmark_group(format!("{} of {} GiB", dtype.name(), bytes >> 30));
    // Flat: numpy takes seconds each time.
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_secs(1));
    group.throughput(Throughput::Bytes(2 * bytes as u64));
    group.bench_function("plain read", |bencher| {
        bencher.iter(|| black_box(read(&payloads.actual) ^ read(&payloads.expected)));
    });
    group.bench_function("judge", |bencher| bencher.iter(|| black_box(judge(&pair, &tolerance))));
    group.bench_function("measure", |bencher| bencher.iter(|| black_box(measure(&pair, &tolerance))));

    match interpreter() {
        None => eprintln!("numpy.allclose left out: run cargo xtask python first"),
        Some(python) => {
            let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
            let files = ["actual", "expected"].map(|name| directory.path().join(name));
            for (file, bytes) in files.iter().zip([&payloads.actual, &payloads.expected]) {
                File::create(file).and_then(|mut file| file.write_all(bytes)).expect("room for the payloads");
            }
            group.bench_function("numpy.allclose", |bencher| {
                bencher.iter_custom(|rounds| numpy(&python, &files, dtype, &tolerance, rounds));
            });
        }
    }
    group.finish();
}

fn f32_payloads(criterion: &mut Criterion) {
    judging(criterion, DType::F32, 2 << 30);
}

fn bf16_payloads(criterion: &mut Criterion) {
    judging(criterion, DType::Bf16, 1 << 30);
}

criterion_group!(benches, f32_payloads, bf16_payloads);
criterion_main!(benches);
