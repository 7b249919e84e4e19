//! How finding grows: four times the tasks should take four times the time.
//!
//! Two shapes. In `tiles` every task works on a tile of its own and reads one tensor that all of them read; in `hub`
//! one task waits for all others and all others wait for it, which is where pairs of tasks are as many as their
//! number squared. Throughput counts tasks, so lines that stay the same between two sizes are growth that is linear.
//!
//! Then the memory that two dumps take which are compared and agree, each size in processes of its own, because what counts
//! is the most that a process ever had.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be set up should stop")]

use std::hint::black_box;
use std::io::Write;
use std::time::Duration;

use argus_abi::{DType, Stage, TaskId};
use argus_dump::read::Dump;
use argus_find::align::{Side, align};
use argus_find::golden::{ArgumentKey, Folder};
use argus_find::races::races;
use argus_find::report::{Overall, report};
use argus_find::search::{Expectation, Options, search};
use argus_find::tasks::Tasks;
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group};

#[path = "../tests/it/by_hand.rs"]
#[allow(dead_code, reason = "tests use the rest")]
mod by_hand;

use by_hand::{Right, TaskSpec, input, output, task, write};

const SIZES: [u64; 2] = [16 << 10, 64 << 10];

/// Doublings of one shared tensor into tiles of their own, the first one wrong.
fn tiles(count: u64) -> Vec<TaskSpec> {
    let shared = input(0x1000, &[1.0, 2.0]);
    let right = |id: u64| if id == 1 { [2.0, 5.0] } else { [2.0, 4.0] };
    (1..=count)
        .map(|id| task(id, 0, vec![shared.clone(), output(0x10_0000 + 8 * id, &right(id))], &[]))
        .collect()
}

/// Tiles, a task that waits for all of them and overwrites what they read, and as many tasks behind it.
fn hub(count: u64) -> Vec<TaskSpec> {
    let mut tasks = tiles(count / 2);
    let all: Vec<u64> = (1..=count / 2).collect();
    let middle = count / 2 + 1;
    tasks.push(task(middle, 0, vec![input(0x8, &[0.5, 1.0]), output(0x1000, &[1.0, 2.0])], &all));
    let behind = (middle + 1..=count).map(|id| {
        task(id, 0, vec![input(0x1000, &[1.0, 2.0]), output(0x10_0000 + 8 * id, &[2.0, 4.0])], &[middle])
    });
    tasks.extend(behind);
    tasks
}

fn growth(criterion: &mut Criterion) {
    for (shape, make) in [("tiles", tiles as fn(u64) -> Vec<TaskSpec>), ("hub", hub)] {
        let mut group = criterion.benchmark_group(shape);
        group.sample_size(10).sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(5));
        for size in SIZES {
            let directory = tempfile::tempdir().unwrap();
            let dump: Dump = write(directory.path(), &make(size));
            let tasks = Tasks::new(&dump, None);
            let side = Side { dump: &dump, tasks: &tasks };
            group.throughput(Throughput::Elements(size));
            group.bench_function(BenchmarkId::new("isolated", size), |bencher| {
                bencher.iter(|| search(side, &Expectation::Isolated(&Right), Options::default(), |_| {}));
            });
            group.bench_function(BenchmarkId::new("against", size), |bencher| {
                bencher.iter(|| search(side, &Expectation::Against(side), Options::default(), |_| {}));
            });
            group.bench_function(BenchmarkId::new("align", size), |bencher| {
                bencher.iter(|| align(side, side));
            });
            group.bench_function(BenchmarkId::new("races", size), |bencher| {
                bencher.iter(|| races(&dump, &tasks));
            });
        }
        group.finish();
    }
}

/// A safetensors file of so many tensors of two elements.
fn safetensors(path: &std::path::Path, count: u64) {
    let mut header = String::from("{");
    for id in 0..count {
        let comma = if id == 0 { "" } else { "," };
        let (from, to) = (8 * id, 8 * id + 8);
        header += &format!(
            "{comma}\"0x{:x}_1\":{{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[{from},{to}]}}",
            id + 1
        );
    }
    header.push('}');
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    for _ in 0..count {
        file.write_all(&[2.0f32.to_le_bytes(), 4.0f32.to_le_bytes()].concat()).unwrap();
    }
    file.flush().unwrap();
}

fn goldens(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("safetensors");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(5));
    for size in [2 << 10, 8 << 10] {
        let directory = tempfile::tempdir().unwrap();
        safetensors(&directory.path().join("expected.safetensors"), size);
        group.throughput(Throughput::Elements(size));
        group.bench_function(BenchmarkId::new("every value", size), |bencher| {
            bencher.iter(|| {
                let folder = Folder::open(directory.path()).unwrap();
                for id in 1..=size {
                    let task = TaskId::from_raw(id);
                    let key = ArgumentKey { task, argument: 1, stage: Stage::AfterCompletion };
                    black_box(folder.values(key, DType::F32, 2).unwrap().unwrap());
                }
            });
        });
    }
    group.finish();
}

/// Tasks of dumps whose memory is told.
const LARGE: [u64; 3] = [100_000, 300_000, 1_000_000];

/// The most memory that this process ever had, in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1e3
}

fn diff(one: &str, two: &str) {
    let began = std::time::Instant::now();
    let (one, two) = (Dump::open(one.as_ref()).unwrap(), Dump::open(two.as_ref()).unwrap());
    let (tasks, others) = (Tasks::new(&one, None), Tasks::new(&two, None));
    let side = Side { dump: &one, tasks: &tasks };
    let against = Expectation::Against(Side { dump: &two, tasks: &others });
    let found = report(side, &against, search(side, &against, Options::default(), |_| {}));
    assert_eq!(found.verdict, Overall::Agree);
    let seconds = began.elapsed().as_secs_f64();
    eprintln!("{} tasks agree: {seconds:.2} s, peak {:.1} MB", found.tasks.len(), peak());
}

fn memory() {
    let own = std::env::current_exe().unwrap();
    let run =
        |args: &[&str]| assert!(std::process::Command::new(&own).args(args).status().unwrap().success());
    for count in LARGE {
        let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [one, two] = [0, 1].map(|at| directories[at].path().to_str().unwrap());
        run(&["write", &count.to_string(), one]);
        run(&["write", &count.to_string(), two]);
        run(&["diff", one, two]);
    }
}

criterion_group!(benches, growth, goldens);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", count, directory] => drop(write(directory.as_ref(), &tiles(count.parse().unwrap()))),
        ["diff", one, two] => diff(one, two),
        ["memory", ..] => memory(),
        _ => {
            benches();
            Criterion::default().configure_from_args().final_summary();
            memory();
        }
    }
}
