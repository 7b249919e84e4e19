//! What C++ costs, as whole processes of the tool: a warm start, a large graph beside its twin in Rust, a cold build.
//!
//! | limit | what |
//! |---|---|
//! | 100 ms | a scene in C++ whose objects are in the cache, from start to exit |
//! | 10 % more | 16,640 tasks of paged attention with C++ kernels and orchestration than with those in Rust |
//! | 12 s | four attention kernels and an orchestration with an empty cache, on two cores |
//!
//! The twins run in turns, so that a machine whose speed drifts treats them alike. A ratio is that of the shortest
//! times, and beside it that of the processor time of all rounds, which hardly depends on what else the machine does.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot start says so by a panic")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;
const COLD_ROUNDS: usize = 3;
const TWINS: [&str; 2] = ["paged_attention", "paged_attention_cpp"];

/// What some runs of one command took.
#[derive(Clone, Copy)]
struct Taken {
    shortest: Duration,
    /// Of all runs together, children included.
    processor: Duration,
}

impl Taken {
    const NOTHING: Taken = Taken { shortest: Duration::MAX, processor: Duration::ZERO };

    fn add(&mut self, line: &str, cache: Option<&Path>) {
        let (processor, began) = (processor_time(), Instant::now());
        argus(line, cache);
        self.shortest = self.shortest.min(began.elapsed());
        self.processor += processor_time() - processor;
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

/// One kind of run: the twins in turns, and what C++ takes more.
fn compare(name: &str, lines: [String; 2]) {
    let mut taken = [Taken::NOTHING; 2];
    for round in 0..=ROUNDS {
        for (taken, line) in taken.iter_mut().zip(&lines) {
            match round {
                // Objects that are not there yet, and the disk.
                0 => argus(line, None),
                _ => taken.add(line, None),
            }
        }
    }
    let [rust, cpp] = taken;
    eprintln!(
        "{name:<22} {:>8.1} {:>8.1} {:>8.2} {:>8.1} {:>8.1} {:>8.2}",
        milliseconds(rust.shortest),
        milliseconds(cpp.shortest),
        cpp.shortest.as_secs_f64() / rust.shortest.as_secs_f64(),
        milliseconds(rust.processor) / ROUNDS as f64,
        milliseconds(cpp.processor) / ROUNDS as f64,
        cpp.processor.as_secs_f64() / rust.processor.as_secs_f64(),
    );
}

fn twins() {
    let directory = tempfile::tempdir().unwrap();
    eprintln!(
        "{:<22} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "ms, best of 20", "Rust", "C++", "ratio", "CPU Rust", "CPU C++", "ratio"
    );
    compare("start", TWINS.map(|scene| format!("run {scene} --case CaseSmall1 --skip-golden")));
    let large = TWINS.map(|scene| format!("run {scene} --case large --runtime trb --skip-golden"));
    for capture in [false, true] {
        for in_process in [false, true] {
            let name = format!(
                "{}, {}",
                if capture { "captured" } else { "plain" },
                if in_process { "in process" } else { "isolated" },
            );
            let lines = large.each_ref().map(|line| {
                let mut line = line.clone();
                if capture {
                    let output = directory.path().join("dump");
                    line += &format!(" --dump-tensor --force --output {}", output.display());
                }
                line + if in_process { " --in-process" } else { "" }
            });
            compare(&name, lines);
        }
    }
}

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    twins();
    let mut warm = Taken::NOTHING;
    (0..ROUNDS).for_each(|_| warm.add("run vector_example_cpp", None));
    eprintln!("warm start of vector_example_cpp: {:.1} ms", milliseconds(warm.shortest));
    let mut cold = Taken::NOTHING;
    for _ in 0..COLD_ROUNDS {
        let cache = tempfile::tempdir().unwrap();
        cold.add("run paged_attention_cpp --case CaseSmall1", Some(cache.path()));
    }
    eprintln!(
        "cold build of paged_attention_cpp: {:.1} s, {:.1} s of the processor",
        cold.shortest.as_secs_f64(),
        cold.processor.as_secs_f64() / COLD_ROUNDS as f64
    );
}
