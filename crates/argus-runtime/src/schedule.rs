//! One scheduler for all three graph builders: from "ready" to "reclaimed" there is one path.
//!
//! ```text
//! publish ─► ready queue ─► control thread ─► mailbox ─► core ─► mailbox ─► control thread ─► complete ─► consumers ready
//!                                                                              └────► ring reclaims
//! ```
//!
//! Nothing here belongs to a particular thread. Any host thread makes a [`Scheduler::pass`]: it acts as each
//! control thread that has something to do and then runs a core that has an unread token. Threads that find
//! nothing sleep on the [`Bell`]. What threads hand over to each other, they hand over through types of
//! `argus-sync`, through locks, or in words that are flags and hints.

pub mod capture;
pub mod clock;
pub mod condition;
pub mod control_thread;
pub mod cores;
pub mod crew;
pub mod deferrals;
pub mod hooks;
pub mod outcome;
pub mod task;
pub mod task_ring;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use argus_abi::args::{GLOBAL_CONTEXT_SLOT, LOCAL_CONTEXT_SLOT};
use argus_abi::{FuncId, GlobalContext, KernelArgs, LocalContext, Member};
use argus_child::Place;
use argus_sync::{Bell, ReadyQueue, TaskAccount, Token, relock};
use argus_tile::FaultKind;
use rustc_hash::FxHashSet;

use crate::error::{KernelSite, RunError};
use crate::kernel_table::KernelTable;
use argus_capture::Recorder;
use argus_facts::{CoreTimes, Edge, PartTime, RunTimes};
use capture::Capture;
use clock::Clock;
use control_thread::{ControlSignals, ControlThread};
use cores::{CoreBits, Cores, Dispatch};
use crew::Crew;
use deferrals::Deferrals;
use hooks::Hooks;
use outcome::Outcome;
use task::{Shape, Task, Work};
use task_ring::Ring;

thread_local! {
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a kernel. A panic then is the kernel's own, and the run's error has its text; any other
/// panic is a defect of this program.
fn in_kernel() -> bool {
    IN_KERNEL.get()
}

/// From now on a kernel that panics says nothing by itself: its run ends with an error that names task, kernel, core and
/// instruction, and the default message would say less, in the middle of other output. Any other panic is told.
pub fn silence_panics_of_kernels() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !in_kernel() {
            default(panic);
        }
    }));
}

/// Tasks that wait for cores.
#[derive(Debug, Default)]
pub struct Queues {
    pub aic: ReadyQueue<Arc<Task>>,
    pub aiv: ReadyQueue<Arc<Task>>,
    pub mix: ReadyQueue<Arc<Task>>,
    /// Tasks whose blocks must start together.
    pub cohorts: ReadyQueue<Arc<Task>>,
    /// Tasks without kernels.
    pub pure: ReadyQueue<Arc<Task>>,
}

/// Everything the threads of one run share.
pub struct Scheduler {
    pub cores: Cores,
    pub kernels: KernelTable,
    pub rings: Vec<Ring>,
    pub queues: Queues,
    pub signals: Vec<ControlSignals>,
    pub deferrals: Deferrals,
    pub bell: Bell,
    pub outcome: Outcome,
    pub crew: Crew,
    /// None: nothing looks at tasks beside the scheduler.
    pub hooks: Option<Hooks>,
    /// Whether the hooks have a clock: asked so often that one look must do.
    timed: bool,
    control_threads: Vec<Mutex<ControlThread>>,
    /// Cores with a token that has not been taken yet.
    runnable: CoreBits,
    /// A cohort waits for cores: nothing else is dispatched until it has them.
    draining: AtomicBool,
    placing_cohort: Mutex<()>,
    account: TaskAccount,
}

impl Scheduler {
    /// One control thread for each of `recorders`, which are there if the run is captured.
    pub fn new(
        cores: Cores,
        kernels: KernelTable,
        rings: Vec<Ring>,
        recorders: Vec<Option<Recorder>>,
        stop: Arc<AtomicBool>,
        crew: Crew,
        hooks: Option<Hooks>,
    ) -> Scheduler {
        let control_threads = recorders.len();
        let control_thread = |(index, recorder)| {
            Mutex::new(ControlThread::new(index, control_threads, &cores, hooks.is_some(), recorder))
        };
        Scheduler {
            control_threads: recorders.into_iter().enumerate().map(control_thread).collect(),
            timed: hooks.as_ref().is_some_and(|hooks| hooks.clock.is_some()),
            hooks,
            signals: (0..control_threads).map(|_| ControlSignals::default()).collect(),
            cores,
            kernels,
            rings,
            queues: Queues::default(),
            deferrals: Deferrals::default(),
            bell: Bell::default(),
            outcome: Outcome::new(stop),
            crew,
            runnable: CoreBits::default(),
            draining: AtomicBool::new(false),
            placing_cohort: Mutex::new(()),
            account: TaskAccount::default(),
        }
    }

