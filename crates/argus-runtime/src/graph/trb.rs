//! tensormap_and_ringbuffer: edges follow from overlapping views, memory comes from rings.
//!
//! The same builder makes host-built graphs of tensors: then nothing runs before it is started.

mod data;
mod inner_graph;

use std::borrow::Borrow;
use std::sync::Arc;

use argus_abi::{EdgeReason, FatalCode, FuncId, TaskId, Tensor, TensorArgType};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::config::Hazards;
use crate::error::Fatal;
use crate::graph::arg::{Arg, MixedKernels, TaskOutputs, TensorArg, TensorCreateInfo};
use crate::graph::frame::{Frame, ScopeMode};
use crate::graph::tensormap::{Found, TensorMap, WaitsFor};
use crate::schedule::hooks::Hooks;
use crate::schedule::task::{Task, Work};
use crate::schedule::task_ring::{Lookup, RingUse};
use inner_graph::InnerGraphs;

/// The producers of one task, each once, with the first reason found.
#[derive(Default)]
struct Producers {
    found: SmallVec<[(Found, EdgeReason); 8]>,
    /// Their ids, once there are so many that looking through them would cost more.
    ids: FxHashSet<TaskId>,
}

/// Up to so many producers are looked through.
const FEW_PRODUCERS: usize = 16;

impl Producers {
    fn add(&mut self, found: Found, reason: EdgeReason) {
        let id = found.id();
        let known = if self.ids.is_empty() {
            self.found.iter().any(|(known, _)| known.id() == id)
        } else {
            !self.ids.insert(id)
        };
        if known {
            return;
        }
        self.found.push((found, reason));
        if self.ids.is_empty() && self.found.len() > FEW_PRODUCERS {
            self.ids.extend(self.found.iter().map(|(known, _)| known.id()));
        }
    }
}

/// The innermost scope at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeUse {
    pub depth: usize,
    pub ring: usize,
    pub mode: ScopeMode,
    pub of_ring: RingUse,
    /// Views that the map tracks.
    pub views: usize,
}

/// The orchestration's handle. Every call fails once the run is fatal; pass the error on.
pub struct Trb {
    frame: Frame,
    map: TensorMap,
    /// Tasks of a host-built graph, which start when it is whole.
    built: Vec<Arc<Task>>,
    inner: InnerGraphs,
}

impl Trb {
    pub(crate) fn new(frame: Frame) -> Trb {
        let map = TensorMap::new(frame.scheduler.hooks.as_ref().is_some_and(Hooks::wants_edges));
        Trb { frame, map, built: Vec::new(), inner: InnerGraphs::default() }
    }

    /// Submits a task for the matrix core of a cluster.
    pub fn submit_aic(&mut self, func: FuncId, arg: impl Borrow<Arg>) -> Result<TaskOutputs, Fatal> {
        self.submit(MixedKernels::aic(func), arg)
    }

    /// Submits a task for a vector core.
    pub fn submit_aiv(&mut self, func: FuncId, arg: impl Borrow<Arg>) -> Result<TaskOutputs, Fatal> {
        self.submit(MixedKernels::aiv(func), arg)
    }

    /// Submits a task for any set of cores of one cluster.
    pub fn submit(&mut self, kernels: MixedKernels, arg: impl Borrow<Arg>) -> Result<TaskOutputs, Fatal> {
        let arg = arg.borrow();
        self.frame.check()?;
        let launch = self.frame.launch(kernels, arg)?;
        self.submit_work(Work::Kernels(launch), arg)
    }

    /// Submits a task that runs nothing and only orders others.
    pub fn submit_dummy(&mut self, arg: impl Borrow<Arg>) -> Result<TaskOutputs, Fatal> {
        self.frame.check()?;
        self.submit_work(Work::None, arg.borrow())
    }

    /// Allocates tensors that belong to the current scope.
    pub fn alloc_tensors(&mut self, infos: &[TensorCreateInfo]) -> Result<TaskOutputs, Fatal> {
        let outputs = self.frame.alloc_tensors(infos)?;
        self.forget_what_was_at(&outputs);
        Ok(outputs)
    }

