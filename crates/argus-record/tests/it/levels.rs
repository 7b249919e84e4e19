//! How much is captured: levels and marks.

use argus_abi::{DType, Kind, RuntimeKind, Stage};
use argus_chip::{A2A3SIM, A5SIM};
use argus_facts::Level;
use argus_record::{Hint, RecordProblem, RecordRequest};
use argus_runtime::{Arg, TensorCreateInfo};

use crate::dump::Key;
use crate::model::{A, Model, View, number, task};
use crate::programs::{BUMP, COPY, abg, arguments, plus, program, standard, trb};
use crate::setup::{COLLECTS, Subject};

const LENGTH: u32 = 8;

fn level(level: Level) -> RecordRequest {
    RecordRequest { level: Some(level), ..RecordRequest::default() }
}

/// Three tasks on one chain. Marked: the first one's input, the second one's tensor and scalar.
fn marked(runtime: RuntimeKind) -> (Subject, Model, Vec<Key>) {
    let first = |a: &argus_abi::Tensor, like: &TensorCreateInfo| {
        Arg::new().input(a).dump().create(like).scalar_of(DType::I32, 10)
    };
    let second = |c: &argus_abi::Tensor| Arg::new().inout(c).dump().scalar_of(DType::I32, 5).dump();
    let third = |c: &argus_abi::Tensor, f: &argus_abi::Tensor| {
        Arg::new().input(c).output(f).scalar_of(DType::I32, 100)
    };
    let orchestration = if runtime == RuntimeKind::Trb {
        trb(move |trb, args| {
            let (a, f) = (args.tensor(0)?, args.tensor(1)?);
            let like = TensorCreateInfo::new(&[LENGTH], DType::I32)?;
            let c = *trb.submit_aiv(COPY, first(a, &like))?.tensor(0)?;
            trb.submit_aiv(BUMP, second(&c))?;
            trb.submit_aiv(COPY, third(&c, f)).map(drop)
        })
    } else {
        abg(move |abg, args| {
            let (a, f) = (args.tensor(0)?, args.tensor(1)?);
            let like = TensorCreateInfo::new(&[LENGTH], DType::I32)?;
            let one = abg.submit_aiv(COPY, first(a, &like))?;
            let c = *one.tensor(0)?;
            let two = abg.submit_aiv(BUMP, second(&c).after(&[one.task_id()]))?;
            abg.submit_aiv(COPY, third(&c, f).after(&[two.task_id()])).map(drop)
        })
    };
    let subject = Subject::new(
        program(standard(), orchestration),
        arguments(&[&[1, 2, 3, 4, 5, 6, 7, 8], &[0; LENGTH as usize]]),
    );
    let mut model = Model::default();
    let [a, f] = <[View; 2]>::try_from(model.arguments(&subject.args)).unwrap();
    let c = model.fresh(DType::I32, &[LENGTH]);
    let scalar = |value| A::Scalar(DType::I32, value);
    model.run(task(0, &[1]), &[A::In(a), A::Out(c.clone()), scalar(10)], plus(10));
    model.run(task(1, &[0]), &[A::Inout(c.clone()), scalar(5)], plus(5));
    model.run(task(2, &[1]), &[A::In(c), A::Out(f), scalar(100)], plus(100));
    use Stage::{AfterCompletion as After, BeforeDispatch as Before};
    let marks = vec![(0, Before, 0), (1, Before, 0), (1, Before, 1), (1, After, 0)];
    (subject, model, marks)
}

#[test]
fn full_takes_everything_marked_or_not() {
    for runtime in [RuntimeKind::Trb, RuntimeKind::Abg] {
        let (subject, model, _) = marked(runtime);
        for collect in COLLECTS {
            let request = RecordRequest { collect, ..level(Level::Full) };
            model.assert_dump(&subject.record(&A2A3SIM, &request).complete("full"), "full");
        }
    }
}

#[test]
fn partial_takes_exactly_what_is_marked_with_its_payload() {
    for runtime in [RuntimeKind::Trb, RuntimeKind::Abg] {
        let (subject, model, marks) = marked(runtime);
        for collect in COLLECTS {
            let request = RecordRequest { collect, ..level(Level::Partial) };
            let dump = subject.record(&A5SIM, &request).complete("partial");
            let found: Vec<Key> = dump.by_key().into_keys().collect();
            assert_eq!(found, marks);
            for record in &dump.records {
                model.assert_record(record, "partial");
                model.assert_payload(record, "partial");
            }
            assert_eq!(dump.manifest["level"], "partial");
            assert_eq!(dump.states().len(), 3, "the graph is whole at every level");
        }
    }
}

#[test]
fn hybrid_takes_all_records_and_the_payload_of_marked_tensors() {
    for runtime in [RuntimeKind::Trb, RuntimeKind::Abg] {
        let (subject, model, marks) = marked(runtime);
        for collect in COLLECTS {
            let request = RecordRequest { collect, ..level(Level::Hybrid) };
            let dump = subject.record(&A2A3SIM, &request).complete("hybrid");
            model.assert_facts(&dump, "hybrid");
            for record in dump.records.iter().filter(|record| record.kind == Kind::Tensor) {
                if marks.contains(&record.key()) {
                    model.assert_payload(record, "hybrid");
                } else {
                    assert_eq!(record.payload, None, "{record:?}");
                    assert_eq!(record.json["payload"], "left_out", "{record:?}");
                }
            }
        }
    }
}

