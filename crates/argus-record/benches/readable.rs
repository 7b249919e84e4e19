//! How long after its stage a record can be read by another process.
//!
//! One process runs a captured paged attention (98,304 records), another one looks at the length of its
//! journal every half a millisecond. An entry is readable from the first look that finds the journal long
//! enough for it: the file only grows, and payloads are there before the entries that name them.
//!
//! A record's time counts from the moment the run is set up, which is a little after the start that the
//! journal's header gives. So the lags are, if anything, too long.
//!
//! `ARGUS_BENCH_DIR` chooses the file system.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use argus_abi::RuntimeKind;
use argus_chip::Chip;
use argus_dump::journal::{ENTRY_BYTES, Entry, HEADER_BYTES, Journal};
use argus_record::{Names, RecordRequest, record};
use argus_runtime::{Device, RunConfig};
use argus_scenes::scene;

const CHILD: &str = "ARGUS_BENCH_CHILD";
const ROUNDS: usize = 10;
const LOOK_EVERY: Duration = Duration::from_micros(500);

fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

/// The run that is looked at.
fn run(platform: &str, directory: &Path) {
    let scene = scene("paged_attention").expect("a shipped scene");
    let (case, runtime) = scene.case(Some("large"), Some(RuntimeKind::Trb)).expect("a shipped case");
    let prepared = case.prepare(runtime, argus_chip::DEFAULT_CHIP).expect("a scene that ships");
    let config = RunConfig { block_dim: case.block_dim, ..RunConfig::default() };
    let names = Names {
        scene: scene.name.clone(),
        case: case.name.clone(),
        runtime: runtime.name().into(),
        ..Names::default()
    };
    let mut device = Device::new(Chip::by_name(platform).expect("a shipped platform"));
    let (mut args, request) = (prepared.args, RecordRequest::default());
    let run = record(&mut device, &prepared.program, &mut args, &config, &request, &names, directory);
    assert!(run.result.is_ok() && run.problems.is_empty(), "{:?} {:?}", run.result, run.problems);
}

/// The lag of every record of one run, in nanoseconds.
fn lags(platform: &str, directory: &Path) -> Vec<u64> {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .env(CHILD, format!("{platform} {}", directory.display()))
        .spawn()
        .expect("a child");
    let path = directory.join(argus_dump::JOURNAL_FILE);
    // Each time the journal was found longer, and how long.
    let mut looks: Vec<(u64, u64)> = Vec::new();
    loop {
        let ended = child.try_wait().expect("a child").is_some();
        let length = std::fs::metadata(&path).map_or(0, |file| file.len());
        if looks.last().is_none_or(|&(_, known)| length > known) {
            looks.push((now_ns(), length));
        }
        if ended {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let journal = Journal::open(&path).expect("a journal");
    let started = journal.header().started_unix_ns;
    let lag = |(number, entry): (usize, Entry)| {
        let Entry::Argument(record) = entry else { return None };
        let end = (HEADER_BYTES + (number + 1) * ENTRY_BYTES) as u64;
        let found = looks.partition_point(|&(_, length)| length < end);
        Some(looks[found].0.saturating_sub(started + record.head.time_ns))
    };
    journal.entries().enumerate().filter_map(lag).collect()
}

fn main() {
    if let Some(child) = std::env::var_os(CHILD) {
        let child = child.into_string().expect("what the parent wrote");
        let (platform, directory) = child.split_once(' ').expect("a platform and a directory");
        return run(platform, Path::new(directory));
    }
    let place = std::env::var_os("ARGUS_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    for platform in ["a2a3sim", "a5sim"] {
        let mut all = Vec::new();
        for _ in 0..ROUNDS {
            let directory = tempfile::tempdir_in(&place).expect("a directory");
            all.extend(lags(platform, directory.path()));
        }
        all.sort_unstable();
        let at = |fraction: f64| all[((all.len() - 1) as f64 * fraction) as usize] as f64 / 1e6;
        eprintln!(
            "{platform}: {} records in {ROUNDS} runs, readable after p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms",
            all.len(),
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}