    /// Opens a scope, runs `body` in it and closes it: tensors created inside live until then.
    pub fn scope<R>(
        &mut self,
        mode: ScopeMode,
        body: impl FnOnce(&mut Trb) -> Result<R, Fatal>,
    ) -> Result<R, Fatal> {
        self.scope_begin(mode)?;
        let open = self.frame.open_scopes();
        let result = body(self);
        let result = self.frame.after_body(open, result)?;
        self.scope_end()?;
        Ok(result)
    }

    pub fn scope_begin(&mut self, mode: ScopeMode) -> Result<(), Fatal> {
        self.frame.begin_scope(mode)
    }

    pub fn scope_end(&mut self) -> Result<(), Fatal> {
        let tasks = self.frame.end_scope()?;
        // A tensor that was created in the scope cannot be used any more: no later task has an edge because of it.
        for args in tasks.iter().map(|task| &task.args) {
            for (tensor, arg_type) in args.tensors.iter().zip(&args.types) {
                if *arg_type == TensorArgType::Output && tensor.size > 0 {
                    self.map.forget(tensor.addr);
                }
            }
        }
        self.frame.release_scope(&tasks);
        Ok(())
    }

    /// Ends the run with an error of the orchestration's own.
    pub fn report_fatal(&mut self, code: FatalCode, message: impl Into<String>) -> Fatal {
        self.frame.fail(Fatal::new(code, message))
    }

    pub fn is_fatal(&mut self) -> bool {
        self.frame.is_fatal()
    }

    /// From now on the capture, if there is one, takes only what is marked.
    pub fn capture_marked_only(&mut self) {
        if let Some(capture) = self.frame.scheduler.capture() {
            capture.take_marked_only();
        }
    }

    /// The innermost scope and what its ring has handed out so far.
    pub fn scope_use(&mut self) -> ScopeUse {
        ScopeUse {
            depth: self.frame.depth(),
            ring: self.frame.ring_index(),
            mode: self.frame.mode(),
            of_ring: self.frame.ring().flow(),
            views: self.map.live_entries(usize::MAX),
        }
    }

    /// Clusters of this run.
    pub fn cluster_count(&self) -> u32 {
        self.frame.scheduler.cores.clusters as u32
    }

    /// The graph is whole: hands it to the scheduler in the order of submission, if that was not done task by task.
    pub(crate) fn finish(self) {
        for task in &self.built {
            self.frame.scheduler.publish(task);
        }
        if argus_child::is_child() {
            // Taking the map apart would hold up the end of a process that takes all its memory with it.
            std::mem::forget(self.map);
        }
    }

    fn submit_work(&mut self, work: Work, arg: &Arg) -> Result<TaskOutputs, Fatal> {
        let Wired { task, outputs, .. } = self.wire(work, arg)?;
        self.publish(task);
        Ok(outputs)
    }

    fn publish(&mut self, task: Arc<Task>) {
        if self.frame.ahead {
            self.built.push(task);
        } else {
            self.frame.scheduler.publish(&task);
        }
    }

