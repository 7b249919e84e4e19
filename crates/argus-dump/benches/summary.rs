//! What a summary costs beside reading the same bytes once.
//!
//! 4 GiB (`ARGUS_BENCH_BYTES` for another size) of each type in memory: all of [`summarise`], and a plain sum of
//! the words by all cores. The ratio of the two is printed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use argus_abi::DType;
use argus_dump::summary::summarise;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memmap2::MmapMut;
use rayon::prelude::*;

/// One pass over the bytes with all cores.
fn read(bytes: &[u8]) -> u64 {
    let sum = |block: &[u8]| {
        let words = block.as_chunks::<8>().0.iter();
        words.fold(0u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
    };
    bytes.par_chunks(1 << 20).map(sum).reduce(|| 0, u64::wrapping_add)
}

/// Values around zero with all mantissas, as activations have them; integers of all sizes.
fn fill(bytes: &mut [u8], dtype: DType) {
    bytes.par_chunks_mut(1 << 20).enumerate().for_each(|(block, bytes)| {
        let mut state = (block as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let value = |state: u64| (state >> 40) as f32 / (1 << 23) as f32 - 1.0;
        match dtype {
            DType::F32 => {
                bytes.as_chunks_mut().0.iter_mut().for_each(|raw| *raw = value(next()).to_le_bytes())
            }
            DType::F16 => (bytes.as_chunks_mut().0.iter_mut())
                .for_each(|raw| *raw = half::f16::from_f32(value(next())).to_le_bytes()),
            DType::Bf16 => (bytes.as_chunks_mut().0.iter_mut())
                .for_each(|raw| *raw = half::bf16::from_f32(value(next())).to_le_bytes()),
            _ => bytes.as_chunks_mut().0.iter_mut().for_each(|raw| *raw = next().to_le_bytes()),
        }
    });
}

fn benches(c: &mut Criterion) {
    let asked = std::env::var("ARGUS_BENCH_BYTES").ok().and_then(|bytes| bytes.parse().ok());
    let len: usize = asked.unwrap_or(4 << 30);
    let mut payload = MmapMut::map_anon(len).expect("memory");
    let mut group = c.benchmark_group("summary");
    group.sample_size(10).throughput(Throughput::Bytes(len as u64));
    for dtype in DType::ALL {
        fill(&mut payload, dtype);
        let elements = len as u64 * 8 / u64::from(dtype.bits());
        let mut best = [Duration::MAX; 2];
        group.bench_function(dtype.name(), |b| {
            b.iter_custom(|rounds| {
                // One after the other, so that a busy machine treats both alike.
                let mut total = Duration::ZERO;
                for _ in 0..rounds {
                    let start = Instant::now();
                    black_box(read(black_box(&payload)));
                    let reading = start.elapsed();
                    let start = Instant::now();
                    black_box(summarise(dtype, elements, black_box(&payload)));
                    let summing = start.elapsed();
                    best = [best[0].min(reading), best[1].min(summing)];
                    total += summing;
                }
                total
            });
        });
        let rate = |time: Duration| len as f64 / time.as_secs_f64() / 1e9;
        if best[0] < Duration::MAX {
            eprintln!(
                "best: reading {:.1} GB/s, {dtype} summary {:.1} GB/s: {:.0} % of reading",
                rate(best[0]),
                rate(best[1]),
                best[0].as_secs_f64() / best[1].as_secs_f64() * 100.0
            );
        }
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
