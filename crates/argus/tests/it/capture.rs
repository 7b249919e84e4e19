//! `argus run --dump-...` as a user types it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

use crate::tool::{argus, argus_in};

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("the file is there")).expect("JSON")
}

/// The payload of a record as f32.
fn floats(dump: &Path, record: &Value) -> Vec<f32> {
    let bytes = fs::read(dump.join("tensor_dump.bin")).expect("the payload file");
    let at = record["bin_offset"].as_u64().expect("a number") as usize;
    let len = record["bin_size"].as_u64().expect("a number") as usize;
    bytes[at..at + len]
        .chunks_exact(4)
        .map(|raw| f32::from_le_bytes(raw.try_into().expect("four bytes")))
        .collect()
}

#[test]
fn a_captured_run_tells_where_its_dump_is_and_the_dump_is_true() {
    let home = tempfile::tempdir().unwrap();
    let ended = argus_in(home.path(), "run dump_tensor_example --dump-tensor -o run");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("run/tensor_dump"), "{}", ended.stdout);
    assert!(ended.stdout.contains("6 (5 tensors, 1 scalars), none lost"), "{}", ended.stdout);
    let dump = home.path().join("run/tensor_dump");
    let manifest = json(&dump.join("tensor_dump.json"));
    let tensors = manifest["tensors"].as_array().unwrap();
    let value = |task: &str, stage: &str, arg: u64| {
        let record = tensors
            .iter()
            .find(|record| {
                record["task_id"] == task && record["stage"] == stage && record["arg_index"] == arg
            })
            .unwrap_or_else(|| panic!("no record of {task} {stage} {arg}"));
        let values = floats(&dump, record);
        assert_eq!(values.len(), 16384);
        assert!(values.iter().all(|&value| value == values[0]), "{task} {stage} {arg}");
        values[0]
    };
    let (first, second) = ("0x0000000000000000", "0x0000000000000001");
    assert_eq!(value(first, "before_dispatch", 0), 2.0);
    assert_eq!(value(first, "before_dispatch", 1), 3.0);
    assert_eq!(value(first, "after_completion", 2), 5.0);
    assert_eq!(value(second, "before_dispatch", 0), 5.0);
    assert_eq!(value(second, "after_completion", 0), 6.0);
}

#[test]
fn runs_of_one_second_and_rounds_get_directories_of_their_own() {
    let home = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        assert_eq!(argus_in(home.path(), "run dump_tensor_example --dump-tensor").code, 0);
    }
    let runs = fs::read_dir(home.path().join("outputs")).unwrap().count();
    assert_eq!(runs, 3);
    let ended = argus_in(home.path(), "run dump_tensor_example --dump-tensor --rounds 2 -o rounds --json");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    for (index, round) in ["round_0001", "round_0002"].into_iter().enumerate() {
        let dump = home.path().join("rounds").join(round).join("tensor_dump");
        assert_eq!(json(&dump.join("tensor_dump.json"))["total_tensors"], 6);
        assert_eq!(report["dumps"][index]["records"], 6);
    }
}

#[test]
fn an_occupied_directory_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(argus_in(home.path(), "run dump_tensor_example --dump-tensor -o run").code, 0);
    let before = fs::read(home.path().join("run/tensor_dump/tensor_dump.json")).unwrap();
    let again = argus_in(home.path(), "run dump_tensor_example --dump-tensor -o run");
    assert_eq!(again.code, 2);
    let says = "run/tensor_dump holds a dump\n\nhint: --force replaces it; -o names another directory";
    assert!(again.stderr.contains(says), "{}", again.stderr);
    assert_eq!(fs::read(home.path().join("run/tensor_dump/tensor_dump.json")).unwrap(), before);
    // A run is replaced on request, and only if nothing else is in its directory.
    let forced = "run dump_tensor_example --dump-tensor --rounds 2 -o run --force";
    fs::write(home.path().join("run/notes.txt"), "mine").unwrap();
    let refused = argus_in(home.path(), forced);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("run/notes.txt does not belong to a run"), "{}", refused.stderr);
    assert_eq!(fs::read(home.path().join("run/tensor_dump/tensor_dump.json")).unwrap(), before);
    fs::remove_file(home.path().join("run/notes.txt")).unwrap();
    assert_eq!(argus_in(home.path(), forced).code, 0);
    assert!(!home.path().join("run/tensor_dump").exists());
    assert!(home.path().join("run/round_0002/tensor_dump/tensor_dump.json").exists());
    assert_eq!(
        argus_in(home.path(), "run dump_tensor_example --force").code,
        2,
        "there is nothing to replace"
    );
}

#[test]
fn mistakes_are_said_in_one_clear_message() {
    for (line, code, says) in [
        ("run vector_example --dump-tensor=everything", 2, "there is no level 'everything'"),
        ("run vector_example --dump-args=2", 2, "--dump-tensor=LEVEL"),
        ("run vector_example --dump-args 2", 2, "--dump-tensor=LEVEL"),
        ("run --dump-args 2 vector_example", 2, "was given '2'"),
        ("run vector_example more", 2, "'more' is not expected"),
        ("run vector_example --dump-select kernel=add", 2, "nothing is to be captured"),
        ("run vector_example --dump-tensor --dump-select kernel=QK", 2, "it has add, add_scalar, mul"),
        ("run vector_example --dump-tensor --dump-select kernel=mull", 2, "did you mean 'mul'?"),
        ("run vector_example --dump-tensor --dump-select knd=tensor", 2, "did you mean 'kind'?"),
        ("run vector_example --dump-tensor --dump-select colour=red", 2, "unknown key 'colour'"),
        ("run vector_example --dump-tensor --dump-select arg=9", 1, "matched no argument"),
        ("run vector_example --dump-tensor=partial", 1, "it marks nothing"),
        ("run vector_example --dump-tensor --capture-memory 1MiB", 2, "--collect after-sync"),
        ("run vector_example --dump-tensor --collect after-sync --capture-memory 64KiB", 1, "were lost"),
        ("run vector_example --dump-tensor -o /dev/null/x", 2, "/dev/null is a device, not a directory"),
        ("run vector_example --ring-window 5", 2, "power of 2"),
        ("run paged_attention --case CaseSmall2 --ring-heap 1KiB", 1, "fatal 2"),
    ] {
        let ended = argus(line);
        assert_eq!(ended.code, code, "argus {line}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "argus {line}: {}", ended.stderr);
    }
}

#[test]
fn a_refused_selector_leaves_no_files() {
    let home = tempfile::tempdir().unwrap();
    argus_in(home.path(), "run vector_example --dump-tensor --dump-select kernel=QK");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn an_interrupted_run_keeps_what_it_captured() {
    let home = tempfile::tempdir().unwrap();
    let child = Command::new(cargo_bin!("argus"))
        .args(["run", "failures", "--case", "stuck_kernel", "--timeout", "60", "--dump-tensor", "-o", "run"])
        .current_dir(home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = home.path().join("run/tensor_dump/tensor_dump.journal");
    let started = Instant::now();
    while !journal.exists() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
    let dump = home.path().join("run/tensor_dump");
    let manifest = json(&dump.join("tensor_dump.json"));
    assert_eq!(manifest["status"], "failed");
    let records = manifest["tensors"].as_array().unwrap();
    let partial = records.iter().filter(|record| record["partial"] == true).count();
    assert_eq!((records.len(), partial), (2, 1), "the in/out tensor before, and as it was left");
}
