//! Several captures in one process: at once, one after the other, and in rounds.

use std::collections::BTreeSet;

use argus_abi::RuntimeKind;
use argus_chip::{A2A3SIM, A5SIM};
use argus_dump::RunDirectory;
use argus_record::RecordRequest;
use argus_runtime::Device;

use crate::dump::Dump;
use crate::programs::Weave;

#[test]
fn captures_at_once_do_not_mix() {
    let ids: Vec<BTreeSet<String>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            [(&A2A3SIM, RuntimeKind::Trb), (&A5SIM, RuntimeKind::Abg), (&A2A3SIM, RuntimeKind::Hbg)]
                .into_iter()
                .map(|(platform, runtime)| {
                    scope.spawn(move || {
                        let weave =
                            Weave::new(&format!("at once/{runtime}"), 30, runtime != RuntimeKind::Hbg);
                        let (subject, model) = weave.subject(runtime);
                        let mut ids = BTreeSet::new();
                        for round in 0..4 {
                            let recorded = subject.record(platform, &RecordRequest::default());
                            let dump = recorded.complete(&format!("{runtime} {round}"));
                            model.assert_dump(&dump, &format!("{runtime} {round}"));
                            ids.insert(dump.manifest["run_id"].as_str().unwrap().to_owned());
                        }
                        ids
                    })
                })
                .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all: BTreeSet<&String> = ids.iter().flatten().collect();
    assert_eq!(all.len(), 12, "every run has an id of its own");
}

#[test]
fn captures_one_after_the_other_on_one_device_are_all_true() {
    let mut device = Device::new(&A2A3SIM);
    let mut stored = BTreeSet::new();
    for round in 0..6 {
        let runtime = RuntimeKind::ALL[round % 3];
        let weave = Weave::new(&format!("in turn/{runtime}"), 30, runtime != RuntimeKind::Hbg);
        let (subject, model) = weave.subject(runtime);
        let dump = subject.record_on(&mut device, &RecordRequest::default()).complete("in turn");
        model.assert_dump(&dump, &format!("round {round}"));
        stored.insert((runtime.short(), dump.manifest["stored_bytes"].as_u64().unwrap()));
    }
    assert_eq!(stored.len(), 3, "the second round of a runtime stores what the first did");
}

#[test]
fn rounds_lie_beside_each_other_and_are_equal() {
    let outputs = tempfile::tempdir().unwrap();
    let directory = RunDirectory::create(outputs.path(), "weave", "rounds").unwrap();
    let (subject, model) = Weave::new("rounds", 20, true).subject(RuntimeKind::Trb);
    let mut device = Device::new(&A5SIM);
    for round in 1..=3 {
        let at = directory.round(round).unwrap();
        let mut args = subject.args.clone();
        let run = subject.record_into(&mut device, &mut args, &RecordRequest::default(), &at);
        assert!(run.result.is_ok() && run.problems.is_empty());
    }
    for round in 1..=3 {
        let at = directory.path().join(format!("round_{round:04}")).join("tensor_dump");
        model.assert_dump(&Dump::read(&at), &format!("round {round}"));
    }
}

#[test]
fn a_directory_that_holds_a_dump_is_refused_and_the_dump_stays() {
    let (subject, model) = Weave::new("occupied", 5, true).subject(RuntimeKind::Trb);
    let mut device = Device::new(&A2A3SIM);
    let directory = tempfile::tempdir().unwrap();
    let mut args = subject.args.clone();
    let first = subject.record_into(&mut device, &mut args, &RecordRequest::default(), directory.path());
    assert!(first.result.is_ok());
    let mut args = subject.args.clone();
    let second = subject.record_into(&mut device, &mut args, &RecordRequest::default(), directory.path());
    assert!(second.result.unwrap_err().to_string().contains("capture cannot start"));
    assert!(second.dump.is_none());
    assert_eq!(args, subject.args, "nothing has run");
    model.assert_dump(&Dump::read(directory.path()), "the first dump");
}

#[test]
fn results_are_the_same_with_and_without_capture() {
    for runtime in RuntimeKind::ALL {
        let weave = Weave::new(&format!("results/{runtime}"), 30, runtime != RuntimeKind::Hbg);
        let (subject, _) = weave.subject(runtime);
        let mut plain = subject.args.clone();
        Device::new(&A2A3SIM).run(&subject.program, &mut plain, &subject.config).unwrap();
        let recorded = subject.record(&A2A3SIM, &RecordRequest::default());
        assert_eq!(recorded.args, plain, "{runtime}");
        assert_ne!(plain, subject.args, "{runtime}");
    }
}
