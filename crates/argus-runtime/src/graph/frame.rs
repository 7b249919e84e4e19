//! What the two builders on the device share: scopes, rings, memory of outputs, waiting for room.
//!
//! A builder that runs beside the scheduler must never wait for what cannot come. Whenever room is missing
//! the orchestrator helps with scheduling; when nothing is in flight any more, nothing can free room, and the
//! run is fatal at once with the code that says what was missing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use argus_abi::args::KernelAbi;
use argus_abi::{ArgLimits, FatalCode, TaskId, Tensor};
use argus_gm::{Fill, GlobalMemory, Window};

use crate::config::{RINGS, RunConfig};
use crate::error::{Fatal, RunError};
use crate::graph::arg::{Arg, MixedKernels, Predicate, TaskOutputs, TensorArg, TensorCreateInfo};
use crate::schedule::Scheduler;
use crate::schedule::condition::Condition;
use crate::schedule::task::{Launch, Shape, Task, TaskArgs, Work};
use crate::schedule::task_ring::{Lookup, Reservation, Ring, Shortage, padded};

/// Scopes may nest this deep.
pub const MAX_SCOPE_DEPTH: usize = 64;

/// The ring of tasks inside graphs, where one ring would do otherwise.
pub const GRAPH_RING: usize = 1;

/// How dependencies are found inside a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeMode {
    /// From overlapping views.
    Auto,
    /// Only from what the orchestration says.
    Manual,
}

#[derive(Debug)]
struct Scope {
    mode: ScopeMode,
    tasks: Vec<Arc<Task>>,
}

/// The common part of a running orchestration.
pub struct Frame {
    pub scheduler: Arc<Scheduler>,
    pub config: RunConfig,
    pub memory: Arc<GlobalMemory>,
    heaps: Vec<Window>,
    worker: usize,
    scopes: Vec<Scope>,
    fatal: Option<Fatal>,
    /// Nothing runs before the graph is whole: all tasks are on one ring and none is reclaimed.
    pub ahead: bool,
    /// Tasks belong to a graph within the graph, whose tasks have a ring of their own.
    pub in_graph: bool,
}

impl Frame {
    pub fn new(
        scheduler: Arc<Scheduler>,
        config: RunConfig,
        memory: Arc<GlobalMemory>,
        worker: usize,
        ahead: bool,
    ) -> Result<Frame, RunError> {
        let heaps = scheduler
            .rings
            .iter()
            .map(|ring| memory.window(ring.heap().addr, ring.heap().len))
            .collect::<Result<_, _>>()?;
        let (scopes, fatal, in_graph) = (Vec::new(), None, false);
        Ok(Frame { scheduler, config, memory, heaps, worker, scopes, fatal, ahead, in_graph })
    }

    /// Latches a fatal error; the first one stays.
    pub fn fail(&mut self, fatal: Fatal) -> Fatal {
        let fatal = self.fatal.get_or_insert(fatal).clone();
        self.scheduler.end(Some(RunError::Fatal(fatal.clone())));
        fatal
    }

    /// The latched error, if there is one, also when a scheduler or kernel raised it.
    pub fn check(&mut self) -> Result<(), Fatal> {
        if self.fatal.is_none() && self.scheduler.outcome.has_ended() {
            let raised = self.scheduler.outcome.fatal();
            let ended = || Fatal::new(FatalCode::ExplicitOrchFatal, "the run has ended");
            self.fatal = Some(raised.unwrap_or_else(ended));
        }
        match &self.fatal {
            Some(fatal) => Err(fatal.clone()),
            None => Ok(()),
        }
    }

    pub fn is_fatal(&mut self) -> bool {
        self.check().is_err()
    }

