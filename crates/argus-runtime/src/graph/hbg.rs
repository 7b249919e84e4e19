//! host_build_graph: tasks and edges are declared on the host; nothing runs before the graph is whole.

use std::sync::Arc;

use argus_abi::args::{KernelAbi, MAX_RAW_ARGS};
use argus_abi::capture::skip_reason;
use argus_abi::{ArgDirection, CoreType, DType, EdgeReason, FuncId, TaskId, Tensor};
use argus_gm::{Fill, GlobalMemory};

use crate::error::Fatal;
use crate::program::EntryArgs;
use crate::schedule::Scheduler;
use crate::schedule::task::{ArgumentDescription, Launch, Task, TaskArgs, Work};

/// Tasks a graph may have.
pub const MAX_TASKS: usize = 131_072;

/// A host tensor that receives device bytes when the run is done.
#[derive(Clone, Copy, Debug)]
pub struct TensorPair {
    pub argument: usize,
    /// Where the bytes start in the argument.
    pub offset: u64,
    pub device_addr: u64,
    pub bytes: u64,
}

/// The orchestration's handle.
pub struct Hbg {
    scheduler: Arc<Scheduler>,
    memory: Arc<GlobalMemory>,
    fill: Fill,
    args: Arc<EntryArgs>,
    /// Nothing else sees them before the graph is whole.
    tasks: Vec<Task>,
    edges: Vec<(u32, u32)>,
    pairs: Vec<TensorPair>,
}

/// What a slot of a task holds, as the orchestration describes it for capture.
#[derive(Clone, Debug)]
pub enum SlotInfo {
    /// The address of a row-major buffer of `raw_shape`, of which the task uses the box of `shape` at
    /// `offsets`.
    Tensor {
        dtype: DType,
        shape: Vec<u32>,
        raw_shape: Vec<u32>,
        offsets: Vec<u32>,
    },
    Scalar(DType),
}

impl SlotInfo {
    /// A tensor that is its whole buffer.
    pub fn tensor(dtype: DType, shape: &[u32]) -> SlotInfo {
        SlotInfo::Tensor {
            dtype,
            shape: shape.into(),
            raw_shape: shape.into(),
            offsets: vec![0; shape.len()],
        }
    }
}

impl Hbg {
    pub(crate) fn new(
        scheduler: Arc<Scheduler>,
        memory: Arc<GlobalMemory>,
        fill: Fill,
        args: Arc<EntryArgs>,
    ) -> Hbg {
        Hbg { scheduler, memory, fill, args, tasks: Vec::new(), edges: Vec::new(), pairs: Vec::new() }
    }

    /// Allocates device memory that lives until the run ends.
    pub fn device_malloc(&mut self, bytes: u64) -> Result<u64, Fatal> {
        match self.memory.allocate(bytes, self.fill) {
            Ok(buffer) => Ok(buffer.addr),
            Err(error) => Err(Fatal::invalid(error.to_string())),
        }
    }

    /// Frees device memory that no task uses.
    pub fn device_free(&mut self, addr: u64) -> Result<(), Fatal> {
        self.memory.free(addr).map_err(|error| Fatal::invalid(error.to_string()))
    }

    /// Copies bytes of the host to device memory.
    pub fn copy_to_device(&mut self, addr: u64, bytes: &[u8]) -> Result<(), Fatal> {
        self.memory.write(addr, bytes).map_err(|error| Fatal::invalid(error.to_string()))
    }

    /// Allocates device memory for an argument of the run and copies it there.
    pub fn upload(&mut self, argument: usize) -> Result<u64, Fatal> {
        let args = Arc::clone(&self.args);
        let bytes = args.bytes(argument)?;
        let addr = self.device_malloc(bytes.len() as u64)?;
        self.copy_to_device(addr, bytes)?;
        Ok(addr)
    }

    /// Device bytes to copy back to an argument of the run when it is done.
    pub fn record_tensor_pair(&mut self, argument: usize, addr: u64) -> Result<(), Fatal> {
        let bytes = self.args.bytes(argument)?.len() as u64;
        self.record_part(argument, 0, addr, bytes)
    }

