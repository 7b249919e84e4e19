//! Pairs of tasks that touch the same bytes, one of them writing, with no path between them.
//!
//! Whether such a pair ever gave a wrong value is another question: nothing keeps it from doing so. Tasks are
//! taken in an order in which they can have run. For each byte it is enough to look at its last writer and at
//! who read it since: whoever is ordered behind those is ordered behind everybody before. Memory that a task
//! created anew was free, so nothing before it counts.

use std::collections::BTreeMap;
use std::ops::Range;

use argus_abi::Kind;
use argus_dump::read::{Dump, Record};

use crate::flow::pieces;
use crate::tasks::Tasks;

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

/// Who touched a piece of memory last.
#[derive(Clone, Default)]
struct Touched {
    writer: Option<(usize, usize)>,
    readers: Vec<(usize, usize)>,
}

/// All races of a run that its dump can show. Dumps without addresses or edges show none.
pub fn races(dump: &Dump, tasks: &Tasks) -> Vec<Race> {
    if !tasks.has_edges() {
        return Vec::new();
    }
    let mut memory = Memory::default();
    let mut paths = Paths::new(tasks);
    let mut found: BTreeMap<(usize, usize, Conflict), Race> = BTreeMap::new();
    for &at in tasks.order() {
        let task = tasks.get(at);
        let tensors = |indices: &[usize]| -> Vec<Record> {
            indices.iter().map(|&index| dump.record(index)).filter(|r| r.kind == Kind::Tensor).collect()
        };
        let mut report = |other: (usize, usize), record: usize, how: Conflict, bytes: Range<u64>| {
            if other.0 != at && !paths.exists(other.0, at) {
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
            for piece in pieces(&record) {
                memory.touch(piece, |bytes, touched| {
                    if let Some(writer) = touched.writer {
                        report(writer, record.index, Conflict::WriteThenRead, bytes);
                    }
                    touched.readers.push((at, record.index));
                });
            }
        }
        for record in tensors(&task.outputs) {
            for piece in pieces(&record) {
                memory.touch(piece, |bytes, touched| {
                    if !record.created {
                        if let Some(writer) = touched.writer {
                            report(writer, record.index, Conflict::WriteThenWrite, bytes.clone());
                        }
                        for &reader in &touched.readers {
                            report(reader, record.index, Conflict::ReadThenWrite, bytes.clone());
                        }
                    }
                    *touched = Touched { writer: Some((at, record.index)), readers: Vec::new() };
                });
            }
        }
    }
    found.into_values().collect()
}

/// Bytes by pieces that do not overlap; a piece begins at its key.
#[derive(Default)]
struct Memory(BTreeMap<u64, (u64, Touched)>);

impl Memory {
    /// Cuts what there is so that `piece` is made of whole entries, and shows each of them.
    fn touch(&mut self, piece: Range<u64>, mut look: impl FnMut(Range<u64>, &mut Touched)) {
        if piece.is_empty() {
            return;
        }
        self.cut(piece.start);
        self.cut(piece.end);
        let mut gaps = Vec::new();
        let mut at = piece.start;
        for (&start, (end, touched)) in self.0.range_mut(piece.clone()) {
            if at < start {
                gaps.push(at..start);
            }
            look(start..*end, touched);
            at = *end;
        }
        if at < piece.end {
            gaps.push(at..piece.end);
        }
        for gap in gaps {
            let mut touched = Touched::default();
            look(gap.clone(), &mut touched);
            self.0.insert(gap.start, (gap.end, touched));
        }
    }

    fn cut(&mut self, at: u64) {
        if let Some((_, (end, touched))) = self.0.range_mut(..at).next_back()
            && *end > at
        {
            let rest = (*end, touched.clone());
            *end = at;
            self.0.insert(at, rest);
        }
    }
}

/// Whether one task is ordered before another.
struct Paths<'a> {
    tasks: &'a Tasks,
    /// Place of each task in the order: nothing before the first of a pair can lead to it.
    place: Vec<usize>,
    seen: Vec<u32>,
    round: u32,
}

impl<'a> Paths<'a> {
    fn new(tasks: &'a Tasks) -> Paths<'a> {
        let mut place = vec![0; tasks.len()];
        for (index, &at) in tasks.order().iter().enumerate() {
            place[at] = index;
        }
        Paths { tasks, place, seen: vec![0; tasks.len()], round: 0 }
    }

    /// Whether `to` waits for `from`, directly or over others.
    fn exists(&mut self, from: usize, to: usize) -> bool {
        self.round += 1;
        let mut open = vec![to];
        while let Some(at) = open.pop() {
            for edge in self.tasks.predecessors(at) {
                if edge.task == from {
                    return true;
                }
                if self.place[edge.task] > self.place[from] && self.seen[edge.task] != self.round {
                    self.seen[edge.task] = self.round;
                    open.push(edge.task);
                }
            }
        }
        false
    }
}