    pub fn begin_scope(&mut self, mode: ScopeMode) -> Result<(), Fatal> {
        self.check()?;
        if self.scopes.len() >= MAX_SCOPE_DEPTH {
            let message = format!("scopes nest at most {MAX_SCOPE_DEPTH} deep");
            return Err(self.fail(Fatal::invalid(message)));
        }
        if mode == ScopeMode::Auto && self.mode() == ScopeMode::Manual {
            let message = "an automatic scope cannot open inside a manual one";
            return Err(self.fail(Fatal::invalid(message)));
        }
        self.scopes.push(Scope { mode, tasks: Vec::new() });
        Ok(())
    }

    /// Ends the innermost scope and returns its tasks; their memory lives on while consumers need it.
    pub fn end_scope(&mut self) -> Result<Vec<Arc<Task>>, Fatal> {
        self.check()?;
        match self.scopes.pop() {
            Some(scope) => Ok(scope.tasks),
            None => Err(self.fail(Fatal::invalid("a scope ended that was never begun"))),
        }
    }

    /// Checks what a scope's body left behind: an error is fatal, and so is a scope of its own that it did
    /// not end, or one that it ended and did not begin.
    pub fn after_body<R>(&mut self, open: usize, result: Result<R, Fatal>) -> Result<R, Fatal> {
        match result {
            Ok(_) if self.scopes.len() != open => {
                self.check()?;
                Err(self.fail(Fatal::invalid("every scope that is begun must be ended, and no other")))
            }
            Ok(result) => Ok(result),
            Err(fatal) => Err(self.fail(fatal)),
        }
    }

    pub fn open_scopes(&self) -> usize {
        self.scopes.len()
    }

    /// Lets go of the tasks of an ended scope.
    pub fn release_scope(&self, tasks: &[Arc<Task>]) {
        for task in tasks {
            self.scheduler.let_go(task);
        }
    }

    pub fn mode(&self) -> ScopeMode {
        self.scopes.last().map_or(ScopeMode::Auto, |scope| scope.mode)
    }

    /// How deep the innermost scope is; the outermost is 0.
    pub fn depth(&self) -> usize {
        self.scopes.len().saturating_sub(1)
    }

    /// The ring that tasks of the innermost scope are on.
    pub fn ring_index(&self) -> usize {
        match (self.ahead, self.in_graph) {
            (_, true) => GRAPH_RING,
            (true, false) => 0,
            (false, false) => self.depth().min(RINGS - 1),
        }
    }

    pub fn ring(&self) -> &Ring {
        &self.scheduler.rings[self.ring_index()]
    }

    /// Whether `task` was submitted in a scope that is still open.
    pub fn is_in_open_scope(&self, id: TaskId) -> bool {
        // Scopes of one ring list tasks in the order of their counters.
        self.scopes.iter().any(|scope| scope.tasks.binary_search_by_key(&id, |task| task.id).is_ok())
    }

    /// The task with this id, or what became of it.
    pub fn find(&self, id: TaskId) -> Lookup {
        match self.scheduler.rings.get(id.ring() as usize) {
            Some(ring) if id.is_valid() => ring.find(id.local()),
            _ => Lookup::Never,
        }
    }

    /// The creator of a tensor, or `None` for a tensor from outside.
    ///
    /// A tensor outlives its scope nowhere: using one whose scope has ended is refused, always, instead of
    /// working or not by the luck of timing.
    pub fn creator(&mut self, tensor: &Tensor) -> Result<Option<Arc<Task>>, Fatal> {
        let owner = tensor.owner();
        if !owner.is_valid() {
            if self.heaps.iter().any(|heap| (heap.start()..heap.end()).contains(&tensor.addr)) {
                let message = format!(
                    "an external tensor points to {:#x} in the runtime's heap; use the tensor that the \
                     submission returned",
                    tensor.addr
                );
                return Err(self.fail(Fatal::invalid(message)));
            }
            return Ok(None);
        }
        match self.find(owner) {
            Lookup::Live(task) if self.is_in_open_scope(owner) => Ok(Some(task)),
            Lookup::Never => {
                let message = format!("a tensor names task {owner} as its creator, which does not exist");
                Err(self.fail(Fatal::invalid(message)))
            }
            Lookup::Live(_) | Lookup::Reclaimed => {
                let message = format!("a tensor of task {owner} is used after the scope of that task ended");
                Err(self.fail(Fatal::invalid(message)))
            }
        }
    }

