//! What a summary costs beside reading the same bytes once.
//!
//! 4 GiB of f32 (`ARGUS_BENCH_BYTES` for another size) in memory: all of [`summarise`], and a plain sum of the
//! words by all cores. The ratio of the two is printed; the other types follow with their rates.

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

/// Values around zero with all mantissas, as activations have them.
fn fill(bytes: &mut [u8]) {
    bytes.par_chunks_mut(1 << 20).enumerate().for_each(|(block, bytes)| {
        let mut state = (block as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for word in bytes.as_chunks_mut::<4>().0 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *word = ((state >> 40) as f32 / (1 << 23) as f32 - 1.0).to_le_bytes();
        }
    });
}

fn benches(c: &mut Criterion) {
    let asked = std::env::var("ARGUS_BENCH_BYTES").ok().and_then(|bytes| bytes.parse().ok());
    let len: usize = asked.unwrap_or(4 << 30);
    let mut payload = MmapMut::map_anon(len).expect("memory");
    fill(&mut payload);
    let mut group = c.benchmark_group("summary");
    group.sample_size(10).throughput(Throughput::Bytes(len as u64));
    let mut best = [Duration::MAX; 2];
    group.bench_function("f32 and one pass of reading", |b| {
        b.iter_custom(|rounds| {
            // One after the other, so that a busy machine treats both alike.
            let mut total = Duration::ZERO;
            for _ in 0..rounds {
                let start = Instant::now();
                black_box(read(black_box(&payload)));
                let reading = start.elapsed();
                let start = Instant::now();
                black_box(summarise(DType::F32, len as u64 / 4, black_box(&payload)));
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
            "best: reading {:.1} GB/s, f32 summary {:.1} GB/s: {:.0} % of reading",
            rate(best[0]),
            rate(best[1]),
            best[0].as_secs_f64() / best[1].as_secs_f64() * 100.0
        );
    }
    for dtype in DType::ALL {
        let elements = len as u64 * 8 / u64::from(dtype.bits());
        group.bench_function(dtype.name(), |b| b.iter(|| summarise(dtype, elements, black_box(&payload))));
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
