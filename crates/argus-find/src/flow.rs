//! Whether a task reads bytes that are wrong, or that were never judged.
//!
//! Tasks are taken in an order in which they can have run, and each byte of device memory carries what is known
//! of it. Elements of an output that are wrong make their bytes wrong, and no others; judged ones make them right
//! or, where a task was judged by its own inputs alone, as good as those. An output that was not judged cleans
//! nothing: wrong bytes stay wrong in it, unless the task created the tensor, in memory without a past. Memory
//! that is used again for something that was judged accuses no task. Dumps that know no addresses, and tasks whose
//! arguments were not captured, use the edges instead.

use std::ops::Range;

use argus_abi::Kind;
use argus_dump::read::{Dump, Record};

use crate::intervals::Intervals;
use crate::tasks::Tasks;

/// A view with more pieces than this is taken as one: being exact would cost more than it tells.
const MAX_PIECES: u64 = 1 << 14;

/// What is known of bytes. The worst of several counts, so the order matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Judged right, or from outside of the graph.
    #[default]
    Right,
    /// Written by a task that was not judged, or made of such bytes.
    Unknown,
    Wrong,
}

/// What is known of an output after it was compared.
#[derive(Clone, Debug, Default)]
pub struct Written {
    pub record: usize,
    /// Elements that are out of tolerance, in logical order.
    pub wrong: Vec<Range<u64>>,
    /// Elements that were not judged.
    pub unjudged: Vec<Range<u64>>,
}

/// What is known of a task before memory is looked at.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub outputs: Vec<Written>,
    /// Inputs that were compared themselves, by record: what memory says of them does not count.
    pub judged_inputs: Vec<usize>,
    /// A compared input is wrong.
    pub input_wrong: bool,
}

/// What a judged output says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It is right or wrong, whatever the task read.
    Absolutely,
    /// It follows from what the task read, or does not.
    ByInputs,
}

/// For each task, the worst that it reads.
pub fn reads(dump: &Dump, tasks: &Tasks, known: &[Known], judged: Judged) -> Vec<State> {
    let mut flow = Flow {
        dump,
        tasks,
        judged,
        addresses: has_addresses(dump, tasks),
        memory: Intervals::default(),
        leaves: vec![State::Right; tasks.len()],
    };
    let mut reads = vec![State::Right; tasks.len()];
    for &at in tasks.order() {
        reads[at] = flow.read(at, &known[at]);
        flow.write(at, &known[at], reads[at]);
    }
    reads
}

fn has_addresses(dump: &Dump, tasks: &Tasks) -> bool {
    let mut outputs = tasks.iter().flat_map(|task| task.outputs.iter()).map(|index| dump.record(index));
    outputs.all(|record| record.kind == Kind::Scalar || record.address.is_some())
}

struct Flow<'a> {
    dump: &'a Dump,
    tasks: &'a Tasks,
    judged: Judged,
    addresses: bool,
    /// Bytes that are not right.
    memory: Intervals<State>,
    /// For each task the worst that it leaves.
    leaves: Vec<State>,
}

impl Flow<'_> {
    fn read(&self, at: usize, known: &Known) -> State {
        let task = self.tasks.get(at);
        let mut worst = if known.input_wrong { State::Wrong } else { State::Right };
        if self.addresses {
            let inputs = task.inputs.iter().filter(|index| !known.judged_inputs.contains(index));
            for record in inputs.map(|index| self.dump.record(index)).filter(|r| r.kind == Kind::Tensor) {
                for piece in pieces(&record) {
                    self.memory.look(piece, |_, &state| worst = worst.max(state));
                }
            }
        }
        let all_compared = task.inputs_known && !known.judged_inputs.is_empty() && {
            let mut tensors =
                task.inputs.iter().filter(|&index| self.dump.record(index).kind == Kind::Tensor);
            tensors.all(|index| known.judged_inputs.contains(&index))
        };
        if all_compared {
            return worst;
        }
        for edge in self.tasks.predecessors(at).iter().filter(|edge| edge.data) {
            let from = self.leaves[edge.task];
            if !self.addresses {
                worst = worst.max(from);
            } else if !task.inputs_known || !self.all_outputs_known(edge.task) {
                // It may have read another part of what that task left.
                worst = worst.max(from.min(State::Unknown));
            }
        }
        worst
    }

    /// A task that ran a kernel and of which no output was captured wrote bytes that are not known.
    fn all_outputs_known(&self, at: usize) -> bool {
        !self.tasks.get(at).outputs.is_empty()
    }

    fn write(&mut self, at: usize, known: &Known, reads: State) {
        let task = self.tasks.get(at);
        let mut leaves = State::Right;
        if task.outputs.is_empty() && !task.is_idle() {
            leaves = State::Unknown.max(reads);
        } else if task.is_idle() && !self.addresses {
            // Values pass a barrier, and a Graph on its way to the tasks inside, along the same edges as the order does.
            leaves = reads;
        }
        for index in task.outputs.iter() {
            let record = self.dump.record(index);
            if record.kind == Kind::Scalar {
                continue;
            }
            let written = known.outputs.iter().find(|written| written.record == index);
            leaves = leaves.max(self.write_output(&record, written, reads));
        }
        self.leaves[at] = leaves;
    }

    /// Marks the bytes of an output; the worst of them.
    fn write_output(&mut self, record: &Record, written: Option<&Written>, reads: State) -> State {
        let elements = record.numel().unwrap_or(0);
        let whole: Vec<Range<u64>> = std::iter::once(0..elements).collect();
        let (wrong, unjudged) = match written {
            Some(written) => (&written.wrong[..], &written.unjudged[..]),
            None => (&[][..], &whole[..]),
        };
        let right = match self.judged {
            Judged::Absolutely => State::Right,
            Judged::ByInputs => reads,
        };
        let view = view_pieces(record);
        let mut worst = State::Right;
        for (ranges, state, cleans) in [
            (&without(elements, unjudged)[..], right, true),
            (unjudged, State::Unknown.max(reads), record.created),
            (wrong, State::Wrong, true),
        ] {
            for piece in view.iter().flat_map(|view| ranges.iter().flat_map(|range| view.of(range))) {
                self.memory.update(piece, |_, old| {
                    let old = old.copied().filter(|_| !cleans).unwrap_or_default();
                    Some(state.max(old)).filter(|&state| state != State::Right)
                });
            }
            if !ranges.is_empty() {
                worst = worst.max(state);
            }
        }
        worst
    }
}

