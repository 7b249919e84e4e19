//! Hazards: two instructions on different pipes touch the same bytes, one of them writes, and nothing orders
//! them.
//!
//! Each pipe has a clock and knows how far it can rely on the others: a wait learns what the set knew, every
//! instruction knows what the scalar stream knew when it issued it. An access is remembered by the clock of
//! its pipe; a later one that does not know that time is not ordered after it. Which instruction the timing
//! model happens to run first plays no role.

use argus_abi::Member;
use argus_tile::Pipe;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::footprint::{Access, Memory, Region, Regions};
use crate::input::TaskLog;
use crate::machine::{Instr, NONE, Role};
use crate::schedule::{Program, Step, StepKind};

/// Pipes of the cores of one block.
const THREADS: usize = Member::ALL.len() * Pipe::ALL.len();

type Clock = [u32; THREADS];

/// Two instructions that nothing orders, with the first bytes that both touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub memory: Memory,
    pub range: (u64, u64),
    pub first: Side,
    pub second: Side,
    /// How often the same two lines of the kernel met like this.
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Side {
    pub core: u32,
    pub entry: u32,
    pub written: bool,
}

/// All hazards of a task, in the order in which they were met.
pub(crate) fn find(task: &TaskLog, programs: &[Program], order: &[Step]) -> Vec<Found> {
    let mut regions = Regions::default();
    let touched: Vec<Touched> = task
        .cores
        .iter()
        .enumerate()
        .map(|(core, log)| {
            let mut accesses = Vec::new();
            let starts = log
                .log
                .entries
                .iter()
                .map(|entry| {
                    let start = accesses.len() as u32;
                    regions.of_entry(core as u32, entry, &mut accesses);
                    start
                })
                .collect();
            Touched { starts, accesses }
        })
        .collect();
    let neighbours = neighbours(task, &regions, &touched);
    let mut search = Search {
        task,
        regions: &regions.list,
        neighbours: &neighbours,
        seen: vec![SmallVec::new(); regions.list.len()],
        blocks: FxHashMap::default(),
        sent: FxHashMap::default(),
        queued: FxHashMap::default(),
        numbers: FxHashMap::default(),
        found: Vec::new(),
    };
    for step in order {
        let program = &programs[step.at.core as usize];
        search.step(*step, &program.instrs, &touched[step.at.core as usize]);
    }
    search.found
}

/// The accesses of a core, entry after entry.
struct Touched {
    starts: Vec<u32>,
    accesses: Vec<Access>,
}

impl Touched {
    fn by_entry(&self, entry: u32) -> &[Access] {
        let start = self.starts[entry as usize] as usize;
        let end = self.starts.get(entry as usize + 1).map_or(self.accesses.len(), |&end| end as usize);
        &self.accesses[start..end]
    }
}

/// Who uses a region: nothing, one pipe, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Users {
    NoThread,
    One(u32),
    Several,
}

impl Users {
    fn add(&mut self, thread: u32) {
        *self = match *self {
            Users::NoThread => Users::One(thread),
            Users::One(old) if old == thread => *self,
            _ => Users::Several,
        };
    }

    fn join(self, other: Users) -> Users {
        match (self, other) {
            (Users::NoThread, users) | (users, Users::NoThread) => users,
            (Users::One(a), Users::One(b)) if a == b => self,
            _ => Users::Several,
        }
    }
}

/// For each region, those that share bytes with it and may meet it in a hazard.
fn neighbours(task: &TaskLog, regions: &Regions, touched: &[Touched]) -> Vec<SmallVec<[u32; 4]>> {
    let mut users = vec![(Users::NoThread, false); regions.list.len()];
    for (core, log) in task.cores.iter().enumerate() {
        for (index, entry) in log.log.entries.iter().enumerate() {
            for access in touched[core].by_entry(index as u32) {
                let (threads, written) = &mut users[access.region as usize];
                threads.add(thread(core as u32, entry.pipe));
                *written |= access.written;
            }
        }
    }
    let mut sorted: Vec<u32> = (0..regions.list.len() as u32).collect();
    sorted.sort_by_key(|&number| {
        let (memory, region) = &regions.list[number as usize];
        (*memory, region.lo(), number)
    });
    let mut neighbours = vec![SmallVec::new(); regions.list.len()];
    // Regions that reach into the current one, those that are written and those that are only read.
    let mut active: [Vec<u32>; 2] = Default::default();
    let mut limits = [64; 2];
    let mut current = None;
    for &number in &sorted {
        let (memory, region) = &regions.list[number as usize];
        if current != Some(*memory) {
            active = Default::default();
            current = Some(*memory);
        }
        let (threads, written) = users[number as usize];
        if written && threads == Users::Several {
            neighbours[number as usize].push(number);
        }
        for (list, limit) in active.iter_mut().zip(&mut limits) {
            // Now and then, so that many regions that reach far do not cost a walk each.
            if list.len() > *limit {
                list.retain(|&other| regions.list[other as usize].1.hi() > region.lo());
                *limit = 2 * list.len() + 64;
            }
        }
        let both = if written { &active[..] } else { &active[..1] };
        for &other in both.iter().flatten() {
            let alone = threads.join(users[other as usize].0) != Users::Several;
            if !alone && region.overlap(&regions.list[other as usize].1).is_some() {
                neighbours[number as usize].push(other);
                neighbours[other as usize].push(number);
            }
        }
        active[usize::from(!written)].push(number);
    }
    neighbours
}

