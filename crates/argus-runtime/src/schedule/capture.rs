//! The two hooks: what is written down about a task, and when.
//!
//! *Before dispatch*: the inputs are final and no token of the task has been written. *After completion*: the
//! last part has finished and no consumer has been released. Each happens once per task, whatever the number
//! of blocks and members.
//!
//! What a recorder answers is not looked at here: a skip is an entry of its own, the ledger counts every loss,
//! and the run continues either way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use argus_abi::capture::{ArgumentEntry, SkipEntry, TaskFields, argument_flags, skip_reason};
use argus_abi::{DType, EdgeReason, FuncId, Kind, Role, Stage, TaskId, TaskState, Tensor, TensorArgType};
use argus_capture::{CaptureStatus, Recorder};
use argus_facts::{Candidate, Decision, Selection};
use argus_gm::GlobalMemory;
use argus_sync::relock;

use smallvec::SmallVec;

use crate::kernel_table::{KernelEntry, KernelTable};
use crate::schedule::task::{ArgumentDescription, Launch, Task, Work};

/// What the threads of a captured run share.
pub struct Capture {
    pub selection: Arc<Selection>,
    /// Payloads are only passed through for their statistics.
    pub stats_only: bool,
    /// The orchestration asked for marked arguments only.
    marked_only: AtomicBool,
    pub status: Arc<CaptureStatus>,
    /// The orchestration's own ring: edges, and tasks that complete without a control thread.
    pub orchestration: Mutex<Option<Recorder>>,
    memory: Arc<GlobalMemory>,
    /// The zero of all times.
    pub started: Instant,
    dispatched: AtomicU64,
}

impl Capture {
    pub fn new(
        selection: Arc<Selection>,
        stats_only: bool,
        status: Arc<CaptureStatus>,
        orchestration: Recorder,
        memory: Arc<GlobalMemory>,
    ) -> Capture {
        Capture {
            selection,
            stats_only,
            marked_only: AtomicBool::new(false),
            status,
            orchestration: Mutex::new(Some(orchestration)),
            memory,
            started: Instant::now(),
            dispatched: AtomicU64::new(0),
        }
    }

