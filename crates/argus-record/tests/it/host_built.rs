//! Host-built graphs say themselves what their slots hold. What they do not say is not guessed.

use argus_abi::{ArgDirection, CoreType, DType};
use argus_chip::{A2A3SIM, A5SIM};
use argus_facts::{Level, with_causes};
use argus_record::{RecordProblem, RecordRequest};
use argus_runtime::{KernelEntry, SlotInfo};

use crate::dump::{Dump, word};
use crate::model::{A, Model, number, task};
use crate::programs::{BUMP, arguments, hbg, kernel, plus, program, read_raw, write_raw};
use crate::setup::{Recorded, Subject};

const LENGTH: u32 = 4;

/// Slots: address, number of elements, what to add.
fn bump_raw() -> KernelEntry {
    use ArgDirection::{Inout, Scalar};
    kernel(BUMP, "bump", &[Inout, Scalar, Scalar], |core, args| {
        let (addr, count, more) = (args.scalar(0)?, args.scalar(1)?, args.scalar(2)? as i32);
        let values: Vec<i32> = read_raw(core, addr, count)?.iter().map(|x| x.wrapping_add(more)).collect();
        write_raw(core, addr, &values)
    })
}

fn vector() -> SlotInfo {
    SlotInfo::tensor(DType::I32, &[LENGTH])
}

fn scalar() -> SlotInfo {
    SlotInfo::Scalar(DType::U64)
}

/// What the orchestration says of the slots of its n-th task.
type Info = fn(usize) -> Option<Vec<SlotInfo>>;

/// Tasks and the slots that are marked of them.
type Marks = &'static [(usize, &'static [usize])];

/// A chain of tasks, each with the information that `info` gives, or none.
fn chain(tasks: usize, info: Info) -> Subject {
    marked_chain(tasks, info, &[])
}

/// A chain of which some slots of some tasks are marked.
fn marked_chain(tasks: usize, info: Info, marks: Marks) -> Subject {
    let orchestration = hbg(move |hbg, _| {
        let cells = hbg.upload(0)?;
        hbg.record_tensor_pair(0, cells)?;
        for index in 0..tasks {
            let task = hbg.add_task(&[cells, LENGTH.into(), 1 + index as u64], BUMP, CoreType::Aiv)?;
            if let Some(info) = info(index) {
                hbg.set_tensor_info_to_task(task, &info)?;
            }
            if index > 0 {
                hbg.add_successor(task - 1, task)?;
            }
        }
        marks.iter().try_for_each(|&(task, slots)| hbg.dump(task, slots))
    });
    Subject::new(program(vec![bump_raw()], orchestration), arguments(&[&[1, 2, 3, 4]]))
}

/// What the chain leaves, if everything is told.
fn model(subject: &Subject, tasks: usize) -> Model {
    let mut model = Model::default();
    let cells = model.arguments(&subject.args).remove(0);
    for index in 0..tasks {
        let args = [A::Inout(cells.clone()), number(LENGTH.into()), number(1 + index as u64)];
        model.run(task(index as u64, &[0]), &args, plus(1 + index as i32));
    }
    model
}

/// Tasks of the skipped list, each with its reason; a task that is there at both stages counts once.
fn skipped(dump: &Dump) -> Vec<(u64, String)> {
    let mut tasks: Vec<_> = (dump.skipped().iter())
        .map(|skip| {
            assert_eq!(skip["arg_index"], serde_json::Value::Null, "the whole task: {skip}");
            assert_eq!(skip["func_id"], 0, "{skip}");
            (word(&skip["task_id"]), skip["reason"].as_str().unwrap().to_owned())
        })
        .collect();
    tasks.sort();
    tasks.dedup();
    tasks
}

fn assert_reported(recorded: &Recorded) {
    assert!(recorded.run.result.is_ok(), "the run itself is fine");
    let count = recorded.dump().skipped().len() as u64;
    assert!(matches!(recorded.run.problems[..], [RecordProblem::Skipped { count: found }] if found == count));
    assert_eq!(recorded.dump().states().len(), 3, "the graph has every task");
}

#[test]
fn tasks_without_information_are_listed_with_that_reason() {
    for platform in [&A2A3SIM, &A5SIM] {
        let recorded = chain(3, |_| None).record(platform, &RecordRequest::default());
        assert_reported(&recorded);
        let dump = recorded.dump();
        assert!(dump.records.is_empty());
        let reason = "the orchestration registered no tensor information for this task".to_owned();
        assert_eq!(skipped(&dump), [(0, reason.clone()), (1, reason.clone()), (2, reason)]);
    }
}

