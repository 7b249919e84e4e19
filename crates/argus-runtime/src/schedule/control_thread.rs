//! A control thread: it owns some clusters, learns what their cores finished and gives them new work.
//!
//! A control thread is a state, not a thread of the host: the thread that locks it acts as that control thread for one step.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use argus_abi::{CoreType, MAX_CORES, Member, Stage};
use argus_capture::Recorder;
use argus_facts::CaptureWait;
use argus_sync::{Condition, Token};

use crate::inject::Next;
use crate::schedule::Scheduler;
use crate::schedule::clock::CaptureWatch;
use crate::schedule::cores::{CoreBits, Cores};
use crate::schedule::task::{Launch, Shape, Task, Work};

/// A task's part on one core.
#[derive(Debug)]
struct InFlight {
    task: Arc<Task>,
    token: Token,
}

/// What the control thread knows of one core: the task that runs and the one that waits behind it.
#[derive(Debug)]
struct Slot {
    core: usize,
    next: Token,
    running: Option<InFlight>,
    pending: Option<InFlight>,
}

/// What other threads may know of a control thread without locking it.
#[derive(Debug, Default)]
pub struct ControlSignals {
    /// Cores (numbered within the control thread) that reported something.
    pub reported: CoreBits,
    /// Idle cores by type: another control thread that has some is the better place for a waiting task.
    idle: [AtomicU32; 2],
}

impl ControlSignals {
    pub fn has_idle_cores(&self) -> bool {
        self.idle.iter().any(|idle| idle.load(Ordering::Relaxed) > 0)
    }

    fn idle_cores(&self, core_type: CoreType) -> u32 {
        self.idle[core_type as usize].load(Ordering::Relaxed)
    }
}

/// A bit per cluster. One control thread may own all clusters of a chip.
type ClusterBits = u128;

const _: () = assert!(MAX_CORES / Member::ALL.len() <= ClusterBits::BITS as usize);

/// The state of one control thread.
#[derive(Debug)]
pub struct ControlThread {
    index: usize,
    /// Three slots per cluster, in the order of [`Member`].
    slots: Vec<[Slot; 3]>,
    /// Bit per cluster of the control thread: the core at that place has nothing to do.
    idle: [ClusterBits; 3],
    /// Bit per cluster of the control thread: the core runs something and nothing waits behind it.
    open: [ClusterBits; 3],
    /// A cluster kept free of single tasks because a mix waits for all of its cores.
    reserved: ClusterBits,
    /// Where this control thread writes down what it captures.
    recorder: Option<Recorder>,
    /// When that had to wait, if the run is timed.
    waits: Vec<CaptureWait>,
    /// Whether anything looks at tasks: the one branch of a run in which nothing does.
    hooked: bool,
}

impl ControlThread {
    /// ControlThread `index` of `control threads` owns every `control threads`-th cluster.
    pub fn new(
        index: usize,
        control_threads: usize,
        cores: &Cores,
        hooked: bool,
        recorder: Option<Recorder>,
    ) -> ControlThread {
        let slots: Vec<[Slot; 3]> = (index..cores.clusters)
            .step_by(control_threads)
            .map(|cluster| {
                Member::ALL.map(|member| Slot {
                    core: cores.core_number(cluster, member),
                    next: Token::FIRST,
                    running: None,
                    pending: None,
                })
            })
            .collect();
        let all = ClusterBits::MAX.checked_shr(ClusterBits::BITS - slots.len() as u32).unwrap_or(0);
        ControlThread {
            index,
            slots,
            idle: [all; 3],
            open: [0; 3],
            reserved: 0,
            hooked,
            recorder,
            waits: Vec::new(),
        }
    }

    /// Which control thread owns a core, and the core's number within it.
    pub fn home_of(cluster: usize, member: Member, control_threads: usize) -> (usize, usize) {
        (cluster % control_threads, cluster / control_threads * 3 + member as usize)
    }

