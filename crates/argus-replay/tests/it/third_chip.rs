//! A third chip is one file: every scene runs on it, and its tasks are captured, replayed and traced.

mod widesim;

use argus_abi::{CoreSet, RuntimeKind};
use argus_chip::CHIPS;
use argus_dump::read::Dump;
use argus_record::{Names, RecordRequest, record};
use argus_replay::{Buffer, Options, replay};
use argus_scene::play::PlayError;
use argus_scene::play::{PlayOptions, Stage, play_with};
use argus_scene::{Case, Scene};
use argus_scenes::scenes::all;
use argus_trace::{GlobalBuffer, Params, Sources, Stamp, Summary, TaskLog, Timeline, check, write};

use crate::every_task::LONG;
use crate::setup::{Recorded, long};
use widesim::WIDESIM;

/// Runs a case on all clusters, judges its outputs and the dump of it, and tells on which cores it ran.
fn captured(scene: &Scene, case: &Case, runtime: RuntimeKind) -> CoreSet {
    let about = format!("{} {} {runtime}", scene.name, case.name);
    let names = Names {
        scene: scene.name.clone(),
        case: case.name.clone(),
        runtime: runtime.name().into(),
        ..Names::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let options = PlayOptions {
        block_dim: Some(WIDESIM.clusters),
        control_threads: Some(WIDESIM.control_threads),
        ..PlayOptions::default()
    };
    let played = play_with::<PlayError>(case, runtime, &WIDESIM, &options, |stage| {
        let Stage { device, program, args, config, .. } = stage;
        let request = RecordRequest::default();
        let run = record(device, program, args, config, &request, &names, directory.path());
        assert!(run.problems.is_empty(), "{about}");
        Ok(run.result.unwrap_or_else(|error| panic!("{about}: {error}")))
    })
    .unwrap();
    assert!(played.passed(), "{about}: {played:#?}");
    let dump = Dump::open(directory.path()).unwrap();
    let run = dump.run().unwrap();
    assert_eq!(
        (run.platform.as_str(), &run.configuration["clusters"]),
        (WIDESIM.name, &48.into()),
        "{about}"
    );
    dump.graph().unwrap().tasks.iter().flat_map(|task| task.cores.iter()).collect()
}

#[test]
fn every_scene_runs_on_a_chip_of_48_clusters_and_the_dump_knows_its_highest_cores() {
    assert!(CHIPS.iter().all(|chip| chip.name != WIDESIM.name && chip.cores() <= 128));
    let mut seen = CoreSet::EMPTY;
    for scene in all().iter().filter(|scene| scene.name != "failures") {
        for case in
            scene.cases.iter().filter(|case| !LONG.contains(&(&scene.name[..], &case.name[..])) || long())
        {
            for &runtime in &case.runtimes {
                seen = seen.iter().chain(captured(scene, case, runtime).iter()).collect();
            }
        }
    }
    let high: Vec<usize> = seen.iter().filter(|&core| core >= 128).collect();
    assert!(!high.is_empty(), "no core beyond 127 was used: {seen:?}");
    assert!(high.iter().all(|&core| core < WIDESIM.cores()), "{high:?}");
}

#[test]
fn a_task_of_a_third_chip_is_replayed_and_traced() {
    let recorded = Recorded::named("pipe_mix", "default", RuntimeKind::Trb, &WIDESIM);
    let task = recorded.task("matmul_push", 0);
    let options = Options { log_limit: Some(1_000_000), ..Options::default() };
    let proof = replay(&task, &recorded.code.kernels, &WIDESIM, &options, 1).unwrap();
    assert!(proof.passed() && proof.compared(), "{:#?}", proof.verdicts);

    let buffers = proof.outcome.buffers.iter();
    let log = TaskLog {
        name: task.identity.kernel_names(),
        chip: &WIDESIM,
        cores: proof.outcome.logs,
        buffers: buffers
            .map(|Buffer { addr, bytes, .. }| GlobalBuffer { name: "arg".into(), addr: *addr, bytes: *bytes })
            .collect(),
        cut: false,
    };
    let params = Params::for_chip(&WIDESIM).unwrap();
    assert_eq!((params.chip(), params.mhz()), ("wide", 2000.0));
    let timeline = Timeline::new(&log, &params).unwrap();
    assert_eq!(Summary::new(&timeline).chip, "wide");
    // Repeats of one shipped chip, moves and hand-over of the other.
    let names: Vec<&str> =
        timeline.cores.iter().flat_map(|core| &core.instrs).map(|instr| instr.mnemonic.name()).collect();
    for (name, there) in [("VADD", true), ("VF", false), ("LOAD_2Dv2", true), ("MOV_SRC_TO_DST_ALIGN", false)]
    {
        assert_eq!(names.contains(&name), there, "{name} in {names:?}");
    }
    let directory = tempfile::tempdir().unwrap();
    write(&timeline, directory.path(), &Sources::default(), &Stamp::now()).unwrap();
    let report = check(directory.path()).unwrap();
    assert_eq!(report.cores.len(), 3);
}
