//! Faults on purpose: each changes exactly the bytes it says, and a dump tells what was done.

use std::collections::{BTreeMap, BTreeSet};

use argus_abi::{DType, Role, RuntimeKind};
use argus_chip::Chip;
use argus_record::RecordRequest;
use argus_runtime::{Injection, InjectionError, InjectionKind, RunError};
use argus_scene::Scene;
use argus_scenes::scene;
use serde_json::Value;

use crate::dump::{Dump, Key, Record, word};
use crate::isolated::{Recorded, tasks, wrong_tasks};
use crate::setup::{CHIPS, Subject, long};

const POISON: u8 = 0xFF;

/// A scene, a case, a runtime, and the kernels in which faults are made.
type Place = (&'static str, &'static str, RuntimeKind, &'static [&'static str]);

/// Every runtime; mixes, many blocks, blocks that start together, cores that wait for each other.
const PLACES: &[Place] = &[
    ("vector_example", "default", RuntimeKind::Trb, &["add", "add_scalar", "mul"]),
    ("vector_example", "default", RuntimeKind::Hbg, &["add", "add_scalar", "mul"]),
    ("dump_tensor_example", "default", RuntimeKind::Abg, &["add", "add_scalar_inplace"]),
    ("dump_tensor_example", "default", RuntimeKind::Hbg, &["add", "add_scalar_inplace"]),
    ("paged_attention", "CaseSmall1", RuntimeKind::Trb, &["QK", "SF", "PV", "UP"]),
    ("paged_attention", "CaseSmall1", RuntimeKind::Abg, &["QK", "SF", "PV", "UP"]),
    ("paged_attention", "small2", RuntimeKind::Hbg, &["QK", "SF", "PV", "UP"]),
    ("batch_paged_attention", "CaseVarSeq2", RuntimeKind::Trb, &["QK", "SF", "PV", "UP"]),
    ("mixed_example", "case2", RuntimeKind::Trb, &["MATMUL", "MUL", "MUL_STANDALONE"]),
    ("pipe_mix", "default", RuntimeKind::Trb, &["pop_add_bias"]),
    ("spmd_multiblock_aiv", "Case1", RuntimeKind::Trb, &["write_block"]),
    ("spmd_multiblock_mix", "Case1", RuntimeKind::Trb, &["write_aiv0"]),
    ("spmd_sync_start", "Case1", RuntimeKind::Trb, &["meet_aic", "write_aic"]),
];

/// The dump of a run with faults, what run.json says of them, and how the run ended.
struct Faulty {
    dump: Dump,
    injections: Vec<Value>,
    result: Result<(), RunError>,
}

fn run(subject: &Subject, platform: &'static Chip, injections: &[Injection]) -> Faulty {
    let mut subject = subject.clone();
    subject.config.injections = injections.to_vec();
    let recorded = subject.record(platform, &RecordRequest::default());
    let dump = recorded.dump();
    let injections = dump.run["injections"].as_array().cloned().unwrap_or_default();
    Faulty { dump, injections, result: recorded.run.result.map(|_| ()) }
}

fn injection(kernel: &str, nth: u64, kind: InjectionKind) -> Injection {
    Injection { kernel: kernel.into(), nth, task: None, kind }
}

/// The tasks of a kernel. In these scenes the order of submission is that of ids.
fn tasks_of(tasks: &BTreeMap<u64, Recorded<'_>>, kernel: &str) -> Vec<u64> {
    tasks.iter().filter(|(_, task)| task.kernels.contains(&kernel)).map(|(&id, _)| id).collect()
}

/// A task and all that wait for it, directly or not.
fn downstream(dump: &Dump, from: u64) -> BTreeSet<u64> {
    let edges = dump.edges();
    let mut reached = BTreeSet::from([from]);
    loop {
        let more: Vec<u64> = (edges.iter())
            .filter(|(producer, consumer, _)| reached.contains(producer) && !reached.contains(consumer))
            .map(|(_, consumer, _)| *consumer)
            .collect();
        if more.is_empty() {
            return reached;
        }
        reached.extend(more);
    }
}

fn payload(record: &Record) -> &[u8] {
    record.payload.as_deref().unwrap()
}

/// What a view held before the first task that only writes it: poison of fresh memory, or the zeros that the
/// scenes give their outputs.
fn held_before(record: &Record, clean: &BTreeMap<Key, &Record>) -> Vec<Vec<u8>> {
    if record.role == Role::Inout {
        let before = (record.task, argus_abi::Stage::BeforeDispatch, record.arg);
        return vec![payload(clean[&before]).to_vec()];
    }
    [POISON, 0].map(|byte| vec![byte; payload(record).len()]).into()
}

