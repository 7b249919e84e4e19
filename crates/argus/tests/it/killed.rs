//! Real runs, killed: whatever the journal says is there, is there.
//!
//! How the moments are chosen. A run of three rounds is timed once from the moment its first journal exists
//! until its process has ended. Each kill waits for the first journal of its own run and then for a time drawn
//! evenly from that duration. What comes before the journal (loading, making inputs) does not count: no record
//! could exist. What comes after it counts in full, the first milliseconds of the run, the pause between two
//! rounds and the writing of manifests included. A run that is over before its moment comes was not killed and
//! does not count either; another moment is drawn for it.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use argus_dump::journal::{ArgumentRecord, Entry, Journal, Tail, marks};
use assert_cmd::cargo::cargo_bin;
use xxhash_rust::xxh3::xxh3_128;

const ROUNDS: usize = 3;

/// Task, stage and argument of a record.
type Key = (u64, u8, u16);

fn start(run: &Path, scene: &str, platform: &str) -> Child {
    Command::new(cargo_bin!("argus"))
        .args(["run", scene, "--case", "large", "--skip-golden", "-p", platform])
        .args(["--rounds", &ROUNDS.to_string(), "--dump-tensor", "-o"])
        .arg(run)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn dump(run: &Path, round: usize) -> PathBuf {
    run.join(format!("round_{round:04}")).join("tensor_dump")
}

fn journal(run: &Path, round: usize) -> PathBuf {
    dump(run, round).join("tensor_dump.journal")
}

/// Waits until the first journal is there.
fn wait_for_journal(run: &Path, child: &mut Child) {
    let since = Instant::now();
    while !journal(run, 1).exists() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended without a journal");
        assert!(since.elapsed() < Duration::from_secs(60), "no journal after a minute");
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Every record that the journal of a round tells of, with the checksum of its payload. Each payload is in the
/// payload file and is what its checksum says.
fn believed(run: &Path, round: usize) -> (BTreeMap<Key, u128>, Tail) {
    let journal = match Journal::open(&journal(run, round)) {
        Ok(journal) => journal,
        Err(error) => panic!("round {round}: {error}"),
    };
    let payloads = fs::read(dump(run, round).join("tensor_dump.bin")).unwrap();
    let stored = |record: &ArgumentRecord| {
        let (at, len) = (record.head.bin_offset as usize, record.head.bin_size as usize);
        payloads.get(at..).and_then(|rest| rest.get(..len)).unwrap_or_else(|| {
            panic!("round {round}: {len} bytes at {at} are believed, the file has {}", payloads.len())
        })
    };
    let mut records = BTreeMap::new();
    let mut tasks = BTreeSet::new();
    for entry in journal.entries() {
        match entry {
            // Before its first argument: a task that was running carries the names of its kernels.
            Entry::Task(record) => drop(tasks.insert(record.task.task_id)),
            Entry::Argument(record) => assert!(tasks.contains(&record.head.task_id), "no kernel: {record:?}"),
            _ => {}
        }
    }
    for record in journal.arguments() {
        let checksum = u128::from_be_bytes(record.head.checksum);
        if record.head.kind == argus_abi::Kind::Tensor as u8 {
            assert!(record.head.has(marks::CHECKSUM), "a payload without a checksum: {record:?}");
            assert_eq!(xxh3_128(stored(&record)), checksum, "round {round}: {record:?}");
        }
        let key = (record.head.task_id, record.head.stage, record.head.arg_index);
        assert_eq!(records.insert(key, checksum), None, "round {round}: recorded twice: {record:?}");
    }
    (records, journal.tail())
}

/// Evenly distributed numbers, the same each time.
struct Random(u64);

impl Random {
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ word >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// What is left of a run that was killed at some fraction of `duration`; `None` if it was over by then.
fn kill_at(duration: Duration, fraction: f64, platform: &str) -> Option<tempfile::TempDir> {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    let mut child = start(&run, "paged_attention", platform);
    wait_for_journal(&run, &mut child);
    std::thread::sleep(duration.mul_f64(fraction));
    if child.try_wait().unwrap().is_some() {
        return None;
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    // Between the look and the kill it may have ended by itself.
    status.code().is_none().then_some(home)
}

#[test]
fn a_killed_run_leaves_records_that_can_be_believed() {
    let long = std::env::var_os("ARGUS_LONG").is_some_and(|value| value == "1");
    let kills = if long { 500 } else { 20 };
    for platform in ["a2a3sim", "a5sim"] {
        let kills = kills / 2;
        let home = tempfile::tempdir().unwrap();
        let run = home.path().join("run");
        let mut child = start(&run, "paged_attention", platform);
        wait_for_journal(&run, &mut child);
        let since = Instant::now();
        assert!(child.wait().unwrap().success());
        let duration = since.elapsed();
        let (whole, tail) = believed(&run, 1);
        assert_eq!((whole.len(), tail), (98_304, Tail::Ended), "{platform}");

        let mut random = Random(0xa7905 + kills);
        let (mut done, mut with_records, mut drawn) = (0, 0, 0);
        while done < kills {
            drawn += 1;
            assert!(drawn < 4 * kills, "{platform}: runs end long before {duration:?}");
            let Some(home) = kill_at(duration, random.fraction(), platform) else { continue };
            done += 1;
            let run = home.path().join("run");
            with_records += u64::from(leaves_records(&run, &whole));
        }
        eprintln!("{platform}: {with_records} of {kills} kills left records; a whole run takes {duration:?}");
        assert!(with_records * 10 >= kills * 9, "{platform}: {with_records} of {kills} kills left records");
    }
}

/// Whether a run that was killed left records. Each is one of a whole run.
fn leaves_records(run: &Path, whole: &BTreeMap<Key, u128>) -> bool {
    let mut any = false;
    for round in (1..=ROUNDS).filter(|&round| journal(run, round).exists()) {
        // A journal that was just created may not even have its header.
        if fs::metadata(journal(run, round)).unwrap().len() == 0 {
            assert!(!journal(run, round + 1).exists(), "round {round} was left without a word");
            continue;
        }
        let (records, tail) = believed(run, round);
        assert!(!matches!(tail, Tail::Damaged { .. }), "round {round}: {tail:?}");
        // Of a task that was running, the outputs are as it left them.
        let partial = partial_outputs(run, round);
        let same = |(key, checksum): (&Key, &u128)| whole.get(key) == Some(checksum) || partial.contains(key);
        assert!(records.iter().all(same), "round {round}: not what a whole run records");
        any |= !records.is_empty();
        if tail != Tail::Ended {
            claims_nothing(&dump(run, round));
        }
    }
    any
}

/// No command takes a dump whose journal has no end for a whole one, or its end for right. A run that was killed behind its
/// manifest has every record: it is not sound, but its tasks can be judged.
fn claims_nothing(dump: &Path) {
    let listed = dump.join("tensor_dump.json").exists();
    let judged: &[(&str, i32)] = if listed { &[] } else { &[("find", 2)] };
    for (command, code) in [("verify", 1)].iter().chain(judged) {
        let ended = Command::new(cargo_bin!("argus")).arg(command).arg(dump).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stdout);
        let why = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(*code), "{command}: {told}{why}");
        assert!(!told.contains("SOUND") && !told.contains("AGREE"), "{command}: {told}");
        assert!(!told.contains("the end result agrees"), "{command}: {told}");
    }
}

fn partial_outputs(run: &Path, round: usize) -> BTreeSet<Key> {
    let journal = Journal::open(&journal(run, round)).unwrap();
    let partial =
        journal.arguments().filter(|record| record.head.has(argus_abi::capture::argument_flags::PARTIAL));
    partial.map(|record| (record.head.task_id, record.head.stage, record.head.arg_index)).collect()
}

/// The process that a run's kernels are in.
fn process_of_kernels(child: &Child) -> Option<u32> {
    let pid = child.id();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_run_in_two_processes_may_lose_either() {
    let long = std::env::var_os("ARGUS_LONG").is_some_and(|value| value == "1");
    let kills = if long { 500 } else { 8 };
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    let mut child = start(&run, "paged_attention_cpp", "a2a3sim");
    wait_for_journal(&run, &mut child);
    let since = Instant::now();
    assert!(child.wait().unwrap().success());
    let duration = since.elapsed();
    let (whole, tail) = believed(&run, 1);
    assert_eq!((whole.len(), tail), (98_304, Tail::Ended));

    let mut random = Random(0x150);
    let (mut with_records, mut drawn, mut killed) = (0, 0, [0; 2]);
    while killed.iter().sum::<u64>() < kills {
        drawn += 1;
        assert!(drawn < 6 * kills, "runs end long before {duration:?}");
        let home = tempfile::tempdir().unwrap();
        let run = home.path().join("run");
        let mut child = start(&run, "paged_attention_cpp", "a2a3sim");
        wait_for_journal(&run, &mut child);
        std::thread::sleep(duration.mul_f64(random.fraction()));
        let kernels = killed[0] > killed[1];
        if kernels {
            let Some(pid) = process_of_kernels(&child) else { continue };
            let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
            if rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_err() {
                continue;
            }
            let ended = child.wait_with_output().unwrap();
            let told = String::from_utf8_lossy(&ended.stderr);
            if ended.status.success() {
                // Its last answer was on the way.
                continue;
            }
            assert_eq!(ended.status.code(), Some(1), "{told}");
            assert!(told.contains("the process of the run was killed (SIGKILL)"), "{told}");
        } else {
            if child.try_wait().unwrap().is_some() {
                continue;
            }
            let kernels = process_of_kernels(&child);
            child.kill().unwrap();
            if child.wait().unwrap().code().is_some() {
                continue;
            }
            // It goes with the tool, whatever it was doing.
            let since = Instant::now();
            while let Some(pid) = kernels
                && fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
            {
                assert!(since.elapsed() < Duration::from_secs(10), "process {pid} outlives the tool");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        killed[usize::from(kernels)] += 1;
        with_records += u64::from(leaves_records(&run, &whole));
    }
    eprintln!("{with_records} of {kills} kills left records, {} of them of the kernels' process", killed[1]);
    assert!(with_records * 10 >= kills * 8, "{with_records} of {kills} kills left records");
}
