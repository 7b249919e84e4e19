//! What a record costs: a run of many small tasks with everything captured, beside the same run without.
//!
//! The largest case of paged attention has 98,304 records of about 470 bytes. Processor time counts, not the clock: the
//! writing thread works beside the run, and what it takes is paid for as well. Rounds of both kinds alternate; of each
//! the least counts. `ARGUS_BENCH_DIR` chooses the file system. For profilers: `captured N` and `plain N` run that many
//! rounds of one kind.

use std::path::Path;
use std::time::{Duration, Instant};

use argus_abi::RuntimeKind;
use argus_chip::{A2A3SIM, A5SIM, Chip};
use argus_record::{Names, RecordRequest, record};
use argus_runtime::{Device, RunConfig};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 7;

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Processor time and wall time of a round, and its records.
struct Round {
    cpu: Duration,
    wall: Duration,
    records: u64,
    bytes: u64,
}

fn round(chip: &'static Chip, parent: Option<&Path>) -> Round {
    let scenes = argus_scenes::registry();
    let scene = scenes.scene("paged_attention").expect("a scene that ships");
    let (case, runtime) = scene.case(Some("large"), Some(RuntimeKind::Trb)).expect("its largest case");
    let mut prepared = case.prepare(runtime, chip).expect("nothing to compile");
    let mut config = RunConfig::default();
    (prepared.configure)(&mut config);
    let mut device = Device::new(chip);
    let directory = parent.map(|parent| tempfile::tempdir_in(parent).expect("a directory"));
    let (began, cpu) = (Instant::now(), processor_time());
    let records = match &directory {
        None => {
            device.run(&prepared.program, &mut prepared.args, &config).expect("a run that succeeds");
            0
        }
        Some(directory) => {
            let (request, names) = (RecordRequest::default(), Names::default());
            let (program, args) = (&prepared.program, &mut prepared.args);
            let run = record(&mut device, program, args, &config, &request, &names, directory.path());
            assert!(run.problems.is_empty(), "{:?}", run.problems);
            run.dump.expect("a dump").records
        }
    };
    let (cpu, wall) = (processor_time() - cpu, began.elapsed());
    let size = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.and_then(|entry| entry.metadata()).map_or(0, |meta| meta.len())
    };
    let bytes =
        directory.map_or(0, |directory| std::fs::read_dir(directory.path()).expect("files").map(size).sum());
    Round { cpu, wall, records, bytes }
}

fn main() {
    let parent = std::env::var_os("ARGUS_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [kind @ ("captured" | "plain"), rounds] = args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        let parent = Some(parent.as_path()).filter(|_| kind == "captured");
        (0..rounds.parse().expect("a number of rounds")).for_each(|_: u32| _ = round(&A2A3SIM, parent));
        return;
    }
    for chip in [&A2A3SIM, &A5SIM] {
        let rounds: Vec<[Round; 2]> =
            (0..ROUNDS).map(|_| [round(chip, None), round(chip, Some(&parent))]).collect();
        let least = |kind: usize, time: fn(&Round) -> Duration| {
            rounds.iter().map(|round| time(&round[kind])).min().expect("rounds").as_secs_f64()
        };
        let (plain, captured) = (least(0, |round| round.cpu), least(1, |round| round.cpu));
        let (plain_wall, captured_wall) = (least(0, |round| round.wall), least(1, |round| round.wall));
        let (records, bytes) = (rounds[0][1].records, rounds[0][1].bytes);
        eprintln!(
            "{}, {records} records, {:.1} MB, least of {ROUNDS}: plain {:.1} ms of processor time, captured {:.1} ms: \
             {:.2} us a record, {:+.0} %; wall {:.1} and {:.1} ms, {:+.0} %",
            chip.name,
            bytes as f64 / 1e6,
            plain * 1e3,
            captured * 1e3,
            (captured - plain) * 1e6 / records as f64,
            (captured / plain - 1.0) * 100.0,
            plain_wall * 1e3,
            captured_wall * 1e3,
            (captured_wall / plain_wall - 1.0) * 100.0,
        );
    }
}
