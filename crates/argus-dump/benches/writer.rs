//! What a dump costs beside the disk itself.
//!
//! `small_records`: 98,304 records with 46 MB of payload, from the first entry to the renamed manifest.
//! `large_payloads`: 1 GiB in payloads of 64 MiB, beside plain sequential writes of the same bytes to the same
//! file system in the same run; all end with fdatasync.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use argus_abi::capture::{
    ArgumentEntry, ENTRY_MAGIC, ENTRY_VERSION, EntryHeader, TaskEntry, TaskFields, argument_flags, what,
};
use argus_abi::{CoreSet, CoreType, DType};
use argus_dump::{DumpInfo, DumpOptions, DumpWriter, RunEnd, new_run_id};
use argus_facts::{KernelInfo, Sink};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memmap2::MmapMut;

const SMALL_RECORDS: u64 = 98_304;
const RECORDS_PER_TASK: u64 = 6;
const LARGE_BYTES: usize = 64 << 20;
const LARGE_COUNT: u64 = 16;
const DISK_BLOCK: usize = 4 << 20;

fn header(what: u8) -> EntryHeader {
    EntryHeader { magic: ENTRY_MAGIC, version: ENTRY_VERSION, what, ring: 0, sequence: 0 }
}

fn argument(task_id: u64, arg_index: u16, bytes: u64) -> ArgumentEntry {
    ArgumentEntry {
        header: header(what::ARGUMENT),
        task_id,
        time_ns: task_id * 1000,
        arg_index,
        stage: u8::from(arg_index >= 3),
        role: u8::from(arg_index >= 3),
        kind: 0,
        dtype: DType::F32 as u8,
        ndims: 2,
        flags: argument_flags::CONTIGUOUS,
        address: 0x1000_0000 + task_id * 4096,
        start_offset: 0,
        payload_bytes: bytes,
        scalar_bits: 0,
        shapes: [(bytes / 4 / 13) as u32, 13, 0, 0, 0],
        strides: [13, 1, 0, 0, 0],
        reserved: [0; 16],
    }
}

fn task(task_id: u64) -> TaskEntry {
    TaskEntry {
        header: header(what::TASK),
        task: TaskFields {
            task_id,
            func_ids: [(task_id % 4) as i32, -1, -1],
            blocks: 1,
            dispatch_order: task_id,
            dispatched_ns: task_id * 1000,
            finished_ns: task_id * 1000 + 800,
            cores: CoreSet::from_iter([task_id as usize % 48]),
            scope_depth: 1,
            tensors: RECORDS_PER_TASK as u16,
            scalars: 0,
            state: 0,
            reserved: [0; 7],
        },
        reserved: [0; 16],
    }
}

fn info() -> DumpInfo {
    let kernel = |(func_id, name): (u32, &str)| KernelInfo {
        func_id,
        name: name.to_owned(),
        core_type: CoreType::Aiv,
        signature: Vec::new(),
        abi: argus_abi::args::KernelAbi::Tensors,
    };
    DumpInfo {
        scene: "Bench".to_owned(),
        case: "writer".to_owned(),
        run_id: new_run_id(),
        kernels: [(0, "QK"), (1, "SF"), (2, "PV"), (3, "UP")].into_iter().map(kernel).collect(),
        ..DumpInfo::default()
    }
}

/// 98,304 records of 468 bytes, each different, flushed as a collector would.
fn small_records(parent: &Path, sync: bool) -> Duration {
    let directory = tempfile::tempdir_in(parent).expect("a directory");
    let mut payload = vec![0x5au8; 468];
    let start = Instant::now();
    let options = DumpOptions { sync, ..DumpOptions::default() };
    let mut writer = DumpWriter::create(directory.path(), options, info()).expect("a dump");
    let mut flushed = start;
    for index in 0..SMALL_RECORDS {
        payload[..8].copy_from_slice(&index.to_le_bytes());
        let task_id = index / RECORDS_PER_TASK;
        writer
            .begin_argument(&argument(task_id, (index % RECORDS_PER_TASK) as u16, 468))
            .and_then(|()| writer.payload(&payload))
            .and_then(|()| writer.end_argument())
            .expect("a record");
        if index % RECORDS_PER_TASK == RECORDS_PER_TASK - 1 {
            writer.task(&task(task_id)).expect("a task");
            if flushed.elapsed() > Duration::from_millis(50) {
                writer.flush().expect("a flush");
                flushed = Instant::now();
            }
        }
    }
    let summary = writer.finish(RunEnd::default()).expect("an end");
    let elapsed = start.elapsed();
    assert_eq!(summary.records, SMALL_RECORDS);
    elapsed
}