    /// One round: completions first, then new work. True if anything happened.
    pub fn step(&mut self, scheduler: &Scheduler) -> bool {
        let mut progress = self.harvest(scheduler);
        for task in scheduler.deferrals.take_complete() {
            self.finish(scheduler, &task);
            progress = true;
        }
        while let Some(task) = scheduler.queues.pure.pop() {
            self.finish(scheduler, &task);
            progress = true;
        }
        if !scheduler.is_draining() {
            progress |= self.place_mixes(scheduler);
            progress |= self.place_singles(scheduler, Shape::Aic);
            progress |= self.place_singles(scheduler, Shape::Aiv);
        }
        let signals = &scheduler.signals[self.index];
        signals.idle[0].store(self.idle[0].count_ones(), Ordering::Relaxed);
        signals.idle[1].store(self.idle[1].count_ones() + self.idle[2].count_ones(), Ordering::Relaxed);
        progress
    }

    /// Reads the condition of every core that reported, and completes what is done.
    pub fn harvest(&mut self, scheduler: &Scheduler) -> bool {
        let signals = &scheduler.signals[self.index];
        if signals.reported.is_empty() {
            return false;
        }
        let mut progress = false;
        for number in signals.reported.take() {
            let (cluster, member) = (number / 3, number % 3);
            let slot = &mut self.slots[cluster][member];
            let condition = scheduler.cores.cell(slot.core).mailbox.condition();
            let (first, second) = slot.settle(condition);
            let bit = 1 << cluster;
            if slot.running.is_none() {
                self.idle[member] |= bit;
                self.open[member] &= !bit;
            } else if slot.pending.is_none() {
                self.open[member] |= bit;
            }
            for task in [first, second].into_iter().flatten() {
                progress = true;
                if task.finish_sub_task() && !scheduler.deferrals.holds_back(&task) {
                    self.finish(scheduler, &task);
                }
            }
        }
        progress
    }

    /// Gives mix tasks whole sets of idle cores of one cluster.
    fn place_mixes(&mut self, scheduler: &Scheduler) -> bool {
        self.reserved = 0;
        let mut progress = false;
        while let Some(task) = scheduler.queues.mix.pop() {
            let Work::Kernels(launch) = &task.work else { continue };
            while let Some(cluster) = self.free_cluster(launch) {
                let Some(block) = task.claim_block() else { break };
                self.start_members(scheduler, cluster, &task, launch, block);
                progress = true;
            }
            if task.blocks_left() > 0 {
                self.reserve_for(launch);
                scheduler.queues.mix.push_front(task);
                break;
            }
        }
        progress
    }

    /// Keeps the cluster that is closest to being free for the waiting mix, so that single tasks do not
    /// starve it.
    fn reserve_for(&mut self, launch: &Launch) {
        let missing = |cluster: &usize| {
            let bit: ClusterBits = 1 << cluster;
            launch.members().filter(|(member, _)| self.idle[*member as usize] & bit == 0).count()
        };
        if let Some(cluster) = (0..self.slots.len()).min_by_key(missing) {
            self.reserved = 1 << cluster;
        }
    }

    /// Gives single tasks idle cores, and when no control thread has one left, places behind running tasks.
    fn place_singles(&mut self, scheduler: &Scheduler, shape: Shape) -> bool {
        let (queue, members, core_type) = match shape {
            Shape::Aic => (&scheduler.queues.aic, &[Member::Aic][..], CoreType::Aic),
            Shape::Aiv => (&scheduler.queues.aiv, &[Member::Aiv0, Member::Aiv1][..], CoreType::Aiv),
            Shape::Mix => return false,
        };
        let mut progress = false;
        let mut current: Option<Arc<Task>> = None;
        while current.is_some() || !queue.is_empty() {
            let idle = self.pick(members, &self.idle);
            let behind = || {
                let elsewhere = scheduler.signals.iter().enumerate().any(|(control_thread, signals)| {
                    control_thread != self.index && signals.idle_cores(core_type) > 0
                });
                (!elsewhere).then(|| self.pick(members, &self.acknowledged(scheduler, members)))?
            };
            let Some((cluster, member)) = idle.or_else(behind) else { break };
            let Some(task) = current.take().or_else(|| queue.pop()) else { break };
            if let Some(block) = task.claim_block() {
                self.start(scheduler, cluster, member, &task, block);
                progress = true;
            }
            if task.blocks_left() > 0 {
                current = Some(task);
            }
        }
        if let Some(task) = current {
            queue.push_front(task);
        }
        progress
    }