    /// None: nothing is captured.
    pub fn capture(&self) -> Option<&Capture> {
        self.hooks.as_ref()?.capture.as_ref()
    }

    /// None: times are not recorded.
    #[inline]
    fn clock(&self) -> Option<&Clock> {
        if cfg!(argus_without_hooks) || !self.timed {
            return None;
        }
        self.hooks.as_ref()?.clock.as_ref()
    }

    /// A task was added to the graph; it may not be published yet.
    pub fn count_submitted(&self) {
        self.account.submit();
    }

    pub fn submitted(&self) -> u64 {
        self.account.submitted()
    }

    pub fn completed(&self) -> u64 {
        self.account.completed()
    }

    /// Whether nothing is ready, running or being completed.
    pub fn is_quiet(&self) -> bool {
        self.account.is_quiet()
    }

    /// Tasks that are ready, running or being completed, for people.
    pub fn in_flight(&self) -> u64 {
        self.account.in_flight()
    }

    pub fn is_orchestrated(&self) -> bool {
        self.account.is_whole()
    }

    /// The graph is whole: the run ends when all of it is complete.
    pub fn end_orchestration(&self) {
        if self.account.end_orchestration() {
            self.end(None);
        }
    }

    /// Publishes a wired task.
    pub fn publish(&self, task: &Arc<Task>) {
        if task.publish() {
            self.make_ready(Arc::clone(task));
        }
    }

    /// Completes a task that has neither kernels nor producers, in the caller's thread.
    pub fn complete_inline(&self, task: &Arc<Task>) {
        if task.publish() {
            self.account.enter_flight();
            if let Some(capture) = self.capture() {
                capture.completed_inline(task);
            }
            self.complete(task);
        }
    }

    fn make_ready(&self, task: Arc<Task>) {
        self.account.enter_flight();
        if task.args.condition.as_ref().is_some_and(|condition| !condition.holds()) {
            task.skip();
            self.queues.pure.push(task);
            self.bell.ring();
        } else {
            self.queue(task);
        }
    }

    /// The kernels of a task whose last part has finished run once more. It stays in flight all the while.
    pub fn run_again(&self, task: &Arc<Task>) {
        task.restart();
        self.queue(Arc::clone(task));
    }

    fn queue(&self, task: Arc<Task>) {
        let queue = match &task.work {
            Work::None => &self.queues.pure,
            Work::Kernels(launch) if launch.sync_start && launch.blocks > 1 => &self.queues.cohorts,
            Work::Kernels(launch) => match launch.shape() {
                Shape::Aic => &self.queues.aic,
                Shape::Aiv => &self.queues.aiv,
                Shape::Mix => &self.queues.mix,
            },
        };
        queue.push(task);
        self.bell.ring();
    }

    /// The last part of a task is done: releases consumers, then the memory it used.
    pub fn complete(&self, task: &Arc<Task>) {
        task.complete(|consumer| self.make_ready(consumer));
        for producer in task.take_retained() {
            self.let_go(&producer);
        }
        self.let_go(task);
        // Last, so that silence means that everything above has happened.
        if self.account.complete() {
            self.end(None);
        }
        // The orchestrator may wait for exactly this task or for its memory.
        self.bell.ring_news();
    }

    /// One hold on a task's memory is gone; with the last one its ring moves on.
    pub fn let_go(&self, task: &Task) {
        if task.let_go()
            && let Some(ring) = self.rings.get(task.id.ring() as usize)
        {
            ring.reclaim();
        }
    }

    /// Ends the run, with an error or without. The first one to call decides.
    pub fn end(&self, error: Option<RunError>) {
        self.outcome.decide(error);
        self.bell.ring_all();
    }

    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Acts once as every control thread and runs one core. True if anything happened.
    pub fn pass(&self, worker: usize) -> bool {
        let mut progress = self.place_cohort();
        for offset in 0..self.control_threads.len() {
            // A control thread that is locked is being stepped by a thread that will look again.
            if let Ok(mut control_thread) =
                self.control_threads[(worker + offset) % self.control_threads.len()].try_lock()
            {
                progress |= control_thread.step(self);
            }
        }
        progress | self.run_one(worker)
    }

