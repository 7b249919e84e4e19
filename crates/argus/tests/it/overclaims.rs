//! Dumps that invite a command to say more than it knows.

use std::fs;
use std::path::Path;

use crate::tool::{Ended, argus_in};

fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or("")
}

/// Runs of one scene, each with its own options; whether they pass is of no interest.
fn runs(home: &Path, runs: &[(&str, &str)]) {
    for (name, options) in runs {
        let ended = argus_in(home, &format!("run vector_example --dump-tensor -o {name} {options}"));
        assert_ne!(ended.code, 2, "{name}: {}", ended.stderr);
    }
}

/// What a command says, which must end with this code and this line.
fn says(home: &Path, line: &str, code: i32, last: &str) -> Ended {
    let ended = argus_in(home, line);
    assert_eq!(ended.code, code, "argus {line}: {}{}", ended.stdout, ended.stderr);
    assert_eq!(last_line(&ended.stdout), last, "argus {line}: {}", ended.stdout);
    ended
}

#[test]
fn runs_are_the_same_only_if_both_captured_the_same() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    runs(home, &[("full", ""), ("after", "--dump-select stage=after")]);
    let open = "NOT JUDGED  nothing is known to differ, and not everything was compared";
    for line in ["find --runs full after", "find --runs after full"] {
        let ended = says(home, line, 2, open);
        assert!(ended.stdout.contains("5 unknown"), "{}", ended.stdout);
    }
    let same = "SAME  no difference between the runs, and no race in the graph of the first";
    says(home, "find --runs full full", 0, same);
    let outputs = format!("{same}; of 5 tasks not all inputs were compared");
    says(home, "find --runs after after", 0, &outputs);
}

#[test]
fn runs_that_were_cut_short_are_not_the_same() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    runs(home, &[("cut", "")]);
    // As a kill after the last task leaves it: every task has ended, the run has not.
    for name in ["tensor_dump.json", "graph.json", "run.json", "timeline.json"] {
        fs::remove_file(home.join("cut/tensor_dump").join(name)).unwrap();
    }
    let path = home.join("cut/tensor_dump/tensor_dump.journal");
    let journal = fs::read(&path).unwrap();
    fs::write(&path, &journal[..journal.len() - argus_dump::journal::ENTRY_BYTES]).unwrap();
    let open = "NOT JUDGED  nothing is known to differ, and not everything was compared";
    let ended = says(home, "find --runs cut cut", 2, open);
    assert!(ended.stdout.contains("cut/tensor_dump is not a whole run: "), "{}", ended.stdout);
}

#[test]
fn where_runs_diverge_is_left_open_upstream_of_what_was_captured() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let select = "--dump-select kernel=add,stage=after";
    runs(home, &[("good", select), ("bad", &format!("{select} --inject mul:scale"))]);
    let task = "0x0000000100000003 (add)";
    let last =
        format!("DIFFER  the runs diverge at {task} or upstream of it: not all of its inputs were compared");
    says(home, "find --runs good bad", 1, &last);
}

#[test]
fn scalars_that_a_format_rounds_or_retypes_are_no_difference() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    runs(home, &[("full", "")]);
    for version in ["june", "august"] {
        assert_eq!(argus_in(home, &format!("convert full --to {version} -o {version}")).code, 0);
        let agree = "AGREE  judged 5 of 5 tasks; the end result agrees";
        let ended = says(home, &format!("diff full {version} --all"), 0, agree);
        assert!(!ended.stdout.contains("not compared"), "{}", ended.stdout);
        let ended = argus_in(home, &format!("find --runs full {version}"));
        assert_eq!(ended.code, 0, "{}", ended.stdout);
        assert!(last_line(&ended.stdout).starts_with("SAME"), "{}", ended.stdout);
    }
    // A copy of June's in our layout has the type that June gave them: nothing says that it is not theirs.
    assert_eq!(argus_in(home, "convert june --to argus -o again").code, 0);
    let ended = argus_in(home, "diff full again");
    let says = "note: 5 scalars were not compared: only one side has them, or with another type";
    assert!(ended.stdout.contains(says), "{}", ended.stdout);
}

#[test]
fn a_scalar_that_differs_is_not_agreement() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    runs(home, &[("full", "")]);
    for name in ["june", "other"] {
        assert_eq!(argus_in(home, &format!("convert full --to june -o {name}")).code, 0);
    }
    let path = home.join("other/tensor_dump/tensor_dump.json");
    let (one, two) = (1f32.to_bits(), 3f32.to_bits());
    let manifest = fs::read_to_string(&path).unwrap();
    assert!(manifest.contains(&format!("\"value\": {one},")), "{manifest}");
    let changed = manifest.replace(&format!("\"value\": {one},"), &format!("\"value\": {two},"));
    fs::write(&path, changed).unwrap();
    let last =
        "DIFFER  1 task was given another scalar, and no task is known to be wrong; the end result agrees";
    for line in ["diff june other", "find june --against other"] {
        says(home, line, 1, last);
    }
}

