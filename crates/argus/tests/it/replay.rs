//! `argus replay` as a user types it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::tool::{Ended, argus, argus_in, argus_json};

fn object(home: &Path, line: &str) -> (i32, Value) {
    let ended = argus_in(home, &format!("{line} --json"));
    assert_eq!(ended.stderr, "", "argus {line}");
    (ended.code, serde_json::from_str(&ended.stdout).expect("one JSON object"))
}

fn recorded() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let ended = argus_in(home.path(), "run dump_tensor_example --dump-tensor -o run");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    home
}

#[test]
fn a_task_of_a_dump_is_replayed_and_the_report_says_what_was_compared() {
    let home = recorded();
    let ended = argus_in(home.path(), "replay run --task 0x1");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    for says in [
        "task      0x0000000000000001",
        "kernel    add_scalar_inplace (func_id 1, aiv0)",
        "program   dump_tensor_example, case default, tensormap_and_ringbuffer",
        "platform  a2a3sim",
        "0x3f800000 = 1.",
        "bit-equal",
        "REPRODUCED  ",
        "next: argus trace run/tensor_dump --task 0x0000000000000001",
    ] {
        assert!(ended.stdout.contains(says), "{says}\n{}", ended.stdout);
    }
}

#[test]
fn another_scalar_gives_another_result_and_exit_code_1() {
    let home = recorded();
    let (code, object) = object(home.path(), "replay run --kernel add_scalar_inplace --set-arg 1=3.0");
    assert_eq!(code, 1);
    assert_eq!(object["verdict"], "not_reproduced");
    let output = &object["outputs"][0];
    // 5 + 3 instead of 5 + 1, in all of the 16384 elements.
    assert_eq!(output["verdict"], "differs");
    assert_eq!(output["differing"], 16384);
    assert_eq!(output["first"]["got"], 8.0);
    assert_eq!(output["first"]["expected"], 6.0);
    assert_eq!(output["worst"]["error"], 2.0);
    assert_eq!(object["arguments"][1]["source"], "set to 3.0");
}

#[test]
fn a_scene_is_captured_and_one_of_its_tasks_replayed_without_a_dump() {
    let home = tempfile::tempdir().unwrap();
    for platform in ["a2a3sim", "a5sim"] {
        let line =
            format!("replay paged_attention --case CaseSmall1 --kernel SF --nth 1 --times 3 -p {platform}");
        let (code, object) = object(home.path(), &line);
        assert_eq!(code, 0, "{object:#}");
        assert_eq!(object["verdict"], "reproduced");
        assert_eq!(object["kernel"], "SF");
        assert_eq!(object["platform"], platform);
        assert_eq!(object["times"], 3);
        assert_eq!(object["outputs"].as_array().unwrap().len(), 3);
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_capsule_replays_in_another_directory_with_the_dump_deleted() {
    let home = recorded();
    let ended = argus_in(home.path(), "replay run --task 0 --capsule add.capsule");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("capsule: add.capsule"), "{}", ended.stdout);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::copy(home.path().join("add.capsule"), elsewhere.path().join("x")).unwrap();
    drop(home);
    let (code, object) = object(elsewhere.path(), "replay x");
    assert_eq!((code, &object["verdict"]), (0, &Value::from("reproduced")), "{object:#}");
    assert_eq!(object["from"]["kind"], "capsule");
    assert_eq!(object["kernel"], "add");
}

#[test]
fn watches_and_probes_are_shown() {
    let home = recorded();
    let ended = argus_in(home.path(), "replay run --task 0 --watch 2[7] --probe dst@TADD");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("TSTORE"), "{}", ended.stdout);
    assert!(ended.stdout.contains("slot 2[7] unwritten -> 5"), "{}", ended.stdout);
    assert!(ended.stdout.contains("TADD (crates/argus-scenes/src/kernels/vector.rs:"), "{}", ended.stdout);
    assert!(ended.stdout.contains(": dst, Vec tile at "), "{}", ended.stdout);
}

