//! Each file cut, emptied or renamed: one problem that names it, and all others still used.

use std::fs;

use argus_artefacts::Artefacts;
use argus_artefacts::deps::Deps;
use argus_artefacts::directory::Kind;
use argus_artefacts::scopes::{ScopeStats, Use};
use argus_artefacts::times::Times;
use argus_facts::with_causes;

use crate::made;

const FILES: [(&str, Kind); 5] = [
    ("deps.json", Kind::Graph),
    ("chip_swimlane_records.json", Kind::Times),
    ("name_map_made.json", Kind::Names),
    ("pmu.csv", Kind::Counters),
    ("scope_stats/scope_stats.jsonl", Kind::Scopes),
];

fn kinds(artefacts: &Artefacts) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = artefacts.found.iter().map(|found| found.kind).collect();
    kinds.sort();
    kinds
}

#[test]
fn a_whole_capture_is_read_as_it_was_written() {
    let home = tempfile::tempdir().unwrap();
    made::write(home.path());
    let artefacts = Artefacts::read(home.path());
    assert!(artefacts.problems.is_empty() && artefacts.contradictions.is_empty(), "{artefacts:?}");
    assert_eq!(artefacts.deps.as_ref(), Some(&made::deps()));
    assert_eq!(artefacts.times.as_ref(), Some(&made::times()));
    assert_eq!(artefacts.counters.as_ref(), Some(&made::counters()));
    assert_eq!(artefacts.names, made::names());
    assert_eq!(artefacts.scopes.as_ref().map(ScopeStats::text).as_deref(), Some(made::SCOPES));
    assert_eq!(artefacts.log.as_ref().map(|log| log.spans.len()), Some(1));
    let missing: Vec<Kind> = artefacts.missing().collect();
    assert_eq!(missing, [Kind::HostPhases, Kind::Identity, Kind::Program]);
}

#[test]
fn a_file_that_is_cut_anywhere_or_empty_costs_itself_only() {
    let home = tempfile::tempdir().unwrap();
    made::write(home.path());
    let whole = kinds(&Artefacts::read(home.path()));
    for (name, kind) in FILES {
        let path = home.path().join(name);
        let text = fs::read(&path).unwrap();
        for length in [0, 1, text.len() / 3, text.len() / 2, text.len() - 3] {
            fs::write(&path, &text[..length]).unwrap();
            let read = Artefacts::read(home.path());
            // A table may end at any line, and a cut inside a line shows.
            let clean = length > 0 && text[length - 1] == b'\n';
            let expected: Vec<Kind> = whole.iter().copied().filter(|k| *k != kind || clean).collect();
            assert_eq!(kinds(&read), expected, "{name} of {length} bytes");
            assert_eq!(
                read.problems.len(),
                usize::from(!clean),
                "{name} of {length} bytes: {:?}",
                read.problems
            );
            if let Some(problem) = read.problems.first() {
                assert_eq!((problem.kind, &problem.path), (kind, &path));
                let told = with_causes(&problem.error);
                assert!(length > 0 || told == "it is empty", "{told}");
            }
        }
        fs::write(&path, &text).unwrap();
    }
}

#[test]
fn content_counts_and_not_the_name() {
    let home = tempfile::tempdir().unwrap();
    made::write(home.path());
    let from = |name: &str| home.path().join(name);
    fs::rename(from("deps.json"), from("my_graph.json")).unwrap();
    fs::rename(from("chip_swimlane_records.json"), from("deps.json")).unwrap();
    fs::rename(from("pmu.csv"), from("counts.csv")).unwrap();
    let read = Artefacts::read(home.path());
    assert_eq!(read.source(Kind::Graph), Some(from("my_graph.json").as_path()));
    assert_eq!(read.source(Kind::Times), Some(from("deps.json").as_path()));
    assert_eq!(read.source(Kind::Counters), Some(from("counts.csv").as_path()));
    assert_eq!(read.deps, Some(made::deps()));
    // A second file of a kind is said and not used.
    fs::write(from("other.json"), made::deps().text()).unwrap();
    let read = Artefacts::read(home.path());
    let told: Vec<String> = read.problems.iter().map(|problem| with_causes(&problem.error)).collect();
    assert_eq!(told, ["another file of its kind lies beside it and is used"]);
}

fn refused_deps(from: &str, to: &str) -> String {
    let text = made::deps().text();
    assert!(text.contains(from), "{from}");
    with_causes(&Deps::parse(text.replacen(from, to, 1).as_bytes()).unwrap_err())
}