/// Large payloads in pieces of a lane's ring, without dedupe.
fn large_payloads(parent: &Path, payload: &[u8]) -> Duration {
    let directory = tempfile::tempdir_in(parent).expect("a directory");
    let options = DumpOptions { dedupe: false, sync: true, ..DumpOptions::default() };
    let start = Instant::now();
    let mut writer = DumpWriter::create(directory.path(), options, info()).expect("a dump");
    for index in 0..LARGE_COUNT {
        writer.begin_argument(&argument(index, 0, payload.len() as u64)).expect("an argument");
        for piece in payload.chunks(1 << 20) {
            writer.payload(piece).expect("a piece");
        }
        writer.end_argument().expect("a record");
    }
    let summary = writer.finish(RunEnd::default()).expect("an end");
    let elapsed = start.elapsed();
    // A rate means nothing unless all the bytes are there.
    let stored =
        std::fs::metadata(directory.path().join(argus_dump::PAYLOAD_FILE)).expect("a payload file").len();
    assert_eq!((summary.stored_bytes, stored), (LARGE_COUNT * payload.len() as u64, summary.stored_bytes));
    elapsed
}

fn plain(parent: &Path, payload: &[u8], direct: bool) -> Duration {
    let file = tempfile::NamedTempFile::new_in(parent).expect("a file");
    let flags = if direct { rustix::fs::OFlags::DIRECT.bits() as i32 } else { 0 };
    let start = Instant::now();
    let out: File =
        OpenOptions::new().write(true).custom_flags(flags).open(file.path()).expect("an open file");
    let mut at = 0;
    for _ in 0..LARGE_COUNT {
        for block in payload.chunks(DISK_BLOCK) {
            out.write_all_at(block, at).expect("a write");
            at += block.len() as u64;
        }
    }
    out.sync_data().expect("a sync");
    start.elapsed()
}

fn benches(c: &mut Criterion) {
    let parent = std::env::var_os("ARGUS_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    let mut group = c.benchmark_group("small_records");
    group.sample_size(10).throughput(Throughput::Elements(SMALL_RECORDS));
    for (name, sync) in [("to the system", false), ("to the disk", true)] {
        group.bench_function(name, |b| {
            b.iter_custom(|rounds| (0..rounds).map(|_| small_records(&parent, sync)).sum());
        });
    }
    group.finish();

    let mut payload = MmapMut::map_anon(LARGE_BYTES).expect("memory");
    // Direct writes from huge pages are twice as fast as from small ones. The dump stages in huge pages, so
    // the plain writes it is held against get them, too.
    payload.advise(memmap2::Advice::HugePage).expect("advice");
    for (index, word) in payload.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&(index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    }
    let mut group = c.benchmark_group("large_payloads");
    group.sample_size(10).throughput(Throughput::Bytes(LARGE_BYTES as u64 * LARGE_COUNT));
    let mut best = [Duration::MAX; 3];
    group.bench_function("dump", |b| {
        b.iter_custom(|rounds| {
            // One of each, one after the other, so that a disk whose rate drifts treats all alike.
            let mut total = Duration::ZERO;
            for _ in 0..rounds {
                let dump = large_payloads(&parent, &payload);
                let times = [dump, plain(&parent, &payload, true), plain(&parent, &payload, false)];
                for (best, time) in best.iter_mut().zip(times) {
                    *best = time.min(*best);
                }
                total += dump;
            }
            total
        });
    });
    group.finish();
    let rate = |time: Duration| (LARGE_BYTES as u64 * LARGE_COUNT) as f64 / time.as_secs_f64() / 1e9;
    let ratio = best[1].min(best[2]).as_secs_f64() / best[0].as_secs_f64();
    if best[0] < Duration::MAX {
        eprintln!(
            "best: dump {:.2} GB/s, plain direct {:.2} GB/s, plain buffered {:.2} GB/s; dump / best plain {:.0} %",
            rate(best[0]),
            rate(best[1]),
            rate(best[2]),
            ratio * 100.0
        );
    }
}

criterion_group!(all, benches);
criterion_main!(all);
