//! Capture of large tensors from the device to the disk, beside the disk itself.
//!
//! Eight tasks read 256 MiB each, all of it different and touched before. The clock runs from the first
//! submission until the payload file is on the disk. Beside it, in the same run: the same number of bytes
//! written one after the other, around the page cache and through it, ending with fdatasync as well.
//!
//! `ARGUS_BENCH_DIR` chooses the file system.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use argus_abi::{ArgDirection, CoreType, DType, FuncId};
use argus_chip::{A2A3SIM, A5SIM, Chip};
use argus_record::{Names, RecordRequest, record};
use argus_runtime::{
    Arg, Device, HostArgs, HostTensor, KernelEntry, KernelTable, Orchestration, Program, RunConfig,
};
use memmap2::MmapMut;

const TASKS: usize = 8;
const BYTES: usize = 256 << 20;
const ROUNDS: usize = 5;
const DISK_BLOCK: usize = 4 << 20;

/// When the orchestration began.
type Began = Arc<Mutex<Option<Instant>>>;

fn program(began: Began) -> Program {
    let look = KernelEntry {
        func_id: FuncId(0),
        name: "look".into(),
        core_type: CoreType::Aiv,
        signature: [ArgDirection::In].into(),
        sources: [].into(),
        kernel: Arc::new(|_: &mut argus_tile::Core, _: &argus_abi::KernelArgs<'_>| Ok(())),
    };
    let orchestration = Orchestration::TensormapAndRingbuffer(Arc::new(move |trb, args| {
        *began.lock().expect("no thread panics with it") = Some(Instant::now());
        (0..TASKS)
            .try_for_each(|task| trb.submit_aiv(FuncId(0), Arg::new().input(args.tensor(task)?)).map(drop))
    }));
    Program { orchestration, kernels: KernelTable::new(vec![look]).expect("one kernel") }
}

fn tensors() -> HostArgs {
    let tensor = |index: usize| HostTensor {
        name: format!("tensor {index}"),
        direction: ArgDirection::In,
        dtype: DType::U64,
        shape: vec![(BYTES / 8) as u32],
        bytes: (0..BYTES as u64 / 8)
            .flat_map(|at| (at ^ (index as u64) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
            .collect(),
    };
    HostArgs { tensors: (0..TASKS).map(tensor).collect(), scalars: Vec::new() }
}

fn captured(platform: &'static Chip, args: &mut HostArgs, parent: &Path) -> Duration {
    let directory = tempfile::tempdir_in(parent).expect("a directory");
    let began = Began::default();
    let request = RecordRequest { dedupe: false, ..RecordRequest::default() };
    let names =
        Names { scene: "large".into(), case: "bench".into(), runtime: "trb".into(), ..Names::default() };
    let (program, config) = (program(Arc::clone(&began)), RunConfig::default());
    let mut device = Device::new(platform);
    let run = record(&mut device, &program, args, &config, &request, &names, directory.path());
    let payload = directory.path().join(argus_dump::PAYLOAD_FILE);
    File::open(&payload).and_then(|file| file.sync_data()).expect("a synced file");
    let began = began.lock().expect("no thread panics with it").expect("an orchestration that ran");
    let elapsed = began.elapsed();
    assert!(run.problems.is_empty());
    let stored = std::fs::metadata(payload).expect("a payload file").len();
    // A rate means nothing unless all the bytes are there.
    assert_eq!((run.dump.map(|dump| dump.records), stored), (Some(TASKS as u64), (TASKS * BYTES) as u64));
    elapsed
}

fn plain(parent: &Path, tensor: &[u8], direct: bool) -> Duration {
    let file = tempfile::NamedTempFile::new_in(parent).expect("a file");
    let flags = if direct { rustix::fs::OFlags::DIRECT.bits() as i32 } else { 0 };
    let out = OpenOptions::new().write(true).custom_flags(flags).open(file.path()).expect("an open file");
    let began = Instant::now();
    for task in 0..TASKS {
        for (index, block) in tensor.chunks(DISK_BLOCK).enumerate() {
            out.write_all_at(block, (task * BYTES + index * DISK_BLOCK) as u64).expect("a write");
        }
    }
    out.sync_data().expect("a sync");
    began.elapsed()
}

fn main() {
    let parent = std::env::var_os("ARGUS_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    let mut args = tensors();
    let mut tensor = MmapMut::map_anon(BYTES).expect("memory");
    // Direct writes from huge pages are twice as fast as from small ones.
    tensor.advise(memmap2::Advice::HugePage).expect("advice");
    tensor.copy_from_slice(&args.tensors[0].bytes);
    let mut best = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        // One after the other, so that a disk whose rate drifts treats all alike.
        let times = [
            captured(&A2A3SIM, &mut args, &parent),
            plain(&parent, &tensor, true),
            captured(&A5SIM, &mut args, &parent),
            plain(&parent, &tensor, false),
        ];
        for (best, time) in best.iter_mut().zip(times) {
            *best = time.min(*best);
        }
    }
    let [mapped, direct, copied, buffered] =
        best.map(|time| (TASKS * BYTES) as f64 / time.as_secs_f64() / 1e9);
    let limit = direct.max(buffered);
    eprintln!(
        "large tensors, best of {ROUNDS}, GB/s: plain direct {direct:.2}, plain buffered {buffered:.2}"
    );
    for (name, rate) in [("a2a3sim", mapped), ("a5sim", copied)] {
        eprintln!("  captured on {name} {rate:.2}: {:.0} % of the best plain write", rate / limit * 100.0);
    }
}
