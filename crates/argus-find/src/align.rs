//! Which task of one dump is which of another.
//!
//! Where both graphs have the same ids with the same kernels and tensors, the ids say it. Otherwise tasks are
//! told apart by structure: kernel, tensors, and the structure of what comes before and behind, in widening
//! rings. Tasks that look alike to the end are paired in the order of submission. What is left over on either
//! side is listed, never dropped.

use std::hash::{Hash, Hasher};

use argus_dump::read::{Dump, Record};
use rustc_hash::{FxHashMap, FxHasher};

use crate::tasks::Tasks;

/// How wide the rings grow in which neighbours count.
const ROUNDS: usize = 4;

/// Pairs of tasks, by their places in either dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// For each task of the first dump, the task of the second.
    pub pairs: Vec<Option<usize>>,
    pub by: AlignedBy,
    /// Tasks of the first dump that have no counterpart.
    pub left_over: Vec<usize>,
    /// Tasks of the second dump that have none.
    pub right_over: Vec<usize>,
}

/// What the pairs rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlignedBy {
    #[default]
    TaskId,
    Structure,
}

/// One dump and its tasks.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub dump: &'a Dump,
    pub tasks: &'a Tasks,
}

/// Pairs the tasks of two dumps.
pub fn align(left: Side<'_>, right: Side<'_>) -> Alignment {
    by_id(left, right).unwrap_or_else(|| by_structure(left, right))
}

/// Only if every id that both have stands for the same work, and one side has no task that the other lacks.
fn by_id(left: Side<'_>, right: Side<'_>) -> Option<Alignment> {
    let mut pairs = vec![None; left.tasks.len()];
    let mut taken = vec![false; right.tasks.len()];
    for (at, task) in left.tasks.iter().enumerate() {
        let Some(other) = right.tasks.find(task.id) else { continue };
        if !same_work(left, at, right, other) {
            return None;
        }
        pairs[at] = Some(other);
        taken[other] = true;
    }
    let matched = taken.iter().filter(|taken| **taken).count();
    // Of two runs of one program the shorter one, killed or captured in part, is contained in the other.
    let contained = matched == left.tasks.len() || matched == right.tasks.len();
    (contained && matched > 0).then(|| finish(pairs, taken, AlignedBy::TaskId))
}

/// Whether two tasks can be the same as far as kernels and tensors tell. What a dump does not know is no
/// difference, and neither is a stage that was not captured.
fn same_work(left: Side<'_>, at: usize, right: Side<'_>, other: usize) -> bool {
    let (a, b) = (left.tasks.get(at), right.tasks.get(other));
    // Nothing at all counts as a number here.
    if a.kernel != b.kernel && !numbered(&a.kernel) && !numbered(&b.kernel) {
        return false;
    }
    let key = |record: &Record| (record.stage, record.arg_index, record.subtask);
    let theirs: Vec<Record> = b.tensors(right.dump).collect();
    a.tensors(left.dump).all(|record| {
        let other = theirs.iter().rev().find(|other| key(other) == key(&record));
        other.is_none_or(|other| (other.dtype, other.shape()) == (record.dtype, record.shape()))
    })
}

/// A kernel that is known by its number only.
fn numbered(kernel: &str) -> bool {
    kernel.chars().all(|letter| letter.is_ascii_digit() || letter == '+')
}

fn by_structure(left: Side<'_>, right: Side<'_>) -> Alignment {
    let (a, b) = (colours(left), colours(right));
    let mut pairs = vec![None; left.tasks.len()];
    let mut taken = vec![false; right.tasks.len()];
    // The most telling colours first; what they leave open is tried with less.
    for round in (0..=ROUNDS).rev() {
        let mut groups: FxHashMap<u64, (Vec<usize>, Vec<usize>)> = FxHashMap::default();
        for at in by_submission(left.tasks).filter(|&at| pairs[at].is_none()) {
            groups.entry(a[round][at]).or_default().0.push(at);
        }
        for at in by_submission(right.tasks).filter(|&at| !taken[at]) {
            groups.entry(b[round][at]).or_default().1.push(at);
        }
        let mut matched: Vec<(usize, usize)> = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "groups are disjoint: their order does not matter")]
        for (lefts, rights) in groups.values() {
            // Groups of unequal size say that something is missing: only the widest ring may still pair them.
            if lefts.len() == rights.len() || round == 0 {
                matched.extend(lefts.iter().copied().zip(rights.iter().copied()));
            }
        }
        for (at, other) in matched {
            pairs[at] = Some(other);
            taken[other] = true;
        }
    }
    finish(pairs, taken, AlignedBy::Structure)
}

fn finish(pairs: Vec<Option<usize>>, taken: Vec<bool>, by: AlignedBy) -> Alignment {
    let left_over = (0..pairs.len()).filter(|&at| pairs[at].is_none()).collect();
    let right_over = (0..taken.len()).filter(|&at| !taken[at]).collect();
    Alignment { pairs, by, left_over, right_over }
}

fn by_submission(tasks: &Tasks) -> impl Iterator<Item = usize> {
    let mut places: Vec<usize> = (0..tasks.len()).collect();
    places.sort_by_key(|&at| tasks.get(at).id);
    places.into_iter()
}

/// For each round the colour of each task.
fn colours(side: Side<'_>) -> Vec<Vec<u64>> {
    let mut rounds = vec![own_colours(side)];
    for round in 0..ROUNDS {
        let last = &rounds[round];
        // Orders without data differ between runtimes; values flow alike in all of them.
        let mut behind: Vec<Vec<u64>> = vec![Vec::new(); side.tasks.len()];
        for (at, &colour) in last.iter().enumerate() {
            for edge in side.tasks.predecessors(at).iter().filter(|edge| edge.data) {
                behind[edge.task].push(colour);
            }
        }
        let next = behind.into_iter().enumerate().map(|(at, behind)| {
            let mut hasher = FxHasher::default();
            last[at].hash(&mut hasher);
            let data = side.tasks.predecessors(at).iter().filter(|edge| edge.data);
            sorted(data.map(|edge| last[edge.task]).collect()).hash(&mut hasher);
            sorted(behind).hash(&mut hasher);
            hasher.finish()
        });
        rounds.push(next.collect());
    }
    rounds
}

fn sorted(mut colours: Vec<u64>) -> Vec<u64> {
    colours.sort_unstable();
    colours.dedup();
    colours
}

/// By kernel and outputs alone. Argument indices are left out: raw and tensor kernels count them differently.
fn own_colours(side: Side<'_>) -> Vec<u64> {
    let colour = |at: usize| {
        let task = side.tasks.get(at);
        let mut hasher = FxHasher::default();
        task.kernel.hash(&mut hasher);
        // What is in/out on one runtime may be an output on another, so only what a task leaves is compared; and
        // raw kernels register tensors flat where others have rows, so only its size.
        for record in task.outputs.iter().map(|index| side.dump.record(index)) {
            (record.dtype.map(|dtype| dtype as u8), record.numel()).hash(&mut hasher);
        }
        hasher.finish()
    };
    (0..side.tasks.len()).map(colour).collect()
}
