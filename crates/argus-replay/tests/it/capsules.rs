//! A task in one file: made in one place, replayed in another, and never believed when it is damaged.

use std::path::Path;

use argus_abi::RuntimeKind;
use argus_chip::{A2A3SIM, A5SIM};
use argus_facts::with_causes;
use argus_replay::{Capsule, CapturedTask, Judgement, Options, replay};

use crate::setup::Recorded;

#[test]
fn a_capsule_replays_elsewhere_with_the_dump_deleted() {
    for (scene, case, runtime, kernel, platform) in [
        ("paged_attention", "CaseSmall1", RuntimeKind::Trb, "UP", &A2A3SIM),
        ("pipe_mix", "default", RuntimeKind::Trb, "matmul_push", &A5SIM),
        ("matmul", "default", RuntimeKind::Hbg, "matmul", &A2A3SIM),
    ] {
        let recorded = Recorded::named(scene, case, runtime, platform);
        let task = recorded.task(kernel, 1);
        let first = tempfile::tempdir().unwrap();
        Capsule::new(task.clone()).unwrap().save(&first.path().join("one.capsule")).unwrap();
        let code = recorded.code.clone();
        drop(recorded);

        let second = tempfile::tempdir().unwrap();
        let moved = second.path().join("two");
        std::fs::rename(first.path().join("one.capsule"), &moved).unwrap();
        assert!(Capsule::is_one(&moved));
        let loaded = Capsule::load(&moved).unwrap();
        assert_eq!(loaded.task, task);
        loaded.task.check_code(&code).unwrap();
        let proof = replay(&loaded.task, &code.kernels, platform, &Options::default(), 1).unwrap();
        assert!(proof.passed() && proof.compared(), "{scene}: {:#?}", proof.verdicts);
    }
}

#[test]
fn a_capsule_whose_expectation_was_changed_does_not_pass() {
    let recorded = Recorded::named("paged_attention", "CaseSmall1", RuntimeKind::Trb, &A2A3SIM);
    let mut task = recorded.task("QK", 0);
    let argus_replay::What::Tensor(output) = &mut task.arguments[2].what else { panic!() };
    let argus_replay::Content::Bytes(bytes) = &mut output.after else { panic!() };
    // The lowest bit of element 5.
    bytes[20] ^= 1;
    let proof = recorded.replay(&task);
    assert!(!proof.passed());
    let Judgement::Differs(difference) = &proof.verdicts[0].judgement else { panic!() };
    assert_eq!((difference.count, difference.first.index, difference.worst.index), (1, 5, 5));
    assert_eq!(difference.first.got ^ difference.first.expected, 1);
}

#[test]
fn a_damaged_capsule_is_refused_wherever_it_is_damaged() {
    let recorded = Recorded::named("dump_tensor_example", "default", RuntimeKind::Trb, &A2A3SIM);
    let mut task: CapturedTask = recorded.task("add", 0);
    // Small enough to damage every byte of it.
    task.arguments.truncate(0);
    let bytes = Capsule::new(task).unwrap().to_bytes();
    let path = Path::new("x.capsule");
    let read = |bytes: &[u8]| Capsule::from_bytes(bytes, path);
    read(&bytes).unwrap();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        // The four bytes behind the version mean nothing.
        assert_eq!(read(&damaged).is_err(), !(12..16).contains(&at), "byte {at}");
        assert!(read(&bytes[..at]).is_err(), "cut at {at}");
    }
    let says = |bytes: &[u8]| with_causes(&read(bytes).unwrap_err());
    assert_eq!(says(b"nothing"), "x.capsule is not a capsule: it does not begin as capsules do");
    let mut newer = bytes.clone();
    newer[8] = 2;
    assert_eq!(says(&newer), "x.capsule is a capsule of version 2; this program reads version 1");
    let mut broken = bytes.clone();
    let last = broken.len() - 1;
    broken[last] ^= 1;
    assert_eq!(says(&broken), "x.capsule is damaged: its checksum is wrong");
    let mut longer = bytes;
    longer.push(0);
    assert!(says(&longer).contains("it may have been cut"), "{}", says(&longer));
}

#[test]
fn a_task_with_missing_inputs_makes_no_capsule() {
    let recorded = Recorded::named("dump_tensor_example", "default", RuntimeKind::Trb, &A2A3SIM);
    let mut task = recorded.task("add", 0);
    let argus_replay::What::Tensor(input) = &mut task.arguments[1].what else { panic!() };
    input.before = argus_replay::Content::Missing("it was left out".into());
    let error = Capsule::new(task).unwrap_err();
    assert_eq!(error.to_string(), "slot 1 cannot go into a capsule: it was left out");
}