    /// The kernels of a task, checked against the table and the machine.
    pub fn launch(&mut self, kernels: MixedKernels, arg: &Arg) -> Result<Launch, Fatal> {
        let kernels = kernels.by_member();
        let launch = Launch {
            kernels,
            blocks: arg.blocks.unwrap_or(1),
            sync_start: arg.sync_start,
            abi: KernelAbi::Tensors,
        };
        if launch.member_count() == 0 {
            return Err(self.fail(Fatal::invalid("a task needs at least one kernel")));
        }
        for (member, func) in launch.members() {
            let entry = match self.scheduler.kernels.named(func) {
                Ok(entry) => entry,
                Err(fatal) => return Err(self.fail(fatal)),
            };
            if entry.core_type != member.core_type() {
                let message = format!(
                    "kernel '{}' (func_id {func}) is for {} cores and was submitted for an {} core",
                    entry.name,
                    entry.core_type,
                    member.core_type()
                );
                return Err(self.fail(Fatal::invalid(message)));
            }
        }
        if launch.blocks == 0 || launch.blocks > i16::MAX as u32 {
            let message = format!("a task has 1 to {} blocks, not {}", i16::MAX, launch.blocks);
            return Err(self.fail(Fatal::invalid(message)));
        }
        let calls = launch.blocks * launch.member_count();
        if self.ahead && calls > i16::MAX as u32 {
            let message = format!(
                "{} blocks of {} kernels are {calls} calls, a task of a graph built ahead has at most {}",
                launch.blocks,
                launch.member_count(),
                i16::MAX
            );
            return Err(self.fail(Fatal::invalid(message)));
        }
        let clusters = self.scheduler.cores.clusters as u32;
        let room = if launch.shape() == Shape::Aiv { 2 * clusters } else { clusters };
        if launch.sync_start && launch.blocks > room {
            let message = format!(
                "{} blocks must start together, but this run has room for {room}: use fewer blocks or more \
                 clusters",
                launch.blocks
            );
            return Err(self.fail(Fatal::new(FatalCode::RequireSyncStartInvalid, message)));
        }
        Ok(launch)
    }

    /// Takes a place on the current ring, helping with scheduling until there is one.
    fn place(&mut self, bytes: u64, edges: u32) -> Result<Reservation, Fatal> {
        let ring_index = self.ring_index();
        let ring = &self.scheduler.rings[ring_index];
        let (capacity, pool, heap) = (ring.capacity(), ring.config().dep_pool, ring.heap().len);
        let scope = self.scopes.last().map_or(0, |scope| scope.tasks.len());
        let refuse = |code, message| Err(Fatal::new(code, message));
        let refused = if scope >= self.config.scope_tasks {
            refuse(FatalCode::ScopeTasksOverflow, format!("a scope lists at most {scope} tasks"))
        } else if scope >= capacity {
            refuse(
                FatalCode::ScopeDeadlock,
                format!(
                    "this scope holds {scope} tasks, all that ring {ring_index} has room for (window {}): \
                     none can be reclaimed before the scope ends; split the scope or enlarge the window",
                    capacity + 1
                ),
            )
        } else if edges > pool {
            refuse(
                FatalCode::DependencyOverflow,
                format!("one task depends on {edges} others; ring {ring_index} tracks at most {pool} edges"),
            )
        } else if bytes > heap {
            refuse(
                FatalCode::HeapRingDeadlock,
                format!("one task asks for {bytes} bytes; the heap of ring {ring_index} has {heap}"),
            )
        } else {
            Ok(())
        };
        if let Err(fatal) = refused {
            return Err(self.fail(fatal));
        }
        let mut shortage = match self.ring().reserve(bytes, edges) {
            Ok(place) => return Ok(place),
            Err(shortage) => shortage,
        };
        let mut place = None;
        self.wait_until(None, |frame| match frame.ring().reserve(bytes, edges) {
            Ok(free) => {
                place = Some(free);
                true
            }
            Err(missing) => {
                shortage = missing;
                false
            }
        })?;
        place.ok_or_else(|| {
            let (code, what) = match shortage {
                Shortage::Window => {
                    (FatalCode::FlowControlDeadlock, format!("its {capacity} task slots are"))
                }
                Shortage::Heap => (FatalCode::HeapRingDeadlock, format!("its heap of {heap} bytes is")),
                Shortage::Edges => (FatalCode::DepPoolOverflow, format!("its {pool} dependency edges are")),
            };
            let message = format!(
                "ring {ring_index} is exhausted: {what} held by tasks of open scopes, which nothing can \
                 free; end scopes earlier or enlarge the ring"
            );
            self.fail(Fatal::new(code, message))
        })
    }

