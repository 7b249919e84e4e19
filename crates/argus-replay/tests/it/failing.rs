//! Tasks that fail: the replay fails in the same place and says so.

use std::time::Duration;

use argus_abi::{RuntimeKind, TaskId};
use argus_chip::{A2A3SIM, A5SIM};
use argus_facts::with_causes;
use argus_record::RecordRequest;
use argus_replay::{CapturedTask, Hint, Listing, Options, TaskChoice, replay};
use argus_runtime::RunError;
use argus_scenes::{self};

use crate::setup::Recorded;

fn failed(case: &str, runtime: RuntimeKind) -> (Recorded, CapturedTask) {
    let (case, runtime) = argus_scenes::scene("failures").unwrap().case(Some(case), Some(runtime)).unwrap();
    let recorded = Recorded::case("failures", &case, runtime, &A2A3SIM, &RecordRequest::default());
    let dump = recorded.dump();
    let first = TaskChoice { task: Some(TaskId::new(0, 0).into()), ..TaskChoice::default() };
    let listed = Listing::from_dump(&dump).select(&first).unwrap();
    let task = CapturedTask::from_dump(&dump, &listed, &recorded.code, None).unwrap();
    (recorded, task)
}

#[test]
fn a_fault_is_reported_with_kernel_core_and_instruction() {
    for runtime in [RuntimeKind::Trb, RuntimeKind::Abg] {
        let (recorded, task) = failed("faulting_kernel", runtime);
        assert!(!task.completed);
        for platform in [&A2A3SIM, &A5SIM] {
            let proof = replay(&task, &recorded.code.kernels, platform, &Options::default(), 1).unwrap();
            assert!(!proof.passed() && proof.verdicts.is_empty());
            let error = proof.outcome.result.unwrap_err();
            let RunError::KernelFault { site, fault } = &error else { panic!("{error}") };
            assert_eq!((site.kernel.as_str(), site.block, fault.index), ("faulting", 0, 1));
            assert_eq!(fault.instruction.unwrap().name(), "TLOAD");
            assert!(with_causes(&error).contains("kernels/failures.rs:"), "{error}");
        }
    }
}

#[test]
fn a_panic_of_a_kernel_is_reported_with_its_message() {
    let (recorded, task) = failed("crashing_kernel", RuntimeKind::Trb);
    let error = with_causes(&recorded.replay(&task).outcome.result.unwrap_err());
    assert!(error.contains("kernel 'crashing'") && error.contains("index 7 out of range"), "{error}");
}

#[test]
fn a_kernel_that_does_not_end_is_given_up() {
    let (recorded, task) = failed("stuck_kernel", RuntimeKind::Trb);
    let options = Options { timeout: Duration::from_millis(100), ..Options::default() };
    let proof = replay(&task, &recorded.code.kernels, &A2A3SIM, &options, 1).unwrap();
    let error = proof.outcome.result.unwrap_err();
    assert!(matches!(error, RunError::Stuck { .. }), "{error}");
    assert!(with_causes(&error).contains("TEXPANDS"), "{error}");
}

#[test]
fn a_host_built_task_without_a_description_says_what_to_do() {
    let (recorded, task) = failed("faulting_kernel", RuntimeKind::Hbg);
    let error = replay(&task, &recorded.code.kernels, &A2A3SIM, &Options::default(), 1).unwrap_err();
    let text = with_causes(&error);
    assert!(text.contains("slot 0") && text.contains("registered no tensor information"), "{text}");
    assert_eq!(error.hint(), Some(Hint::GiveArgument { slot: 0 }));
}