    /// Adds a task and everything it waits for; nothing sees it yet.
    fn wire(&mut self, work: Work, arg: &Arg) -> Result<Wired, Fatal> {
        self.inner.check_room(&mut self.frame)?;
        let existing = arg.tensors.iter().filter(|tensor| matches!(tensor, TensorArg::Existing(..)));
        self.make_room_in_map(existing.count())?;
        let mut producers = Producers::default();
        let mut creators: SmallVec<[Arc<Task>; 8]> = SmallVec::new();
        self.explicit_producers(&arg.dependencies, &mut producers)?;
        let existing = arg.tensors.iter().filter_map(|tensor| match tensor {
            TensorArg::Existing(tensor, arg_type) => Some((tensor, *arg_type)),
            TensorArg::Create(_) => None,
        });
        let mut tracked: SmallVec<[(u64, Tensor, TensorArgType); 8]> = SmallVec::new();
        for (tensor, arg_type) in existing {
            let creator = self.frame.creator(tensor)?;
            let allocation = self.allocation(tensor)?;
            if let Some(creator) = creator {
                if self.frame.mode() == ScopeMode::Auto {
                    producers.add(Found::now(&creator), EdgeReason::Creator);
                }
                creators.push(creator);
            }
            if !tensor.is_manual_dep() && arg_type != TensorArgType::NoDep {
                tracked.push((allocation, *tensor, arg_type));
            }
        }
        self.track_condition(arg, &mut producers, &mut creators, &mut tracked)?;
        if self.frame.mode() == ScopeMode::Auto {
            for (allocation, tensor, arg_type) in &tracked {
                self.infer_producers(*allocation, tensor, *arg_type, &mut producers);
            }
        }
        self.inner.follow_boundary(&mut producers);
        // What the orchestration names counts however fast it was, so that limits do not depend on timing.
        let counts = |(found, reason): &&(Found, EdgeReason)| {
            matches!(found, Found::Pending(_)) || matches!(reason, EdgeReason::Explicit | EdgeReason::Creator)
        };
        let edges = producers.found.iter().filter(counts).count();
        let (task, outputs) = self.frame.add_task(work, arg, edges as u32)?;
        self.forget_what_was_at(&outputs);
        self.track(&task, &tracked);
        for creator in &creators {
            task.retain(creator);
        }
        if let Some(hooks) = &self.frame.scheduler.hooks {
            let recorded: SmallVec<[(TaskId, EdgeReason); 8]> =
                producers.found.iter().map(|(found, reason)| (found.id(), *reason)).collect();
            hooks.submitted(&task, &recorded);
        }
        for (found, _) in &producers.found {
            if let Found::Pending(producer) = found {
                task.wait_for(producer);
            }
        }
        self.inner.added(&task);
        Ok(Wired { task, outputs, producers })
    }

    /// A condition is read when the task is ready, so its element counts as an input. The reference leaves the order
    /// to the orchestration.
    fn track_condition(
        &mut self,
        arg: &Arg,
        producers: &mut Producers,
        creators: &mut SmallVec<[Arc<Task>; 8]>,
        tracked: &mut SmallVec<[(u64, Tensor, TensorArgType); 8]>,
    ) -> Result<(), Fatal> {
        let Some(predicate) = &arg.predicate else { return Ok(()) };
        let creator = self.frame.creator(&predicate.tensor)?;
        let element = self.frame.element(&predicate.tensor, &predicate.index)?;
        let allocation = self.allocation(&element)?;
        if self.frame.config.hazards == Hazards::Complete && self.frame.mode() == ScopeMode::Auto {
            if let Some(creator) = &creator {
                producers.add(Found::now(creator), EdgeReason::Creator);
            }
            if !predicate.tensor.is_manual_dep() {
                tracked.push((allocation, element, TensorArgType::Input));
            }
        }
        creators.extend(creator);
        Ok(())
    }

    /// New buffers lie where others were. An empty one lies nowhere: its address is a neighbour's.
    fn forget_what_was_at(&mut self, outputs: &TaskOutputs) {
        for output in outputs.tensors.iter().filter(|output| output.size > 0) {
            self.map.forget(output.addr);
        }
    }

    /// Producers that the orchestration named. One that was reclaimed has long completed.
    fn explicit_producers(&mut self, ids: &[TaskId], producers: &mut Producers) -> Result<(), Fatal> {
        for &id in ids {
            match self.frame.find(id) {
                Lookup::Live(task) => producers.add(Found::now(&task), EdgeReason::Explicit),
                Lookup::Reclaimed => producers.add(Found::Completed(id), EdgeReason::Explicit),
                Lookup::Never => {
                    let message = format!("a task names {id} as a dependency, which was never submitted");
                    return Err(self.frame.fail(Fatal::invalid(message)));
                }
            }
        }
        Ok(())
    }

