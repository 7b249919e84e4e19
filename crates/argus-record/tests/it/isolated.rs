//! Every task of every scene, held against the reference that its own captured inputs give.

use std::collections::BTreeMap;
use std::sync::Arc;

use argus_abi::{DType, Kind, Role, RuntimeKind, Stage, TaskId};
use argus_chip::A2A3SIM;
use argus_facts::{Argument, Call, Edge, Expected, NoReference};
use argus_record::RecordRequest;
use argus_scene::{Case, Scene};
use argus_scenes::isolated;
use argus_scenes::scene;
use argus_scenes::scenes::all;
use half::{bf16, f16};

use crate::dump::{Dump, Record, word};
use crate::setup::{CHIPS, Subject, long};

/// The kernels of a task, and what is recorded of its arguments.
pub struct Recorded<'a> {
    pub funcs: Vec<i32>,
    pub kernels: Vec<&'a str>,
    pub blocks: u32,
    /// Before and after, by slot.
    pub args: BTreeMap<u16, (Option<&'a Record>, Option<&'a Record>)>,
}

/// The tasks of a dump that have kernels.
pub fn tasks(dump: &Dump) -> BTreeMap<u64, Recorded<'_>> {
    let kernels = dump.graph["kernels"].as_array().unwrap().iter();
    let names: BTreeMap<i64, &str> = kernels
        .map(|kernel| (kernel["func_id"].as_i64().unwrap(), kernel["name"].as_str().unwrap()))
        .collect();
    let mut tasks: BTreeMap<u64, Recorded<'_>> = BTreeMap::new();
    for record in &dump.records {
        let task = tasks.entry(record.task).or_insert_with(|| Recorded {
            funcs: record.funcs.iter().map(|&func| func as i32).collect(),
            kernels: record.funcs.iter().map(|func| names[func]).collect(),
            blocks: record.blocks as u32,
            args: BTreeMap::new(),
        });
        let (before, after) = task.args.entry(record.arg).or_default();
        match record.stage {
            Stage::BeforeDispatch => *before = Some(record),
            Stage::AfterCompletion => *after = Some(record),
        }
    }
    tasks
}

impl Recorded<'_> {
    /// What the task must have produced. `stale` takes the place of what was captured of an argument.
    pub fn expected(&self, scene: &Scene, stale: Option<(u16, &[u8])>) -> Result<Vec<Expected>, NoReference> {
        let arguments: Vec<Argument<'_>> = (self.args.iter())
            .map(|(&slot, (before, after))| {
                let record = before.or(*after).unwrap();
                let captured = before.and_then(|record| record.payload.as_deref());
                Argument {
                    slot: slot.into(),
                    role: record.role,
                    dtype: record.dtype,
                    shape: record.shape.iter().map(|&dim| u64::from(dim)).collect(),
                    before: stale.filter(|(stale, _)| *stale == slot).map(|(_, bytes)| bytes).or(captured),
                    scalar_bits: (record.kind == Kind::Scalar).then(|| record.bits.unwrap()),
                }
            })
            .collect();
        let (func_ids, kernels) = (&self.funcs[..], &self.kernels[..]);
        let call = Call {
            task: argus_abi::TaskId::from_raw(0),
            func_ids,
            kernels,
            blocks: self.blocks,
            arguments: &arguments,
        };
        isolated::expected(&scene.name, &call)
    }

    pub fn after(&self, slot: u32) -> &Record {
        self.args[&(slot as u16)].1.unwrap_or_else(|| panic!("argument {slot} has no record after its task"))
    }
}

/// Whether a payload is what its reference says, bit for bit. Only a NaN may be another NaN: the bits of one
/// that arithmetic made are the processor's choice.
fn agrees(dtype: DType, expected: &Expected, actual: &[u8]) -> bool {
    if expected.bytes.len() != actual.len() {
        return false;
    }
    let width = dtype.size();
    let unchecked = |index: usize| expected.unchecked.as_ref().is_some_and(|unchecked| unchecked[index]);
    let elements = expected.bytes.chunks_exact(width).zip(actual.chunks_exact(width)).enumerate();
    let number = |raw: &[u8]| match dtype {
        DType::F32 => f32::from_le_bytes(raw.try_into().unwrap()),
        DType::F16 => f16::from_le_bytes(raw.try_into().unwrap()).to_f32(),
        DType::Bf16 => bf16::from_le_bytes(raw.try_into().unwrap()).to_f32(),
        _ => 0.0,
    };
    let both_nan = |expected: &[u8], actual: &[u8]| number(expected).is_nan() && number(actual).is_nan();
    elements
        .filter(|(index, _)| !unchecked(*index))
        .all(|(_, (expected, actual))| expected == actual || both_nan(expected, actual))
}

