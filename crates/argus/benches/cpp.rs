//! What C++ costs, as whole processes of the tool: a graph beside its twin in Rust, a warm start, a cold build.
//!
//! | limit | what |
//! |---|---|
//! | 10 % more | 16,640 tasks of paged attention with C++ kernels and orchestration than with those in Rust, isolation included, plain and captured |
//! | 100 ms | a scene in C++ whose objects are in the cache, from start to exit |
//! | 12 s | four attention kernels and an orchestration with an empty cache, on two cores |
//!
//! All kinds of runs, and in each kind the twins, take turns, so that a machine whose speed drifts treats them alike.
//! Times are medians of the rounds, and a ratio of wall time is the median of the rounds' ratios. Processor time is that of
//! all rounds together, children included; it hardly depends on what else the machine does.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot start says so by a panic")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;
const COLD_ROUNDS: usize = 3;
const TWINS: [&str; 2] = ["paged_attention", "paged_attention_cpp"];
/// Cases, and how many runs of each make a round: of 24 tasks many, because the system counts processor time coarsely.
const CASES: [(&str, u32); 2] = [("CaseSmall1", 20), ("large", 1)];

/// What the rounds of one command took.
#[derive(Default)]
struct Taken {
    /// Of each round.
    wall: Vec<Duration>,
    /// Of all rounds together, children included.
    processor: Duration,
}

impl Taken {
    fn add(&mut self, line: &str, runs: u32, cache: Option<&Path>) {
        let (processor, began) = (processor_time(), Instant::now());
        (0..runs).for_each(|_| argus(line, cache));
        self.wall.push(began.elapsed() / runs);
        self.processor += (processor_time() - processor) / runs;
    }

    /// Of one run.
    fn median(&self) -> Duration {
        let mut wall = self.wall.clone();
        wall.sort_unstable();
        wall[wall.len() / 2]
    }

    /// Of one run.
    fn processor(&self) -> Duration {
        self.processor / self.wall.len() as u32
    }
}

fn argus(line: &str, cache: Option<&Path>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_argus"));
    command.args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(cache) = cache {
        command.env("ARGUS_CACHE", cache);
    }
    assert!(command.status().unwrap().success(), "argus {line}");
}

/// Processor time of all processes that this one has waited for. The system counts it in hundredths of a second, which
/// is enough for a sum.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program may hold spaces and ends with the last bracket; `cutime` and `cstime` are 13th and 14th
    // after it.
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
    let ticks: u64 = fields[13..15].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(10 * ticks)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// One kind of run, with each of the twins.
struct Kind {
    name: String,
    runs: u32,
    lines: [String; 2],
    taken: [Taken; 2],
}

impl Kind {
    fn new(case: &str, runs: u32, captured: bool, in_process: bool, dump: &Path) -> Kind {
        let word = if captured { "captured" } else { "plain" };
        let place = if in_process { "in process" } else { "isolated" };
        let lines = TWINS.map(|scene| {
            let mut line = format!("run {scene} --case {case} --runtime trb --skip-golden");
            if captured {
                line += &format!(" --dump-tensor --force --output {}", dump.display());
            }
            line + if in_process { " --in-process" } else { "" }
        });
        Kind { name: format!("{case}, {word}, {place}"), runs, lines, taken: Default::default() }
    }

    fn tell(&self) {
        let [rust, cpp] = &self.taken;
        let pairs = rust.wall.iter().zip(&cpp.wall);
        let mut ratios: Vec<f64> = pairs.map(|(rust, cpp)| cpp.as_secs_f64() / rust.as_secs_f64()).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        eprintln!(
            "{:<32} {:>8.1} {:>8.1} {:>6.2} {:>9.1} {:>8.1} {:>6.2}",
            self.name,
            milliseconds(rust.median()),
            milliseconds(cpp.median()),
            ratios[ratios.len() / 2],
            milliseconds(rust.processor()),
            milliseconds(cpp.processor()),
            cpp.processor().as_secs_f64() / rust.processor().as_secs_f64(),
        );
    }
}

fn twins() {
    let directory = tempfile::tempdir().unwrap();
    let dump = directory.path().join("dump");
    let mut kinds = Vec::new();
    for (case, runs) in CASES {
        for (captured, in_process) in [(false, false), (true, false), (false, true), (true, true)] {
            kinds.push(Kind::new(case, runs, captured, in_process, &dump));
        }
    }
    // Objects that are not there yet, and the disk.
    kinds.iter().flat_map(|kind| &kind.lines).for_each(|line| argus(line, None));
    for _ in 0..ROUNDS {
        for kind in &mut kinds {
            for (taken, line) in kind.taken.iter_mut().zip(&kind.lines) {
                taken.add(line, kind.runs, None);
            }
        }
    }
    eprintln!(
        "{:<32} {:>8} {:>8} {:>6} {:>9} {:>8} {:>6}",
        format!("ms, {ROUNDS} rounds"),
        "Rust",
        "C++",
        "ratio",
        "CPU Rust",
        "CPU C++",
        "ratio"
    );
    kinds.iter().for_each(Kind::tell);
}

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    twins();
    let mut warm = Taken::default();
    (0..ROUNDS).for_each(|_| warm.add("run vector_example_cpp", 1, None));
    eprintln!("warm start of vector_example_cpp: {:.1} ms", milliseconds(warm.median()));
    let mut cold = Taken::default();
    for _ in 0..COLD_ROUNDS {
        let cache = tempfile::tempdir().unwrap();
        cold.add("run paged_attention_cpp --case CaseSmall1", 1, Some(cache.path()));
    }
    eprintln!(
        "cold build of paged_attention_cpp: {:.1} s, {:.1} s of the processor",
        cold.median().as_secs_f64(),
        cold.processor().as_secs_f64()
    );
}