    /// Producers that follow from the bytes of one argument.
    fn infer_producers(
        &mut self,
        allocation: u64,
        tensor: &Tensor,
        arg_type: TensorArgType,
        producers: &mut Producers,
    ) {
        let complete = self.frame.config.hazards == Hazards::Complete;
        let looks_for_writers = match arg_type {
            TensorArgType::Input | TensorArgType::Inout => true,
            TensorArgType::OutputExisting => complete,
            TensorArgType::Output | TensorArgType::NoDep => false,
        };
        if looks_for_writers {
            self.map.writers(allocation, tensor, |found| producers.add(found, EdgeReason::Overlap));
        }
        if complete && arg_type != TensorArgType::Input {
            self.map.readers(allocation, tensor, |found| producers.add(found, EdgeReason::WriteAfterRead));
        }
    }

    /// Records what the task reads and writes. In a manual scope the reference records nothing; we do, so
    /// that data access and later automatic tasks still see what was written there. Readers are recorded
    /// with the reference's hazards too, because `set_tensor_data` waits for them.
    fn track(&mut self, task: &Arc<Task>, tracked: &[(u64, Tensor, TensorArgType)]) {
        let complete = self.frame.config.hazards == Hazards::Complete;
        let automatic = self.frame.mode() == ScopeMode::Auto;
        if !complete && !automatic {
            return;
        }
        let waits = match (automatic, complete) {
            (false, _) => WaitsFor::Nothing,
            (true, false) => WaitsFor::Writers,
            (true, true) => WaitsFor::WritersAndReaders,
        };
        for (allocation, tensor, arg_type) in tracked {
            match arg_type {
                TensorArgType::Input => self.map.add_reader(*allocation, tensor, task),
                TensorArgType::Inout => self.map.add_writer(*allocation, tensor, task, waits),
                TensorArgType::OutputExisting => {
                    let waits = if complete { waits } else { WaitsFor::Nothing };
                    self.map.add_writer(*allocation, tensor, task, waits);
                }
                TensorArgType::Output | TensorArgType::NoDep => {}
            }
        }
    }

    /// Waits until the map can take `more` entries.
    fn make_room_in_map(&mut self, more: usize) -> Result<(), Fatal> {
        let limit = self.config_limit();
        if more > limit {
            return Err(self.map_overflow(limit));
        }
        if self.map.live_entries(limit - more + 1) + more <= limit {
            return Ok(());
        }
        let mut map = std::mem::take(&mut self.map);
        let waited = self.frame.wait_until(None, |_| map.live_entries(limit - more + 1) + more <= limit);
        self.map = map;
        if waited? { Ok(()) } else { Err(self.map_overflow(limit)) }
    }

    fn config_limit(&self) -> usize {
        self.frame.config.tensormap_entries
    }

    fn map_overflow(&mut self, limit: usize) -> Fatal {
        let message = format!("the map tracks at most {limit} views and nothing can free one");
        self.frame.fail(Fatal::new(FatalCode::TensormapOverflow, message))
    }

    /// The allocation a view lies in: the buffer itself for tensors of the runtime, whose buffers never
    /// overlap while they live; the whole device allocation for tensors from outside, of which several may
    /// start at different addresses of one buffer.
    fn allocation(&mut self, tensor: &Tensor) -> Result<u64, Fatal> {
        if !tensor.fits_buffer() {
            let message = format!(
                "a view of shape {:?} at element {} leaves its buffer of {} bytes",
                tensor.shape(),
                tensor.start_offset,
                tensor.size
            );
            return Err(self.frame.fail(Fatal::invalid(message)));
        }
        if tensor.owner().is_valid() {
            return Ok(tensor.addr);
        }
        match self.frame.memory.allocation_of(tensor.addr) {
            Some(buffer) => Ok(buffer.addr),
            None => {
                let message = format!("a tensor at {:#x} lies in no memory of this device", tensor.addr);
                Err(self.frame.fail(Fatal::invalid(message)))
            }
        }
    }
}

/// A task that was added and not yet published.
struct Wired {
    task: Arc<Task>,
    outputs: TaskOutputs,
    producers: Producers,
}

/// The task, if there is still something to wait for.
fn pending(found: Found) -> Option<Arc<Task>> {
    match found {
        Found::Pending(task) => Some(task),
        Found::Completed(_) => None,
    }
}