/// Tasks that are not what their inputs give.
pub fn wrong_tasks(scene: &Scene, dump: &Dump) -> Vec<u64> {
    let tasks = tasks(dump);
    let wrong = tasks.iter().filter(|(id, task)| {
        let expected = task.expected(scene, None).unwrap_or_else(|error| panic!("task {id:#x}: {error}"));
        let outputs: Vec<u32> = expected.iter().map(|output| output.slot).collect();
        let written = task.args.iter().filter(|(_, (_, after))| after.is_some());
        assert_eq!(outputs, written.map(|(&slot, _)| u32::from(slot)).collect::<Vec<_>>(), "task {id:#x}");
        expected.iter().any(|expected| {
            let record = task.after(expected.slot);
            !agrees(record.dtype, expected, record.payload.as_ref().unwrap())
        })
    });
    wrong.map(|(&id, _)| id).collect()
}

/// Every case that ends well, on every runtime; the large ones only if time does not matter.
fn cases() -> Vec<(Arc<Scene>, Arc<Case>, RuntimeKind)> {
    let large = |case: &Case| matches!(&case.name[..], "large" | "Case0");
    let mut cases = Vec::new();
    for scene in all().into_iter().map(Arc::new).filter(|scene| scene.name != "failures") {
        for case in scene.cases.iter().filter(|case| long() || !large(case)) {
            let on = |&runtime: &RuntimeKind| (Arc::clone(&scene), Arc::clone(case), runtime);
            cases.extend(case.runtimes.iter().map(on));
        }
    }
    cases
}

#[test]
fn every_scene_s_tasks_are_what_their_captured_inputs_give() {
    for (scene, case, runtime) in cases() {
        let subject = Subject::scene(&scene.name, &case.name, runtime);
        for platform in CHIPS {
            let about = format!("{} {} {runtime} {}", scene.name, case.name, platform.name);
            let dump = subject.record(platform, &RecordRequest::default()).complete(&about);
            assert_eq!(wrong_tasks(&scene, &dump), [0u64; 0], "{about}");
        }
    }
}

#[test]
fn the_graph_of_every_scene_is_that_of_its_dumps() {
    for (scene, case, runtime) in cases() {
        let about = format!("{} {} {runtime}", scene.name, case.name);
        let dump = Subject::scene(&scene.name, &case.name, runtime)
            .record(&A2A3SIM, &RecordRequest { level: None, ..RecordRequest::default() })
            .complete(&about);
        let graph = argus_scene::graph::graph(&case, runtime).unwrap();
        let listed = dump.graph["tasks"].as_array().unwrap();
        assert_eq!(graph.tasks.len(), listed.len(), "{about}");
        for task in listed {
            let found = graph.task(TaskId::from_raw(word(&task["task_id"]))).unwrap();
            assert_eq!(serde_json::json!(*found.func_ids), task["func_id"], "{about}");
            assert_eq!(found.blocks, task["blocks"], "{about}");
        }
        let mut edges = dump.edges();
        edges.sort_unstable();
        let named = |edge: &Edge| (edge.from.raw(), edge.to.raw(), edge.reason.name().to_owned());
        let mut found: Vec<_> = graph.edges.iter().map(named).collect();
        found.sort_unstable();
        assert_eq!(found, edges, "{about}");
    }
}

#[test]
fn the_graph_names_kernels() {
    let scene = scene("paged_attention").unwrap();
    let (case, runtime) = scene.case(Some("CaseSmall1"), Some(RuntimeKind::Trb)).unwrap();
    let graph = argus_scene::graph::graph(&case, runtime).unwrap();
    // An allocation on ring 1, and three blocks of four tasks on ring 2.
    let kernels: Vec<(TaskId, String)> =
        graph.tasks.iter().map(|task| (task.id, graph.kernel_names(&task.func_ids))).collect();
    assert_eq!(kernels[0], (TaskId::new(1, 0), String::new()));
    assert_eq!(kernels[1], (TaskId::new(2, 0), "QK".to_owned()));
    assert_eq!(kernels[4], (TaskId::new(2, 3), "UP".to_owned()));
    assert_eq!(kernels.len(), 13);
    let merges = |edge: &Edge| (edge.from, edge.to) == (TaskId::new(2, 3), TaskId::new(2, 7));
    assert!(graph.edges.iter().any(merges), "the state goes from merge to merge");
}