    /// Places a cohort that must start together, once enough cores are idle; until then nothing else is
    /// dispatched, so that they become so.
    fn place_cohort(&self) -> bool {
        if self.queues.cohorts.is_empty() {
            return false;
        }
        let Ok(_placing) = self.placing_cohort.try_lock() else { return false };
        let Some(task) = self.queues.cohorts.pop() else { return false };
        let Work::Kernels(launch) = &task.work else { return false };
        self.draining.store(true, Ordering::Release);
        let mut control_threads: Vec<_> =
            self.control_threads.iter().map(|control_thread| relock(control_thread.lock())).collect();
        let harvested = control_threads
            .iter_mut()
            .fold(false, |progress, control_thread| progress | control_thread.harvest(self));
        let room: u32 = control_threads.iter().map(|control_thread| control_thread.room_for(launch)).sum();
        if room < launch.blocks {
            self.queues.cohorts.push_front(task);
            return harvested;
        }
        for control_thread in &mut control_threads {
            control_thread.start_cohort(self, &task, launch);
        }
        self.draining.store(!self.queues.cohorts.is_empty(), Ordering::Release);
        true
    }

    /// Writes a task's payload and token to a core.
    fn post(&self, core: usize, member: Member, token: Token, task: &Arc<Task>, block: u32) {
        let Work::Kernels(launch) = &task.work else { return };
        let Some(func) = launch.kernel_at(member) else { return };
        self.cores.cell(core).mailbox.post(token, |Dispatch { payload, task: slot, posted_ns }| {
            payload.function = u64::from(func.0);
            for (arg, tensor) in payload.args.iter_mut().zip(&task.args.tensors) {
                *arg = std::ptr::from_ref(tensor) as u64;
            }
            let scalars = payload.args[task.args.tensors.len()..].iter_mut().zip(&task.args.scalars);
            for (arg, &scalar) in scalars {
                *arg = scalar;
            }
            payload.local = LocalContext {
                block_idx: block as i32,
                block_num: launch.blocks as i32,
                ..LocalContext::default()
            };
            payload.global = GlobalContext { sub_block_id: member.sub_block_id() };
            if launch.abi == argus_abi::args::KernelAbi::Tensors {
                payload.args[LOCAL_CONTEXT_SLOT] = std::ptr::from_ref(&payload.local) as u64;
                payload.args[GLOBAL_CONTEXT_SLOT] = std::ptr::from_ref(&payload.global) as u64;
            }
            *slot = Some(Arc::clone(task));
            if let Some(clock) = self.clock() {
                *posted_ns = clock.now();
            }
        });
        self.runnable.mark(core);
        self.bell.ring();
    }

    /// Whether a thread that looked for work now would find some. If none does, all of them may be in kernels that wait
    /// for just that.
    pub fn lacks_a_thread(&self) -> bool {
        let Queues { aic, aiv, mix, cohorts, pure } = &self.queues;
        let ready = [aic, aiv, mix, cohorts].iter().any(|queue| !queue.is_empty());
        let unread = || self.runnable.iter().any(|core| self.cores.cell(core).activity.current().is_none());
        !pure.is_empty()
            || self.signals.iter().any(|signals| !signals.reported.is_empty())
            || (ready && self.signals.iter().any(ControlSignals::has_idle_cores))
            || unread()
    }

    /// Runs one kernel on some core that has an unread token. True if there was one.
    fn run_one(&self, worker: usize) -> bool {
        // Workers start at different cores so that they rarely meet.
        let from = worker * self.cores.clusters / 2;
        let marked = || self.runnable.iter();
        let mut order = marked().filter(|&core| core >= from).chain(marked().filter(|&core| core < from));
        order.any(|core| self.run_core(core))
    }

    fn run_core(&self, core: usize) -> bool {
        let cell = self.cores.cell(core);
        // A core that a thread runs will be looked at again when that kernel ends.
        let Ok(mut engine) = cell.engine.try_lock() else { return false };
        self.runnable.clear(core);
        let Some(token) = cell.mailbox.receive(engine.last) else { return false };
        engine.last = Some(token);
        cell.mailbox.acknowledge(token);
        let completed = {
            let mut dispatch = cell.mailbox.payload(token);
            let task = dispatch.task.take();
            task.is_some_and(|task| self.run_kernel(core, &mut engine, &dispatch, &task))
        };
        if completed {
            cell.mailbox.finish(token);
        }
        let behind = cell.mailbox.receive(engine.last).is_some();
        drop(engine);
        if behind {
            self.runnable.mark(core);
        }
        if completed {
            let (control_thread, number) =
                ControlThread::home_of(self.cores.cluster_of(core), cell.member, self.control_threads.len());
            self.signals[control_thread].reported.mark(number);
            self.bell.ring();
        }
        true
    }

