//! Dumps of the reference, replayed with the kernels of this project. `ARGUS_SAMPLES` names the directory that
//! holds them; without it there is nothing to do.

use std::path::{Path, PathBuf};

use argus_abi::RuntimeKind;
use argus_chip::Chip;
use argus_dump::read::Dump;
use argus_replay::{CapturedTask, Code, Judgement, Listing, Options, Substitute, TaskChoice, replay};
use argus_scenes::{self};

/// A sample: its directory, the program that made it, and what it does not hold.
struct Sample {
    directory: &'static str,
    scene: &'static str,
    case: &'static str,
    runtime: RuntimeKind,
    platform: &'static str,
    /// Values of slots that the dump does not have, by kernel.
    set: &'static [(&'static str, &'static [&'static str])],
    /// Tasks that carry all they need.
    complete: usize,
}

const SAMPLES: &[Sample] = &[
    Sample {
        directory: "august-a2a3sim-trb-args_dump-level1",
        scene: "vector_example",
        case: "default",
        runtime: RuntimeKind::Trb,
        platform: "a2a3sim",
        set: &[],
        complete: 2,
    },
    Sample {
        directory: "august-a2a3sim-trb-args_dump-level3",
        scene: "vector_example",
        case: "default",
        runtime: RuntimeKind::Trb,
        platform: "a2a3sim",
        set: &[],
        complete: 2,
    },
    Sample {
        directory: "august-a2a3sim-trb-paged_attention-CaseSmall1",
        scene: "paged_attention",
        case: "CaseSmall1",
        runtime: RuntimeKind::Trb,
        platform: "a2a3sim",
        set: &[],
        complete: 12,
    },
    Sample {
        directory: "august-a5sim-trb-paged_attention-SmallCase1",
        scene: "paged_attention",
        case: "SmallCase1",
        runtime: RuntimeKind::Trb,
        platform: "a5sim",
        set: &[],
        complete: 12,
    },
    Sample {
        directory: "june-a2a3sim-hbg-dump_tensor",
        scene: "dump_tensor_example",
        case: "default",
        runtime: RuntimeKind::Hbg,
        platform: "a2a3sim",
        // Host-built graphs of that time did not capture scalars.
        set: &[("add_scalar_inplace", &["1=1.0", "2=16384"])],
        complete: 2,
    },
    Sample {
        directory: "june-a2a3sim-trb-paged_attention-CaseSmall1",
        scene: "paged_attention",
        case: "CaseSmall1",
        runtime: RuntimeKind::Trb,
        platform: "a2a3sim",
        set: &[],
        complete: 12,
    },
];

fn samples() -> Option<PathBuf> {
    std::env::var_os("ARGUS_SAMPLES").map(PathBuf::from)
}

#[test]
fn tasks_of_the_reference_give_its_bytes_with_the_kernels_of_this_project() {
    let Some(directory) = samples() else { return };
    let mut differ = Vec::new();
    for sample in SAMPLES {
        let complete = check(&directory, sample, &mut differ);
        assert_eq!(complete, sample.complete, "{}", sample.directory);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// Replays what can be replayed; the number of those tasks.
fn check(directory: &Path, sample: &Sample, differ: &mut Vec<String>) -> usize {
    let dump = Dump::open(&directory.join(sample.directory)).unwrap();
    let (case, runtime) =
        argus_scenes::scene(sample.scene).unwrap().case(Some(sample.case), Some(sample.runtime)).unwrap();
    let code = Code::from_program(&case.prepare(runtime, argus_chip::DEFAULT_CHIP).unwrap().program);
    let platform = Chip::by_name(sample.platform).unwrap();
    let mut listing = Listing::from_dump(&dump);
    listing.name(&code);
    let graph = argus_scene::graph::graph(&case, runtime).unwrap();
    listing.supply(&graph);
    let mut ids: Vec<_> = dump.records().map(|record| record.task_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut complete = 0;
    for id in ids {
        let listed = listing.select(&TaskChoice { task: Some(id.into()), ..TaskChoice::default() }).unwrap();
        let mut task = CapturedTask::from_dump(&dump, &listed, &code, None).unwrap();
        let kernel = task.identity.kernel_names();
        let about = format!("{} {id:#x} {kernel}", sample.directory);
        if let Some((_, set)) = sample.set.iter().find(|(name, _)| *name == kernel) {
            task.substitute(&Substitute::parse_all(set.iter().copied()).unwrap()).unwrap();
        }
        if let Err(error) = task.check_complete() {
            eprintln!("{about}: left out, {error}");
            continue;
        }
        complete += 1;
        let proof = replay(&task, &code.kernels, platform, &Options::default(), 1).unwrap();
        assert!(proof.outcome.result.is_ok(), "{about}: {:?}", proof.outcome.result);
        assert!(proof.compared(), "{about}");
        for verdict in &proof.verdicts {
            let slot = verdict.slot;
            match &verdict.judgement {
                Judgement::BitEqual => eprintln!("{about}, slot {slot}: bit-equal"),
                Judgement::Unchecked(why) => eprintln!("{about}, slot {slot}: unchecked, {why}"),
                Judgement::Differs(difference) => {
                    differ.push(format!("{about}, slot {slot}: {difference:?}"));
                }
            }
        }
    }
    complete
}