#[test]
fn expected_values_that_nothing_was_compared_with_are_not_agreement() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    runs(home, &[("full", ""), ("mul", "--dump-select kernel=mul")]);
    let export = "export full --format npy -o golden --stage after --kind tensor";
    assert_eq!(argus_in(home, export).code, 0);
    says(home, "find full --golden golden", 0, "AGREE  judged 5 of 5 tasks; the end result agrees");
    // Tasks that the dump knows and did not capture.
    let open =
        "NOT ALL JUDGED  judged 1 of 5 tasks; nothing is known to be wrong; the end result was not compared";
    let ended = says(home, "find mul --golden golden", 2, open);
    let says_so =
        "the folder expects argument 2 of task 0x0000000000000000 after it ran, which the dump does not have";
    assert!(ended.stdout.contains(says_so), "{}", ended.stdout);
    // A task and an argument that there are not.
    for stray in ["0x999_2.npy", "0x0_7.npy"] {
        let from = home.join("golden/task_0x0000000000000000_after_out2.npy");
        fs::copy(from, home.join("golden").join(stray)).unwrap();
        let open = "NOT ALL JUDGED  judged 5 of 5 tasks; nothing is known to be wrong; the end result agrees";
        says(home, "find full --golden golden", 2, open);
        fs::remove_file(home.join("golden").join(stray)).unwrap();
    }
}

#[test]
fn a_run_that_failed_is_listed_as_failed_until_something_is_found() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    runs(home, &[("outputs/blind", "--inject mul:scale --dump-select kernel=add"), ("good", "")]);
    let listed = |verdict: &str| {
        let ended = argus_in(home, "dumps");
        assert!(ended.stdout.contains(verdict), "{verdict}: {}", ended.stdout);
    };
    listed("run: fail");
    assert_eq!(argus_in(home, "find outputs/blind").code, 0, "the two tasks that were captured do right");
    listed("run: fail");
    assert_eq!(argus_in(home, "find outputs/blind --against good").code, 1);
    listed("find: differ");
}

#[test]
fn a_dump_with_an_injected_fault_says_so_wherever_it_is_compared() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    runs(
        home,
        &[
            ("good", ""),
            ("bad", "--inject mul:scale"),
            ("blind", "--inject mul:scale --dump-select kernel=add"),
        ],
    );
    let fault = "a fault was injected into the run on purpose: scale in kernel mul, task 0x0000000100000002";
    for (line, note) in [
        ("find bad", format!("note: {fault}")),
        ("find blind", format!("note: {fault}")),
        ("diff bad bad", format!("note: the other dump: {fault}")),
        ("find good --against bad", format!("note: the other dump: {fault}")),
    ] {
        let ended = argus_in(home, line);
        assert!(ended.stdout.contains(&note), "argus {line}: {}", ended.stdout);
    }
}

#[test]
fn a_copy_of_a_foreign_dump_is_judged_like_the_dump() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    runs(home, &[("bad", "--inject mul:scale")]);
    for version in ["june", "august"] {
        assert_eq!(argus_in(home, &format!("convert bad --to {version} -o {version}")).code, 0);
        assert_eq!(argus_in(home, &format!("convert {version} --to argus -o from_{version}")).code, 0);
        let last =
            "DIFFER  0x0000000100000002 (mul) introduced the error; the end result follows from wrong values";
        for dump in [version.to_owned(), format!("from_{version}")] {
            says(home, &format!("find {dump} --scene vector_example"), 1, last);
        }
    }
}

/// The reference's layouts cannot say that a task was still running: what it had written must not pass for its result.
#[test]
fn what_a_running_task_had_written_is_not_copied_as_its_result() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let run = "run failures --case stuck_kernel --timeout 1 --dump-tensor -o stuck";
    assert_eq!(argus_in(home, run).code, 1);
    let listed = argus_in(home, "view stuck --stage after --json");
    assert!(listed.stdout.contains("\"partial\":true"), "{}", listed.stdout);
    for version in ["june", "august"] {
        let ended = argus_in(home, &format!("convert stuck --to {version} -o {version}"));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains("left out: its task had not completed"), "{said}");
        assert!(said.contains("the fact that the run did not come to its end"), "{said}");
        let copied = argus_in(home, &format!("view {version} --stage after"));
        assert_eq!(copied.code, 2, "nothing after completion is left: {}", copied.stdout);
        assert_eq!(argus_in(home, &format!("verify {version}")).stdout.matches("announces").count(), 0);
    }
}

#[test]
fn a_copy_without_payloads_is_not_sound() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    assert_eq!(argus_in(home, "run vector_example --dump-tensor=hybrid -o bare").code, 0);
    assert_eq!(argus_in(home, "convert bare --to june -o june").code, 0);
    let ended = argus_in(home, "verify june");
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(last_line(&ended.stdout).starts_with("INCOMPLETE  13 losses"), "{}", ended.stdout);
}

/// One huge number, such as those of a mask, allows no other element to be wrong.
#[test]
fn a_huge_number_does_not_hide_a_wrong_one() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    runs(home, &[("full", "")]);
    for (name, second) in [("right", 47f32), ("wrong", 0.0)] {
        assert_eq!(argus_in(home, &format!("convert full --to june -o {name}")).code, 0);
        let path = home.join(name).join("tensor_dump/tensor_dump.bin");
        let mut bytes = fs::read(&path).unwrap();
        let last = bytes.len() - 65536;
        assert_eq!(bytes[last..last + 4], 47f32.to_le_bytes(), "the output of the last task comes last");
        bytes[last..last + 4].copy_from_slice(&3e38f32.to_le_bytes());
        bytes[last + 4..last + 8].copy_from_slice(&second.to_le_bytes());
        fs::write(&path, bytes).unwrap();
    }
    let last = "DIFFER  0x0000000100000003 introduced the error; the end result differs";
    says(home, "diff wrong right", 1, last);
}