#[test]
fn partial_with_nothing_marked_is_a_problem_that_says_so() {
    for runtime in [RuntimeKind::Trb, RuntimeKind::Hbg] {
        let subject = Subject::scene("vector_example", "default", runtime);
        let recorded = subject.record(&A2A3SIM, &level(Level::Partial));
        assert!(recorded.run.result.is_ok());
        let [problem @ RecordProblem::NothingMarked { level: "partial" }] = &recorded.run.problems[..] else {
            panic!("{:?}", recorded.run.problems)
        };
        assert_eq!(problem.hint(), Some(Hint::CaptureUnmarked));
        let text = recorded.run.problems[0].to_string();
        assert!(text.contains("dump()") && text.contains("marks nothing"), "{text}");
        assert!(recorded.dump().records.is_empty());
    }
}

#[test]
fn a_run_without_arguments_is_a_problem_that_says_so() {
    let quiet = crate::programs::kernel(BUMP, "quiet", &[], |_, _| Ok(()));
    let orchestration = trb(|trb, _| trb.submit_aiv(BUMP, Arg::new()).map(drop));
    let subject = Subject::new(program(vec![quiet], orchestration), arguments(&[]));
    let recorded = subject.record(&A2A3SIM, &level(Level::Full));
    assert!(matches!(&recorded.run.problems[..], [RecordProblem::Nothing]));
}

#[test]
fn without_a_level_only_the_graph_is_written() {
    for runtime in [RuntimeKind::Trb, RuntimeKind::Abg] {
        let (subject, _, _) = marked(runtime);
        let request = RecordRequest { level: None, ..RecordRequest::default() };
        let dump = subject.record(&A2A3SIM, &request).complete("off");
        assert!(dump.records.is_empty());
        assert_eq!(dump.states().len(), 3);
        assert_eq!(dump.manifest["level"], "off");
        let edges: Vec<_> = dump.edges().into_iter().map(|(from, to, _)| (from, to)).collect();
        assert!(edges.contains(&(0, 1)) && edges.contains(&(1, 2)), "{edges:?}");
    }
}

#[test]
fn equal_payloads_are_stored_once_and_read_everywhere() {
    let subject = Subject::scene("dump_tensor_example", "default", RuntimeKind::Trb);
    let bytes = 16384 * 4;
    for (dedupe, stored) in [(true, 4 * bytes), (false, 5 * bytes)] {
        let request = RecordRequest { dedupe, ..RecordRequest::default() };
        let recorded = subject.record(&A2A3SIM, &request);
        let dump = recorded.complete("dedupe");
        // 2, 3, 5 and 6; the 5 of the first task's output is the second one's input.
        assert_eq!(dump.manifest["payload_bytes"], 5 * bytes);
        assert_eq!(dump.manifest["stored_bytes"], stored, "dedupe: {dedupe}");
    }
}

#[test]
fn an_empty_tensor_has_a_record_with_an_empty_payload() {
    let quiet = crate::programs::kernel(BUMP, "quiet", &[], |_, _| Ok(()));
    let orchestration = trb(|trb, args| {
        let cells = args.tensor(0)?;
        let none =
            cells.view(&[0], &[1]).map_err(|error| argus_runtime::Fatal::invalid(error.to_string()))?;
        trb.submit_aiv(BUMP, Arg::new().input(&none).inout(cells)).map(drop)
    });
    let subject = Subject::new(program(vec![quiet], orchestration), arguments(&[&[5, 6]]));
    for collect in COLLECTS {
        let request = RecordRequest { collect, ..RecordRequest::default() };
        let dump = subject.record(&A2A3SIM, &request).complete("empty");
        let lengths: Vec<_> =
            dump.records.iter().map(|record| record.payload.as_ref().unwrap().len()).collect();
        assert_eq!(lengths, [0, 8, 8]);
    }
}

/// The type of `number` is not stated; both ways to add a scalar must come out.
#[test]
fn scalars_are_recorded_with_the_type_they_were_given() {
    let orchestration = trb(|trb, args| {
        let arg = Arg::new().inout(args.tensor(0)?).scalar_i32(-2).scalar(7).scalar_f32(0.5);
        trb.submit_aiv(BUMP, arg).map(drop)
    });
    let subject = Subject::new(program(standard(), orchestration), arguments(&[&[10, 20]]));
    let mut model = Model::default();
    let cells = model.arguments(&subject.args).remove(0);
    let minus_two = A::Scalar(DType::I32, 0xFFFF_FFFE);
    let args = [A::Inout(cells), minus_two, number(7), crate::model::float(0.5)];
    model.run(task(0, &[0]), &args, plus(-2));
    let dump = subject.record(&A2A3SIM, &RecordRequest::default()).complete("scalars");
    model.assert_dump(&dump, "scalars");
    let values: Vec<_> = dump.records.iter().filter_map(|record| record.json.get("value")).collect();
    assert_eq!(values, [&serde_json::json!(-2), &serde_json::json!(7), &serde_json::json!(0.5)]);
}