#[test]
fn information_that_does_not_fit_is_listed_with_that_reason_and_the_rest_is_true() {
    fn right() -> Vec<SlotInfo> {
        vec![vector(), scalar(), scalar()]
    }
    // Too few slots, too many, a scalar where the kernel takes a tensor, a tensor where it takes a scalar.
    let infos: [Info; 4] = [
        |index| Some(if index == 1 { vec![vector(), scalar()] } else { right() }),
        |index| Some(if index == 1 { vec![vector(), scalar(), scalar(), scalar()] } else { right() }),
        |index| Some(if index == 1 { vec![scalar(), scalar(), scalar()] } else { right() }),
        |index| Some(if index == 1 { vec![vector(), vector(), scalar()] } else { right() }),
    ];
    for info in infos {
        let subject = chain(3, info);
        let recorded = subject.record(&A2A3SIM, &RecordRequest::default());
        assert_reported(&recorded);
        let dump = recorded.dump();
        let reason = "the registered tensor information does not fit the task's arguments".to_owned();
        assert_eq!(skipped(&dump), [(1, reason)]);
        let mut model = model(&subject, 3);
        model.expected.retain(|key, _| key.0 != 1);
        model.assert_dump(&dump, "the other tasks");
    }
}

#[test]
fn a_view_outside_of_its_memory_is_listed_and_not_read() {
    // Information that fits the signature and lies about the size of the buffer.
    let subject = chain(3, |index| {
        let length = if index == 1 { 1 << 28 } else { LENGTH };
        Some(vec![SlotInfo::tensor(DType::I32, &[length]), scalar(), scalar()])
    });
    let recorded = subject.record(&A2A3SIM, &RecordRequest::default());
    assert!(recorded.run.result.is_ok());
    let dump = recorded.dump();
    assert!(matches!(recorded.run.problems[..], [RecordProblem::Skipped { count: 2 }]), "before and after");
    for skip in dump.skipped() {
        assert_eq!((word(&skip["task_id"]), &skip["arg_index"]), (1, &serde_json::json!(0)));
        assert_eq!(skip["reason"], "the view's addresses cannot be read");
    }
    let mut model = model(&subject, 3);
    model.expected.retain(|key, _| key.0 != 1 || key.2 > 0);
    model.assert_dump(&dump, "the other arguments");
}

#[test]
fn a_graph_that_tells_everything_is_captured_whole() {
    let subject = chain(3, |_| Some(vec![vector(), scalar(), scalar()]));
    let model = model(&subject, 3);
    let dump = subject.record(&A2A3SIM, &RecordRequest::default()).complete("told");
    model.assert_dump(&dump, "told");
    let edges: Vec<_> = dump.edges();
    assert_eq!(edges, [(0, 1, "explicit".to_owned()), (1, 2, "explicit".to_owned())]);
}

#[test]
fn who_asks_for_the_graph_alone_misses_no_information() {
    let request = RecordRequest { level: None, ..RecordRequest::default() };
    let recorded = chain(3, |_| None).record(&A2A3SIM, &request);
    recorded.complete("no arguments were asked for");
}

/// Everything is told of every task.
fn told(_: usize) -> Option<Vec<SlotInfo>> {
    Some(vec![vector(), scalar(), scalar()])
}

#[test]
fn marked_slots_are_captured_alone_or_with_their_payload() {
    let subject = marked_chain(3, told, &[(0, &[0]), (2, &[1, 2])]);
    for platform in [&A2A3SIM, &A5SIM] {
        let request = RecordRequest { level: Some(Level::Partial), ..RecordRequest::default() };
        let dump = subject.record(platform, &request).complete("partial");
        let mut partial = model(&subject, 3);
        partial.expected.retain(|key, _| matches!((key.0, key.2), (0, 0) | (2, 1 | 2)));
        assert_eq!(partial.expected.len(), 4, "an in/out tensor before and after, and two scalars");
        partial.assert_dump(&dump, "partial");

        let request = RecordRequest { level: Some(Level::Hybrid), ..RecordRequest::default() };
        let dump = subject.record(platform, &request).complete("hybrid");
        model(&subject, 3).assert_facts(&dump, "hybrid");
        let stored: Vec<_> = dump.records.iter().filter(|record| record.payload.is_some()).collect();
        assert!(stored.iter().all(|record| (record.task, record.arg) == (0, 0)), "{stored:?}");
        let cells = |values: [i32; 4]| values.into_iter().flat_map(i32::to_le_bytes).collect::<Vec<u8>>();
        let payloads: Vec<_> = stored.iter().map(|record| record.payload.clone().unwrap()).collect();
        assert_eq!(payloads, [cells([1, 2, 3, 4]), cells([2, 3, 4, 5])]);
    }
}

#[test]
fn a_mark_on_what_is_not_there_is_fatal() {
    const CASES: &[(Marks, &str)] = &[
        (&[(0, &[3])], "task 0 has no slot 3: it has 3"),
        (&[(1, &[0])], "there is no task 1 in a graph of 1 tasks"),
    ];
    for (marks, says) in CASES {
        let recorded = marked_chain(1, told, marks).record(&A2A3SIM, &RecordRequest::default());
        let error = with_causes(&recorded.run.result.unwrap_err());
        assert!(error.contains(says), "{error}");
    }
}