#[test]
fn a_fault_inside_the_kernel_is_exit_code_1_with_its_place() {
    let ended = argus("replay failures --case faulting_kernel --kernel faulting");
    assert_eq!(ended.code, 1, "{}{}", ended.stdout, ended.stderr);
    for says in ["FAIL  kernel 'faulting' of task 0x0000000000000000", "TLOAD (instruction 1", "failures.rs:"]
    {
        assert!(ended.stdout.contains(says), "{says}\n{}", ended.stdout);
    }
}

#[test]
fn a_spec_replaces_the_dump() {
    let home = tempfile::tempdir().unwrap();
    let spec = r#"[
        {"kind": "tensor", "index": 0, "name": "a", "dtype": "FLOAT32", "shape": [16384], "fill": 1.5},
        {"kind": "tensor", "index": 1, "name": "b", "dtype": "FLOAT32", "shape": [16384], "fill": 2},
        {"kind": "tensor", "index": 2, "name": "f", "dtype": "FLOAT32", "shape": [16384], "role": "output"}]"#;
    fs::write(home.path().join("args.json"), spec).unwrap();
    let line = "replay dump_tensor_example --kernel add --arg-spec args.json";
    let ended = argus_in(home.path(), &format!("{line} --watch 2[0]"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("slot 2[0] unwritten -> 3.5"), "{}", ended.stdout);
    assert!(ended.stdout.contains("there is nothing to compare its results with"), "{}", ended.stdout);
    fs::write(home.path().join("args.json"), spec.replace("\"index\": 2", "\"index\": 48")).unwrap();
    let ended = argus_in(home.path(), line);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("args.json: $[2].index: index 48 is reserved"), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_replayed_is_exit_code_2_and_says_why() {
    let home = recorded();
    let run = |line: &str| -> Ended { argus_in(home.path(), line) };
    for (line, says) in [
        ("replay nowhere --task 0", "'nowhere' is neither a dump, nor a capsule, nor a scene"),
        ("replay run", "name a task with --task ID, --kernel NAME or --func-id"),
        ("replay run --task 0x7", "there is no task 0x7; there are 0x0 (add), 0x1 (add_scalar_inplace)"),
        (
            "replay run --task 7",
            "there is no task 7: there are 2 tasks, counted from 0; an id begins with 0x",
        ),
        ("replay run --task x", "'x' does not name a task: a task is an id such as 0x200000001"),
        (
            "replay run --kernel mul",
            "no task runs a kernel 'mul'; the kernels of the dump are add, add_scalar",
        ),
        (
            "replay run --func-id 0,1",
            "no task runs exactly the kernels {0,1}; the sets in the dump are {0}, {1}",
        ),
        ("replay run --kernel add --nth 1", "there is no task number 1; tasks that fit: 1, counted from 0"),
        ("replay run --task 0 --set-arg 9=1", "slot 9 cannot be set: the task has only slots 0, 1, 2"),
        ("replay run --task 0 --set-arg 9", "'9' is not SLOT=VALUE"),
        ("replay run --task 0 --watch 2", "'2' is not an element to watch"),
        ("replay run --task 0 --watch 2[99999]", "the tensor has the shape [16384]"),
        ("replay run --task 0 --probe dst", "'dst' is not a probe"),
        ("replay run --task 0 --times 0", "--times is 0; at least 1 is needed"),
        ("replay run --task 0 -p a5", "platform 'a5' is real hardware"),
        ("replay run --task 0 --scene nothing", "there is no scene 'nothing'"),
        (
            "replay run --task 0 --scene matmul",
            "task 0x0000000000000000 does not fit scene matmul case default on hbg: slot 0 is input FLOAT32",
        ),
        ("replay run --task 0 --arg-spec none.json", "none.json: No such file"),
        ("replay dump_tensor_example", "name a task with --kernel NAME"),
        ("replay dump_tensor_example --kernel mul", "the program does not have; it has add"),
    ] {
        let ended = run(line);
        assert_eq!(ended.code, 2, "argus {line}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(says), "argus {line}: {}", ended.stderr);
    }
    let (code, object) = argus_json("replay nowhere --task 0 --json");
    assert_eq!((code, &object["verdict"]), (2, &Value::from("error")));
}
