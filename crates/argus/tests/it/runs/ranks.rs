//! Trees of captures: tables, faults that are found, shards that are merged.

use std::fs;

use serde_json::Value;

use super::made::{Capture, name, tree};
use crate::tool::{Ended, argus_in};

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr))
}

#[test]
fn a_fault_in_one_rank_of_sixty_four_is_named_with_its_task() {
    let home = tempfile::tempdir().unwrap();
    tree(home.path(), 64, |rank, capture| capture.fault = (rank == 37).then_some(2));
    let ended = argus_in(home.path(), "find run --across --json");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let group = &json(&ended)["groups"][0];
    assert_eq!((&group["by_identity"], group["captures"].as_array().unwrap().len()), (&true.into(), 64));
    let departures = group["result"]["departures"].as_array().unwrap();
    assert_eq!(departures.len(), 1, "{departures:?}");
    let first = &departures[0];
    assert_eq!((&first["task_id"], &first["how"]), (&name(2).into(), &"introduced".into()));
    assert_eq!(
        (&first["member"], &first["kernel"], &first["arguments"]),
        (&37.into(), &"EVEN".into(), &vec![1].into())
    );
    // Tasks 3 and 4 read what task 2 left.
    let member = &group["result"]["members"][37];
    assert_eq!((&member["departures"], &member["inherited"]), (&1.into(), &2.into()));
    let told = argus_in(home.path(), "find run --across");
    let last = format!(
        "DIFFER  rank37/d0 leaves the pack first, at task {} (EVEN): it made other outputs of the same inputs",
        name(2)
    );
    assert_eq!(told.stdout.trim_end().lines().last(), Some(last.as_str()), "{}", told.stdout);
}

#[test]
fn ranks_that_agree_agree_and_ranks_with_other_data_are_not_judged() {
    let home = tempfile::tempdir().unwrap();
    tree(home.path(), 4, |_, _| {});
    assert_eq!(argus_in(home.path(), "find run --across").code, 0);
    let other = tempfile::tempdir().unwrap();
    tree(other.path(), 4, |rank, capture| capture.seed = rank as f32);
    let told = argus_in(other.path(), "find run --across");
    assert_eq!(told.code, 2);
    assert!(told.stdout.contains("in 5 of 5 tasks the ranks work on different data"), "{}", told.stdout);
    // One of many with other inputs from outside was given them.
    let given = tempfile::tempdir().unwrap();
    tree(given.path(), 5, |rank, capture| capture.seed = if rank == 3 { 9.0 } else { 1.0 });
    let ended = argus_in(given.path(), "find run --across --json");
    let departures = json(&ended)["groups"][0]["result"]["departures"].clone();
    assert_eq!(
        (&departures[0]["member"], &departures[0]["how"]),
        (&3.into(), &"given".into()),
        "{departures}"
    );
    assert_eq!(departures[0]["task_id"], name(0));
    assert_eq!(json(&ended)["groups"][0]["result"]["members"][3]["inherited"], 4);
}

#[test]
fn two_ranks_that_differ_are_not_told_apart() {
    let home = tempfile::tempdir().unwrap();
    tree(home.path(), 2, |rank, capture| capture.fault = (rank == 1).then_some(1));
    let ended = argus_in(home.path(), "find run --across --json");
    let departures = json(&ended)["groups"][0]["result"]["departures"].clone();
    let told: Vec<_> = departures
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["how"].clone(), one["task_id"].clone()))
        .collect();
    assert_eq!(told, [("undecided".into(), name(1).into()), ("undecided".into(), name(1).into())]);
}

#[test]
fn shards_merged_say_what_one_process_says() {
    let home = tempfile::tempdir().unwrap();
    tree(home.path(), 6, |rank, capture| {
        capture.fault = (rank == 4).then_some(3);
        capture.tasks = 9;
    });
    tree(&home.path().join("other"), 6, |_, capture| capture.tasks = 9);
    for (command, code) in [("find run --across", 1), ("verify run", 0), ("find run --against other/run", 1)]
    {
        let whole = argus_in(home.path(), &format!("{command} --json"));
        assert_eq!(whole.code, code, "{command}: {}{}", whole.stdout, whole.stderr);
        for parts in [2, 3] {
            let mut names = Vec::new();
            for part in 1..=parts {
                let ended = argus_in(home.path(), &format!("{command} --json --shard {part}/{parts}"));
                assert_ne!(json(&ended)["shard"], json(&whole)["shard"]);
                names.push(format!("{part}.json"));
                fs::write(home.path().join(&names[part - 1]), ended.stdout).unwrap();
            }
            names.reverse();
            let merged = argus_in(home.path(), &format!("merge {} --json", names.join(" ")));
            assert_eq!((merged.code, json(&merged)), (code, json(&whole)), "{command} in {parts} parts");
            let text = argus_in(home.path(), &format!("merge {}", names.join(" ")));
            assert_eq!(text.stdout, argus_in(home.path(), command).stdout);
            let missing = argus_in(home.path(), "merge 1.json");
            assert!(missing.code == 2 && missing.stderr.contains("is missing"), "{}", missing.stderr);
            let twice = argus_in(home.path(), "merge 1.json 1.json");
            assert!(twice.code == 2 && twice.stderr.contains("is there twice"), "{}", twice.stderr);
        }
    }
}

