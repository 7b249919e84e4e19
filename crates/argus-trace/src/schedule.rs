//! Times: when each machine instruction starts and ends.
//!
//! The scalar stream issues one instruction after the other. Each pipe runs its own in order, one at a time; a
//! flag is a first-in-first-out counter of its pair of pipes and number, a channel one between two cores.
//! Every time follows from earlier ones alone, so the result does not depend on the order of this loop.

use std::collections::VecDeque;

use argus_tile::{Flag, Pipe};
use rustc_hash::FxHashMap;

use crate::machine::{At, Cause, Instr, Role};
use crate::params::Params;

/// One core's instructions in program order.
pub(crate) struct Program {
    pub block: u32,
    pub instrs: Vec<Instr>,
}

/// What the schedule knows besides the times.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// Instructions in an order in which each comes after all it depends on.
    pub order: Vec<Step>,
    pub pairs: Vec<Pair>,
    pub cycles: u64,
    /// Waits that never end; without any, every instruction has its times.
    pub stuck: Vec<Stuck>,
}

/// One step of the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub at: At,
    pub kind: StepKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    Run,
    /// Issued, but its pipe is not ready: it runs later.
    Queued,
}

/// A set and the wait that it released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub set: At,
    pub wait: At,
}

/// A wait that is never released.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stuck {
    pub at: At,
    /// A set for it that never ran.
    pub set: Option<At>,
}

/// Gives every instruction its times, as far as its waits end.
pub(crate) fn schedule(programs: &mut [Program], params: &Params) -> Schedule {
    let mut blocks: Vec<u32> = programs.iter().map(|program| program.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let mut schedule = Schedule::default();
    for block in blocks {
        let mut cores: Vec<Core<'_>> = programs
            .iter_mut()
            .enumerate()
            .filter(|(_, program)| program.block == block)
            .map(|(number, program)| Core::new(number as u32, &mut program.instrs))
            .collect();
        let mut channels = Channels::default();
        // Cores of a block run until they wait for each other.
        loop {
            let mut advanced = false;
            for core in &mut cores {
                advanced |= core.run(params, &mut channels, &mut schedule);
            }
            if !advanced {
                break;
            }
        }
        if cores.iter().all(Core::is_finished) {
            for core in &mut cores {
                schedule.cycles = schedule.cycles.max(core.finish());
            }
        } else {
            schedule.stuck.extend(stuck_waits(&cores));
        }
    }
    for (number, pair) in schedule.pairs.iter().enumerate() {
        for at in [pair.set, pair.wait] {
            programs[at.core as usize].instrs[at.index as usize].pair = number as u32;
        }
    }
    schedule
}

/// Removes what never ran. What ran depends on none of it.
pub(crate) fn remove_unreached(programs: &mut [Program], order: &[Step]) {
    let mut reached: Vec<Vec<bool>> =
        programs.iter().map(|program| vec![false; program.instrs.len()]).collect();
    for step in order.iter().filter(|step| step.kind == StepKind::Run) {
        reached[step.at.core as usize][step.at.index as usize] = true;
    }
    for (program, reached) in programs.iter_mut().zip(&reached) {
        let mut index = 0;
        // The parts of a function go with it.
        let mut of_function = false;
        program.instrs.retain(|instr| {
            if instr.role != Role::Body {
                of_function = reached[index];
            }
            index += 1;
            of_function
        });
    }
}

/// A set on its way to its wait.
#[derive(Clone, Copy, Debug)]
struct Sent {
    time: u64,
    by: At,
}

type Channels = FxHashMap<u16, VecDeque<Sent>>;

/// An execution queue.
#[derive(Debug, Default)]
struct Queue {
    /// End of what runs.
    free: u64,
    /// Cycles until the result of the last instruction is there.
    tail: u32,
    /// The next instruction finds the pipe empty.
    cold: bool,
    last: Option<u32>,
    /// Issued and not started, with the time of issue and what the stream had waited for.
    waiting: VecDeque<(u32, u64, Option<u32>)>,
}

struct Core<'a> {
    number: u32,
    instrs: &'a mut [Instr],
    /// The scalar stream: the next instruction and the time.
    next: usize,
    now: u64,
    /// The last instruction that held the stream up.
    held_by: Option<u32>,
    queues: [Queue; Pipe::ALL.len()],
    queued: usize,
    flags: FxHashMap<Flag, VecDeque<Sent>>,
    /// A flag was set since the queues were last looked at.
    news: bool,
}

