//! Dumps of small graphs whose every value is written by hand.

use std::path::Path;

use argus_abi::capture::{
    ArgumentEntry, ENTRY_MAGIC, ENTRY_VERSION, EdgesEntry, EntryHeader, TaskEntry, TaskFields,
    argument_flags, what,
};
use argus_abi::{CoreType, DType, EdgeReason, Role, Stage, TaskState};
use argus_dump::read::Dump;
use argus_dump::{DumpInfo, DumpOptions, DumpWriter, RunEnd, new_run_id};
use argus_facts::{Call, Expected, KernelInfo, NoReference, References, Sink};

/// An argument: role, device address, values before and after. Empty where it has none.
#[derive(Clone)]
pub struct Arg {
    pub role: Role,
    pub address: u64,
    pub before: Vec<f32>,
    pub after: Vec<f32>,
    pub created: bool,
}

pub fn input(address: u64, values: &[f32]) -> Arg {
    Arg { role: Role::Input, address, before: values.to_vec(), after: Vec::new(), created: false }
}

pub fn output(address: u64, values: &[f32]) -> Arg {
    Arg { role: Role::Output, address, before: Vec::new(), after: values.to_vec(), created: false }
}

pub fn inout(address: u64, before: &[f32], after: &[f32]) -> Arg {
    Arg { role: Role::Inout, address, before: before.to_vec(), after: after.to_vec(), created: false }
}

#[derive(Clone)]
pub struct TaskSpec {
    pub id: u64,
    pub kernel: u32,
    pub args: Vec<Arg>,
    pub after: Vec<(u64, EdgeReason)>,
    /// It was running when the run ended.
    pub running: bool,
}

pub fn task(id: u64, kernel: u32, args: Vec<Arg>, after: &[u64]) -> TaskSpec {
    TaskSpec {
        id,
        kernel,
        args,
        running: false,
        after: after.iter().map(|&id| (id, EdgeReason::Overlap)).collect(),
    }
}

/// Bytes of an entry of the journal.
const ENTRY_BYTES: u64 = 192;

/// The last one has no reference.
const KERNELS: [&str; 4] = ["double", "sum", "clamp", "opaque"];

fn header(what: u8) -> EntryHeader {
    EntryHeader { magic: ENTRY_MAGIC, version: ENTRY_VERSION, what, ring: 0, sequence: 0 }
}

/// Writes a dump of the tasks, dispatched in the order given. One without arguments has no kernel to be dispatched.
pub fn write(directory: &Path, tasks: &[TaskSpec]) -> Dump {
    write_stages(directory, tasks, &[Stage::BeforeDispatch, Stage::AfterCompletion], Some(RunEnd::default()))
}

