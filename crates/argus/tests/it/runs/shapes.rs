//! Runs as other months and front ends lay them out, and what is not claimed of them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::made::{Capture, id, name, tree};
use crate::tool::{Ended, argus_in};

fn good(home: &Path, line: &str) -> Ended {
    let ended = argus_in(home, line);
    assert_eq!(ended.code, 0, "argus {line}: {}{}", ended.stdout, ended.stderr);
    ended
}

fn json(home: &Path, line: &str) -> Value {
    serde_json::from_str(&argus_in(home, &format!("{line} --json")).stdout).unwrap()
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{}: {from}", path.display());
    fs::write(path, text.replace(from, to)).unwrap();
}

fn verdicts(report: &Value) -> Vec<&str> {
    report["tasks"].as_array().unwrap().iter().map(|task| task["verdict"].as_str().unwrap()).collect()
}

#[test]
fn a_run_without_a_dump_shows_its_times_and_its_graph() {
    let home = tempfile::tempdir().unwrap();
    Capture::default().write(&home.path().join("run"));
    fs::remove_dir_all(home.path().join("run/args_dump")).unwrap();
    let rows: Vec<String> = (0..5)
        .map(|task| format!("[0,{},{task},{},{},0]", id(task), 10 * task + 10, 10 * task + 15))
        .collect();
    let times = format!(
        "{{\"chip_swimlane_level\": 1, \"metadata\": {{\"clock_freq_hz\": 1000, \"num_cores\": 1, \"core_types\": [\"aiv\"]}}, \
         \"aicore_tasks\": [{}], \"aicpu_tasks\": []}}",
        rows.join(",")
    );
    fs::write(home.path().join("run/chip_swimlane_records.json"), times).unwrap();
    let summed = good(home.path(), "stats run --times");
    assert!(summed.stdout.contains("ODD") && summed.stdout.contains("5 kernel calls"), "{}", summed.stdout);
    good(home.path(), "trace run -o run.pftrace");
    let graph = json(home.path(), "view run --graph");
    assert_eq!((graph["tasks"].as_array().unwrap().len(), graph["edges"].as_array().unwrap().len()), (5, 4));
    for command in ["verify run", "find run --against run"] {
        let refused = argus_in(home.path(), command);
        assert_eq!(refused.code, 2, "{command}: {}", refused.stdout);
        assert!(!refused.stderr.contains("did not finish"), "{command}: {}", refused.stderr);
    }
}

#[test]
fn ranks_are_found_wherever_front_ends_put_them() {
    let home = tempfile::tempdir().unwrap();
    let run = tree(home.path(), 2, |_, _| {});
    // One rank alone, from outside and from within.
    assert_eq!(json(home.path(), "view run/rank1")["total"], 10);
    assert_eq!(json(&run.join("rank1"), "view d0")["total"], 10);
    assert_eq!(json(&run.join("rank1/d0"), "view .")["total"], 10);
    // Ranks that ran once and have no directory for each dispatch.
    for rank in 0..2 {
        Capture::default().write(&home.path().join(format!("june/dfx_outputs/rank{rank}")));
    }
    assert_eq!(json(home.path(), "view june")["captures"].as_array().unwrap().len(), 2);
    // A single chip of the same front end.
    Capture::default().write(&home.path().join("single/dfx_outputs"));
    assert_eq!(json(home.path(), "view single")["total"], 10);
}

#[test]
fn an_argument_that_was_not_captured_accuses_no_task() {
    let home = tempfile::tempdir().unwrap();
    for (run, fault) in [("good", None), ("bad", Some(1))] {
        Capture { fault, ..Capture::default() }.write(&home.path().join(run));
    }
    let found = json(home.path(), "find bad --against good");
    assert_eq!(verdicts(&found)[..2], ["clean", "introduced"]);
    // Between the input and the output there was another argument, and nothing is known of it.
    for run in ["good", "bad"] {
        edit(&home.path().join(run).join("args_dump/args_dump.json"), "\"arg_index\": 1", "\"arg_index\": 2");
    }
    let found = json(home.path(), "find bad --against good");
    assert_eq!(found["first_wrong"][0]["task_id"], name(1));
    assert!(!verdicts(&found).contains(&"introduced"), "{:?}", verdicts(&found));
}

#[test]
fn without_edges_nothing_is_said_of_tasks_downstream() {
    let home = tempfile::tempdir().unwrap();
    for (run, fault) in [("good", None), ("bad", Some(1))] {
        Capture { fault, graph: false, ..Capture::default() }.write(&home.path().join(run));
    }
    let found = argus_in(home.path(), "find bad --against good");
    assert_eq!(found.code, 1);
    assert!(found.stdout.contains("first wrong task"), "{}", found.stdout);
    assert!(!found.stdout.contains("downstream"), "{}", found.stdout);
}

#[test]
fn ranks_without_payload_do_not_agree() {
    let home = tempfile::tempdir().unwrap();
    let run = tree(home.path(), 3, |_, _| {});
    for rank in 0..3 {
        let dump = run.join(format!("rank{rank}/d0/args_dump"));
        edit(&dump.join("args_dump.json"), "\"bin_file\": \"args.bin\"", "\"bin_file\": null");
        fs::remove_file(dump.join("args.bin")).unwrap();
    }
    let told = argus_in(home.path(), "find run --across");
    assert_eq!(told.code, 2, "{}", told.stdout);
    let last = told.stdout.lines().last().unwrap();
    assert!(last.starts_with("NOT JUDGED"), "{last}");
}

#[test]
fn what_only_keeps_memory_orders_no_tasks() {
    let home = tempfile::tempdir().unwrap();
    for (run, fault) in [("good", None), ("bad", Some(1))] {
        Capture { fault, ..Capture::default() }.write(&home.path().join(run));
    }
    let edges = || json(home.path(), "find bad --against good")["edges"].as_array().unwrap().len();
    assert_eq!(edges(), 4);
    edit(&home.path().join("bad/deps.json"), "[\"wait\",\"retain\"]", "[\"retain\"]");
    assert_eq!(edges(), 0);
}