/// The elements that are in none of the ranges, which are sorted.
fn without(elements: u64, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = Vec::with_capacity(ranges.len() + 1);
    let mut at = 0;
    for range in ranges {
        left.push(at..range.start);
        at = range.end;
    }
    left.push(at..elements);
    left.retain(|range| !range.is_empty());
    left
}

/// The contiguous pieces of device memory in which a view lies, in logical order.
pub(crate) fn pieces(record: &Record) -> Vec<Range<u64>> {
    view_pieces(record).map_or_else(Vec::new, |view| view.pieces)
}

impl ViewPieces {
    /// The pieces of some elements.
    fn of(&self, elements: &Range<u64>) -> Vec<Range<u64>> {
        if self.run == 0 {
            return self.pieces.clone();
        }
        let mut found = Vec::new();
        let mut at = elements.start;
        while at < elements.end {
            let (number, within) = (at / self.run, at % self.run);
            let count = (self.run - within).min(elements.end - at);
            let Some(piece) = self.pieces.get(number as usize) else { break };
            let byte = |element: u64| element.saturating_mul(self.bits);
            found.push(piece.start + byte(within) / 8..piece.start + byte(within + count).div_ceil(8));
            at += count;
        }
        found
    }
}

/// Where a view lies.
struct ViewPieces {
    pieces: Vec<Range<u64>>,
    /// Elements of one piece; 0 if the view was taken as one piece that has more bytes than elements.
    run: u64,
    bits: u64,
}

fn view_pieces(record: &Record) -> Option<ViewPieces> {
    let (address, dtype) = (record.address?, record.dtype?);
    let bits = u64::from(dtype.bits());
    let whole = |elements: u64| elements.saturating_mul(bits).div_ceil(8);
    let (mut shape, mut strides) = (record.shape().to_vec(), record.strides().to_vec());
    if shape.contains(&0) {
        return None;
    }
    // The innermost dimensions that lie without gaps are one piece.
    let mut run = 1u64;
    while let (Some(&extent), Some(&stride)) = (shape.last(), strides.last()) {
        if extent != 1 && stride != run {
            break;
        }
        run = run.saturating_mul(extent);
        shape.pop();
        strides.pop();
    }
    let count = shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
    let dims = || shape.iter().zip(&strides);
    if count.is_none_or(|count| count > MAX_PIECES) || (bits < 8 && !shape.is_empty()) {
        let last = dims()
            .fold(0u64, |sum, (&extent, &stride)| sum.saturating_add((extent - 1).saturating_mul(stride)));
        let end = address.saturating_add(whole(last.saturating_add(run)));
        return Some(ViewPieces { pieces: std::iter::once(address..end).collect(), run: 0, bits });
    }
    let mut starts = vec![0u64];
    for (&extent, &stride) in dims() {
        let inner = starts
            .iter()
            .flat_map(|&start| (0..extent).map(move |i| start.saturating_add(i.saturating_mul(stride))));
        starts = inner.collect();
    }
    let piece = |start: u64| {
        let begin = address.saturating_add(whole(start));
        begin..begin.saturating_add(whole(run))
    };
    Some(ViewPieces { pieces: starts.into_iter().map(piece).collect(), run, bits })
}