    /// Helps with scheduling until `ready`, until nothing is in flight any more, or until `deadline`.
    /// `Ok(true)` if it became ready.
    pub fn wait_until(
        &mut self,
        deadline: Option<Instant>,
        mut ready: impl FnMut(&mut Frame) -> bool,
    ) -> Result<bool, Fatal> {
        let scheduler = Arc::clone(&self.scheduler);
        let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        loop {
            self.check()?;
            // The order matters: what was in flight before this look may have made it ready, and what
            // completes after it must end the sleep below.
            let quiet = scheduler.is_quiet();
            let done = scheduler.completed();
            if ready(self) {
                return Ok(true);
            }
            if quiet {
                return Ok(false);
            }
            scheduler.crew.help(|| {
                scheduler.work_until(self.worker, || {
                    scheduler.completed() != done || scheduler.is_quiet() || late()
                })
            });
            // Too late is too late, also when the kernel waited for ran on this very thread.
            if late() {
                self.check()?;
                return Ok(false);
            }
        }
    }

    /// Bytes of heap that the outputs of a task take, each padded.
    fn heap_bytes(&mut self, arg: &Arg) -> Result<u64, Fatal> {
        let total = arg.tensors.iter().try_fold(0u64, |total, tensor| match tensor {
            TensorArg::Existing(..) => Some(total),
            TensorArg::Create(info) => total.checked_add(padded(info.shape.size)?),
        });
        total.ok_or_else(|| self.fail(Fatal::invalid("the outputs of one task exceed the address space")))
    }

    /// Makes a task out of its description and puts it on the current ring, unpublished and not yet wired.
    /// `edges` are the producers it will wait for.
    pub fn add_task(&mut self, work: Work, arg: &Arg, edges: u32) -> Result<(Arc<Task>, TaskOutputs), Fatal> {
        if let Some(error) = &arg.error {
            let message = error.clone();
            return Err(self.fail(Fatal::invalid(message)));
        }
        let bytes = self.heap_bytes(arg)?;
        let place = self.place(bytes, edges)?;
        let mut args = TaskArgs {
            scalars: arg.scalars.iter().copied().collect(),
            scalar_types: arg.scalar_types.iter().copied().collect(),
            marks: arg.marks,
            condition: self.condition(arg)?,
            scope_depth: self.depth() as u32,
            ..TaskArgs::default()
        };
        args.tensors.reserve_exact(arg.tensors.len());
        let made = arg.tensors.iter().filter(|tensor| matches!(tensor, TensorArg::Create(_))).count();
        let mut outputs = Vec::with_capacity(made);
        let mut at = place.heap_addr;
        for tensor in &arg.tensors {
            let (tensor, arg_type) = match tensor {
                TensorArg::Existing(tensor, arg_type) => (*tensor, *arg_type),
                TensorArg::Create(info) => {
                    let mut tensor = info.shape;
                    tensor.addr = at;
                    tensor.size = padded(tensor.size).unwrap_or(tensor.size);
                    tensor.owner_task_id = place.id.raw();
                    at += tensor.size;
                    self.prepare(&tensor, info.initial_value)?;
                    outputs.push(tensor);
                    (tensor, argus_abi::TensorArgType::Output)
                }
            };
            args.tensors.push(tensor);
            args.types.push(arg_type);
        }
        let task = Arc::new(Task::new(place.id, work, args, edges));
        self.ring().add(Arc::clone(&task));
        self.scheduler.count_submitted();
        if let Some(scope) = self.scopes.last_mut() {
            scope.tasks.push(Arc::clone(&task));
        }
        Ok((task, TaskOutputs { id: place.id, tensors: outputs }))
    }