#[test]
fn ranks_are_compared_with_their_twins_of_another_run() {
    let home = tempfile::tempdir().unwrap();
    tree(home.path(), 5, |rank, capture| capture.fault = (rank == 2).then_some(0));
    tree(&home.path().join("good"), 4, |_, _| {});
    let ended = argus_in(home.path(), "find run --against good/run --json");
    assert_eq!(ended.code, 1);
    let report = json(&ended);
    let verdicts: Vec<_> = report["captures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["verdict"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(verdicts, ["agree", "agree", "differ", "agree"]);
    assert_eq!(report["captures"][2]["first_wrong"][0]["task_id"], name(0));
    assert_eq!(report["without_partner"], Value::from(vec!["rank4/d0"]));
    let some = argus_in(home.path(), "diff run good/run --rank 0..1 --json");
    assert_eq!((some.code, json(&some)["captures"].as_array().unwrap().len()), (0, 2));
    let one = argus_in(home.path(), "diff run good/run --rank 2 --json");
    assert_eq!((one.code, json(&one)["verdict"].clone()), (1, "differ".into()));
}

#[test]
fn the_table_says_what_is_missing_and_commands_take_some_ranks() {
    let home = tempfile::tempdir().unwrap();
    let run = tree(home.path(), 4, |_, _| {});
    fs::remove_dir_all(run.join("rank1")).unwrap();
    fs::remove_file(run.join("rank2/d0/deps.json")).unwrap();
    fs::remove_file(run.join("rank3/d0/args_dump/args_dump.json")).unwrap();
    let table = argus_in(home.path(), "view run --json");
    let report = json(&table);
    assert_eq!(report["missing_ranks"], Value::from(vec!["rank1"]));
    let missing: Vec<_> =
        report["captures"].as_array().unwrap().iter().map(|row| row["missing"].to_string()).collect();
    assert_eq!(missing, ["[]", "[\"graph\"]", "[\"dump\"]"]);
    assert!(argus_in(home.path(), "view run").stdout.contains("missing: rank1"));
    // What is there is checked, and what is not is said.
    let verified = argus_in(home.path(), "verify run --json");
    let verdicts: Vec<_> =
        json(&verified)["captures"].as_array().unwrap().iter().map(|one| one["verdict"].clone()).collect();
    assert_eq!((verified.code, verdicts), (1, vec!["sound".into(), "sound".into(), "unreadable".into()]));
    let one = argus_in(home.path(), "view run --rank 2 --json");
    assert_eq!(json(&one)["total"], 10);
    let wrong = argus_in(home.path(), "view run --rank 7");
    assert!(
        wrong.code == 2 && wrong.stderr.contains("there is no rank 7; there are 0, 2, 3"),
        "{}",
        wrong.stderr
    );
    let stats = argus_in(home.path(), "stats run --rank 0,2 --json");
    assert_eq!(json(&stats)["kernels"][0]["records"], 6, "{}", stats.stdout);
    let exported = argus_in(home.path(), "export run --rank 0,2 --format npy -o out");
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    assert!(home.path().join("out/rank2/d0").is_dir() && !home.path().join("out/rank3").exists());
    let replayed = argus_in(home.path(), "replay run --task 0");
    assert!(
        replayed.code == 2 && replayed.stderr.contains("captures of several ranks"),
        "{}",
        replayed.stderr
    );
}

#[test]
fn files_that_chips_wrote_over_each_other_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    Capture::default().write(&run);
    fs::write(
        run.join("name_map_made.json"),
        r#"{"level": 3, "orchestrator_name": "dag", "callable_id_to_name": {"0": "a"}}"#,
    )
    .unwrap();
    for command in ["view run", "verify run", "find run --against run", "stats run/args_dump"] {
        let ended = argus_in(home.path(), command);
        assert!(ended.code == 2 && ended.stderr.contains("the last one won"), "{command}: {}", ended.stderr);
    }
    let all_the_same = argus_in(home.path(), "view run/args_dump/args_dump.json");
    assert_eq!(all_the_same.code, 0);
    assert!(all_the_same.stderr.contains("the last one won"), "{}", all_the_same.stderr);
}