    /// Device bytes to copy back to a part of an argument.
    pub fn record_part(&mut self, argument: usize, offset: u64, addr: u64, bytes: u64) -> Result<(), Fatal> {
        let room = self.args.bytes(argument)?.len() as u64;
        if offset.checked_add(bytes).is_none_or(|end| end > room) {
            let message = format!("argument {argument} has {room} bytes, not {bytes} at {offset}");
            return Err(Fatal::invalid(message));
        }
        self.memory.window(addr, bytes).map_err(|error| Fatal::invalid(error.to_string()))?;
        self.pairs.push(TensorPair { argument, offset, device_addr: addr, bytes });
        Ok(())
    }

    /// Adds a task. Slots hold device addresses and scalars in any order. Returns the task's number.
    pub fn add_task(&mut self, args: &[u64], func: FuncId, core_type: CoreType) -> Result<usize, Fatal> {
        if args.len() > MAX_RAW_ARGS {
            let message = format!("a task has at most {MAX_RAW_ARGS} arguments, not {}", args.len());
            return Err(Fatal::invalid(message));
        }
        if self.tasks.len() == MAX_TASKS {
            return Err(Fatal::invalid(format!("a graph has at most {MAX_TASKS} tasks")));
        }
        let entry = self.scheduler.kernels.named(func)?;
        if entry.core_type != core_type {
            let message = format!(
                "kernel '{}' (func_id {func}) is for {} cores and was added for an {core_type} core",
                entry.name, entry.core_type
            );
            return Err(Fatal::invalid(message));
        }
        let kernels = match core_type {
            CoreType::Aic => [Some(func), None, None],
            CoreType::Aiv => [None, Some(func), None],
        };
        let launch = Launch { kernels, blocks: 1, sync_start: false, abi: KernelAbi::Raw };
        let number = self.tasks.len();
        let id = TaskId::from_raw(number as u64);
        let args = TaskArgs { scalars: args.iter().copied().collect(), ..TaskArgs::default() };
        self.tasks.push(Task::new(id, Work::Kernels(launch), args, 0));
        self.scheduler.count_submitted();
        Ok(number)
    }

    /// Adds a task and says what its slots hold.
    pub fn add_task_with_tensor_info(
        &mut self,
        args: &[u64],
        func: FuncId,
        core_type: CoreType,
        info: &[SlotInfo],
    ) -> Result<usize, Fatal> {
        let task = self.add_task(args, func, core_type)?;
        self.set_tensor_info_to_task(task, info)?;
        Ok(task)
    }

    /// Says what the slots of a task hold, so that it can be captured. Information that does not fit the
    /// task or its kernel's signature does not end the run: the capture says which task and why.
    pub fn set_tensor_info_to_task(&mut self, task: usize, info: &[SlotInfo]) -> Result<(), Fatal> {
        self.set_description(task, |slots, signature, _| describe(info, slots, signature))
    }

    /// Says what the addresses among a task's slots are, in their order; which slots hold addresses follows from
    /// their values. Of the other slots only the bits are known.
    ///
    /// A number that happens to be an address is taken for one: then the counts differ and the capture says so.
    pub fn set_address_info_to_task(&mut self, task: usize, info: &[SlotInfo]) -> Result<(), Fatal> {
        self.set_description(task, |slots, signature, memory| {
            describe_addresses(info, slots, signature, |slot| memory.allocation_of(slot).is_some())
        })
    }

    fn set_description(
        &mut self,
        task: usize,
        describe: impl FnOnce(&[u64], &[ArgDirection], &GlobalMemory) -> Option<Box<[ArgumentDescription]>>,
    ) -> Result<(), Fatal> {
        let count = self.tasks.len();
        let Some(described) = self.tasks.get_mut(task) else {
            return Err(Fatal::invalid(format!("there is no task {task} in a graph of {count} tasks")));
        };
        let Work::Kernels(launch) = &described.work else { return Ok(()) };
        let signature = launch
            .members()
            .next()
            .and_then(|(_, func)| self.scheduler.kernels.get(func))
            .map_or(&[][..], |entry| &entry.signature[..]);
        let slots = describe(&described.args.scalars, signature, &self.memory);
        described.args.described = Some(slots.ok_or(skip_reason::METADATA_MISMATCH));
        Ok(())
    }

