//! Pairs of tasks that touch the same bytes, one of them writing, with no path between them.
//!
//! Whether such a pair ever gave a wrong value is another question: nothing keeps it from doing so. Tasks are
//! taken in an order in which they can have run. For each byte it is enough to look at its last writer and at
//! who read it since: a task that is ordered behind those is ordered behind every task before. Memory that a task
//! created anew was free, so nothing before it counts, except tasks that were submitted later and touched it too early.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;

use argus_abi::Kind;
use argus_dump::read::{Dump, Record};
use rustc_hash::FxHashMap;

use crate::flow::pieces;
use crate::indices::Indices;
use crate::intervals::Intervals;
use crate::tasks::{Predecessor, Tasks};

/// Two tasks that nothing keeps apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// In the order of dispatch of this run.
    pub first: usize,
    pub second: usize,
    pub how: Conflict,
    /// Device bytes that both touch: the first such piece.
    pub bytes: Range<u64>,
    /// Arguments through which they do, by record.
    pub records: (usize, usize),
}

/// What the two do to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conflict {
    WriteThenRead,
    ReadThenWrite,
    WriteThenWrite,
}

impl Conflict {
    pub fn name(self) -> &'static str {
        match self {
            Conflict::WriteThenRead => "one writes what the other reads",
            Conflict::ReadThenWrite => "one overwrites what the other reads",
            Conflict::WriteThenWrite => "both write",
        }
    }
}

/// A task and the record through which it touches memory. There is one for each record: they are kept small.
type Toucher = (u32, u32);

/// Who touched a piece of memory last. Readers are a list in [`Readers`], so that a piece is small and is copied
/// at no cost when it is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Touched {
    writer: Option<Toucher>,
    readers: Option<NonZeroU32>,
}

/// Lists that share their ends; the first one is number 1.
#[derive(Default)]
struct Readers(Vec<(Toucher, Option<NonZeroU32>)>);

impl Readers {
    fn add(&mut self, reader: Toucher, before: Option<NonZeroU32>) -> Option<NonZeroU32> {
        self.0.push((reader, before));
        NonZeroU32::new(self.0.len() as u32)
    }

    fn each(&self, mut list: Option<NonZeroU32>, mut look: impl FnMut(Toucher)) {
        while let Some((reader, next)) = list.and_then(|at| self.0.get(at.get() as usize - 1)) {
            look(*reader);
            list = *next;
        }
    }
}

/// All races of a run that its dump can show. Dumps without addresses or edges show none, and those whose edges
/// run in a circle show nothing that holds.
pub fn races(dump: &Dump, tasks: &Tasks) -> Vec<Race> {
    if !tasks.has_edges() || tasks.is_cyclic() {
        return Vec::new();
    }
    let mut memory: Intervals<Touched> = Intervals::default();
    let mut readers = Readers::default();
    let mut paths = Paths::new(tasks);
    let mut found: BTreeMap<(usize, usize, Conflict), Race> = BTreeMap::new();
    for &at in tasks.order() {
        let task = tasks.get(at);
        let tensors = |indices: &Indices| -> Vec<Record> {
            indices.iter().map(|index| dump.record(index)).filter(|r| r.kind == Kind::Tensor).collect()
        };
        paths.arrive(at);
        let mut report = |other: Toucher, record: usize, how: Conflict, bytes: Range<u64>| {
            let other = (other.0 as usize, other.1 as usize);
            if other.0 != at && !paths.exists(other.0, at) && !may_be_given_out_again(tasks, other.0, at) {
                found.entry((other.0, at, how)).or_insert_with(|| Race {
                    first: other.0,
                    second: at,
                    how,
                    bytes,
                    records: (other.1, record),
                });
            }
        };
        for record in tensors(&task.inputs) {
            // Pieces that had the same readers have the same readers again.
            let mut longer: FxHashMap<Option<NonZeroU32>, Option<NonZeroU32>> = FxHashMap::default();
            let reader = (at as u32, record.index as u32);
            for piece in pieces(&record) {
                memory.update(piece, |bytes, touched| {
                    let touched = touched.copied().unwrap_or_default();
                    if let Some(writer) = touched.writer {
                        report(writer, record.index, Conflict::WriteThenRead, bytes);
                    }
                    let list =
                        longer.entry(touched.readers).or_insert_with(|| readers.add(reader, touched.readers));
                    Some(Touched { readers: *list, ..touched })
                });
            }
        }
        for record in tensors(&task.outputs) {
            for piece in pieces(&record) {
                memory.update(piece, |bytes, touched| {
                    if let Some(touched) = touched {
                        let counts =
                            |other: u32| !record.created || submitted_after(tasks, other as usize, at);
                        if let Some(writer) = touched.writer.filter(|writer| counts(writer.0)) {
                            report(writer, record.index, Conflict::WriteThenWrite, bytes.clone());
                        }
                        readers.each(touched.readers, |reader| {
                            if counts(reader.0) {
                                report(reader, record.index, Conflict::ReadThenWrite, bytes.clone());
                            }
                        });
                    }
                    Some(Touched { writer: Some((at as u32, record.index as u32)), readers: None })
                });
            }
        }
    }
    found.into_values().collect()
}