/// A pipe of a core of the task.
fn thread(core: u32, pipe: Pipe) -> u32 {
    core * Pipe::ALL.len() as u32 + pipe as u32
}

/// The last accesses of one pipe to a region.
#[derive(Clone, Copy, Debug)]
struct LastAccess {
    thread: u32,
    read: Option<Mark>,
    /// A write that replaces what was there.
    write: Option<Mark>,
    /// A write that adds to it. It is kept beside the other: adding stores do each other no harm, and must not hide a
    /// plain one that came before them.
    add: Option<Mark>,
}

/// An access by its pipe's clock.
#[derive(Clone, Copy, Debug)]
struct Mark {
    time: u32,
    entry: u32,
}

/// What the pipes of a block know of each other.
struct Block {
    clocks: Vec<Clock>,
    /// Changes of what each scalar stream knows, and how far each pipe has followed them.
    stream_changes: [u64; Member::ALL.len()],
    followed: [u64; THREADS],
}

impl Default for Block {
    fn default() -> Block {
        Block { clocks: vec![[0; THREADS]; THREADS], stream_changes: [1; 3], followed: [0; THREADS] }
    }
}

struct Search<'a> {
    task: &'a TaskLog,
    regions: &'a [(Memory, Region)],
    neighbours: &'a [SmallVec<[u32; 4]>],
    seen: Vec<SmallVec<[LastAccess; 2]>>,
    blocks: FxHashMap<u32, Block>,
    /// What was known at a set, until its wait.
    sent: FxHashMap<u32, Clock>,
    /// What the stream knew when it issued an instruction that is still in its queue.
    queued: FxHashMap<(u32, u32), Clock>,
    numbers: FxHashMap<Met, usize>,
    found: Vec<Found>,
}

