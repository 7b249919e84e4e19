//! A task: what it runs, on which arguments, after whom.
//!
//! All three builders make the same tasks, and from here on there is one path. A task is shared by
//! reference count: its producers hold it until they complete, the queue or the core that has it holds it,
//! and its ring holds it until it is reclaimed. So no id can ever resolve to another task's slot.
//!
//! # Dependencies
//!
//! `unmet` counts the producers that have not completed, plus one guard that the builder gives up last: a
//! half-wired task cannot start. A producer that completes while its consumer is being wired is either linked
//! or seen as done.
//!
//! # Lifetime
//!
//! `holds` counts what keeps the task's output memory alive: its scope, its own completion, and every
//! consumer that uses a tensor it created. At zero its ring may reuse slot and heap.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use argus_abi::args::KernelAbi;
use argus_abi::{CoreSet, DType, FuncId, Member, Role, TaskId, Tensor, TensorArgType};
use argus_sync::{Completion, Countdown, Holds, relock};
use smallvec::SmallVec;

use crate::schedule::condition::Condition;
use crate::schedule::cores::CoreBits;

/// Which cores a task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One matrix core per block.
    Aic,
    /// One vector core per block.
    Aiv,
    /// Two or three cores of one cluster per block.
    Mix,
}

/// The kernels of a task and how often they run.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Kernel of each place in the cluster.
    pub kernels: [Option<FuncId>; 3],
    /// Logical blocks; each runs on its own core or cluster.
    pub blocks: u32,
    /// All blocks must be on cores before any starts.
    pub sync_start: bool,
    pub abi: KernelAbi,
}

impl Launch {
    pub fn shape(&self) -> Shape {
        match (self.kernels[0].is_some(), self.kernels[1].is_some() || self.kernels[2].is_some()) {
            _ if self.member_count() > 1 => Shape::Mix,
            (true, _) => Shape::Aic,
            (false, _) => Shape::Aiv,
        }
    }

    pub fn members(&self) -> impl Iterator<Item = (Member, FuncId)> + '_ {
        Member::ALL.into_iter().filter_map(|member| Some((member, self.kernels[member as usize]?)))
    }

    /// The kernel that runs on a core at this place. A task of one kernel runs it on either vector core.
    pub fn kernel_at(&self, member: Member) -> Option<FuncId> {
        match self.shape() {
            Shape::Mix => self.kernels[member as usize],
            Shape::Aic | Shape::Aiv => self.kernels.iter().flatten().next().copied(),
        }
    }

    pub fn member_count(&self) -> u32 {
        self.kernels.iter().flatten().count() as u32
    }

    /// Whether a block's kernel may wait for another core, so that it needs a thread of its own.
    pub fn waits_for_partners(&self) -> bool {
        self.member_count() > 1 || (self.sync_start && self.blocks > 1)
    }
}

/// What a task does when its turn comes.
#[derive(Clone, Debug)]
pub enum Work {
    /// Nothing: it exists to own memory or to order others.
    None,
    Kernels(Launch),
}

/// What the slot of a raw kernel holds.
#[derive(Clone, Debug)]
pub enum ArgumentDescription {
    Tensor(Tensor, Role),
    Scalar(DType),
}

/// A task's arguments as submitted.
#[derive(Clone, Debug, Default)]
pub struct TaskArgs {
    /// Descriptors of slots `0..tensors.len()`; empty for kernels with raw arguments.
    pub tensors: Vec<Tensor>,
    /// How each tensor was submitted.
    pub types: SmallVec<[TensorArgType; 8]>,
    /// Raw bits of the slots that follow.
    pub scalars: SmallVec<[u64; 8]>,
    /// What the orchestration said the scalars are.
    pub scalar_types: SmallVec<[DType; 8]>,
    /// Bit per argument that the orchestration marked for capture.
    pub marks: u64,
    /// Scopes around the task.
    pub scope_depth: u32,
    /// Whether the task runs is decided when it is ready.
    pub condition: Option<Box<Condition>>,
    /// What the slots of a raw kernel hold, if the orchestration said so; or why what it said is of no use.
    pub described: Option<Result<Box<[ArgumentDescription]>, u8>>,
}

impl TaskArgs {
    pub fn is_marked(&self, arg: usize) -> bool {
        arg < 64 && self.marks >> arg & 1 == 1
    }
}

/// When and where a task ran; kept up only while a run is captured.
#[derive(Debug)]
pub struct TaskTrace {
    dispatch_order: AtomicU64,
    dispatched_ns: AtomicU64,
    cores: CoreBits,
}

impl TaskTrace {
    fn new() -> TaskTrace {
        TaskTrace {
            dispatch_order: AtomicU64::new(u64::MAX),
            dispatched_ns: AtomicU64::new(0),
            cores: CoreBits::default(),
        }
    }

    pub fn dispatched(&self, order: u64, ns: u64) {
        self.dispatch_order.store(order, Ordering::Relaxed);
        self.dispatched_ns.store(ns, Ordering::Relaxed);
    }

    pub fn is_dispatched(&self) -> bool {
        self.dispatch_order.load(Ordering::Relaxed) != u64::MAX
    }