/// Whether a task is known to have been submitted after another: the tasks of one ring are numbered as they come. Such
/// a task cannot mean what the memory held before the other created it anew.
fn submitted_after(tasks: &Tasks, later: usize, earlier: usize) -> bool {
    let (later, earlier) = (tasks.get(later).id, tasks.get(earlier).id);
    later.ring() == earlier.ring() && later > earlier
}

/// Whether memory of the second task may have been given out after the first was submitted: it depends on a task that only
/// creates tensors, and no dump says where these lie. The memory had to be free then, so the first was done with it.
fn may_be_given_out_again(tasks: &Tasks, first: usize, second: usize) -> bool {
    let creates = |before: &Predecessor| before.data && tasks.get(before.task).is_idle();
    let mut creators = tasks.predecessors(second).iter().filter(|before| creates(before));
    creators.any(|before| submitted_after(tasks, before.task, first))
}

/// Whether one task is ordered before another.
///
/// Most conflicts have an edge of their own. For the others one walk through the graph gives each task an interval
/// that holds those of all tasks it reaches, and marks the paths of the walk itself: nearly every question is
/// answered by that, and what is left is searched for within those intervals.
struct Paths<'a> {
    tasks: &'a Tasks,
    /// Place of each task in the order: nothing before the first of a pair can lead to it.
    place: Vec<usize>,
    /// When the walk came to a task and when it left it.
    came: Vec<usize>,
    left: Vec<usize>,
    /// The earliest leaving of all that a task reaches.
    low: Vec<usize>,
    /// Direct predecessors of the task that is looked at, marked with its place.
    direct: Vec<usize>,
    seen: Vec<u32>,
    round: u32,
}

impl<'a> Paths<'a> {
    fn new(tasks: &'a Tasks) -> Paths<'a> {
        let mut place = vec![0; tasks.len()];
        for (index, &at) in tasks.order().iter().enumerate() {
            place[at] = index;
        }
        let mut paths = Paths {
            tasks,
            place,
            came: vec![usize::MAX; tasks.len()],
            left: vec![0; tasks.len()],
            low: vec![usize::MAX; tasks.len()],
            direct: vec![usize::MAX; tasks.len()],
            seen: vec![0; tasks.len()],
            round: 0,
        };
        paths.walk();
        paths
    }

    /// Depth first along the edges.
    fn walk(&mut self) {
        let (mut coming, mut leaving) = (0, 0);
        let mut open: Vec<(usize, usize)> = Vec::new();
        for &root in self.tasks.order() {
            if self.came[root] != usize::MAX {
                continue;
            }
            open.push((root, 0));
            self.came[root] = coming;
            coming += 1;
            while let Some((at, next)) = open.last_mut() {
                let at = *at;
                if let Some(&to) = self.tasks.successors(at).get(*next) {
                    *next += 1;
                    let to = to as usize;
                    if self.came[to] == usize::MAX {
                        self.came[to] = coming;
                        coming += 1;
                        open.push((to, 0));
                    } else {
                        self.low[at] = self.low[at].min(self.low[to]);
                    }
                } else {
                    self.left[at] = leaving;
                    self.low[at] = self.low[at].min(leaving);
                    leaving += 1;
                    open.pop();
                    if let Some(&(parent, _)) = open.last() {
                        self.low[parent] = self.low[parent].min(self.low[at]);
                    }
                }
            }
        }
    }

    /// Looks at a task from now on.
    fn arrive(&mut self, at: usize) {
        for edge in self.tasks.predecessors(at) {
            self.direct[edge.task] = at;
        }
    }

    /// Whether `to`, which is looked at, waits for `from`, directly or over others.
    fn exists(&mut self, from: usize, to: usize) -> bool {
        if self.direct[from] == to || self.surely(from, to) {
            return true;
        }
        if !self.perhaps(from, to) {
            return false;
        }
        self.round += 1;
        let mut open = vec![to];
        while let Some(at) = open.pop() {
            for edge in self.tasks.predecessors(at) {
                if edge.task == from || self.surely(from, edge.task) {
                    return true;
                }
                let between = self.place[edge.task] > self.place[from] && self.perhaps(from, edge.task);
                if between && self.seen[edge.task] != self.round {
                    self.seen[edge.task] = self.round;
                    open.push(edge.task);
                }
            }
        }
        false
    }

    /// The walk went from one to the other.
    fn surely(&self, from: usize, to: usize) -> bool {
        self.came[from] < self.came[to] && self.left[to] < self.left[from]
    }

    /// Nothing rules it out.
    fn perhaps(&self, from: usize, to: usize) -> bool {
        self.low[from] <= self.low[to] && self.left[to] < self.left[from]
    }
}
