//! What opening a dump costs.
//!
//! `journal`: 1,000,000 records that were collected out of order. A process of its own opens the dump and shows
//! the first screen, then writes one line for each record to a file; its own clock and its peak memory count.
//! `manifest`: 100,000 entries in the reference's August text, beside Python's `json.load` of the same file in
//! the same run.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark's result is what it prints")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use argus_abi::capture::{
    ArgumentEntry, ENTRY_MAGIC, ENTRY_VERSION, EntryHeader, TaskEntry, TaskFields, argument_flags, what,
};
use argus_abi::{CoreSet, CoreType, DType};
use argus_dump::read::{Dump, Record};
use argus_dump::{DumpInfo, DumpOptions, DumpWriter, RunEnd};
use argus_facts::{KernelInfo, Sink};

const RECORDS: u64 = 1_000_000;
const ENTRIES: u64 = 100_000;
const PER_TASK: u64 = 8;
const SCREEN: usize = 50;
const ROUNDS: usize = 7;
/// Tells a child process what to open.
const CHILD: &str = "ARGUS_READER_BENCH";

fn main() {
    if let Some(directory) = std::env::var_os(CHILD) {
        return list(Path::new(&directory));
    }
    let directory = tempfile::tempdir().unwrap();
    journal(directory.path());
    manifest(directory.path());
}

fn journal(directory: &Path) {
    write_journal(directory);
    let mut rounds: Vec<Vec<f64>> = (0..ROUNDS)
        .map(|_| {
            let output =
                Command::new(std::env::current_exe().unwrap()).env(CHILD, directory).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout).unwrap();
            text.split_whitespace().map(|number| number.parse().unwrap()).collect()
        })
        .collect();
    let mut middle = |column: usize| {
        rounds.sort_by(|a, b| a[column].total_cmp(&b[column]));
        rounds[ROUNDS / 2][column]
    };
    println!("journal of {RECORDS} records, a fresh process, median of {ROUNDS}:");
    println!("  opened and first screen  {:8.3} s", middle(0));
    println!("  a line for each record   {:8.3} s", middle(1));
    println!("  peak memory              {:8.1} MB", middle(2) / 1000.0);
}

/// In the child: opens, shows a screen, then everything; prints both times and the peak memory in kB.
fn list(directory: &Path) {
    let start = Instant::now();
    let dump = Dump::open(directory).unwrap();
    let mut screen = String::new();
    for record in dump.records().take(SCREEN) {
        line(&mut screen, &dump, &record);
    }
    let first = start.elapsed();
    let mut file = BufWriter::new(fs::File::create(directory.join("list.txt")).unwrap());
    let mut text = String::new();
    for record in dump.records() {
        text.clear();
        line(&mut text, &dump, &record);
        file.write_all(text.as_bytes()).unwrap();
    }
    file.flush().unwrap();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak = peak.trim().trim_end_matches(" kB");
    println!("{} {} {peak}", first.as_secs_f64(), start.elapsed().as_secs_f64());
}

fn line(text: &mut String, dump: &Dump, record: &Record) {
    writeln!(
        text,
        "{:>7} 0x{:016x} {:<12} {:<16} {:<6} {:>3} {:<8} {:?} {}",
        record.index,
        record.task_id,
        dump.kernel_names(record),
        record.stage,
        record.role,
        record.arg_index,
        record.dtype.map_or("?", DType::name),
        record.shape(),
        record.bin_size
    )
    .unwrap();
}