    /// The condition of a task, with its element found.
    fn condition(&mut self, arg: &Arg) -> Result<Option<Box<Condition>>, Fatal> {
        let Some(predicate) = &arg.predicate else { return Ok(None) };
        let Predicate { tensor, index, comparison, target } = &**predicate;
        let element = self.element(tensor, index)?;
        let window =
            element.byte_range().map(|range| self.memory.window(range.start, range.end - range.start));
        match window {
            Some(Ok(element)) => {
                Ok(Some(Box::new(Condition { element, comparison: *comparison, target: *target })))
            }
            _ => Err(self.fail(Fatal::invalid("the condition of a task lies in no memory of this device"))),
        }
    }

    /// The view of one element of a tensor.
    pub fn element(&mut self, tensor: &Tensor, index: &[u32]) -> Result<Tensor, Fatal> {
        let ones = [1u32; argus_abi::MAX_DIMS];
        tensor.view(&ones[..index.len().min(ones.len())], index).map_err(|error| {
            self.fail(Fatal::invalid(format!("element {index:?} of {:?}: {error}", tensor.shape())))
        })
    }

    /// Adds a task that only owns memory; it is complete at once.
    pub fn alloc_tensors(&mut self, infos: &[TensorCreateInfo]) -> Result<TaskOutputs, Fatal> {
        self.check()?;
        if infos.is_empty() {
            return Err(self.fail(Fatal::invalid("alloc_tensors needs at least one tensor")));
        }
        // No kernel sees them, so they need not fit its slots.
        let limits = ArgLimits { tensors: infos.len(), scalars: 0 };
        let arg = infos.iter().fold(Arg::with_limits(limits), Arg::create);
        let (task, outputs) = self.add_task(Work::None, &arg, 0)?;
        self.scheduler.complete_inline(&task);
        Ok(outputs)
    }

    /// Gives a fresh buffer its first content.
    fn prepare(&mut self, tensor: &Tensor, initial_value: Option<u64>) -> Result<(), Fatal> {
        if self.ahead && initial_value.is_some() {
            let message = "a host-built graph cannot give a new tensor an initial value; let a task write it";
            return Err(self.fail(Fatal::invalid(message)));
        }
        let heap = &self.heaps[self.ring_index()];
        let done = match initial_value {
            Some(bits) => {
                let width = tensor.dtype().map_or(1, |dtype| dtype.size());
                let pattern = bits.to_le_bytes();
                let image: Vec<u8> =
                    pattern[..width].iter().copied().cycle().take(tensor.size as usize).collect();
                heap.write(tensor.addr, &image)
            }
            None => heap.fill(tensor.addr, tensor.size, self.fill_byte()),
        };
        done.map_err(|error| self.fail(Fatal::invalid(error.to_string())))
    }

    fn fill_byte(&self) -> u8 {
        if self.config.fill == Fill::Poison { Fill::Poison.byte() } else { Fill::Zero.byte() }
    }

    /// Until when data access from the orchestration may wait; a limit beyond the clock's range is none.
    pub fn tensor_deadline(&self) -> (Option<Instant>, Duration) {
        let limit = self.config.tensor_timeout;
        (Instant::now().checked_add(limit), limit)
    }
}