#[test]
fn what_is_wrong_with_a_graph_is_said_with_its_place() {
    let named = "task 0: scope is \"other\"; allowed is \"auto\" or \"manual\"";
    assert_eq!(refused_deps("\"auto\"", "\"other\""), named);
    assert_eq!(
        refused_deps("\"block_num\":1", "\"block_num\":0"),
        "task 0: block_num is 0; allowed is 1 or more"
    );
    let shape = refused_deps("\"shape\":[4,4]", "\"shape\":[1,1,1,1,1,1]");
    assert_eq!(shape, "task 1: shape is [1,1,1,1,1,1]; allowed is at most five dimensions");
    let source = refused_deps("\"creator\"", "\"maker\"");
    assert_eq!(source, "edge 0: source is \"maker\"; allowed is \"explicit\", \"creator\" or \"tensormap\"");
    assert!(refused_deps("\"task_id\":\"8589934592\"", "\"task_id\":\"x\"").contains("2^64-1"));
    let kind = with_causes(&Deps::parse(b"{\"tasks\":[]}").unwrap_err());
    assert_eq!(kind, "it is not a graph: it has no list of edges");
    assert!(Deps::parse(&vec![b'['; 1 << 20]).is_err(), "deep nesting is refused");
}

#[test]
fn every_age_of_a_graph_is_read() {
    let first = Deps::parse(br#"{"version":1,"edges":[[4294967296,9007199254740993]]}"#).unwrap();
    assert_eq!(first.edges[0].succ.raw(), 9_007_199_254_740_993);
    assert!(first.tasks.is_empty());
    let second = Deps::parse(
        br#"{"version":2,"tasks":[{"task_id":"1","scope":"auto","args":[{"idx":0,"type":"INPUT","tensor_id":"5",
            "dtype":"FLOAT32","shape":[2],"offset":[0]}]}],"tensors":[{"tensor_id":"5","buffer_addr":"16","version":0,
            "dtype":"FLOAT32","raw_shapes":[2]}],"edges":[{"pred":"0","succ":"1","arg":0,"source":"creator",
            "tensor_id":"5","consumer_shape":[2],"consumer_offset":[0]}]}"#,
    )
    .unwrap();
    assert_eq!(second.tasks[0].kernel_ids, None);
    assert_eq!(second.edges[0].consumer.as_ref().unwrap().start_offset, None);
}

fn refused_times(from: &str, to: &str) -> String {
    let text = made::times().text();
    assert!(text.contains(from), "{from} in {text}");
    with_causes(&Times::parse(text.replacen(from, to, 1).as_bytes()).unwrap_err())
}

#[test]
fn what_is_wrong_with_times_is_said_with_its_place() {
    let backwards = refused_times("100,300", "300,100");
    assert_eq!(
        backwards,
        "kernel call 0: end is 100, before its start at 300; allowed is its start or later"
    );
    assert_eq!(
        refused_times("[0,8589934592", "[9,8589934592"),
        "kernel call 0: core_id is 9; allowed is the number of a core"
    );
    assert_eq!(
        refused_times("\"clock_freq_hz\": 50000000", "\"clock_freq_hz\": 0"),
        "metadata: clock_freq_hz is 0; allowed is from 1 to 10^12"
    );
    assert!(refused_times("[0,8589934592,1,100,300,4]", "[0,1]").contains("four to seven whole numbers"));
    assert!(
        refused_times("[0,8589934592,1,100,300,4]", "[0,1,2,3,4,5,6,7]")
            .contains("four to seven whole numbers")
    );
    assert!(refused_times("100,300,4", "100,300,101").contains("receive_to_start is 101"));
    let kind = with_causes(&Times::parse(b"{}").unwrap_err());
    assert_eq!(kind, "it is not a file of times: it has neither \"tasks\" nor \"aicore_tasks\"");
}

#[test]
fn rows_without_a_start_or_a_partner_are_counted() {
    let text = made::times().text();
    let text = text.replacen("[0,8589934592,1,100,300,4]", "[0,8589934592,1,0,0,0]", 1);
    let text = text.replacen("\"aicpu_tasks\": [", "\"aicpu_tasks\": [[2,99,1,2], ", 1);
    let times = Times::parse(text.as_bytes()).unwrap();
    assert_eq!((times.parts.len(), times.without_start, times.without_partner), (4, 1, 1));
}

#[test]
fn scopes_are_paired_by_nesting() {
    let scopes = ScopeStats::parse(made::SCOPES.as_bytes()).unwrap().scopes();
    assert_eq!(scopes.len(), 2);
    assert_eq!(scopes[0].taken, None, "the run ended inside it");
    let taken = scopes[1].taken.unwrap();
    assert_eq!(taken.tasks, Use { high_water: 7, alive_at_exit: 5, allocated: 6 });
    assert_eq!(taken.heap, Some(Use { high_water: 1200, alive_at_exit: 1100, allocated: 1000 }));
}