/// The same with some of the stages, and with another end or none.
pub fn write_stages(directory: &Path, tasks: &[TaskSpec], stages: &[Stage], end: Option<RunEnd>) -> Dump {
    let kernel = |(func_id, name): (usize, &&str)| KernelInfo {
        func_id: func_id as u32,
        name: (*name).to_owned(),
        core_type: CoreType::Aiv,
        signature: Vec::new(),
        abi: argus_abi::args::KernelAbi::Tensors,
    };
    let info = DumpInfo {
        scene: "by hand".to_owned(),
        level: "full".to_owned(),
        run_id: new_run_id(),
        kernels: KERNELS.iter().enumerate().map(kernel).collect(),
        ..DumpInfo::default()
    };
    let mut writer = DumpWriter::create(directory, DumpOptions::default(), info).unwrap();
    for (order, task) in tasks.iter().enumerate() {
        for &stage in stages {
            for (index, arg) in task.args.iter().enumerate() {
                if arg.role.captured_at(stage) {
                    argument(&mut writer, task, index, arg, stage);
                }
            }
        }
        for (producer, reason) in &task.after {
            let mut edges = EdgesEntry {
                header: header(what::EDGES),
                consumer: task.id,
                count: 1,
                ..zerocopy::FromZeros::new_zeroed()
            };
            edges.producers[0] = *producer;
            edges.reasons[0] = *reason as u8;
            writer.edges(&edges).unwrap();
        }
        writer
            .task(&TaskEntry {
                header: header(what::TASK),
                task: TaskFields {
                    task_id: task.id,
                    func_ids: if task.args.is_empty() { [-1; 3] } else { [task.kernel as i32, -1, -1] },
                    blocks: 1,
                    dispatch_order: if task.args.is_empty() { u64::MAX } else { order as u64 },
                    dispatched_ns: order as u64 * 10,
                    finished_ns: order as u64 * 10 + 5,
                    tensors: task.args.len() as u16,
                    state: if task.running { TaskState::Running } else { TaskState::Completed } as u8,
                    ..zerocopy::FromZeros::new_zeroed()
                },
                reserved: [0; 16],
            })
            .unwrap();
    }
    let killed = end.is_none();
    writer.finish(end.unwrap_or_default()).unwrap();
    if killed {
        // As a process leaves it that was killed: no manifest, and a journal without its last entry.
        for name in ["tensor_dump.json", "graph.json", "run.json"] {
            std::fs::remove_file(directory.join(name)).unwrap();
        }
        let journal = std::fs::OpenOptions::new().write(true).open(directory.join("tensor_dump.journal"));
        let journal = journal.unwrap();
        journal.set_len(journal.metadata().unwrap().len() - ENTRY_BYTES).unwrap();
    }
    Dump::open(directory).unwrap()
}

fn argument(writer: &mut DumpWriter, task: &TaskSpec, index: usize, arg: &Arg, stage: Stage) {
    let values = if stage == Stage::BeforeDispatch { &arg.before } else { &arg.after };
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut entry = ArgumentEntry {
        header: header(what::ARGUMENT),
        task_id: task.id,
        arg_index: index as u16,
        stage: stage as u8,
        role: arg.role as u8,
        dtype: DType::F32 as u8,
        ndims: 1,
        flags: argument_flags::CONTIGUOUS
            | if arg.created { argument_flags::CREATED } else { 0 }
            | if task.running && stage == Stage::AfterCompletion { argument_flags::PARTIAL } else { 0 },
        address: arg.address,
        payload_bytes: bytes.len() as u64,
        ..zerocopy::FromZeros::new_zeroed()
    };
    entry.shapes[0] = values.len() as u32;
    entry.strides[0] = 1;
    writer.begin_argument(&entry).unwrap();
    writer.payload(&bytes).unwrap();
    writer.end_argument().unwrap();
}

/// Doubles, adds, and clamps to one: what the kernels should do.
pub struct Right;

impl References for Right {
    fn expected(&self, call: &Call<'_>) -> Result<Vec<Expected>, NoReference> {
        let missing = NoReference::NotCaptured { slot: 0, what: "operand" };
        let inputs = if call.kernels[0] == "sum" { 2 } else { 1 };
        if call.arguments[..inputs].iter().any(|argument| argument.before.is_none()) {
            return Err(missing);
        }
        let values = |slot: usize| -> Vec<f32> {
            let bytes = call.arguments[slot].before.unwrap();
            bytes.as_chunks::<4>().0.iter().map(|raw| f32::from_le_bytes(*raw)).collect()
        };
        let (slot, out): (u32, Vec<f32>) = match call.kernels[0] {
            "double" => (1, values(0).iter().map(|x| 2.0 * x).collect()),
            "sum" => (2, values(0).iter().zip(values(1)).map(|(x, y)| x + y).collect()),
            "clamp" => (1, values(0).iter().map(|x| x.min(1.0)).collect()),
            other => {
                return Err(NoReference::Kernels { scene: "by hand".to_owned(), kernels: other.to_owned() });
            }
        };
        let bytes = out.iter().flat_map(|value| value.to_le_bytes()).collect();
        Ok(vec![Expected { slot, bytes, unchecked: None, reduction: None, exact: false }])
    }
}
