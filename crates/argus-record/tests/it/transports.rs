//! The same program gives the same dump on every chip, with any number of control threads, by any transport.

use std::collections::{BTreeMap, BTreeSet};

use argus_abi::RuntimeKind;
use argus_record::RecordRequest;
use argus_runtime::{Collect, Device};
use serde_json::Value;

use crate::dump::{Dump, Record};
use crate::programs::Weave;
use crate::setup::{CHIPS, Subject, long};

/// A record without what may differ between runs: addresses, times, cores, places in the payload file.
fn lasting(record: &Record) -> Record {
    Record { json: Value::Null, ..record.clone() }
}

/// The graph without what may differ between runs.
fn graph(dump: &Dump) -> Vec<Value> {
    const LASTING: [&str; 8] =
        ["task_id", "func_id", "kernel", "blocks", "scope_depth", "tensors", "scalars", "state"];
    let tasks = dump.graph["tasks"].as_array().unwrap().iter();
    tasks.map(|task| LASTING.iter().map(|name| task[*name].clone()).collect()).collect()
}

/// Every combination of chip, control threads and transport, again and again with other host threads.
fn assert_equal_everywhere(subject: &Subject, rounds: usize) -> Dump {
    let collects = [Collect::default(), Collect::AfterSync { memory_per_ring: 16 << 20 }];
    let mut combinations = Vec::new();
    for platform in CHIPS {
        for threads in 1..=4 {
            combinations.extend(collects.map(|collect| (platform, threads, collect)));
        }
    }
    let mut first: Option<Dump> = None;
    for (round, (platform, threads, collect)) in combinations.iter().cycle().take(rounds).enumerate() {
        let mut subject = subject.clone();
        subject.config.control_threads = Some(*threads);
        subject.config.host_threads = Some(1 + round / 3 % 4);
        subject.config.block_dim = Some(1 + round as u32 % 7);
        let about = format!("round {round}: {} threads {threads} {collect:?}", platform.name);
        let request = RecordRequest { collect: *collect, ..RecordRequest::default() };
        let dump = subject.record_on(&mut Device::new(platform), &request).complete(&about);
        let Some(first) = &first else {
            first = Some(dump);
            continue;
        };
        assert_eq!(dump.records.len(), first.records.len(), "{about}");
        for (record, before) in dump.records.iter().zip(&first.records) {
            assert_eq!(lasting(record), lasting(before), "{about}");
        }
        assert_eq!(dump.edges(), first.edges(), "{about}: edges");
        assert_eq!(graph(&dump), graph(first), "{about}: tasks");
        assert_eq!(dump.manifest["stored_bytes"], first.manifest["stored_bytes"], "{about}");
    }
    first.unwrap()
}

fn rounds() -> usize {
    if long() { 100 } else { 16 }
}

#[test]
fn scenes_give_equal_dumps_and_graphs_everywhere() {
    for runtime in RuntimeKind::ALL {
        let (case, scene) = match runtime {
            RuntimeKind::Hbg => ("small2", "paged_attention"),
            RuntimeKind::Abg | RuntimeKind::Trb => ("CaseVarSeq2", "paged_attention"),
        };
        assert_equal_everywhere(&Subject::scene(scene, case, runtime), rounds());
    }
}

#[test]
fn graphs_full_of_overlaps_give_equal_and_true_dumps_everywhere() {
    for runtime in RuntimeKind::ALL {
        for seed in 0..if long() { 8 } else { 2 } {
            let weave = Weave::new(&format!("{runtime}/{seed}"), 40, runtime != RuntimeKind::Hbg);
            let (subject, model) = weave.subject(runtime);
            let dump = assert_equal_everywhere(&subject, rounds());
            model.assert_dump(&dump, &format!("{runtime}, seed {seed}"));
        }
    }
}

/// Every conflict is ordered by a path of recorded edges, and no edge joins tasks that do not meet.
#[test]
fn recorded_edges_are_what_overlapping_elements_demand() {
    for seed in 0..if long() { 40 } else { 6 } {
        let weave = Weave::new(&format!("edges/{seed}"), 40, true);
        let conflicts = weave.conflicts();
        let (subject, _) = weave.subject(RuntimeKind::Trb);
        let dump = subject.record(CHIPS[0], &RecordRequest::default()).complete("edges");
        let edges: BTreeSet<(u64, u64)> = dump.edges().into_iter().map(|(from, to, _)| (from, to)).collect();
        for edge in &edges {
            assert!(conflicts.contains(edge), "seed {seed}: {edge:x?} joins tasks that do not meet");
        }
        // Ids grow with the order of submission, so one pass over the sorted consumers is enough.
        let mut before: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for to in dump.states().into_keys() {
            let direct = edges.iter().filter(|edge| edge.1 == to).map(|edge| edge.0);
            let all = direct.flat_map(|from| before[&from].iter().copied().chain([from])).collect();
            before.insert(to, all);
        }
        for (earlier, later) in conflicts {
            assert!(
                before[&later].contains(&earlier),
                "seed {seed}: nothing orders {earlier:x} and {later:x}"
            );
        }
    }
}