/// Rows of the last dimension that differ.
fn rows_that_differ(record: &Record, right: &[u8], wrong: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let length = *record.shape.last().unwrap() as usize * record.dtype.size();
    let rows = right.chunks_exact(length).zip(wrong.chunks_exact(length));
    rows.filter(|(right, wrong)| right != wrong).map(|(right, wrong)| (right.into(), wrong.into())).collect()
}

fn doubled(dtype: DType, raw: &[u8]) -> Vec<u8> {
    match dtype {
        DType::F32 => {
            let value = f32::from_le_bytes(raw.try_into().unwrap());
            (value + value).to_le_bytes().into()
        }
        DType::Bf16 => {
            let value = half::bf16::from_le_bytes(raw.try_into().unwrap());
            (value + value).to_le_bytes().into()
        }
        other => panic!("no scene has outputs of {other}"),
    }
}

/// Holds one output against what its fault must have made of it.
fn assert_damage(
    kind: InjectionKind,
    record: &Record,
    wrong: &[u8],
    clean: &BTreeMap<Key, &Record>,
    about: &str,
) {
    let (right, width) = (payload(record), record.dtype.size());
    let element = right.len() / width / 2;
    let at = element * width..(element + 1) * width;
    let with = |raw: Vec<u8>| [&right[..at.start], &raw, &right[at.end..]].concat();
    match kind {
        InjectionKind::Scale => {
            let expected: Vec<u8> =
                right.chunks_exact(width).flat_map(|raw| doubled(record.dtype, raw)).collect();
            assert!(expected == wrong, "{about}");
        }
        InjectionKind::Bitflip => {
            // The second highest bit of a little-endian word.
            let mut raw = right[at.clone()].to_vec();
            *raw.last_mut().unwrap() ^= 1 << 6;
            assert!(with(raw) == wrong, "{about}");
        }
        InjectionKind::Nan => {
            let nan: &[u8] = if width == 4 { &[0, 0, 0xC0, 0x7F] } else { &[0xC0, 0x7F] };
            assert!(with(nan.to_vec()) == wrong, "{about}");
        }
        InjectionKind::ZeroRow => {
            let rows = rows_that_differ(record, right, wrong);
            assert_eq!(rows.len(), 1, "{about}");
            assert!(rows[0].1.iter().all(|&byte| byte == 0), "{about}");
        }
        InjectionKind::ShiftRow => {
            let rows = rows_that_differ(record, right, wrong);
            assert_eq!(rows.len(), 1, "{about}");
            let (right, wrong) = &rows[0];
            let (front, last) = right.split_at(right.len() - width);
            assert!([last, front].concat() == *wrong, "{about}");
        }
        InjectionKind::SkipWrite => {
            assert!(held_before(record, clean).iter().any(|before| before == wrong), "{about}");
        }
        InjectionKind::StaleRead => unreachable!("has a test of its own"),
    }
}

/// Two payloads, where any NaN is like any other.
fn alike(dtype: DType, unchecked: Option<&[bool]>, expected: &[u8], actual: &[u8]) -> bool {
    let value = |raw: &[u8]| match dtype {
        DType::F32 => f32::from_le_bytes(raw.try_into().unwrap()),
        DType::Bf16 => half::bf16::from_le_bytes(raw.try_into().unwrap()).to_f32(),
        other => panic!("no scene has outputs of {other}"),
    };
    let elements = expected.chunks_exact(dtype.size()).zip(actual.chunks_exact(dtype.size())).enumerate();
    expected.len() == actual.len()
        && elements.filter(|(index, _)| !unchecked.is_some_and(|unchecked| unchecked[*index])).all(
            |(_, (expected, actual))| {
                let (e, a) = (value(expected), value(actual));
                e == a || e.is_nan() && a.is_nan()
            },
        )
}

/// All records that the fault cannot reach are those of a clean run; of the target only `argument` differs.
fn assert_elsewhere_clean(clean: &Dump, faulty: &Dump, target: u64, argument: Option<u16>, about: &str) {
    let reached = downstream(clean, target);
    let wrong = faulty.by_key();
    for (key, record) in clean.by_key() {
        let same = record.payload == wrong[&key].payload;
        let allowed = if key.0 == target {
            key.1 == argus_abi::Stage::AfterCompletion && argument.is_none_or(|argument| argument == key.2)
        } else {
            reached.contains(&key.0)
        };
        assert!(same || allowed, "{about}: {key:?} changed too");
    }
    assert_eq!(clean.edges(), faulty.edges(), "{about}");
}

/// Whether an effect is to be expected of a fault: elements that are all 0 or all equal defeat some.
fn must_work(kind: InjectionKind, scene: &Scene) -> bool {
    match kind {
        InjectionKind::Bitflip | InjectionKind::Nan => true,
        InjectionKind::Scale | InjectionKind::ZeroRow | InjectionKind::SkipWrite => true,
        // All elements of a row are equal there.
        InjectionKind::ShiftRow => !matches!(&scene.name[..], "vector_example" | "dump_tensor_example"),
        InjectionKind::StaleRead => false,
    }
}