/// Two lines of the kernel that meet in a memory.
type Met = (Memory, Line, Line);
type Line = (u32, &'static str, u32, u32, bool);

impl Search<'_> {
    fn step(&mut self, step: Step, instrs: &[Instr], touched: &Touched) {
        let core = step.at.core;
        let log = &self.task.cores[core as usize];
        let instr = &instrs[step.at.index as usize];
        let member = log.member as usize;
        let stream = member * Pipe::ALL.len() + Pipe::S as usize;
        let own = member * Pipe::ALL.len() + instr.pipe as usize;
        let block = self.blocks.entry(log.block).or_default();
        if step.kind == StepKind::Queued {
            self.queued.insert((core, step.at.index), block.clocks[stream]);
            return;
        }
        if own != stream {
            if let Some(known) = self.queued.remove(&(core, step.at.index)) {
                join(&mut block.clocks[own], &known);
            } else if block.followed[own] != block.stream_changes[member] {
                let known = block.clocks[stream];
                join(&mut block.clocks[own], &known);
                block.followed[own] = block.stream_changes[member];
            }
        }
        match instr.role {
            Role::Set(_) | Role::Signal(_) if instr.pair != NONE => {
                self.sent.insert(instr.pair, block.clocks[own]);
            }
            Role::Wait(_) | Role::Await(_) => {
                if let Some(known) = self.sent.remove(&instr.pair) {
                    join(&mut block.clocks[own], &known);
                    block.stream_changes[member] += u64::from(own == stream);
                }
            }
            Role::Barrier if instr.pipe == Pipe::All => {
                let mut all = block.clocks[stream];
                for pipe in Pipe::ALL {
                    join(&mut all, &block.clocks[member * Pipe::ALL.len() + pipe as usize]);
                }
                block.clocks[stream] = all;
                block.stream_changes[member] += 1;
            }
            Role::Work => {
                let accesses = touched.by_entry(instr.entry);
                let pipe = log.log.entries[instr.entry as usize].pipe;
                if accesses.is_empty() || instr.pipe != pipe || !is_first_work(instrs, step.at.index) {
                    return;
                }
                block.clocks[own][own] += 1;
                block.stream_changes[member] += u64::from(own == stream);
                let clock = block.clocks[own];
                for access in accesses {
                    self.access(core, instr, access, clock[own], &clock);
                }
            }
            _ => {}
        }
    }

    fn access(&mut self, core: u32, instr: &Instr, access: &Access, time: u32, clock: &Clock) {
        let neighbours = self.neighbours;
        let list = &neighbours[access.region as usize];
        if list.is_empty() {
            return;
        }
        let own = thread(core, instr.pipe);
        for &other in list {
            for index in 0..self.seen[other as usize].len() {
                let seen = self.seen[other as usize][index];
                if seen.thread == own || self.is_signalling(core, instr, &seen) {
                    continue;
                }
                let add = seen.add.filter(|_| !access.adds);
                let read = seen.read.filter(|_| access.written);
                for (mark, written) in [(seen.write, true), (add, true), (read, false)] {
                    let Some(mark) = mark else { continue };
                    if !self.knows(core, clock, seen.thread, mark.time) {
                        let first =
                            Side { core: seen.thread / Pipe::ALL.len() as u32, entry: mark.entry, written };
                        let second = Side { core, entry: instr.entry, written: access.written };
                        self.report(first, second, other, access.region);
                    }
                }
            }
        }
        let seen = &mut self.seen[access.region as usize];
        let at = seen.iter().position(|seen| seen.thread == own).unwrap_or_else(|| {
            seen.push(LastAccess { thread: own, read: None, write: None, add: None });
            seen.len() - 1
        });
        let last = &mut seen[at];
        let slot = match (access.written, access.adds) {
            (true, true) => &mut last.add,
            (true, false) => &mut last.write,
            (false, _) => &mut last.read,
        };
        *slot = Some(Mark { time, entry: instr.entry });
    }

    /// Scalar accesses of two cores to global memory are how kernels signal without flags.
    fn is_signalling(&self, core: u32, instr: &Instr, seen: &LastAccess) -> bool {
        let other = seen.thread / Pipe::ALL.len() as u32;
        instr.pipe == Pipe::S && seen.thread % Pipe::ALL.len() as u32 == Pipe::S as u32 && other != core
    }

    /// Whether an access comes after what another pipe did at a time. Blocks know nothing of each other.
    fn knows(&self, core: u32, clock: &Clock, thread: u32, time: u32) -> bool {
        let pipes = Pipe::ALL.len() as u32;
        let other = &self.task.cores[(thread / pipes) as usize];
        if other.block != self.task.cores[core as usize].block {
            return false;
        }
        let index = other.member as usize * Pipe::ALL.len() + (thread % pipes) as usize;
        clock[index] >= time
    }

    fn report(&mut self, first: Side, second: Side, first_region: u32, second_region: u32) {
        let (memory, region) = &self.regions[second_region as usize];
        let range = region.overlap(&self.regions[first_region as usize].1).unwrap_or_default();
        // One report for each pair of lines on one kind of core; the second vector core repeats the first.
        let memory_key = match *memory {
            Memory::OnChip { space, .. } => Memory::OnChip { core: 0, space },
            Memory::Global => Memory::Global,
        };
        let key = (memory_key, self.line(first), self.line(second));
        if let Some(&number) = self.numbers.get(&key) {
            self.found[number].count += 1;
            return;
        }
        self.numbers.insert(key, self.found.len());
        self.found.push(Found { memory: *memory, range, first, second, count: 1 });
    }

    fn line(&self, side: Side) -> Line {
        let entry = &self.task.cores[side.core as usize].log.entries[side.entry as usize];
        let location = entry.location;
        (entry.opcode as u32, location.file(), location.line(), location.column(), side.written)
    }
}

/// Whether an instruction is the first of its tile instruction on its pipe that works.
fn is_first_work(instrs: &[Instr], index: u32) -> bool {
    let instr = &instrs[index as usize];
    let before = instrs[..index as usize].iter().rev().take_while(|other| other.entry == instr.entry);
    !before.into_iter().any(|other| other.role == Role::Work && other.pipe == instr.pipe)
}

fn join(clock: &mut Clock, other: &Clock) {
    for (own, &other) in clock.iter_mut().zip(other) {
        *own = (*own).max(other);
    }
}