/// One f32 argument of a call.
fn floats<'a>(slot: u32, role: Role, shape: &[u64], before: Option<&'a [u8]>) -> Argument<'a> {
    Argument { slot, role, dtype: DType::F32, shape: shape.to_vec(), before, scalar_bits: None }
}

#[test]
fn what_does_not_fit_is_refused_and_never_believed() {
    let scene = scene("vector_example").unwrap();
    let two = [0u8; 8];
    let call = |kernels: &[&str], arguments: &[Argument<'_>]| {
        let call =
            Call { task: argus_abi::TaskId::from_raw(0), func_ids: &[0], kernels, blocks: 1, arguments };
        isolated::expected(&scene.name, &call).unwrap_err().to_string()
    };
    let x = || floats(0, Role::Input, &[2], Some(&two));
    let y = || floats(1, Role::Input, &[2], Some(&two));
    let z = || floats(2, Role::Output, &[2], None);
    assert!(call(&["QK"], &[x(), y(), z()]).contains("no reference for a task of the kernels QK"));
    assert!(call(&["add"], &[x(), y()]).contains("no argument was captured for 'result'"));
    assert!(call(&["add"], &[x(), Argument { before: None, ..y() }, z()]).contains("has no captured bytes"));
    assert!(
        call(&["add"], &[x(), Argument { dtype: DType::I32, ..y() }, z()]).contains("INT32, not FLOAT32")
    );
    assert!(
        call(&["add"], &[x(), Argument { shape: vec![u64::MAX, 3], ..y() }, z()]).contains("do not make up")
    );
    assert!(
        call(&["add"], &[x(), Argument { shape: vec![1], before: Some(&two[..4]), ..y() }, z()])
            .contains("2 and 1")
    );
    assert!(
        call(&["add"], &[x(), y(), Argument { shape: vec![1 << 60], ..z() }]).contains("give 2 elements")
    );
    let endless = isolated::expected(
        "failures",
        &Call {
            task: argus_abi::TaskId::from_raw(0),
            func_ids: &[2],
            kernels: &["endless"],
            blocks: 1,
            arguments: &[],
        },
    );
    assert_eq!(endless, Err(NoReference::Endless { kernel: "endless".into() }));
}

#[test]
fn half_types_have_the_formats_of_the_dump() {
    // By hand: sqrt(ln e^4) is 2 in f16; the weight of a lone score is 1 in bf16.
    let a = f16::from_f64(4f64.exp()).to_le_bytes();
    let shape = [1, 1];
    let half = |slot, role, before| Argument {
        slot,
        role,
        dtype: DType::F16,
        shape: shape.to_vec(),
        before,
        scalar_bits: None,
    };
    let args = [half(0, Role::Input, Some(&a[..])), half(1, Role::Output, None)];
    let call = Call {
        task: argus_abi::TaskId::from_raw(0),
        func_ids: &[0],
        kernels: &["log_sqrt"],
        blocks: 1,
        arguments: &args,
    };
    let expected = isolated::expected("matmul", &call).unwrap();
    assert_eq!(expected[0].bytes, f16::from_f32(2.0).to_le_bytes());

    let score = 0.25f32.to_le_bytes();
    let scale = Argument {
        slot: 4,
        role: Role::Input,
        dtype: DType::U64,
        shape: Vec::new(),
        before: None,
        scalar_bits: Some(u64::from(0.5f32.to_bits())),
    };
    let p = Argument { dtype: DType::Bf16, shape: vec![1, 2], ..floats(1, Role::Output, &[], None) };
    let args = [
        floats(0, Role::Input, &[1, 1], Some(&score)),
        p,
        floats(2, Role::Output, &[1], None),
        floats(3, Role::Output, &[1], None),
        scale,
    ];
    let call = Call {
        task: argus_abi::TaskId::from_raw(0),
        func_ids: &[1],
        kernels: &["SF"],
        blocks: 1,
        arguments: &args,
    };
    let expected = isolated::expected("paged_attention", &call).unwrap();
    let weights = [bf16::from_f32(1.0).to_le_bytes(), [0, 0]].concat();
    let found: Vec<(u32, Vec<u8>)> = expected.into_iter().map(|output| (output.slot, output.bytes)).collect();
    let (max, sum) = (0.125f32.to_le_bytes().to_vec(), 1f32.to_le_bytes().to_vec());
    assert_eq!(found, [(1, weights), (2, max), (3, sum)]);
}