fn for_places(mut check: impl FnMut(&Scene, &Subject, &'static Chip, &'static str, &Dump)) {
    for &(name, case, runtime, kernels) in PLACES {
        let subject = Subject::scene(name, case, runtime);
        let scene = scene(name).unwrap();
        for platform in if long() { &CHIPS[..] } else { &CHIPS[..1] } {
            let clean = subject.record(platform, &RecordRequest::default()).complete(name);
            for kernel in kernels {
                check(&scene, &subject, platform, kernel, &clean);
            }
        }
    }
}

#[test]
fn each_fault_changes_exactly_the_bytes_it_says() {
    for_places(|scene, subject, platform, kernel, clean| {
        let clean_tasks = tasks(clean);
        let of_kernel = tasks_of(&clean_tasks, kernel);
        let nth = of_kernel.len() as u64 / 2;
        let target = of_kernel[nth as usize];
        let by_key = clean.by_key();
        for kind in InjectionKind::ALL.into_iter().filter(|&kind| kind != InjectionKind::StaleRead) {
            let injection = injection(kernel, nth, kind);
            let about = format!("{} {} {} {injection}", scene.name, subject.names.runtime, platform.name);
            let faulty = run(subject, platform, std::slice::from_ref(&injection));
            let told = &faulty.injections[0];
            let identity = (&told["kernel"], &told["n"], &told["kind"], word(&told["task_id"]));
            assert_eq!(identity, (&kernel.into(), &nth.into(), &kind.name().into(), target), "{about}");
            if let Err(error) = faulty.result {
                assert!(!must_work(kind, scene), "{about}: {error}");
                assert!(matches!(error, RunError::Injection(InjectionError::NoEffect { .. })), "{error}");
                assert_elsewhere_clean(clean, &faulty.dump, target, Some(u16::MAX), &about);
                assert_eq!((&told["arg_index"], &told["changed"]), (&Value::Null, &0.into()), "{about}");
                continue;
            }
            let argument = told["arg_index"].as_u64().unwrap() as u16;
            let key = (target, argus_abi::Stage::AfterCompletion, argument);
            let (right, wrong) = (by_key[&key], payload(faulty.dump.by_key()[&key]).to_vec());
            assert_damage(kind, right, &wrong, &by_key, &about);
            assert_elsewhere_clean(clean, &faulty.dump, target, Some(argument), &about);
            // What is told fits what happened.
            let width = right.dtype.size();
            let pairs = payload(right).chunks_exact(width).zip(wrong.chunks_exact(width));
            let changed = pairs.filter(|(right, wrong)| right != wrong).count();
            assert_eq!(
                (&told["changed"], &told["elements"]),
                (&changed.into(), &(wrong.len() / width).into())
            );
            // The task is wrong by its own inputs, and no other is: what follows computes rightly.
            assert_eq!(wrong_tasks(scene, &faulty.dump), [target], "{about}");
        }
    });
}

#[test]
fn a_stale_read_computes_from_what_was_there_before_the_last_writer() {
    let mut worked = BTreeSet::new();
    for_places(|scene, subject, platform, kernel, clean| {
        let clean_tasks = tasks(clean);
        let of_kernel = tasks_of(&clean_tasks, kernel);
        let nth = of_kernel.len() as u64 - 1;
        let target = of_kernel[nth as usize];
        let by_key = clean.by_key();
        let injection = injection(kernel, nth, InjectionKind::StaleRead);
        let about = format!("{} {} {} {injection}", scene.name, subject.names.runtime, platform.name);
        let faulty = run(subject, platform, &[injection]);
        if let Err(error) = faulty.result {
            assert!(
                matches!(error, RunError::Injection(InjectionError::NoEffect { .. })),
                "{about}: {error}"
            );
            assert_elsewhere_clean(clean, &faulty.dump, target, Some(u16::MAX), &about);
            return;
        }
        worked.insert((scene.name.clone(), subject.names.runtime.clone(), kernel));
        assert_elsewhere_clean(clean, &faulty.dump, target, None, &about);
        // "argument 0 was read as it was before task 0x... wrote it"
        let words: Vec<&str> = faulty.injections[0]["what"].as_str().unwrap().split(' ').collect();
        let (argument, writer): (u16, u64) = (words[1].parse().unwrap(), word(&words[9].into()));
        let input = by_key[&(target, argus_abi::Stage::BeforeDispatch, argument)];
        let wrote = clean_tasks[&writer].args.values().filter_map(|(_, after)| *after);
        let source = wrote.filter(|record| record.json["address"] == input.json["address"]);
        let source = source.max_by_key(|record| payload(record).len()).unwrap();
        let stale = held_before(source, &by_key);
        // The whole of what was written, or the first columns of every row of it.
        let seen = |bytes: &[u8]| -> Vec<u8> {
            if bytes.len() == payload(input).len() {
                return bytes.to_vec();
            }
            let width = input.dtype.size();
            let row = |record: &Record| *record.shape.last().unwrap() as usize * width;
            bytes.chunks_exact(row(source)).flat_map(|all| all[..row(input)].to_vec()).collect()
        };
        let fits = stale.iter().any(|bytes| {
            let expected = clean_tasks[&target].expected(scene, Some((argument, &seen(bytes)))).unwrap();
            let faulty = tasks(&faulty.dump);
            expected.iter().all(|output| {
                let record = faulty[&target].after(output.slot);
                alike(record.dtype, output.unchecked.as_deref(), &output.bytes, payload(record))
            })
        });
        assert!(fits, "{about}: {words:?}");
    });
    let runtimes: BTreeSet<&str> = worked.iter().map(|(_, runtime, _)| runtime.as_str()).collect();
    assert_eq!(runtimes.len(), 3, "{worked:?}");
    // A task that reads what another task wrote can be given what was there before.
    for kernel in ["add_scalar", "mul", "add_scalar_inplace", "SF", "PV", "UP"] {
        assert!(worked.iter().any(|(_, _, name)| *name == kernel), "{kernel}: {worked:?}");
    }
}

