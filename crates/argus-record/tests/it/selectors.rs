//! Selectors choose arguments without a change of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use argus_abi::{DType, Kind, Role, RuntimeKind, Stage};
use argus_chip::A2A3SIM;
use argus_facts::with_causes;
use argus_record::{RecordProblem, RecordRequest};

use crate::dump::{Key, Record};
use crate::programs::{BUMP, arguments, program, standard, trb};
use crate::setup::Subject;

fn select(selectors: &[&str]) -> RecordRequest {
    let selectors = selectors.iter().map(|text| (*text).to_owned()).collect();
    RecordRequest { selectors, ..RecordRequest::default() }
}

/// Bytes of an argument; a scalar has none.
fn size(record: &Record) -> u64 {
    record.payload.as_ref().map_or(0, |payload| payload.len() as u64)
}

type Rule = fn(&Record) -> bool;

#[test]
fn every_key_takes_exactly_the_arguments_it_describes() {
    let subject = Subject::scene("paged_attention", "CaseSmall1", RuntimeKind::Trb);
    // What the whole dump holds is proven elsewhere.
    let whole = subject.record(&A2A3SIM, &RecordRequest::default()).complete("everything");
    let rules: [(&[&str], Rule); 22] = [
        (&["task=0x0000000200000001"], |record| record.task == 0x2_0000_0001),
        (&["task=0x0000000200000001..0x0000000200000003"], |record| {
            (0x2_0000_0001..=0x2_0000_0003).contains(&record.task)
        }),
        (&["kernel=SF"], |record| record.funcs == [1]),
        (&["func-id=3"], |record| record.funcs == [3]),
        (&["stage=before"], |record| record.stage == Stage::BeforeDispatch),
        (&["stage=after"], |record| record.stage == Stage::AfterCompletion),
        (&["stage=before_dispatch"], |record| record.stage == Stage::BeforeDispatch),
        (&["stage=after_completion"], |record| record.stage == Stage::AfterCompletion),
        (&["role=input"], |record| record.role == Role::Input),
        (&["role=output"], |record| record.role == Role::Output),
        (&["role=inout"], |record| record.role == Role::Inout),
        (&["arg=2"], |record| record.arg == 2),
        (&["arg=3..6"], |record| (3..=6).contains(&record.arg)),
        (&["kind=tensor"], |record| record.kind == Kind::Tensor),
        (&["kind=scalar"], |record| record.kind == Kind::Scalar),
        (&["dtype=BFLOAT16"], |record| record.dtype == DType::Bf16),
        (&["min-size=512"], |record| size(record) >= 512),
        (&["min-size=1KiB"], |record| size(record) >= 1024),
        (&["max-size=64"], |record| size(record) <= 64),
        (&["kernel=UP,stage=after,arg=6"], |record| {
            record.funcs == [3] && record.stage == Stage::AfterCompletion && record.arg == 6
        }),
        (&["kernel=QK,role=output", "kind=scalar"], |record| {
            record.funcs == [0] && record.role == Role::Output || record.kind == Kind::Scalar
        }),
        (&["min-size=64,max-size=512,kind=tensor"], |record| {
            (64..=512).contains(&size(record)) && record.kind == Kind::Tensor
        }),
    ];
    for (selectors, rule) in rules {
        let about = format!("{selectors:?}");
        let dump = subject.record(&A2A3SIM, &select(selectors)).complete(&about);
        let wanted: Vec<&Record> = whole.records.iter().filter(|record| rule(record)).collect();
        assert!(!wanted.is_empty() && wanted.len() < whole.records.len(), "{about} is no test");
        let keys =
            |records: &mut dyn Iterator<Item = &Record>| records.map(Record::key).collect::<Vec<Key>>();
        assert_eq!(keys(&mut dump.records.iter()), keys(&mut wanted.iter().copied()), "{about}");
        for (record, wanted) in dump.records.iter().zip(wanted) {
            assert_eq!((&record.payload, record.bits), (&wanted.payload, wanted.bits), "{about}");
        }
        assert_eq!(dump.states(), whole.states(), "{about}: the graph is whole");
        assert_eq!(dump.edges(), whole.edges(), "{about}: the graph is whole");
        let written: Vec<_> = selectors.iter().map(|text| serde_json::json!(text)).collect();
        assert_eq!(dump.run["configuration"]["selectors"], serde_json::json!(written));
    }
}

/// A program that counts how often it was started.
fn counted() -> (Subject, Arc<AtomicU32>) {
    let started = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&started);
    let orchestration = trb(move |trb, args| {
        count.fetch_add(1, Ordering::Relaxed);
        trb.submit_aiv(BUMP, argus_runtime::Arg::new().inout(args.tensor(0)?).scalar(1)).map(drop)
    });
    (Subject::new(program(standard(), orchestration), arguments(&[&[1, 2, 3]])), started)
}

#[test]
fn a_kernel_that_the_program_does_not_have_is_refused_before_anything_runs() {
    let (subject, started) = counted();
    let recorded = subject.record(&A2A3SIM, &select(&["kernel=bumb,stage=after"]));
    let error = with_causes(recorded.run.result.as_ref().unwrap_err());
    for word in ["bumb", "bump, copy"] {
        assert!(error.contains(word), "{error}");
    }
    assert!(
        matches!(&recorded.run.problems[..], [RecordProblem::UnknownKernel { kernel, .. }] if kernel == "bumb")
    );
    assert_eq!(recorded.files(), [""; 0], "nothing is left behind");
    assert_eq!(started.load(Ordering::Relaxed), 0);
    assert_eq!(recorded.args, subject.args);
}

#[test]
fn a_selector_that_makes_no_sense_is_refused_before_anything_runs() {
    for text in ["colour=red", "task", "arg=3..1", "stage=never", "min-size=many", "kernel="] {
        let (subject, started) = counted();
        let recorded = subject.record(&A2A3SIM, &select(&[text]));
        let error = with_causes(recorded.run.result.as_ref().unwrap_err());
        assert!(error.contains(text), "{error}");
        assert!(matches!(&recorded.run.problems[..], [RecordProblem::Selector(_)]));
        assert_eq!(recorded.files(), [""; 0], "nothing is left behind");
        assert_eq!(started.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn a_selector_that_matches_nothing_is_a_problem_that_names_it() {
    let (subject, started) = counted();
    let recorded = subject.record(&A2A3SIM, &select(&["kernel=copy", "kernel=bump", "dtype=FLOAT16"]));
    assert!(recorded.run.result.is_ok());
    assert_eq!(started.load(Ordering::Relaxed), 1);
    let missed: Vec<_> = recorded
        .run
        .problems
        .iter()
        .map(|problem| match problem {
            RecordProblem::SelectedNothing { selector, .. } => selector.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(missed, ["kernel=copy", "dtype=FLOAT16"]);
    assert_eq!(recorded.dump().records.len(), 3, "what the other one matched is there");
}