    pub fn ran_on(&self, core: usize) {
        self.cores.mark(core);
    }

    /// Dispatch order, dispatch time and cores.
    pub fn read(&self) -> (u64, u64, CoreSet) {
        (
            self.dispatch_order.load(Ordering::Relaxed),
            self.dispatched_ns.load(Ordering::Relaxed),
            self.cores.iter().collect(),
        )
    }
}

/// One node of the graph.
#[derive(Debug)]
pub struct Task {
    pub id: TaskId,
    pub work: Work,
    pub args: TaskArgs,
    /// Edges this task was wired with; they count against its ring's pool until it is reclaimed.
    pub edges: u32,
    pub trace: TaskTrace,
    unmet: Countdown,
    /// Its consumers.
    completion: Completion<Arc<Task>>,
    holds: Holds,
    /// Producers whose memory this task uses; let go at completion.
    retained: Mutex<SmallVec<[Arc<Task>; 4]>>,
    next_block: AtomicU32,
    sub_tasks_left: Countdown,
    /// Its condition did not hold.
    skipped: AtomicBool,
}

impl Task {
    /// A task that no scheduler can see before [`Task::publish`].
    pub fn new(id: TaskId, work: Work, args: TaskArgs, edges: u32) -> Task {
        let sub_tasks = match &work {
            Work::None => 0,
            Work::Kernels(launch) => launch.blocks * launch.member_count(),
        };
        Task {
            id,
            work,
            args,
            edges,
            trace: TaskTrace::new(),
            unmet: Countdown::new(1),
            completion: Completion::default(),
            holds: Holds::new(2),
            retained: Mutex::new(SmallVec::new()),
            next_block: AtomicU32::new(0),
            sub_tasks_left: Countdown::new(sub_tasks),
            skipped: AtomicBool::new(false),
        }
    }

    /// Makes this task wait for `producer`, unless that has completed already.
    pub fn wait_for(self: &Arc<Task>, producer: &Task) {
        producer.completion.link(|| {
            self.unmet.add_one();
            Arc::clone(self)
        });
    }

    /// Gives up the builder's guard. True if the task is now ready; the caller must then queue it.
    #[must_use]
    pub fn publish(&self) -> bool {
        self.unmet.finish_one()
    }

    /// Marks the task complete and hands each consumer that became ready to `ready`.
    pub fn complete(&self, mut ready: impl FnMut(Arc<Task>)) {
        for consumer in self.completion.complete() {
            // The thread that finds the consumer ready sees what all its producers wrote.
            if consumer.unmet.finish_one() {
                ready(consumer);
            }
        }
    }

    pub fn is_complete(&self) -> bool {
        self.completion.is_complete()
    }

    /// Keeps `producer`'s memory until this task completes. False if that memory was already given up.
    pub fn retain(&self, producer: &Arc<Task>) -> bool {
        let retained = producer.holds.retain();
        if retained {
            relock(self.retained.lock()).push(Arc::clone(producer));
        }
        retained
    }

    /// The producers whose memory this task kept; the caller lets each go with [`Task::let_go`].
    pub fn take_retained(&self) -> SmallVec<[Arc<Task>; 4]> {
        std::mem::take(&mut *relock(self.retained.lock()))
    }

    /// One reason to keep the task's memory is gone. True for the caller that removed the last one.
    #[must_use]
    pub fn let_go(&self) -> bool {
        self.holds.let_go()
    }

    /// Whether nothing needs the task's memory any more.
    pub fn is_consumed(&self) -> bool {
        self.holds.is_free()
    }

    /// The next block to dispatch, if any is left. Only the holder of the queued task calls this.
    pub fn claim_block(&self) -> Option<u32> {
        let Work::Kernels(launch) = &self.work else { return None };
        let block = self.next_block.load(Ordering::Relaxed);
        (block < launch.blocks).then(|| {
            self.next_block.store(block + 1, Ordering::Relaxed);
            block
        })
    }

    /// Blocks not yet claimed.
    pub fn blocks_left(&self) -> u32 {
        match &self.work {
            Work::None => 0,
            Work::Kernels(launch) => launch.blocks - self.next_block.load(Ordering::Relaxed),
        }
    }

    /// One core has finished its part. True for the last one.
    #[must_use]
    pub fn finish_sub_task(&self) -> bool {
        self.sub_tasks_left.finish_one()
    }

    /// The task will complete without running. Only the thread that found it ready calls this.
    pub fn skip(&self) {
        self.skipped.store(true, Ordering::Relaxed);
    }

    /// Whether it completed without running. The queue it went through orders the answer.
    pub fn is_skipped(&self) -> bool {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Makes the blocks of a task whose last part has finished claimable once more. Nothing else has it.
    pub fn restart(&self) {
        if let Work::Kernels(launch) = &self.work {
            self.next_block.store(0, Ordering::Relaxed);
            self.sub_tasks_left.restart(launch.blocks * launch.member_count());
        }
    }

    /// Breaks the links of a task that will never run, so that an aborted graph does not keep itself alive.
    pub fn unlink(&self) {
        self.completion.unlink();
        drop(self.take_retained());
    }
}