#[test]
fn what_cannot_be_injected_is_an_error_that_says_so() {
    let subject = Subject::scene("vector_example", "default", RuntimeKind::Trb);
    let ended = |kernel: &str, nth, kind| {
        let injection = injection(kernel, nth, kind);
        let mut subject = subject.clone();
        subject.config.injections = vec![injection.clone()];
        let recorded = subject.record(CHIPS[0], &RecordRequest::default());
        assert_eq!(recorded.args, subject.args, "a failed run changes nothing");
        (injection, recorded.run.result.unwrap_err())
    };
    let (injection, error) = ended("QK", 0, InjectionKind::Scale);
    let known = "add, add_scalar, mul".to_owned();
    let expected = InjectionError::NoKernel { injection, known: known.clone() };
    assert_eq!(error.to_string(), expected.to_string());
    assert!(error.to_string().contains("it has add, add_scalar, mul"), "{error}");

    let (injection, error) = ended("add_scalar", 2, InjectionKind::Scale);
    let expected = InjectionError::NoTask { injection, found: 2, known };
    assert_eq!(error.to_string(), expected.to_string());

    // Its inputs come from outside: nothing wrote them before.
    let (_, error) = ended("add", 0, InjectionKind::StaleRead);
    assert!(
        error.to_string().contains("changed nothing by more than the tolerance in task 0x0000000000000000"),
        "{error}"
    );
}

#[test]
fn two_faults_in_one_run_are_both_there() {
    let subject = Subject::scene("mixed_example", "case2", RuntimeKind::Trb);
    let faults = [
        injection("ADD_STANDALONE", 0, InjectionKind::Scale),
        injection("MUL_STANDALONE", 0, InjectionKind::ZeroRow),
    ];
    let faulty = run(&subject, CHIPS[0], &faults);
    assert!(faulty.result.is_ok());
    let told: Vec<u64> = faulty.injections.iter().map(|told| word(&told["task_id"])).collect();
    assert_eq!(told, [2, 3]);
    assert_eq!(wrong_tasks(&scene("mixed_example").unwrap(), &faulty.dump), [2, 3]);

    // Two kernels of one task.
    let faults = [injection("MATMUL", 0, InjectionKind::Scale), injection("MUL", 0, InjectionKind::Scale)];
    let error = run(&subject, CHIPS[0], &faults).result.unwrap_err();
    assert!(error.to_string().contains("both meet task 0x0000000000000000"), "{error}");
}

#[test]
fn the_dump_says_from_the_start_what_was_asked_for() {
    let mut subject = Subject::scene("dump_tensor_example", "default", RuntimeKind::Trb);
    subject.config.injections = vec![injection("add", 0, InjectionKind::Scale)];
    let dump = subject.record(CHIPS[0], &RecordRequest::default()).dump();
    assert_eq!(dump.run["configuration"]["injections"], serde_json::json!(["add:0:scale"]));
    let told = serde_json::json!([{
        "kernel": "add", "n": 0, "kind": "scale", "task_id": "0x0000000000000000", "arg_index": 2,
        "elements": 16384, "changed": 16384, "max_change": 5.0, "what": "every element was doubled",
    }]);
    assert_eq!(dump.run["injections"], told);
}
