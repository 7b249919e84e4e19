//! Memory of a captured run by the number of its tasks, six records each: it should not grow with them.
//!
//! Each size runs in a process of its own, because what counts is the most that a process ever had. The dump of each
//! is verified in another process, and all of its records and payloads are read in a third, as most commands do; their
//! memory is told as well, and so are the bytes of the dump, which a reader that kept what it maps would come to.
//! `ARGUS_BENCH_DIR` chooses the file system; arguments choose the sizes.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use argus_abi::{ArgDirection, CoreType, DType, FuncId};
use argus_chip::A2A3SIM;
use argus_dump::read::Dump;
use argus_dump::verify::verify;
use argus_record::{Names, RecordRequest, record};
use argus_runtime::{
    Arg, Device, HostArgs, KernelEntry, KernelTable, Orchestration, Program, RunConfig, ScopeMode,
    TensorCreateInfo,
};

const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];
const TASKS_PER_SCOPE: u64 = 1000;

fn program(tasks: u64) -> Program {
    let nothing = |_: &mut argus_tile::Core, _: &argus_abi::KernelArgs<'_>| Ok(());
    let entry = KernelEntry::new(FuncId(0), "nothing", CoreType::Aiv, &[ArgDirection::Inout; 3], nothing);
    let orchestration = Orchestration::TensormapAndRingbuffer(Arc::new(move |trb, _| {
        for scope in 0..tasks / TASKS_PER_SCOPE {
            trb.scope(ScopeMode::Auto, |trb| {
                let info = TensorCreateInfo::new(&[16], DType::F32)?.with_initial_value(scope);
                let made = trb.alloc_tensors(&[info, info, info])?;
                for _ in 0..TASKS_PER_SCOPE {
                    let arg = made.tensors().iter().fold(Arg::new(), |arg, tensor| arg.inout(tensor));
                    trb.submit_aiv(FuncId(0), arg)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }));
    Program { orchestration, kernels: KernelTable::new([entry]).expect("one kernel") }
}

/// The most memory that this process ever had, in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1e3
}

fn capture(tasks: u64, directory: &Path) {
    let began = Instant::now();
    let (request, names) = (RecordRequest::default(), Names::default());
    let mut args = HostArgs { tensors: Vec::new(), scalars: Vec::new() };
    let (mut device, config) = (Device::new(&A2A3SIM), RunConfig::default());
    let run = record(&mut device, &program(tasks), &mut args, &config, &request, &names, directory);
    run.result.expect("a run that succeeds");
    assert!(run.problems.is_empty(), "{:?}", run.problems);
    assert_eq!(run.dump.map(|dump| dump.records), Some(6 * tasks));
    eprintln!("{tasks} tasks: captured in {:.2} s, peak {:.1} MB", began.elapsed().as_secs_f64(), peak());
}

fn check(tasks: u64, directory: &Path) {
    let began = Instant::now();
    let dump = Dump::open(directory).expect("a dump");
    let report = verify(&dump, |_, _| {});
    assert!(report.is_sound(), "{:?}", report.defects);
    eprintln!("{tasks} tasks: verified in {:.2} s, peak {:.1} MB", began.elapsed().as_secs_f64(), peak());
}

fn read(tasks: u64, directory: &Path) {
    let began = Instant::now();
    let dump = Dump::open(directory).expect("a dump");
    let read = |record| dump.payload(&record).map_or(0, <[u8]>::len);
    let bytes: usize = dump.records().map(read).sum();
    let (time, peak) = (began.elapsed().as_secs_f64(), peak());
    let files = std::fs::read_dir(directory).expect("files").flatten();
    let size: u64 = files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum();
    let size = size as f64 / 1e6;
    eprintln!(
        "{tasks} tasks: {bytes} bytes of payload read in {time:.2} s, peak {peak:.1} MB of {size:.1} MB"
    );
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().expect("a number of tasks");
    match words[..] {
        ["capture", tasks, directory] => return capture(number(tasks), directory.as_ref()),
        ["verify", tasks, directory] => return check(number(tasks), directory.as_ref()),
        ["read", tasks, directory] => return read(number(tasks), directory.as_ref()),
        _ => {}
    }
    let parent = std::env::var_os("ARGUS_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    let sizes = if words.is_empty() { SIZES.to_vec() } else { words.into_iter().map(number).collect() };
    let own = std::env::current_exe().expect("a path");
    for tasks in sizes {
        let directory = tempfile::tempdir_in::<&Path>(&parent).expect("a directory");
        for what in ["capture", "verify", "read"] {
            let mut command = Command::new(&own);
            command.args([what, &tasks.to_string()]).arg(directory.path());
            assert!(command.status().expect("a process").success());
        }
    }
}
