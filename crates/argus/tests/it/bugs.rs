//! The scene of real bugs: what each command says of each of them.

use std::path::Path;

use crate::tool::{Ended, argus_in};

/// The line of a file of the scene that holds this text.
fn line(file: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/bugs/kernels").join(file);
    let source = std::fs::read_to_string(path).unwrap();
    let at = source.lines().position(|line| line.contains(text)).unwrap();
    format!("{file}:{}", at + 1)
}

/// Runs a case and keeps its dump.
fn run(home: &Path, case: &str, code: i32) -> Ended {
    let ended = argus_in(home, &format!("run bugs --case {case} --dump-tensor -o run"));
    assert_eq!(ended.code, code, "{case}: {}{}", ended.stdout, ended.stderr);
    ended
}

fn says(home: &Path, line: &str, code: i32, parts: &[&str]) {
    let ended = argus_in(home, line);
    let told = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, code, "argus {line}: {told}");
    for part in parts {
        assert!(told.contains(part), "argus {line} does not say {part:?}: {told}");
    }
}

#[test]
fn without_a_mistake_nothing_is_found() {
    let home = tempfile::tempdir().unwrap();
    run(home.path(), "good", 0);
    says(home.path(), "find run", 0, &["AGREE  judged 12 of 12 tasks"]);
    says(home.path(), "find --runs run run", 0, &["SAME"]);
    says(home.path(), "replay run --task SF:2", 0, &["bit-equal"]);
    for task in ["QK:0", "SF:2", "PV:1", "UP:1"] {
        let told = argus_in(home.path(), &format!("trace run --task {task} -o trace --force"));
        assert_eq!((told.code, told.stdout.contains("hazard")), (0, false), "{task}: {}", told.stdout);
    }
}

#[test]
fn a_wrong_stride_is_found_in_its_task_and_leads_to_the_load() {
    let home = tempfile::tempdir().unwrap();
    let ended = run(home.path(), "wrong-stride", 1);
    assert!(ended.stdout.contains("133 of the 256 elements of out differ"), "{}", ended.stdout);
    let introduced = "0x000000010000000a (SF) introduced the error";
    says(home.path(), "find run", 1, &[introduced, "1 introduced an error, 1 inherited one"]);
    says(home.path(), "replay run --task SF:2", 1, &["depend on bytes that were not captured"]);
    let load = format!("TLOAD (instruction 8, kernels/{})", line("aiv/softmax.cpp", "TLOAD(s, scores)"));
    says(home.path(), "replay run --task SF:2 --break-on nan", 1, &[&load, "it wrote a NaN to dst[0, 1]"]);
    let load = format!("kernels/{}", line("aiv/softmax.cpp", "TLOAD(s, scores)"));
    says(home.path(), "trace run --task SF:2 -o trace", 1, &[&load]);
}

#[test]
fn an_uninitialised_accumulator_is_found_at_the_product() {
    let home = tempfile::tempdir().unwrap();
    run(home.path(), "uninitialised", 1);
    says(
        home.path(),
        "find run",
        1,
        &["first wrong task 0x0000000100000001 (QK)", "looks like: never written"],
    );
    let product = format!("kernels/{}", line("aic/product.h", "TMATMUL_ACC("));
    let stopped = format!("TMATMUL_ACC (instruction 14, {product})");
    says(home.path(), "replay run --task QK:0 --break-on nan", 1, &[&stopped]);
    says(home.path(), "trace run --task QK:0 -o trace", 0, &[&product]);
}

#[test]
fn a_store_out_of_range_ends_the_run_at_its_line() {
    let home = tempfile::tempdir().unwrap();
    let store = line("aiv/update.cpp", "TSTORE(out, quotient)");
    let ended = run(home.path(), "out-of-range", 1);
    let words = ["kernel 'UP' of task 0x000000010000000c", &store, "leave the allowed range"];
    for part in words {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    says(home.path(), "verify run", 0, &["SOUND"]);
    says(home.path(), "find run", 1, &["FAILED", &store]);
    says(home.path(), "replay run --task UP:2", 1, &words);
}

#[test]
fn a_race_between_two_tasks_is_named_with_both() {
    let home = tempfile::tempdir().unwrap();
    // Which of the two is first is a matter of luck, and so are the values: only the race itself is sure.
    let ended = argus_in(home.path(), "run bugs --case race --dump-tensor -o run");
    assert!(matches!(ended.code, 0 | 1), "{}{}", ended.stdout, ended.stderr);
    for command in ["find run", "find --runs run run"] {
        let found = argus_in(home.path(), command);
        assert_eq!(found.code, 1, "{command}: {}{}", found.stdout, found.stderr);
        let races: Vec<&str> = found.stdout.lines().filter(|line| line.starts_with("race ")).collect();
        for (sf, pv) in [("2", "3"), ("6", "7"), ("a", "b")] {
            let [sf, pv] =
                [(sf, "SF"), (pv, "PV")].map(|(task, kernel)| format!("0x000000010000000{task} ({kernel})"));
            let named = |line: &&&str| line.contains(&sf) && line.contains(&pv);
            let race = races.iter().find(named).unwrap_or_else(|| panic!("{command}: {}", found.stdout));
            assert!(race.contains("512 bytes") && race.ends_with("nothing orders them"), "{race}");
        }
        assert_eq!(races.len(), 3, "{command}: {}", found.stdout);
    }
    // The line that reads too early.
    let load = format!("kernels/{}", line("aic/product.h", "TLOAD(a_l1, a)"));
    let traced = argus_in(home.path(), "trace run --task PV:0 -o trace");
    assert!(traced.stdout.contains(&load), "{}{}", traced.stdout, traced.stderr);
}

#[test]
fn a_missing_flag_is_a_hazard_with_both_lines() {
    let home = tempfile::tempdir().unwrap();
    // The simulated core runs one instruction after the other, so the values are right.
    run(home.path(), "missing-flag", 0);
    says(home.path(), "find run", 0, &["AGREE"]);
    let sum = format!("TROWSUM at kernels/{}", line("aiv/softmax.cpp", "TROWSUM("));
    let store = format!("TSTORE at kernels/{}", line("aiv/softmax.cpp", "TSTORE(sums, sum)"));
    says(home.path(), "trace run --task SF:0 -o trace", 1, &[&sum, &store, "no flag or barrier orders them"]);
}
