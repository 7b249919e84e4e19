//! Every ordering is needed: without it a model fails.
//!
//! Each row names one half of one ordering and a model that fails when that half is taken away. The test runs
//! that model again in a process of its own, weakened, and wants it to fail.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::order::WEAKEN;

const NEEDED: &[(&str, &str)] = &[
    ("mailbox.acknowledge/release", "mailbox::the_next_acknowledgement_publishes_the_task_before"),
    ("mailbox.finish/release", "mailbox::payload_and_results_are_published"),
    ("mailbox.condition/acquire", "mailbox::payload_and_results_are_published"),
    ("bits.mark/release", "mailbox::a_token_is_found_by_its_mark"),
    ("bits.clear/acquire", "mailbox::a_token_is_found_by_its_mark"),
    ("bits.take/acquire", "bits::taking_marks_sees_what_was_done_before_them"),
    ("bell.ticket/acquire", "bell::no_wake_up_is_lost"),
    ("bell.advance/release", "ready::a_push_and_its_bell_reach_a_sleeping_worker"),
    ("bell.advance/acquire", "bell::news_reach_the_one_who_waits_for_them"),
    ("bell.register/release", "bell::news_reach_the_one_who_waits_for_them"),
    ("countdown.finish_one/release", "counts::the_last_of_two_producers_releases_the_consumer"),
    ("countdown.finish_one/acquire", "counts::the_last_of_two_producers_releases_the_consumer"),
    ("completion.complete/release", "counts::a_seen_completion_shows_what_came_before"),
    ("completion.is_complete/acquire", "counts::a_seen_completion_shows_what_came_before"),
    ("holds.let_go/release", "counts::memory_found_free_may_be_reused"),
    ("holds.let_go/acquire", "counts::memory_is_given_up_exactly_once"),
    ("holds.is_free/acquire", "counts::memory_found_free_may_be_reused"),
    ("account.complete/release", "account::what_is_counted_is_visible"),
    ("account.complete/acquire", "account::a_run_ends_exactly_once"),
    ("account.leave_flight/release", "account::silence_shows_every_completion"),
    ("account.is_quiet/acquire", "account::silence_shows_every_completion"),
    ("account.completed/acquire", "account::what_is_counted_is_visible"),
    ("account.end_orchestration/release", "account::a_whole_graph_has_all_its_tasks"),
    ("account.end_orchestration/acquire", "account::a_run_ends_exactly_once"),
    ("account.is_whole/acquire", "account::a_whole_graph_has_all_its_tasks"),
    ("free_threads.enter_waiting/release", "free_threads::a_waiting_kernel_is_never_alone"),
    ("free_threads.stop_helping/acquire", "free_threads::a_waiting_kernel_is_never_alone"),
    ("ring.publish_entry/release", "ring::an_entry_comes_with_the_payload_published_before_it"),
    ("ring.entries_published/acquire", "ring::an_entry_comes_with_the_payload_published_before_it"),
    ("ring.publish_payload/release", "ring::a_payload_streams_through_a_smaller_ring"),
    ("ring.payload_published/acquire", "ring::a_payload_streams_through_a_smaller_ring"),
    ("ring.close/release", "ring::the_end_is_never_seen_before_what_precedes_it"),
    ("ring.closed/acquire", "ring::the_end_is_never_seen_before_what_precedes_it"),
    ("ring.acknowledge_entries/release", "ring::a_full_ring_waits_wraps_and_ends"),
    ("ring.entries_consumed/acquire", "ring::a_full_ring_waits_wraps_and_ends"),
    ("ring.acknowledge_payload/release", "ring::a_payload_streams_through_a_smaller_ring"),
    ("ring.payload_consumed/acquire", "ring::a_payload_streams_through_a_smaller_ring"),
    ("ring.after_copy/acquire", "ring::relaxed_copies_with_fences_keep_the_same_order"),
    ("ring.before_acknowledgement/release", "ring::relaxed_copies_with_fences_keep_the_same_order"),
];

#[test]
fn every_row_fails_its_model() {
    let program = std::env::current_exe().unwrap();
    let mut complaints = Vec::new();
    for (half, model) in NEEDED {
        let name = format!("models::{model}");
        let mut command = Command::new(&program);
        command.args(["--exact", &name]).env(WEAKEN, half);
        let answer = command.output().unwrap();
        let said = String::from_utf8_lossy(&answer.stdout);
        if answer.status.success() {
            complaints.push(format!("{model} passes without {half}"));
        } else if !said.contains(&format!("test {name} ... FAILED")) {
            complaints.push(format!("{model} without {half}: {said}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The table holds every half of every ordering in the sources, and nothing else.
#[test]
fn the_table_names_every_ordering() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for file in std::fs::read_dir(sources).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") || path.ends_with("order.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for unnamed in ["Ordering::Acq", "Ordering::Rel,", "Ordering::Release", "Ordering::SeqCst"] {
            assert!(!text.contains(unnamed), "{} has an ordering without a name", path.display());
        }
        for site in text.split("order!(\"").skip(1) {
            let (name, rest) = site.split_once("\", ").expect("a name and an ordering");
            let halves: &[&str] = match rest.split_once(')').expect("an end").0 {
                "Acquire" => &["acquire"],
                "Release" => &["release"],
                "AcqRel" => &["acquire", "release"],
                other => panic!("{name} is {other}"),
            };
            found.extend(halves.iter().map(|half| format!("{name}/{half}")));
        }
    }
    let table: BTreeSet<_> = NEEDED.iter().map(|(half, _)| (*half).to_owned()).collect();
    assert_eq!(found, table);
}