    /// The lowest cluster with a usable core at one of these places. Low first, so that few cores stay warm.
    fn pick(&self, members: &[Member], usable: &[ClusterBits; 3]) -> Option<(usize, Member)> {
        members
            .iter()
            .map(|&member| ((usable[member as usize] & !self.reserved).trailing_zeros() as usize, member))
            .filter(|(cluster, _)| *cluster < self.slots.len())
            .min_by_key(|(cluster, _)| *cluster)
    }

    /// The open cores that have acknowledged what they run. Only these may be given another token: the
    /// dispatch register holds one, and a token that has not been taken yet must not be overwritten.
    fn acknowledged(&self, scheduler: &Scheduler, members: &[Member]) -> [ClusterBits; 3] {
        let mut acknowledged = [0; 3];
        for &member in members {
            let mut open = self.open[member as usize];
            while open != 0 {
                let cluster = open.trailing_zeros() as usize;
                open &= open - 1;
                let Slot { core, running, .. } = &self.slots[cluster][member as usize];
                let token = running.as_ref().map(|flight| Condition::Running(flight.token));
                if token == Some(scheduler.cores.cell(*core).mailbox.condition()) {
                    acknowledged[member as usize] |= 1 << cluster;
                }
            }
        }
        acknowledged
    }

    /// A cluster in which every core that `launch` needs is idle.
    pub fn free_cluster(&self, launch: &Launch) -> Option<usize> {
        let free = self.free_clusters(launch);
        (free != 0).then(|| free.trailing_zeros() as usize)
    }

    fn free_clusters(&self, launch: &Launch) -> ClusterBits {
        launch.members().fold(ClusterBits::MAX, |free, (member, _)| free & self.idle[member as usize])
    }

    /// How many blocks of `launch` the control thread could start at once.
    pub fn room_for(&self, launch: &Launch) -> u32 {
        match launch.shape() {
            Shape::Aic => self.idle[0].count_ones(),
            Shape::Aiv => self.idle[1].count_ones() + self.idle[2].count_ones(),
            Shape::Mix => self.free_clusters(launch).count_ones(),
        }
    }

    /// Starts as many blocks of a cohort as there is room for.
    pub fn start_cohort(&mut self, scheduler: &Scheduler, task: &Arc<Task>, launch: &Launch) {
        self.reserved = 0;
        for _ in 0..self.room_for(launch) {
            let Some(block) = task.claim_block() else { return };
            match launch.shape() {
                Shape::Mix => {
                    let Some(cluster) = self.free_cluster(launch) else { return };
                    self.start_members(scheduler, cluster, task, launch, block);
                }
                single => {
                    let members: &[Member] =
                        if single == Shape::Aic { &[Member::Aic] } else { &[Member::Aiv0, Member::Aiv1] };
                    let Some((cluster, member)) = self.pick(members, &self.idle) else { return };
                    self.start(scheduler, cluster, member, task, block);
                }
            }
        }
    }

    fn start_members(
        &mut self,
        scheduler: &Scheduler,
        cluster: usize,
        task: &Arc<Task>,
        launch: &Launch,
        block: u32,
    ) {
        for (member, _) in launch.members() {
            self.start(scheduler, cluster, member, task, block);
        }
    }

    /// Posts one block of a task to a core, to run now or behind what runs there. `runs` is the task itself
    /// or its stand-in.
    #[inline]
    fn post(
        &mut self,
        scheduler: &Scheduler,
        cluster: usize,
        member: Member,
        (task, runs): (&Arc<Task>, &Arc<Task>),
        block: u32,
    ) {
        let slot = &mut self.slots[cluster][member as usize];
        let token = slot.next;
        slot.next = token.next();
        let flight = InFlight { task: Arc::clone(task), token };
        let bit = 1 << cluster;
        if slot.running.is_none() {
            slot.running = Some(flight);
            self.idle[member as usize] &= !bit;
            self.open[member as usize] |= bit;
        } else {
            slot.pending = Some(flight);
            self.open[member as usize] &= !bit;
        }
        scheduler.post(slot.core, member, token, runs, block);
    }
}

