//! `argus run --inject` as a user types it.

use std::fs;

use serde_json::{Value, json};

use crate::tool::{argus, argus_in, argus_json};

#[test]
fn a_fault_is_made_told_and_found_by_the_comparison() {
    let ended = argus("run vector_example --inject mul:scale");
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    let told = "injected  mul:0:scale in task 0x0000000100000002, argument 2: every element was doubled; \
                16384 of 16384 elements, largest change 4.20e1\n";
    assert!(ended.stdout.contains(told), "{}", ended.stdout);
    // (a + b + 1)(a + b + 2) is 42: doubled, and + (a + b), 89 instead of 47.
    assert!(ended.stdout.contains("first: f[0] is 89, expected 47"), "{}", ended.stdout);
}

#[test]
fn several_faults_are_in_the_report_and_in_the_dump() {
    let home = tempfile::tempdir().unwrap();
    let line = "run vector_example --inject add_scalar:0:bitflip --inject add_scalar:1:skip-write --dump-tensor -o run --json";
    let ended = argus_in(home.path(), line);
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let run = fs::read(home.path().join("run/tensor_dump/run.json")).unwrap();
    let run: Value = serde_json::from_slice(&run).unwrap();
    assert_eq!(report["injections"], run["injections"]);
    let facts = |index: usize| {
        let told = &run["injections"][index];
        ["kernel", "n", "kind", "task_id", "arg_index", "changed", "max_change"].map(|key| told[key].clone())
    };
    // 6 without its top exponent bit is next to nothing; the output of the other was fresh memory.
    let told = |told: Value| told.as_array().unwrap().clone();
    assert_eq!(facts(0)[..], told(json!(["add_scalar", 0, "bitflip", "0x0000000100000000", 1, 1, 6.0])));
    let skipped = json!(["add_scalar", 1, "skip-write", "0x0000000100000001", 1, 16384, "inf"]);
    assert_eq!(facts(1)[..], told(skipped));
}

#[test]
fn what_cannot_be_done_is_an_error_that_says_so() {
    for (line, code, says) in [
        ("run vector_example --inject QK:scale", 2, "it has add, add_scalar, mul"),
        ("run vector_example --inject QK:scale --dump-tensor", 2, "it has add, add_scalar, mul"),
        ("run vector_example --inject mul:1:scale", 1, "kernel 'mul' has 1 tasks, counted from 0"),
        ("run vector_example --inject mul:halve", 2, "there are scale, bitflip, nan, zero-row, shift-row"),
        ("run vector_example --inject mul", 2, "write TASK:KIND, with a task such as SF:1"),
        ("run vector_example --inject mull:scale", 2, "did you mean 'mul'?"),
        ("run vector_example --inject mul:scael", 2, "did you mean 'scale'?"),
        (
            "run vector_example --inject 0x1*:scale",
            2,
            "'0x1*:scale' names 4 tasks; a fault is injected into one",
        ),
        ("run vector_example --inject 9:scale", 2, "the run has no task 9; it has 5 tasks, counted from 0"),
        ("run vector_example --inject mul:shift-row", 1, "changed nothing by more than the tolerance"),
    ] {
        let ended = argus(line);
        assert_eq!(ended.code, code, "argus {line}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "argus {line}: {}", ended.stderr);
    }
    let home = tempfile::tempdir().unwrap();
    argus_in(home.path(), "run vector_example --inject QK:scale --dump-tensor");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "a run that did not begin leaves nothing");
}

#[test]
fn a_task_is_named_as_in_every_other_command() {
    let home = tempfile::tempdir().unwrap();
    let run = argus_in(home.path(), "run paged_attention --case CaseSmall2 --dump-tensor -o run");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let tasks = |selector: &str| {
        let seen = argus_in(home.path(), &format!("view run --task {selector} --json"));
        let seen: Value = serde_json::from_str(&seen.stdout).unwrap();
        seen["records"][0]["task_id"].as_str().unwrap().to_owned()
    };
    for selector in ["SF:3", "5", "PV:0", "7"] {
        let id = tasks(selector);
        for name in [selector, &id] {
            let line = format!("run paged_attention --case CaseSmall2 --inject {name}:scale --json");
            let (_, report) = argus_json(&line);
            assert_eq!(report["injections"][0]["task_id"], id, "{line}");
        }
    }
}

#[test]
fn without_faults_nothing_is_told_of_any() {
    let (_, object) = argus_json("run vector_example --json");
    assert_eq!(object["injections"], json!([]));
}
