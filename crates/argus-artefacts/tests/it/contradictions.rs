//! Files of another run, and ids that are wrong: said, put aside, and all others still used.

use std::fs;

use argus_abi::DType;
use argus_artefacts::Artefacts;
use argus_artefacts::directory::{DumpArgument, DumpFacts, Kind};

use crate::made;

/// Reads the made capture after a change to one of its files.
fn changed(name: &str, from: &str, to: &str) -> Artefacts {
    let home = tempfile::tempdir().unwrap();
    made::write(home.path());
    let text = fs::read_to_string(home.path().join(name)).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    fs::write(home.path().join(name), text.replacen(from, to, 1)).unwrap();
    Artefacts::read(home.path())
}

fn told(artefacts: &Artefacts) -> Vec<(Kind, &str)> {
    artefacts.contradictions.iter().map(|one| (one.kind, one.how.as_str())).collect()
}

#[test]
fn a_graph_that_cannot_be_of_a_run_is_put_aside() {
    let twice = changed("deps.json", "\"task_id\":\"8589934593\"", "\"task_id\":\"8589934592\"");
    assert_eq!(told(&twice), [(Kind::Graph, "it has task 0x0000000200000000 twice")]);
    assert!(twice.deps.is_none() && twice.times.is_some() && twice.counters.is_some());
    let address = changed("deps.json", "\"buffer_addr\":\"139637976731648\"", "\"buffer_addr\":\"16\"");
    assert!(told(&address)[0].1.contains("is said to be at 0x10, where tensor"), "{:?}", told(&address));
    let backwards = changed("deps.json", "\"pred\":\"8589934592\"", "\"pred\":\"8589934595\"");
    let how =
        "edge 0 leads from task 0x0000000200000003 to 0x0000000200000001, which was submitted before it";
    assert_eq!(told(&backwards), [(Kind::Graph, how)]);
    let nowhere = changed("deps.json", "\"succ\":\"8589934593\"", "\"succ\":\"5\"");
    assert_eq!(
        told(&nowhere),
        [(Kind::Graph, "edge 0 leads to task 0x0000000000000005, which it does not list")]
    );
}

#[test]
fn times_and_counters_of_another_run_are_put_aside() {
    let stranger = changed("chip_swimlane_records.json", "[0,8589934592,1", "[0,4294967296,1");
    let how = "it has task 0x0000000100000000, which the graph does not have";
    assert_eq!(told(&stranger), [(Kind::Times, how)]);
    assert!(stranger.times.is_none() && stranger.deps.is_some() && stranger.counters.is_some());
    let core = changed("chip_swimlane_records.json", "[0,8589934592,1", "[2,8589934592,1");
    let how = "it has task 0x0000000200000000 on core 2, for which the graph gives it no kernel";
    assert_eq!(told(&core), [(Kind::Times, how)]);
    let counter = changed("pmu.csv", "0x0000000200000001,9", "0x0000000200000001,7");
    let how = "it says that task 0x0000000200000001 ran kernel 7, and the graph does not";
    assert_eq!(told(&counter), [(Kind::Counters, how)]);
    assert!(counter.counters.is_none() && counter.times.is_some());
}

#[test]
fn two_names_of_a_kernel_are_none() {
    let home = tempfile::tempdir().unwrap();
    made::write(home.path());
    let other = made::names().text().replace("SF", "softmax");
    fs::write(home.path().join("name_map_other.json"), other).unwrap();
    let read = Artefacts::read(home.path());
    assert_eq!((read.names.kernel(7), read.names.kernel(9)), (Some("QK"), None));
    assert_eq!(
        told(&read),
        [(Kind::Names, "it calls kernel 9 'softmax', and another file calls it 'SF': it is shown by number")]
    );
}

#[test]
fn a_dump_that_is_of_another_run_costs_the_graph() {
    let home = tempfile::tempdir().unwrap();
    made::write(home.path());
    let facts = |task, func: i32, shape: &[u64]| DumpFacts {
        tasks: [(task, std::iter::once(func).collect())].into(),
        arguments: vec![DumpArgument { task, arg: 0, dtype: Some(DType::F32), shape: shape.to_vec() }],
        epoch: None,
    };
    let against = |dump: &DumpFacts| {
        let mut read = Artefacts::read(home.path());
        read.hold_against(dump);
        told(&read).iter().map(|(kind, how)| format!("{}: {how}", kind.name())).collect::<Vec<_>>()
    };
    assert!(against(&facts(made::id(1), 9, &[4, 4])).is_empty());
    let kernel = "graph: task 0x0000000200000001 runs kernel [8] in the dump and [9] in the graph";
    assert_eq!(against(&facts(made::id(1), 8, &[4, 4])), [kernel]);
    let shape = "graph: argument 0 of task 0x0000000200000001 is FLOAT32 [16] in the dump and FLOAT32 [4, 4] in the graph";
    assert_eq!(against(&facts(made::id(1), 9, &[16])), [shape]);
    let stranger = "graph: the dump has task 0x0000000200000009, which the graph does not have";
    let times = "times: none of its tasks is in the dump";
    let counters = "counters: none of its tasks is in the dump";
    assert_eq!(against(&facts(made::id(9), 9, &[4, 4])), [stranger, times, counters]);
}

#[test]
fn rows_of_another_run_of_the_same_process_are_left_out() {
    let home = tempfile::tempdir().unwrap();
    made::write(home.path());
    let mut times = made::times();
    times.form = argus_artefacts::times::TimesForm::Epochs;
    times.parts.iter_mut().for_each(|part| part.epoch = Some(7));
    times.parts[1].epoch = Some(6);
    times.streams[0].phases[0].epoch = Some(7);
    times.submits[0].epoch = Some(7);
    fs::write(home.path().join("chip_swimlane_records.json"), times.text()).unwrap();
    let against = |epoch| {
        let mut read = Artefacts::read(home.path());
        read.hold_against(&DumpFacts { epoch: Some(epoch), ..DumpFacts::default() });
        (
            read.times.as_ref().map(|times| times.parts.len()),
            told(&read).iter().map(|one| one.1.to_owned()).collect(),
        )
    };
    let one = vec!["1 of its rows are of other runs than run 7, that of the dump".to_owned()];
    assert_eq!(against(7), (Some(4), one));
    let all = vec!["7 of its rows are of other runs than run 9, that of the dump".to_owned()];
    assert_eq!(against(9), (None, all));
}