    /// Runs a kernel; false if it failed, which ends the run.
    fn run_kernel(&self, core: usize, engine: &mut cores::Engine, dispatch: &Dispatch, task: &Task) -> bool {
        let cell = self.cores.cell(core);
        let Work::Kernels(launch) = &task.work else { return true };
        let func = FuncId(dispatch.payload.function as u32);
        let entry = self.kernels.get(func).expect("the builder accepts registered kernels only");
        let block = dispatch.payload.local.block_idx as u32;
        cell.activity.begin(task.id, func, block);
        // What a parent process sees of this, and what a handler of signals knows of its thread.
        let page = argus_child::page();
        if let Some(page) = page {
            page.begin(core, task.id.raw(), func.0, block);
        }
        let before = argus_child::enter(Place::Core(core as u32));
        let _partner = launch.waits_for_partners().then(|| self.crew.enter_waiting_kernel());
        if let Some(clock) = self.clock() {
            engine.started_ns = clock.now();
        }
        let machine = self.cores.core_of(cell, engine);
        let args = KernelArgs::new(&dispatch.payload, &task.args.tensors, task.args.scalars.len());
        machine.begin_kernel(cell.member);
        IN_KERNEL.set(true);
        let result = catch_unwind(AssertUnwindSafe(|| entry.kernel.run(machine, &args)));
        IN_KERNEL.set(false);
        let deferred = machine.take_deferred();
        argus_child::enter(before);
        if let Some(page) = page {
            page.end(core);
        }
        cell.activity.end();
        if let Some(clock) = self.clock() {
            note_part(clock, engine, dispatch, task);
        }
        let site = || KernelSite {
            task: task.id,
            kernel: entry.name.to_string(),
            core: core as u32,
            core_type: entry.core_type,
            block,
        };
        match result {
            Ok(Ok(())) => {
                if !deferred.is_empty() {
                    self.deferrals.register(task.id, &site(), deferred);
                }
                return true;
            }
            Ok(Err(fault)) if fault.kind == FaultKind::Stopped => self.outcome.note_stopped(core, &fault),
            Ok(Err(fault)) => self.end(Some(RunError::KernelFault { site: site(), fault })),
            Err(panic) => {
                let message = crew::panic_message(panic.as_ref());
                let at = outcome::last_instruction(&cell.status);
                self.end(Some(RunError::KernelPanic { site: site(), at, message }));
            }
        }
        false
    }

    /// Closes every recorder. `left` are tasks of the graph that may not have completed: those that had begun
    /// are written down as they are, once each, the others as never started.
    pub fn end_capture(&self, left: impl Iterator<Item = Arc<Task>>) {
        let Some(capture) = self.capture() else { return };
        let mut written = FxHashSet::default();
        for control_thread in &self.control_threads {
            let mut control_thread = relock(control_thread.lock());
            let (recorder, on_cores) = control_thread.end_capture();
            let Some(mut recorder) = recorder else { continue };
            for task in on_cores.filter(|task| !task.is_complete()) {
                if written.insert(task.id) {
                    capture.interrupted(&mut recorder, &self.kernels, task);
                }
            }
        }
        let Some(mut recorder) = relock(capture.orchestration.lock()).take() else { return };
        for task in left.filter(|task| !task.is_complete() && !written.contains(&task.id)) {
            if task.trace.is_dispatched() {
                // Some of its blocks are done, the rest wait for a core.
                capture.interrupted(&mut recorder, &self.kernels, &task);
            } else {
                capture.never_started(&mut recorder, &task);
            }
        }
    }

    /// When what ran where; to be asked once, when the run is over.
    pub fn take_times(&self) -> Option<(RunTimes, Vec<Edge>)> {
        let clock = self.clock()?;
        let cores = self.cores.cells().filter_map(|(core, cell)| {
            // A core whose kernel never came back keeps what it knows.
            let parts = std::mem::take(&mut cell.engine.try_lock().ok()?.parts);
            let cluster = self.cores.cluster_of(core) as u32;
            (!parts.is_empty()).then_some(CoreTimes {
                core: core as u32,
                cluster,
                member: cell.member,
                parts,
            })
        });
        let control_threads =
            self.control_threads.iter().map(|control_thread| relock(control_thread.lock()).take_waits());
        Some((
            RunTimes { cores: cores.collect(), control_threads: control_threads.collect() },
            clock.take_edges(),
        ))
    }

    /// Lets go of every task of a run that did not finish, so that nothing keeps itself alive.
    pub fn dismantle(&self) {
        let Queues { aic, aiv, mix, cohorts, pure } = &self.queues;
        for queue in [aic, aiv, mix, cohorts, pure] {
            queue.clear();
        }
        self.deferrals.clear();
        for ring in &self.rings {
            ring.clear();
        }
    }
}

/// Writes down when a kernel ran that has just ended.
#[cold]
fn note_part(clock: &Clock, engine: &mut cores::Engine, dispatch: &Dispatch, task: &Task) {
    engine.parts.push(PartTime {
        task: task.id,
        func: FuncId(dispatch.payload.function as u32),
        block: dispatch.payload.local.block_idx as u32,
        posted_ns: dispatch.posted_ns,
        started_ns: engine.started_ns,
        ended_ns: clock.now(),
    });
}