    /// Marks slots of a task: levels `partial` and `hybrid` capture them, if the task says what they hold.
    pub fn dump(&mut self, task: usize, slots: &[usize]) -> Result<(), Fatal> {
        let count = self.tasks.len();
        let Some(marked) = self.tasks.get_mut(task) else {
            return Err(Fatal::invalid(format!("there is no task {task} in a graph of {count} tasks")));
        };
        let args = &mut marked.args;
        for &slot in slots {
            if slot >= args.scalars.len() {
                let message = format!("task {task} has no slot {slot}: it has {}", args.scalars.len());
                return Err(Fatal::invalid(message));
            }
            args.marks |= 1 << slot;
        }
        Ok(())
    }

    /// Makes task `to` wait for task `from`. An edge given twice counts twice and is met twice.
    pub fn add_successor(&mut self, from: usize, to: usize) -> Result<(), Fatal> {
        let count = self.tasks.len();
        if from >= count || to >= count {
            let message = format!("there is no edge {from} -> {to} in a graph of {count} tasks");
            return Err(Fatal::invalid(message));
        }
        self.edges.push((from as u32, to as u32));
        Ok(())
    }

    pub fn task_count(&self) -> usize {
        self.tasks.len()
    }

    /// The graph is whole: wires it and hands it to the scheduler, lowest number first.
    pub(crate) fn finish(self) -> (Vec<Arc<Task>>, Vec<TensorPair>) {
        let tasks: Vec<Arc<Task>> = self.tasks.into_iter().map(Arc::new).collect();
        for (from, to) in self.edges {
            let (from, to) = (&tasks[from as usize], &tasks[to as usize]);
            to.wait_for(from);
            if let Some(hooks) = &self.scheduler.hooks {
                hooks.waits_for(to.id, &[(from.id, EdgeReason::Explicit)]);
            }
        }
        if let Some(hooks) = &self.scheduler.hooks {
            tasks.iter().for_each(|task| hooks.submitted(task, &[]));
        }
        for task in &tasks {
            self.scheduler.publish(task);
        }
        (tasks, self.pairs)
    }
}

/// The slots of a task as capture needs them; `None` where the information does not fit.
fn describe(
    info: &[SlotInfo],
    slots: &[u64],
    signature: &[ArgDirection],
) -> Option<Box<[ArgumentDescription]>> {
    if info.len() != slots.len() {
        return None;
    }
    let slots = info.iter().zip(slots).enumerate();
    let described = slots.map(|(slot, (info, &value))| {
        let direction = signature.get(slot).copied().unwrap_or(ArgDirection::Scalar);
        match info {
            SlotInfo::Scalar(dtype) => {
                (direction == ArgDirection::Scalar).then_some(ArgumentDescription::Scalar(*dtype))
            }
            SlotInfo::Tensor { dtype, shape, raw_shape, offsets } => {
                let whole = Tensor::contiguous(value, *dtype, raw_shape).ok()?;
                let view = whole.view(shape, offsets).ok()?;
                Some(ArgumentDescription::Tensor(view, direction.role()?))
            }
        }
    });
    described.collect()
}

/// The slots of a task whose addresses are described in their order; `None` where the counts do not agree.
fn describe_addresses(
    info: &[SlotInfo],
    slots: &[u64],
    signature: &[ArgDirection],
    is_address: impl Fn(u64) -> bool,
) -> Option<Box<[ArgumentDescription]>> {
    let mut roles = signature.iter().filter_map(|direction| direction.role());
    let mut info = info.iter();
    let described = slots.iter().map(|&slot| {
        if !is_address(slot) {
            return Some(ArgumentDescription::Scalar(DType::U64));
        }
        let SlotInfo::Tensor { dtype, shape, raw_shape, offsets } = info.next()? else { return None };
        let whole = Tensor::contiguous(slot, *dtype, raw_shape).ok()?;
        Some(ArgumentDescription::Tensor(whole.view(shape, offsets).ok()?, roles.next()?))
    });
    let described: Box<[_]> = described.collect::<Option<_>>()?;
    (info.next().is_none() && roles.next().is_none()).then_some(described)
}
