//! Every task of every shipped scene gives the same bytes alone as in its run.

use argus_abi::RuntimeKind;
use argus_chip::{A2A3SIM, A5SIM, Chip};
use argus_record::RecordRequest;
use argus_replay::{CapturedTask, Judgement, Listing, Options, TaskChoice, replay};
use argus_scene::{Case, Scene};
use argus_scenes::scenes::all;

use crate::setup::{Recorded, long};

/// Cases that take long and show nothing that a smaller one of their scene does not.
pub const LONG: &[(&str, &str)] =
    &[("paged_attention", "large"), ("paged_attention_manual_scope", "large"), ("benchmark_bgemm", "Case0")];

fn assert_every_task(scene: &Scene, case: &Case, runtime: RuntimeKind, platform: &'static Chip) {
    let recorded = Recorded::case(&scene.name, case, runtime, platform, &RecordRequest::default());
    let dump = recorded.dump();
    let graph = dump.graph().unwrap();
    let listing = Listing::from_dump(&dump);
    let mut compared = 0;
    for task in graph.tasks.iter().filter(|task| !task.func_ids.is_empty()) {
        let about = format!("{} {} {runtime} {}: {:#x}", scene.name, case.name, platform.name, task.id);
        let selection = TaskChoice { task: Some(task.id.into()), ..TaskChoice::default() };
        let listed = listing.select(&selection).unwrap();
        let captured = CapturedTask::from_dump(&dump, &listed, &recorded.code, None)
            .unwrap_or_else(|error| panic!("{about}: {error}"));
        let proof = replay(&captured, &recorded.code.kernels, platform, &Options::default(), 1)
            .unwrap_or_else(|error| panic!("{about}: {error}"));
        if let Err(error) = &proof.outcome.result {
            panic!("{about}: {error}");
        }
        assert!(proof.passed(), "{about}: {:#?}", proof.verdicts);
        assert_eq!(proof.fails_otherwise, None, "{about}");
        assert_eq!(proof.outcome.stray, None, "{about}");
        for verdict in &proof.verdicts {
            assert_eq!(verdict.judgement, Judgement::BitEqual, "{about}, slot {}", verdict.slot);
            assert_eq!(verdict.dependent, 0, "{about}, slot {}", verdict.slot);
            compared += 1;
        }
    }
    assert!(compared > 0, "{}: nothing was compared", scene.name);
}

fn every_scene_on(platform: &'static Chip) {
    for scene in all().iter().filter(|scene| scene.name != "failures") {
        for case in &scene.cases {
            if LONG.contains(&(&scene.name[..], &case.name[..])) && !long() {
                continue;
            }
            for &runtime in &case.runtimes {
                let start = std::time::Instant::now();
                assert_every_task(scene, case, runtime, platform);
                eprintln!("{} {} {runtime}: {:?}", scene.name, case.name, start.elapsed());
            }
        }
    }
}

#[test]
fn every_task_of_every_scene_replays_bit_equal_on_a2a3sim() {
    every_scene_on(&A2A3SIM);
}

#[test]
fn every_task_of_every_scene_replays_bit_equal_on_a5sim() {
    every_scene_on(&A5SIM);
}