fn write_journal(directory: &Path) {
    let kernel = |func_id: u32| KernelInfo {
        func_id,
        name: format!("kernel{func_id}"),
        core_type: CoreType::Aiv,
        signature: Vec::new(),
        abi: argus_abi::args::KernelAbi::Tensors,
    };
    let info = DumpInfo { kernels: (0..4).map(kernel).collect(), ..DumpInfo::default() };
    let mut writer = DumpWriter::create(directory, DumpOptions::default(), info).unwrap();
    let header =
        |what| EntryHeader { magic: ENTRY_MAGIC, version: ENTRY_VERSION, what, ring: 0, sequence: 0 };
    let tasks = RECORDS / PER_TASK;
    for step in 0..tasks {
        // Four lanes, each through a quarter of the tasks.
        let task_id = step % 4 * (tasks / 4) + step / 4;
        for arg_index in 0..PER_TASK {
            let entry = ArgumentEntry {
                header: header(what::ARGUMENT),
                task_id,
                time_ns: step,
                arg_index: arg_index as u16,
                stage: u8::from(arg_index >= 5),
                role: u8::from(arg_index >= 5),
                kind: 0,
                dtype: DType::F32 as u8,
                ndims: 2,
                flags: argument_flags::CONTIGUOUS,
                address: 0x1000_0000,
                start_offset: 0,
                payload_bytes: 64,
                scalar_bits: 0,
                shapes: [4, 4, 0, 0, 0],
                strides: [4, 1, 0, 0, 0],
                reserved: [0; 16],
            };
            writer.begin_argument(&entry).unwrap();
            writer.payload(&[arg_index as u8; 64]).unwrap();
            writer.end_argument().unwrap();
        }
        let entry = TaskEntry {
            header: header(what::TASK),
            task: TaskFields {
                task_id,
                func_ids: [(task_id % 4) as i32, -1, -1],
                blocks: 1,
                dispatch_order: step,
                dispatched_ns: step,
                finished_ns: step + 1,
                cores: CoreSet::from_iter([0]),
                scope_depth: 1,
                tensors: PER_TASK as u16,
                scalars: 0,
                state: 0,
                reserved: [0; 7],
            },
            reserved: [0; 16],
        };
        writer.task(&entry).unwrap();
    }
    writer.finish(RunEnd::default()).unwrap();
}

fn manifest(directory: &Path) {
    let path = directory.join("args_dump.json");
    fs::write(&path, august()).unwrap();
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let dump = Dump::open(&path).unwrap();
            assert_eq!(dump.len() as u64, ENTRIES);
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let ours = times[ROUNDS / 2];
    println!("August manifest of {ENTRIES} entries, {} MB, median of {ROUNDS}:", file_mb(&path));
    println!("  opened                   {ours:8.4} s");
    let program = "import json, sys, time\n\
        times = []\n\
        for _ in range(int(sys.argv[2])):\n    \
            start = time.perf_counter()\n    \
            with open(sys.argv[1]) as file: json.load(file)\n    \
            times.append(time.perf_counter() - start)\n\
        print(sorted(times)[len(times) // 2])";
    match Command::new("python3").args(["-c", program]).arg(&path).arg(ROUNDS.to_string()).output() {
        Ok(output) if output.status.success() => {
            let theirs: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
            println!("  Python's json.load       {theirs:8.4} s, {:.1} times as long", theirs / ours);
        }
        _ => println!("  no python3 to compare with"),
    }
}

fn file_mb(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len() / 1_000_000
}

/// A manifest as the reference writes it.
fn august() -> String {
    let mut text = String::from(
        "{\n  \"run_dir\": \"args_dump\",\n  \"bin_format\": {\n    \"type\": \"logical_contiguous\",\n    \
         \"byte_order\": \"little_endian\"\n  },\n  \"dump_args_level\": 2,\n",
    );
    for (key, value) in [("total_args", ENTRIES), ("before_dispatch", 0), ("after_completion", 0)] {
        writeln!(text, "  \"{key}\": {value},").unwrap();
    }
    text.push_str("  \"bin_file\": \"args.bin\",\n  \"args\": [");
    for entry in 0..ENTRIES {
        let (task, arg) = (entry / PER_TASK, entry % PER_TASK);
        let (role, stage) =
            if arg < 5 { ("input", "before_dispatch") } else { ("output", "after_completion") };
        text.push_str(if entry == 0 { "\n    " } else { ",\n    " });
        write!(
            text,
            "{{\"task_id\": \"0x{:016x}\", \"func_id\": [{}], \"arg_index\": {arg}, \"role\": \"{role}\", \
             \"stage\": \"{stage}\", \"kind\": \"tensor\", \"dtype\": \"BFLOAT16\", \"is_contiguous\": true, \
             \"shape\": [16, 16], \"strides\": [16, 1], \"start_offset\": {}, \"numel\": 256, \
             \"bin_offset\": {}, \"bin_size\": 512, \"truncated\": false, \"overwritten\": false}}",
            task | 2 << 32,
            task % 4,
            entry * 256,
            entry * 512
        )
        .unwrap();
    }
    text.push_str("\n  ]\n}\n");
    text
}
