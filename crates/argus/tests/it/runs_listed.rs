//! `argus dumps`, and which dump is the newest.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::tool::argus_in;

fn good(home: &Path, line: &str) -> String {
    let ended = argus_in(home, line);
    assert_eq!(ended.code, 0, "argus {line}: {}{}", ended.stdout, ended.stderr);
    ended.stdout
}

fn json(home: &Path, line: &str) -> Value {
    serde_json::from_str(&good(home, &format!("{line} --json"))).unwrap()
}

/// A directory with two runs: a good one, then one with a fault.
fn two_runs() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    good(home.path(), "run dump_tensor_example --dump-tensor -o outputs/first");
    let line = "run dump_tensor_example --dump-tensor --inject add:0:scale -o outputs/second";
    let failed = argus_in(home.path(), line);
    assert_eq!(failed.code, 1);
    assert!(failed.stdout.ends_with("next: argus find outputs/second/tensor_dump\n"), "{}", failed.stdout);
    home
}

#[test]
fn runs_are_listed_with_their_size_and_verdict() {
    let home = two_runs();
    let runs = json(home.path(), "dumps");
    let facts = |run: &Value| format!("{} {}", run["directory"], run["verdict"]);
    let facts: Vec<String> = runs["runs"].as_array().unwrap().iter().map(facts).collect();
    assert_eq!(facts, [r#""outputs/second" "fail""#, r#""outputs/first" "pass""#]);
    let bytes: u64 = fs::read_dir(home.path().join("outputs/first/tensor_dump"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .chain([fs::metadata(home.path().join("outputs/first/verdict.json")).unwrap().len()])
        .sum();
    assert_eq!(runs["runs"][1]["bytes"], bytes);

    // A search says more than the run did, and its verdict replaces the run's.
    assert_eq!(argus_in(home.path(), "find outputs/second").code, 1);
    let found = &json(home.path(), "dumps")["runs"][0];
    let said = ["command", "verdict", "kernel"].map(|key| found[key].as_str().unwrap().to_owned());
    assert_eq!(said, ["find", "differ", "add"]);
    let listed = good(home.path(), "dumps");
    assert!(listed.contains("find: differ, first at add 0x0000000000000000"), "{listed}");
}

#[test]
fn runs_are_removed_on_request_and_nothing_else_is() {
    let home = two_runs();
    let outputs = home.path().join("outputs");
    let asked = argus_in(home.path(), "dumps --remove --keep 1");
    assert_eq!(asked.code, 2, "no terminal, no answer");
    assert!(asked.stderr.contains("--yes removes them without asking"), "{}", asked.stderr);
    assert_eq!(argus_in(home.path(), "dumps --remove --yes").code, 2, "which ones is not said");
    assert_eq!(argus_in(home.path(), "dumps --yes").code, 2, "it removes only if told to");
    assert!(good(home.path(), "dumps --remove --older-than 1h --yes").contains("0 runs removed"));
    assert!(outputs.join("first/tensor_dump/tensor_dump.bin").exists());

    fs::write(outputs.join("first/notes.txt"), "mine").unwrap();
    let kept = argus_in(home.path(), "dumps --remove --keep 1 --yes");
    assert_eq!(kept.code, 0, "a note makes it the newest: {}", kept.stdout);
    assert!(!outputs.join("second").exists() && outputs.join("first/notes.txt").exists());
    let kept = argus_in(home.path(), "dumps --remove --keep 0 --yes");
    assert_eq!(kept.code, 1);
    assert!(kept.stdout.contains("outputs/first/notes.txt does not belong to a run"), "{}", kept.stdout);
    assert!(outputs.join("first/tensor_dump/tensor_dump.bin").exists());

    fs::remove_file(outputs.join("first/notes.txt")).unwrap();
    let removed = good(home.path(), "dumps --remove --keep 0 --yes");
    assert!(removed.contains("removed outputs/first\n1 run removed"), "{removed}");
    assert!(!outputs.join("first").exists());
}

#[test]
fn a_run_of_a_scene_in_files_is_removed_with_the_sources_it_carries_and_no_other_file() {
    let home = tempfile::tempdir().unwrap();
    good(home.path(), "new demo");
    good(home.path(), "run demo --case good --dump-tensor -o outputs/run");
    let run = home.path().join("outputs/run");
    let carried = run.join("tensor_dump/scene/kernels/aiv");
    fs::write(carried.join("notes.cpp"), "mine").unwrap();
    let kept = argus_in(home.path(), "dumps --remove --keep 0 --yes");
    assert_eq!(kept.code, 1);
    assert!(kept.stdout.contains("kernels/aiv/notes.cpp does not belong to a run"), "{}", kept.stdout);
    assert!(run.join("tensor_dump/tensor_dump.bin").exists() && carried.join("scale.cpp").exists());
    // A copy carries the sources too, and may replace another one under the same rule.
    let copied = good(home.path(), "convert outputs/run --to june -o june");
    assert!(copied.contains("no place for") && copied.contains("the sources of the scene"), "{copied}");
    fs::remove_file(carried.join("notes.cpp")).unwrap();
    good(home.path(), "convert outputs/run --to argus -o copy");
    good(home.path(), "convert outputs/run --to argus -o copy --force");
    fs::write(home.path().join("copy/tensor_dump/scene/kernels/notes.cpp"), "mine").unwrap();
    let refused = argus_in(home.path(), "convert outputs/run --to argus -o copy --force");
    assert_eq!(refused.code, 1);
    let says = "copy/tensor_dump holds scene/kernels/notes.cpp, which is not part of a dump";
    assert!(refused.stderr.contains(says), "{}", refused.stderr);
    good(home.path(), "dumps --remove --keep 0 --yes");
    assert!(!run.exists());
}

#[test]
fn a_directory_of_runs_that_is_not_there_is_named() {
    let home = tempfile::tempdir().unwrap();
    let ended = argus_in(home.path(), "dumps");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("there is no directory outputs\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("ARGUS_OUTPUTS"), "{}", ended.stderr);
}

#[test]
fn an_empty_dump_is_never_the_newest() {
    let home = two_runs();
    // A run that ended before its first task did: a journal that begins and holds no record.
    let empty = home.path().join("outputs/third/tensor_dump");
    fs::create_dir_all(&empty).unwrap();
    let journal = fs::read(home.path().join("outputs/first/tensor_dump/tensor_dump.journal")).unwrap();
    let is_empty = |bytes: &[u8]| {
        fs::write(empty.join("tensor_dump.journal"), bytes).unwrap();
        let seen = argus_in(home.path(), "view outputs/third --json");
        serde_json::from_str::<Value>(&seen.stdout).is_ok_and(|object| object["total"] == 0)
    };
    let cut = (64..journal.len()).step_by(64).find(|&cut| is_empty(&journal[..cut]));
    assert!(cut.is_some(), "no beginning of a journal is an empty dump");
    assert_eq!(argus_in(home.path(), "stats outputs/third").stdout, "the dump has no records\n");
    assert_eq!(json(home.path(), "view")["dump"], "outputs/second/tensor_dump");
}

#[test]
fn a_dump_of_arguments_alone_is_the_newest_for_those_who_ask_for_them() {
    let home = two_runs();
    good(home.path(), "run dump_tensor_example --dump-args -o outputs/third");
    assert_eq!(json(home.path(), "view")["dump"], "outputs/second/tensor_dump");
    assert_eq!(json(home.path(), "view --orchestration")["dump"], "outputs/third/tensor_dump");
}

#[test]
fn the_arguments_of_the_orchestration_are_shown() {
    let home = tempfile::tempdir().unwrap();
    good(home.path(), "run dump_tensor_example --dump-args -o outputs/run");
    let shown = good(home.path(), "view --orchestration");
    let expected = "ARG  NAME  KIND    DTYPE    SHAPE    VALUE OR ADDRESS\n0    a     tensor  FLOAT32";
    assert!(shown.starts_with(expected), "{shown}");
    let object = json(home.path(), "view --orchestration");
    let names: Vec<_> =
        object["arguments"].as_array().unwrap().iter().map(|argument| &argument["name"]).collect();
    assert_eq!(names, ["a", "b", "f"]);
    good(home.path(), "run dump_tensor_example --dump-tensor -o outputs/without");
    let said = argus_in(home.path(), "view outputs/without --orchestration");
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("--dump-args` captures them"), "{}", said.stderr);
}

#[test]
fn a_shipped_scene_marks_something_for_a_partial_capture() {
    let home = tempfile::tempdir().unwrap();
    for runtime in ["trb", "abg", "hbg"] {
        let line = format!("run dump_tensor_example --runtime {runtime} --dump-tensor=partial -o {runtime}");
        good(home.path(), &line);
        let object = json(home.path(), &format!("view {runtime}"));
        let facts =
            |record: &Value| format!("{} {} {}", record["kernel"], record["arg_index"], record["stage"]);
        let facts: Vec<String> = object["records"].as_array().unwrap().iter().map(facts).collect();
        let kernel = r#""add_scalar_inplace" 0"#;
        let expected = [format!(r#"{kernel} "before_dispatch""#), format!(r#"{kernel} "after_completion""#)];
        assert_eq!(facts, expected, "{runtime}");
    }
}
