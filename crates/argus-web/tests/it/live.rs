//! Runs that go on, that were killed, and that are damaged.

use std::fs::{self, File};
use std::io::Write;

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use crate::setup::{Run, Server};

const JOURNAL: &str = "tensor_dump.journal";
/// Bytes of a journal's header and of each entry.
const HEADER: usize = 256;
const ENTRY: usize = 192;

/// Takes away what is written at the end of a run, and the second half of its journal. What was taken away.
fn cut(run: &Run) -> Vec<(String, Vec<u8>)> {
    let mut taken = Vec::new();
    for name in ["tensor_dump.json", "graph.json", "timeline.json", "run.json"] {
        taken.push((name.to_owned(), fs::read(run.dump().join(name)).unwrap()));
        fs::remove_file(run.dump().join(name)).unwrap();
    }
    let journal = fs::read(run.dump().join(JOURNAL)).unwrap();
    let half = HEADER + (journal.len() - HEADER) / ENTRY / 2 * ENTRY;
    fs::write(run.dump().join(JOURNAL), &journal[..half]).unwrap();
    taken.push((JOURNAL.to_owned(), journal[half..].to_vec()));
    taken
}

#[test]
fn a_run_that_goes_on_fills_in_until_it_ends() {
    let run = Run::of("paged_attention", "CaseSmall1");
    let whole = run.manifest()["tensors"].as_array().unwrap().len();
    let taken = cut(&run);
    let writer = File::open(run.dump().join(JOURNAL)).unwrap();
    flock(&writer, FlockOperation::NonBlockingLockExclusive).unwrap();
    let server = Server::of(&[run.path()]);
    let before = server.get("api/0/live?from=0").json();
    assert_eq!((&before["live"], &before["ending"]), (&json!(true), &json!("unfinished")));
    assert!(before["records"].as_u64().unwrap() < whole as u64);
    assert_eq!(server.get("api/0/overview").json()["judging"], "pending", "a run that goes on is not judged");
    // As a writer does: the journal grows, then the rest appears.
    for (name, bytes) in taken.iter().rev() {
        let mut file = File::options().append(true).create(true).open(run.dump().join(name)).unwrap();
        file.write_all(bytes).unwrap();
    }
    drop(writer);
    let generation = &before["generation"];
    let after =
        server.wait_for(&format!("api/0/live?from={generation}"), |news| news["ending"] == "complete");
    assert_eq!((&after["live"], &after["records"]), (&json!(false), &json!(whole)));
    let overview = server.wait_for("api/0/overview", |object| object["judging"] == "done");
    assert_eq!(overview["verdict"]["verdict"], "agree");
}

#[test]
fn a_run_that_was_killed_shows_what_it_has_and_says_so() {
    let run = Run::of("paged_attention", "CaseSmall1");
    cut(&run);
    let server = Server::of(&[run.path()]);
    let session = server.get("api/session").json();
    let dump = &session["dumps"][0];
    assert_eq!(
        (&dump["live"], &dump["ending"], &dump["error"]),
        (&json!(false), &json!("unfinished"), &Value::Null)
    );
    assert!(dump["tasks"].as_u64().unwrap() > 0);
    let overview = server.get("api/0/overview").json();
    assert!(!overview["run"]["why"].is_null(), "{overview}");
    for rest in ["api/0/tasks", "api/0/graph", "api/0/timeline", "api/0/task/0", "api/0/record/0"] {
        assert_eq!(server.get(rest).status, 200, "{rest}");
    }
}

#[test]
fn a_dump_without_its_payloads_says_so_of_each_record() {
    let run = Run::of("vector_example", "default");
    fs::remove_file(run.dump().join("tensor_dump.bin")).unwrap();
    let server = Server::of(&[run.path()]);
    let record = server.get("api/0/record/0").json();
    assert!(record["values_missing"].as_str().is_some(), "{record}");
    assert_eq!(server.get("api/0/record/0/tile").status, 422);
    assert_eq!(server.get("api/0/graph").status, 200);
}

#[test]
fn the_layout_of_a_large_graph_is_kept_and_a_wrong_one_is_made_again() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    server.get("api/0/graph");
    assert!(!run.path().join("layout.bin").exists(), "a small graph is not worth a file");
}