/// The two hooks of the one scheduler path. Where nothing looks at tasks each is one branch;
/// `cargo xtask hooks` counts what that costs against a build that has no hooks at all.
impl ControlThread {
    /// Starts one block of a task on a core.
    #[inline]
    fn start(&mut self, scheduler: &Scheduler, cluster: usize, member: Member, task: &Arc<Task>, block: u32) {
        if self.hooked && !cfg!(argus_without_hooks) {
            self.start_hooked(scheduler, cluster, member, task, block);
        } else {
            self.post(scheduler, cluster, member, (task, task), block);
        }
    }

    /// The last part of a task is done.
    #[inline]
    fn finish(&mut self, scheduler: &Scheduler, task: &Arc<Task>) {
        if self.hooked && !cfg!(argus_without_hooks) {
            self.finish_hooked(scheduler, task);
        } else {
            scheduler.complete(task);
        }
    }

    /// Inputs are final; no token of the task has been written when this is its first block and member.
    #[cold]
    fn start_hooked(
        &mut self,
        scheduler: &Scheduler,
        cluster: usize,
        member: Member,
        task: &Arc<Task>,
        block: u32,
    ) {
        let mut stand_in = None;
        if let Some(hooks) = &scheduler.hooks {
            if !task.trace.is_dispatched() {
                let watch = CaptureWatch::start(hooks.clock.as_ref(), self.recorder.as_mut());
                hooks.before_dispatch(self.recorder.as_mut(), &scheduler.kernels, task);
                self.note(scheduler, watch, task, Stage::BeforeDispatch);
            }
            task.trace.ran_on(self.slots[cluster][member as usize].core);
            stand_in = hooks.injector.as_ref().and_then(|injector| injector.stand_in(task));
        }
        self.post(scheduler, cluster, member, (task, stand_in.as_ref().unwrap_or(task)), block);
    }

    /// The last part has finished; no consumer has been released.
    #[cold]
    fn finish_hooked(&mut self, scheduler: &Scheduler, task: &Arc<Task>) {
        let mut next = Next::Complete;
        if let Some(hooks) = &scheduler.hooks {
            let watch = CaptureWatch::start(hooks.clock.as_ref(), self.recorder.as_mut());
            next = hooks.after_completion(self.recorder.as_mut(), &scheduler.kernels, task);
            self.note(scheduler, watch, task, Stage::AfterCompletion);
        }
        match next {
            Next::Complete => scheduler.complete(task),
            Next::Again => scheduler.run_again(task),
        }
    }

    /// Writes down if a capture had to wait.
    fn note(&mut self, scheduler: &Scheduler, watch: Option<CaptureWatch>, task: &Task, stage: Stage) {
        if let Some(watch) = watch {
            let wait = watch.stop(scheduler.clock(), self.recorder.as_mut(), task, stage);
            self.waits.extend(wait);
        }
    }

    pub fn take_waits(&mut self) -> Vec<CaptureWait> {
        std::mem::take(&mut self.waits)
    }

    /// The run is over: gives up the recorder, and the tasks that are still on cores.
    pub fn end_capture(&mut self) -> (Option<Recorder>, impl Iterator<Item = &Arc<Task>>) {
        self.hooked = false;
        let flights = self.slots.iter().flatten().flat_map(|slot| [&slot.running, &slot.pending]).flatten();
        (self.recorder.take(), flights.map(|flight| &flight.task))
    }
}

impl Slot {
    /// Applies what the core reported. Returns the tasks whose part is thereby done, oldest first.
    fn settle(&mut self, condition: Condition) -> (Option<Arc<Task>>, Option<Arc<Task>>) {
        let is = |flight: &Option<InFlight>, token| flight.as_ref().is_some_and(|at| at.token == token);
        match condition {
            Condition::Finished(token) if is(&self.pending, token) => {
                let done = (self.running.take(), self.pending.take());
                (done.0.map(|at| at.task), done.1.map(|at| at.task))
            }
            // The core overwrote the finish of the task before with this acknowledgement.
            Condition::Running(token) if is(&self.pending, token) => {
                let done = std::mem::replace(&mut self.running, self.pending.take());
                (done.map(|at| at.task), None)
            }
            Condition::Finished(token) if is(&self.running, token) => {
                let done = std::mem::replace(&mut self.running, self.pending.take());
                (done.map(|at| at.task), None)
            }
            _ => (None, None),
        }
    }
}
