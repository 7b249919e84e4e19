//! A dump whose journal has version 1, as the program of that time recorded it: `spmd_sync_start` with
//! statistics, on 72 cores. Its manifest and its graph, which did not change, say what must be read.

use std::path::{Path, PathBuf};

use argus_dump::Journal;
use argus_dump::journal::{Entry, Tail};
use argus_dump::read::{Dump, Record};
use argus_dump::verify::verify;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journal-1")
}

/// The same dump as its manifest and its graph tell it.
fn without_journal(directory: &Path) -> Dump {
    for name in ["graph.json", "run.json", "tensor_dump.bin", "tensor_dump.json"] {
        std::fs::copy(fixture().join(name), directory.join(name)).unwrap();
    }
    Dump::open(directory).unwrap()
}

#[test]
fn a_journal_of_version_1_says_what_its_manifest_and_graph_say() {
    let journal = Journal::open(&fixture().join("tensor_dump.journal")).unwrap();
    assert_eq!((journal.header().version, journal.tail()), (1, Tail::Ended));
    let tasks = journal.entries().filter(|entry| matches!(entry, Entry::Task(_))).count();
    assert_eq!((journal.len(), tasks, journal.arguments().count()), (26, 4, 11));

    let directory = tempfile::tempdir().unwrap();
    let (old, told) = (Dump::open(&fixture()).unwrap(), without_journal(directory.path()));
    assert_eq!(old.records().collect::<Vec<Record>>(), told.records().collect::<Vec<Record>>());
    for record in old.records().filter(Record::has_payload) {
        assert_eq!(old.payload(&record).unwrap(), told.payload(&record).unwrap());
    }
    let (old, told) = (old.graph().unwrap(), told.graph().unwrap());
    assert_eq!((&old.kernels, &old.tasks, &old.edges), (&told.kernels, &told.tasks, &told.edges));
    let highest = old.tasks.iter().filter_map(|task| task.cores.iter().last()).max();
    assert_eq!(highest, Some(71), "cores of the second word are among them");
}

#[test]
fn a_dump_of_version_1_is_sound() {
    let verdict = verify(&Dump::open(&fixture()).unwrap(), |_, _| {});
    assert!(verdict.is_sound(), "{:#?}", verdict.defects);
}
