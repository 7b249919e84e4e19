//! Runs of many ranks, as whole processes of the tool: 64 captures of paged attention with 98,304 records each, and times of a
//! million kernel calls.
//!
//! | limit | what |
//! |---|---|
//! | 1 s | the table of ranks |
//! | disk speed | `verify`, from files that are not in memory |
//! | 70 % of reading speed | `find --across`, of the files that it reads |
//! | 3 s | a swimlane file of 1,000,000 kernel calls drawn for Perfetto |
//! | 500 MB | the memory of each |
//!
//! One run is captured and copied, each copy with an identity of its own: about 7 GB, removed at the end.
//! `ARGUS_BENCH_DIR` chooses the file system, an argument another number of ranks. How fast the disk is, is found by
//! reading the same files with as many threads as the tool has. Processor time is told beside the time that passed, since
//! it hardly depends on what else the machine does.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot start says so by a panic")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Advice, fadvise};

const RANKS: usize = 64;
const CALLS: u64 = 1_000_000;
const CORES: u64 = 72;

/// What a process took.
struct Taken {
    passed: Duration,
    /// Of all its threads, in seconds.
    processor: f64,
    /// The most memory that it had, in MB.
    peak: f64,
}

/// Seconds of processors that all ended children of this process took.
fn processor_time() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program may hold spaces and ends with the last bracket; `cutime` and `cstime` are 13th and 14th
    // after it.
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
    fields[13..15].iter().map(|field| field.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

/// Runs the tool to its end.
fn argus(args: &[&str], home: &Path) -> Taken {
    let (before, began) = (processor_time(), Instant::now());
    let mut child = Command::new(env!("CARGO_BIN_EXE_argus"))
        .args(args)
        .current_dir(home)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let place = PathBuf::from(format!("/proc/{}", child.id()));
    let mut peak = 0.0;
    let status = loop {
        // It only grows, so the last look tells nearly all.
        let text = fs::read_to_string(place.join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "argus {args:?}: {status}");
    Taken { passed: began.elapsed(), processor: processor_time() - before, peak: peak / 1e3 }
}

fn tell(what: &str, taken: &Taken, rest: &str) {
    let Taken { passed, processor, peak } = taken;
    eprintln!(
        "{what}: {:.2} s, {processor:.2} s of processors, peak {peak:.0} MB{rest}",
        passed.as_secs_f64()
    );
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Takes files out of the system's cache.
fn forget(files: &[PathBuf]) {
    for path in files {
        let file = File::open(path).unwrap();
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }
}

/// Seconds in which files that are not in memory are read by every processor.
fn reading(files: &[PathBuf]) -> f64 {
    forget(files);
    let threads = std::thread::available_parallelism().unwrap().get();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..threads {
            scope.spawn(move || {
                let mut buffer = vec![0; 1 << 20];
                for path in files.iter().skip(number).step_by(threads) {
                    let mut file = File::open(path).unwrap();
                    while file.read(&mut buffer).unwrap() > 0 {}
                }
            });
        }
    });
    began.elapsed().as_secs_f64()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn identity(rank: usize, ranks: usize) -> String {
    format!(
        "{{\"schema_version\": 1, \"run_id\": 3, \"task_slot\": 0, \"group_index\": {rank}, \"group_size\": {ranks}, \
         \"host_pid\": 7, \"chip_rank\": {rank}, \"local_capture_index\": 0, \"endpoint_dispatch_id\": 1, \
         \"pipeline_slot\": 0, \"pipeline_generation\": 1, \"callable_digest\": \"{}\"}}",
        "ab".repeat(32)
    )
}

/// Every command on a tree of ranks.
fn ranks(home: &Path, count: usize) {
    let run = home.join("run");
    for rank in 0..count {
        let capture = run.join(format!("rank{rank}/d0"));
        copy(&home.join("one"), &capture);
        fs::write(capture.join("dispatch_identity.json"), identity(rank, count)).unwrap();
    }
    let all = files(&run);
    let with = |names: &[&str]| -> Vec<PathBuf> {
        let named = |path: &&PathBuf| names.iter().any(|name| path.ends_with(name));
        all.iter().filter(named).cloned().collect()
    };
    forget(&all);
    tell(&format!("table of {count} ranks"), &argus(&["view", "run"], home), "");
    // What is compared across ranks is in journals and payloads; a dump as a whole has the JSON files too.
    let across = with(&["tensor_dump.journal", "tensor_dump.bin"]);
    let dumps = with(&[
        "tensor_dump.journal",
        "tensor_dump.bin",
        "tensor_dump.json",
        "graph.json",
        "run.json",
        "timeline.json",
    ]);
    for (what, args, read) in
        [("verify", &["verify", "run"][..], &dumps), ("find --across", &["find", "run", "--across"], &across)]
    {
        let bytes: u64 = read.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        let disk = reading(read);
        forget(&all);
        let taken = argus(args, home);
        let rate = |seconds: f64| bytes as f64 / seconds / 1e6;
        let (ours, plain) = (rate(taken.passed.as_secs_f64()), rate(disk));
        let rest = format!(
            ", {:.2} GB at {ours:.0} MB/s; reading them: {plain:.0} MB/s, so {:.0} %",
            bytes as f64 / 1e9,
            100.0 * ours / plain
        );
        tell(what, &taken, &rest);
    }
    fs::remove_dir_all(run).unwrap();
}

/// Times of many calls beside the captured dump, drawn.
fn swimlanes(home: &Path) {
    let types: Vec<&str> =
        (0..CORES).map(|core| if core < CORES / 3 { "\"aic\"" } else { "\"aiv\"" }).collect();
    let mut text = format!(
        "{{\"chip_swimlane_level\": 2, \"metadata\": {{\"runtime\": \"tensormap_and_ringbuffer\", \"clock_freq_hz\": \
         1000000000, \"num_cores\": {CORES}, \"core_types\": [{}]}}, \"aicore_tasks\": [",
        types.join(", ")
    );
    let comma = |call: u64| if call == 0 { "" } else { ", " };
    for call in 0..CALLS {
        let (core, turn) = (call % CORES, call / CORES);
        let (id, start, end) = ((2u64 << 32) + call, 1000 * turn + 100 + core, 1000 * turn + 900);
        _ = write!(text, "{}[{core},{id},{},{start},{end},0]", comma(call), turn + 1);
    }
    text += "], \"aicpu_tasks\": [";
    for call in 0..CALLS {
        let (core, turn) = (call % CORES, call / CORES);
        let (start, end) = (1000 * turn + 20, 1000 * turn + 950);
        _ = write!(text, "{}[{core},{},{start},{end}]", comma(call), turn + 1);
    }
    text += "]}\n";
    let one = home.join("one");
    // The dump's own times would be drawn instead.
    fs::remove_file(one.join("tensor_dump/timeline.json")).unwrap();
    fs::write(one.join("chip_swimlane_records.json"), text).unwrap();
    let taken = argus(&["trace", "one", "-o", "run.pftrace"], home);
    let size = fs::metadata(home.join("run.pftrace")).unwrap().len() as f64 / 1e6;
    tell(&format!("{CALLS} kernel calls drawn"), &taken, &format!(", {size:.0} MB written"));
}

fn main() {
    let parent = std::env::var_os("ARGUS_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    let home = tempfile::tempdir_in::<&Path>(&parent).unwrap();
    let count = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(RANKS);
    argus(
        &["run", "paged_attention", "--case", "large", "--dump-tensor", "--artefacts", "-o", "one"],
        home.path(),
    );
    ranks(home.path(), count);
    swimlanes(home.path());
}
