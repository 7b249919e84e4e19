//! What capture costs: on the thread that records, and through the whole pipe against a plain copy.
//!
//! What a recording thread spends is measured as its own processor time, so that neighbours on the machine
//! and the collector's share do not count; the whole pipe and the copy beside it are measured by the clock.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use argus_abi::capture::{ArgumentEntry, EdgesEntry, EntryHeader, SkipEntry, TaskEntry};
use argus_abi::{DType, Tensor};
use argus_capture::{CaptureConfig, Recorded, Recorder, Session, TransportKind};
use argus_facts::Sink;
use argus_gm::{Fill, GlobalMemory};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use xxhash_rust::xxh3::Xxh3;

/// Throws everything away, after hashing payloads if asked to.
#[derive(Default)]
struct Discard {
    hash: Option<Box<Xxh3>>,
}

impl Discard {
    fn hashing() -> Discard {
        Discard { hash: Some(Box::new(Xxh3::new())) }
    }
}

impl Sink for Discard {
    type Error = Infallible;

    fn begin_argument(&mut self, _: &ArgumentEntry) -> Result<(), Infallible> {
        if let Some(hash) = &mut self.hash {
            hash.reset();
        }
        Ok(())
    }
    fn payload(&mut self, piece: &[u8]) -> Result<(), Infallible> {
        if let Some(hash) = &mut self.hash {
            hash.update(piece);
        }
        Ok(())
    }
    fn end_argument(&mut self) -> Result<(), Infallible> {
        if let Some(hash) = &mut self.hash {
            black_box(hash.digest128());
        }
        Ok(())
    }
    fn task(&mut self, _: &TaskEntry) -> Result<(), Infallible> {
        Ok(())
    }
    fn edges(&mut self, _: &EdgesEntry) -> Result<(), Infallible> {
        Ok(())
    }
    fn skip(&mut self, _: &SkipEntry) -> Result<(), Infallible> {
        Ok(())
    }
    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

fn entry(task_id: u64) -> ArgumentEntry {
    ArgumentEntry {
        header: EntryHeader { magic: 0, version: 0, what: 0, ring: 0, sequence: 0 },
        task_id,
        time_ns: 0,
        arg_index: 0,
        stage: 0,
        role: 0,
        kind: 1,
        dtype: 0,
        ndims: 0,
        flags: 0,
        address: 0,
        start_offset: 0,
        payload_bytes: 0,
        scalar_bits: 42,
        shapes: [0; 5],
        strides: [0; 5],
        reserved: [0; 16],
    }
}

/// Starts a capture with one ring, times `record`, and checks that nothing was lost.
fn timed<T>(transport: TransportKind, sink: Discard, record: impl FnOnce(&mut Recorder) -> T) -> T {
    let config = CaptureConfig::streaming(1, transport);
    let (session, mut rings) = Session::start(config, sink).expect("memory for one ring");
    let result = record(&mut rings[0]);
    drop(rings);
    let (_, account) = session.finish();
    assert!(account.is_complete(), "{account:?}");
    result
}

/// Processor time of this thread.
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// A scalar on the producing thread. In bursts of one task's arguments the collector keeps up and reads
/// the lines that are being written; without a pause the ring is often full.
fn scalars(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scalar");
    let memory = Arc::new(GlobalMemory::new());
    for transport in [TransportKind::Mapped, TransportKind::Copied] {
        group.bench_function(format!("{transport:?}/without pause"), |bencher| {
            bencher.iter_custom(|iterations| {
                timed(transport, Discard::default(), |ring| {
                    let start = spent();
                    for id in 0..iterations {
                        assert_eq!(ring.argument(entry(id), None, &memory), Recorded::Whole);
                    }
                    spent() - start
                })
            });
        });
        group.bench_function(format!("{transport:?}/bursts of 64"), |bencher| {
            bencher.iter_custom(|iterations| {
                timed(transport, Discard::default(), |ring| {
                    let mut total = Duration::ZERO;
                    let mut left = iterations;
                    while left > 0 {
                        let burst = left.min(64);
                        let start = spent();
                        for id in 0..burst {
                            assert_eq!(ring.argument(entry(id), None, &memory), Recorded::Whole);
                        }
                        total += spent() - start;
                        left -= burst;
                        let pause = Instant::now();
                        while pause.elapsed() < Duration::from_micros(10) {
                            std::hint::spin_loop();
                        }
                    }
                    total
                })
            });
        });
    }
    group.finish();
}

fn tensor(memory: &GlobalMemory, bytes: u64) -> Tensor {
    let buffer = memory.allocate(bytes, Fill::Poison).expect("device memory");
    let shape = [(bytes >> 12) as u32, 1 << 10];
    Tensor::contiguous(buffer.addr, DType::F32, &shape).expect("a matrix")
}

/// A payload that lies in the cache, on the producing thread.
fn hot(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("64 KiB hot");
    group.throughput(Throughput::Bytes(64 << 10));
    let memory = Arc::new(GlobalMemory::new());
    let view = tensor(&memory, 64 << 10);
    let transposed = view.transpose(0, 1).expect("a matrix");
    for (name, view) in [("dense", view), ("transposed", transposed)] {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|iterations| {
                timed(TransportKind::Mapped, Discard::hashing(), |ring| {
                    let start = spent();
                    for id in 0..iterations {
                        assert_eq!(ring.argument(entry(id), Some(&view), &memory), Recorded::Whole);
                    }
                    spent() - start
                })
            });
        });
    }
    group.finish();
}

/// The whole pipe, hashing included, until the sink has the last byte; beside it a copy of as many bytes.
fn large(criterion: &mut Criterion) {
    const BYTES: u64 = 256 << 20;
    let mut group = criterion.benchmark_group("256 MiB");
    group.throughput(Throughput::Bytes(BYTES)).sample_size(15);
    let memory = Arc::new(GlobalMemory::new());
    let view = tensor(&memory, BYTES);
    let source = vec![1u8; BYTES as usize];
    let mut target = vec![2u8; BYTES as usize];
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| black_box(&mut target).copy_from_slice(black_box(&source)));
    });
    for transport in [TransportKind::Mapped, TransportKind::Copied] {
        group.bench_function(format!("{transport:?}, hashing, discarding"), |bencher| {
            bencher.iter(|| {
                timed(transport, Discard::hashing(), |ring| {
                    assert_eq!(ring.argument(entry(0), Some(&view), &memory), Recorded::Whole);
                });
            });
        });
    }
    group.finish();
}

criterion_group!(benches, scalars, hot, large);
criterion_main!(benches);