    /// A child process has a copy of this and is the one to use it.
    pub fn leave_to_child(self) {
        if let Some(recorder) = relock(self.orchestration.lock()).take() {
            recorder.leave_to_child();
        }
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// From now on only marked arguments are captured, whatever the level.
    pub fn take_marked_only(&self) {
        self.marked_only.store(true, Ordering::Relaxed);
    }

    /// Whether the orchestration asked for marked arguments only.
    pub fn is_marked_only(&self) -> bool {
        self.marked_only.load(Ordering::Relaxed)
    }

    /// The first hook: the task itself, which says which kernels it runs if nothing else comes of it; inputs, in/out
    /// tensors and scalars.
    pub fn before_dispatch(&self, recorder: &mut Recorder, kernels: &KernelTable, task: &Task) {
        let now = self.now();
        task.trace.dispatched(self.dispatched.fetch_add(1, Ordering::Relaxed), now);
        // Of a process that is killed, only what is collected while it runs is left.
        if recorder.is_read_meanwhile() {
            self.task(recorder, task, TaskState::Running, now);
        }
        self.arguments(recorder, kernels, task, Stage::BeforeDispatch, 0, now);
    }

    /// The second hook: outputs, in/out tensors, and the task itself.
    pub fn after_completion(&self, recorder: &mut Recorder, kernels: &KernelTable, task: &Task) {
        let now = self.now();
        if matches!(task.work, Work::Kernels(_)) {
            self.arguments(recorder, kernels, task, Stage::AfterCompletion, 0, now);
        }
        self.task(recorder, task, TaskState::Completed, now);
    }

    /// A task that was running when the run ended: its outputs as they are, marked as partial.
    pub fn interrupted(&self, recorder: &mut Recorder, kernels: &KernelTable, task: &Task) {
        let now = self.now();
        self.arguments(recorder, kernels, task, Stage::AfterCompletion, argument_flags::PARTIAL, now);
        self.task(recorder, task, TaskState::Running, now);
    }

    /// A task that completed without running.
    pub fn skipped(&self, recorder: &mut Recorder, task: &Task) {
        self.task(recorder, task, TaskState::Skipped, self.now());
    }

    /// A task that never started.
    pub fn never_started(&self, recorder: &mut Recorder, task: &Task) {
        self.task(recorder, task, TaskState::Waiting, self.now());
    }

    /// A task that the orchestration completed itself.
    pub fn completed_inline(&self, task: &Task) {
        if let Some(recorder) = &mut *relock(self.orchestration.lock()) {
            self.task(recorder, task, TaskState::Completed, self.now());
        }
    }

    /// The producers of a task, with the reason of each.
    pub fn edges(&self, consumer: TaskId, producers: &[(TaskId, EdgeReason)]) {
        if !producers.is_empty()
            && let Some(recorder) = &mut *relock(self.orchestration.lock())
        {
            _ = recorder.edges(consumer, producers);
        }
    }

    /// What is known of a task now.
    fn task(&self, recorder: &mut Recorder, task: &Task, state: TaskState, now: u64) {
        let (func_ids, blocks) = match &task.work {
            Work::None => ([-1; 3], 0),
            Work::Kernels(launch) => (func_numbers(launch.kernels), launch.blocks),
        };
        let (dispatch_order, dispatched_ns, cores) = task.trace.read();
        _ = recorder.task(TaskFields {
            task_id: task.id.raw(),
            func_ids,
            blocks,
            dispatch_order,
            dispatched_ns,
            finished_ns: now,
            cores,
            scope_depth: task.args.scope_depth,
            tensors: task.args.tensors.len() as u16,
            scalars: task.args.scalars.len() as u16,
            state: state as u8,
            reserved: [0; 7],
        });
    }

    fn arguments(
        &self,
        recorder: &mut Recorder,
        kernels: &KernelTable,
        task: &Task,
        stage: Stage,
        flags: u8,
        time_ns: u64,
    ) {
        let Work::Kernels(launch) = &task.work else { return };
        // No arguments were asked for, so none is missing either.
        if self.selection.level.is_none() {
            return;
        }
        let marked_only = self.is_marked_only();
        let mut visit = |arg: usize, what: Argument<'_>| {
            let (kind, role, dtype) = what.facts();
            if !role.captured_at(stage) {
                return;
            }
            let marked = task.args.is_marked(arg);
            if marked_only && !marked {
                return;
            }
            let name = |func| kernels.get(func).map(|entry| &*entry.name);
            let decision = self.selection.decide(marked, || Candidate {
                task: task.id,
                funcs: launch.kernels,
                kernels: launch.kernels.map(|func| func.and_then(name)),
                stage,
                role,
                kind,
                arg: arg as u16,
                dtype,
                bytes: what.bytes(),
            });
            let flags = flags
                | match decision {
                    Decision::Leave => return,
                    Decision::Metadata => argument_flags::NO_PAYLOAD,
                    Decision::Payload if self.stats_only => argument_flags::STATS_ONLY,
                    Decision::Payload => 0,
                };
            self.argument(recorder, task, arg, stage, what, flags, time_ns);
        };
        match &task.args.described {
            Some(Ok(described)) => {
                for (slot, description) in described.iter().enumerate() {
                    visit(slot, Argument::described(description, task.args.scalars[slot]));
                }
            }
            Some(Err(reason)) => self.skip(recorder, task, stage, *reason),
            None if launch.abi == argus_abi::args::KernelAbi::Raw => {
                self.skip(recorder, task, stage, skip_reason::NO_METADATA);
            }
            None => {
                let promised = promised_roles(launch, kernels, task.args.tensors.len());
                for (arg, tensor) in task.args.tensors.iter().enumerate() {
                    let submitted = task.args.types[arg];
                    let role = match promised.get(arg) {
                        // What a task creates has no content before.
                        Some(&role) if submitted != TensorArgType::Output => role,
                        _ => submitted.role(),
                    };
                    visit(arg, Argument::Tensor(tensor, role));
                }
                let first = task.args.tensors.len();
                for (index, &bits) in task.args.scalars.iter().enumerate() {
                    let dtype = task.args.scalar_types.get(index).copied().unwrap_or(DType::U64);
                    visit(first + index, Argument::Scalar(bits, dtype));
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call site; a struct would only rename them")]
    fn argument(
        &self,
        recorder: &mut Recorder,
        task: &Task,
        arg: usize,
        stage: Stage,
        what: Argument<'_>,
        flags: u8,
        time_ns: u64,
    ) {
        let (kind, role, dtype) = what.facts();
        let mut entry = ArgumentEntry {
            task_id: task.id.raw(),
            time_ns,
            arg_index: arg as u16,
            stage: stage as u8,
            role: role as u8,
            kind: kind as u8,
            dtype: dtype as u8,
            flags,
            ..zerocopy::FromZeros::new_zeroed()
        };
        match what {
            Argument::Scalar(bits, _) => {
                entry.scalar_bits = bits;
                entry.flags |= argument_flags::CONTIGUOUS;
                _ = recorder.argument(entry, None, &self.memory);
            }
            Argument::Tensor(tensor, _) => {
                entry.ndims = tensor.rank() as u8;
                entry.address = tensor.data_addr().unwrap_or(0);
                entry.start_offset = tensor.start_offset;
                entry.shapes[..tensor.rank()].copy_from_slice(tensor.shape());
                entry.strides[..tensor.rank()].copy_from_slice(tensor.stride());
                entry.flags |= if tensor.is_contiguous != 0 { argument_flags::CONTIGUOUS } else { 0 };
                entry.flags |= if tensor.owner() == task.id { argument_flags::CREATED } else { 0 };
                _ = recorder.argument(entry, Some(tensor), &self.memory);
            }
        }
    }

    fn skip(&self, recorder: &mut Recorder, task: &Task, stage: Stage, reason: u8) {
        let func_id = match &task.work {
            Work::None => -1,
            Work::Kernels(launch) => launch.members().next().map_or(-1, |(_, func)| func.0 as i32),
        };
        _ = recorder.skip(SkipEntry {
            task_id: task.id.raw(),
            func_id,
            arg_index: u16::MAX,
            stage: stage as u8,
            reason,
            ..zerocopy::FromZeros::new_zeroed()
        });
    }
}

/// One argument, wherever its description comes from.
#[derive(Clone, Copy)]
enum Argument<'a> {
    Tensor(&'a Tensor, Role),
    Scalar(u64, DType),
}

impl<'a> Argument<'a> {
    fn described(description: &'a ArgumentDescription, slot: u64) -> Argument<'a> {
        match description {
            ArgumentDescription::Tensor(tensor, role) => Argument::Tensor(tensor, *role),
            ArgumentDescription::Scalar(dtype) => Argument::Scalar(slot, *dtype),
        }
    }

    fn facts(&self) -> (Kind, Role, DType) {
        match self {
            Argument::Tensor(tensor, role) => (Kind::Tensor, *role, tensor.dtype().unwrap_or(DType::U8)),
            Argument::Scalar(_, dtype) => (Kind::Scalar, Role::Input, *dtype),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Argument::Tensor(tensor, _) => tensor.packed_bytes().unwrap_or(0),
            Argument::Scalar(..) => 0,
        }
    }
}

/// What the signatures of a task's kernels say of its tensors; empty where they do not say it of each.
///
/// A signature knows what the kernel does with a tensor; how the tensor was submitted may only say whom the task waits
/// for. Members of a mix describe either the same slots or, one after the other, their own.
fn promised_roles(launch: &Launch, kernels: &KernelTable, tensors: usize) -> SmallVec<[Role; 16]> {
    let roles = |func| {
        let signature = kernels.get(func).map_or(&[][..], |entry: &KernelEntry| &entry.signature[..]);
        signature.iter().filter_map(|direction| direction.role())
    };
    let fits = |found: &SmallVec<[Role; 16]>| found.len() == tensors;
    let of_one = launch.members().map(|(_, func)| roles(func).collect()).find(fits);
    of_one.unwrap_or_else(|| {
        Some(launch.members().flat_map(|(_, func)| roles(func)).collect()).filter(fits).unwrap_or_default()
    })
}

fn func_numbers(kernels: [Option<FuncId>; 3]) -> [i32; 3] {
    kernels.map(|func| func.map_or(-1, |func| func.0 as i32))
}