impl<'a> Core<'a> {
    fn new(number: u32, instrs: &'a mut [Instr]) -> Core<'a> {
        let mut queues: [Queue; Pipe::ALL.len()] = Default::default();
        for queue in &mut queues {
            queue.cold = true;
        }
        Core {
            number,
            instrs,
            next: 0,
            now: 0,
            held_by: None,
            queues,
            queued: 0,
            flags: FxHashMap::default(),
            news: false,
        }
    }

    fn is_finished(&self) -> bool {
        self.next == self.instrs.len() && self.queued == 0
    }

    fn at(&self, index: u32) -> At {
        At { core: self.number, index }
    }

    /// Goes as far as it can. Whether that was any way at all.
    fn run(&mut self, params: &Params, channels: &mut Channels, schedule: &mut Schedule) -> bool {
        let mut advanced = self.drain(params, channels, schedule);
        while self.next < self.instrs.len() {
            let (index, instr) = (self.next as u32, self.instrs[self.next]);
            let gone_on = match (instr.role, instr.pipe) {
                // Placed together with its function.
                (Role::Body, _) => true,
                (_, Pipe::S | Pipe::All) => self.run_scalar(index, params, channels, schedule),
                _ => {
                    self.issue(index, params, channels, schedule);
                    true
                }
            };
            if !gone_on {
                break;
            }
            advanced = true;
            self.next += 1;
            if self.news && self.queued > 0 {
                self.drain(params, channels, schedule);
            }
            self.news = false;
        }
        advanced
    }

    /// An instruction for a pipe: it starts at once or joins the queue.
    fn issue(&mut self, index: u32, params: &Params, channels: &mut Channels, schedule: &mut Schedule) {
        self.now += params.issue();
        let pipe = self.instrs[index as usize].pipe as usize;
        let (issued, held_by) = (self.now, self.held_by);
        if !self.queues[pipe].waiting.is_empty()
            || !self.start(index, issued, held_by, params, channels, schedule)
        {
            self.queues[pipe].waiting.push_back((index, issued, held_by));
            self.queued += 1;
            schedule.order.push(Step { at: self.at(index), kind: StepKind::Queued });
        }
    }

    /// Starts whatever can start in the queues.
    fn drain(&mut self, params: &Params, channels: &mut Channels, schedule: &mut Schedule) -> bool {
        let mut advanced = false;
        while self.queued > 0 {
            let mut moved = false;
            for pipe in 0..self.queues.len() {
                while let Some(&(index, issued, held_by)) = self.queues[pipe].waiting.front() {
                    if !self.start(index, issued, held_by, params, channels, schedule) {
                        break;
                    }
                    self.queues[pipe].waiting.pop_front();
                    self.queued -= 1;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
            advanced = true;
        }
        advanced
    }

    /// Runs an instruction that its pipe has come to. `false` if it has to wait for a flag.
    fn start(
        &mut self,
        index: u32,
        issued: u64,
        held_by: Option<u32>,
        params: &Params,
        channels: &mut Channels,
        schedule: &mut Schedule,
    ) -> bool {
        let instr = self.instrs[index as usize];
        let Some(sent) = self.take_signal(instr.role, channels) else { return false };
        if instr.role != Role::Work {
            self.settle(instr.pipe as usize);
        }
        let queue = &mut self.queues[instr.pipe as usize];
        let start = queue.free.max(issued);
        let cause = if queue.free > issued { queue.last } else { held_by };
        let cause = cause.map_or(Cause::Issue, |index| Cause::After(At { core: self.number, index }));
        if issued > queue.free {
            queue.cold = true;
        }
        let head = if queue.cold { instr.head } else { 0 };
        let end = start + u64::from(head) + u64::from(instr.work);
        if instr.head > 0 {
            queue.cold = false;
        }
        (queue.free, queue.tail, queue.last) = (end, instr.tail, Some(index));
        self.place(index, start, end, cause, sent, params, channels, schedule);
        if instr.role == Role::Work {
            self.place_bodies(index, start);
        }
        true
    }

    /// The scalar stream runs an instruction of its own, or waits for all pipes.
    fn run_scalar(
        &mut self,
        index: u32,
        params: &Params,
        channels: &mut Channels,
        schedule: &mut Schedule,
    ) -> bool {
        let instr = self.instrs[index as usize];
        let mut start = self.now;
        let mut cause = self.held_by;
        if instr.pipe == Pipe::All && instr.role == Role::Barrier {
            if self.queued > 0 {
                return false;
            }
            for pipe in 0..self.queues.len() {
                self.settle(pipe);
                if self.queues[pipe].free > start {
                    (start, cause) = (self.queues[pipe].free, self.queues[pipe].last);
                }
            }
        }
        let Some(sent) = self.take_signal(instr.role, channels) else { return false };
        let cause = cause.map_or(Cause::Issue, |index| Cause::After(self.at(index)));
        let end = start + u64::from(instr.work);
        self.place(index, start, end, cause, sent, params, channels, schedule);
        self.now = self.instrs[index as usize].end;
        self.held_by = Some(index);
        true
    }

    /// For a wait the set that releases it, if it has come; nothing for others.
    fn take_signal(&mut self, role: Role, channels: &mut Channels) -> Option<Option<Sent>> {
        match role {
            Role::Wait(flag) => self.flags.get_mut(&flag)?.pop_front().map(Some),
            Role::Await(channel) => channels.get_mut(&channel)?.pop_front().map(Some),
            _ => Some(None),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn place(
        &mut self,
        index: u32,
        start: u64,
        mut end: u64,
        mut cause: Cause,
        sent: Option<Sent>,
        params: &Params,
        channels: &mut Channels,
        schedule: &mut Schedule,
    ) {
        let at = self.at(index);
        if let Some(sent) = sent {
            if sent.time > end {
                (end, cause) = (sent.time, Cause::After(sent.by));
            }
            schedule.pairs.push(Pair { set: sent.by, wait: at });
        }
        let instr = &mut self.instrs[index as usize];
        (instr.start, instr.end, instr.cause) = (start, end, cause);
        match instr.role {
            Role::Set(flag) => {
                self.flags.entry(flag).or_default().push_back(Sent { time: end, by: at });
                self.news = true;
            }
            Role::Signal(channel) => {
                let time = end + params.cross_core();
                channels.entry(channel).or_default().push_back(Sent { time, by: at });
            }
            _ => {}
        }
        if instr.pipe != Pipe::S && instr.pipe != Pipe::All {
            let queue = &mut self.queues[instr.pipe as usize];
            queue.free = end;
        }
        schedule.order.push(Step { at, kind: StepKind::Run });
    }

    /// The parts of a vector function lie where its start puts them.
    fn place_bodies(&mut self, function: u32, start: u64) {
        let rest = &mut self.instrs[function as usize + 1..];
        for body in rest.iter_mut().take_while(|instr| instr.role == Role::Body) {
            body.start = start + u64::from(body.head);
            body.end = body.start + u64::from(body.work);
            body.cause = Cause::After(At { core: self.number, index: function });
        }
    }

    /// An instruction waits for the last result of a pipe: its tail is paid, and the pipe is empty.
    fn settle(&mut self, pipe: usize) {
        let queue = &mut self.queues[pipe];
        if let Some(last) = queue.last {
            queue.free += u64::from(queue.tail);
            let instr = &mut self.instrs[last as usize];
            instr.end += u64::from(queue.tail);
        }
        queue.tail = 0;
        queue.cold = true;
    }

    /// The end of the kernel: everything is done.
    fn finish(&mut self) -> u64 {
        let mut end = self.now;
        for pipe in 0..self.queues.len() {
            self.settle(pipe);
            end = end.max(self.queues[pipe].free);
        }
        end
    }
}

fn stuck_waits(cores: &[Core<'_>]) -> Vec<Stuck> {
    let mut stuck = Vec::new();
    for core in cores {
        let fronts = core.queues.iter().filter_map(|queue| queue.waiting.front()).map(|&(index, ..)| index);
        let stream = (core.next < core.instrs.len()).then_some(core.next as u32);
        for index in fronts.chain(stream) {
            let role = core.instrs[index as usize].role;
            let set = match role {
                Role::Wait(flag) => find_unset(core, Role::Set(flag)),
                Role::Await(channel) => {
                    cores.iter().find_map(|other| find_unset(other, Role::Signal(channel)))
                }
                _ => continue,
            };
            stuck.push(Stuck { at: core.at(index), set });
        }
    }
    // What has no set at all is the root of the others.
    stuck.sort_by_key(|stuck| (stuck.set.is_some(), stuck.at));
    stuck
}

/// A set that never ran. One that did was taken, or the wait would not be stuck.
fn find_unset(core: &Core<'_>, role: Role) -> Option<At> {
    let queued = core.queues.iter().flat_map(|queue| &queue.waiting).map(|&(index, ..)| index);
    let unissued = core.next as u32..core.instrs.len() as u32;
    queued.chain(unissued).find(|&index| core.instrs[index as usize].role == role).map(|index| core.at(index))
}
