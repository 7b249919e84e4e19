//! Who reads bytes that a wrong task wrote.
//!
//! Outputs that are judged wrong stain the device bytes they lie in; whoever reads stained bytes inherits, and
//! stains what it writes. A task that is right and reads nothing stained cleans what it writes, so that memory
//! which is used again for something else does not accuse anybody. Tasks are taken in the order in which they
//! were dispatched. Dumps that know no addresses use the edges instead.

use std::collections::BTreeMap;
use std::ops::Range;

use argus_abi::Kind;
use argus_dump::read::{Dump, Record};

use crate::tasks::Tasks;

/// A view with more pieces than this is taken as one: being exact would cost more than it tells.
const MAX_PIECES: u64 = 1 << 14;

/// For each task, whether it reads what a wrong task wrote, given who is wrong by itself.
pub fn reads_wrong(dump: &Dump, tasks: &Tasks, wrong: &[bool]) -> Vec<bool> {
    if has_addresses(dump, tasks) { by_bytes(dump, tasks, wrong) } else { by_edges(tasks, wrong) }
}

fn has_addresses(dump: &Dump, tasks: &Tasks) -> bool {
    let mut outputs = tasks.iter().flat_map(|task| &task.outputs).map(|&index| dump.record(index));
    outputs.all(|record| record.kind == Kind::Scalar || record.address.is_some())
}

fn by_edges(tasks: &Tasks, wrong: &[bool]) -> Vec<bool> {
    let mut inherits = vec![false; tasks.len()];
    for &at in tasks.order() {
        let mut before = tasks.predecessors(at).iter().filter(|edge| edge.data);
        inherits[at] = before.any(|edge| wrong[edge.task] || inherits[edge.task]);
    }
    inherits
}

fn by_bytes(dump: &Dump, tasks: &Tasks, wrong: &[bool]) -> Vec<bool> {
    let mut inherits = vec![false; tasks.len()];
    let mut stains = Stains::default();
    for &at in tasks.order() {
        let task = tasks.get(at);
        let tensors = |indices: &[usize]| -> Vec<Record> {
            indices.iter().map(|&index| dump.record(index)).filter(|r| r.kind == Kind::Tensor).collect()
        };
        inherits[at] = tensors(&task.inputs).iter().flat_map(pieces).any(|piece| stains.meets(piece));
        for piece in tensors(&task.outputs).iter().flat_map(pieces) {
            if wrong[at] || inherits[at] { stains.add(piece) } else { stains.remove(piece) }
        }
    }
    inherits
}

/// The contiguous pieces of device memory in which a view lies.
pub(crate) fn pieces(record: &Record) -> Vec<Range<u64>> {
    let (Some(address), Some(dtype)) = (record.address, record.dtype) else { return Vec::new() };
    let bits = u64::from(dtype.bits());
    let whole = |elements: u64| elements.saturating_mul(bits).div_ceil(8);
    let (mut shape, mut strides) = (record.shape().to_vec(), record.strides().to_vec());
    if shape.contains(&0) {
        return Vec::new();
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
    if count.is_none_or(|count| count > MAX_PIECES) || bits < 8 {
        let last = dims()
            .fold(0u64, |sum, (&extent, &stride)| sum.saturating_add((extent - 1).saturating_mul(stride)));
        let end = address.saturating_add(whole(last.saturating_add(run)));
        return std::iter::once(address..end).collect();
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
    starts.into_iter().map(piece).collect()
}

/// Bytes by ranges that neither touch nor overlap.
#[derive(Default)]
struct Stains(BTreeMap<u64, u64>);

impl Stains {
    fn meets(&self, piece: Range<u64>) -> bool {
        let before = self.0.range(..piece.end).next_back();
        before.is_some_and(|(_, &end)| end > piece.start)
    }

    fn add(&mut self, mut piece: Range<u64>) {
        while let Some((&start, &end)) = self.0.range(..=piece.end).next_back() {
            if end < piece.start {
                break;
            }
            piece = piece.start.min(start)..piece.end.max(end);
            self.0.remove(&start);
        }
        if !piece.is_empty() {
            self.0.insert(piece.start, piece.end);
        }
    }

    fn remove(&mut self, piece: Range<u64>) {
        while let Some((&start, &end)) = self.0.range(..piece.end).next_back() {
            if end <= piece.start {
                break;
            }
            self.0.remove(&start);
            if start < piece.start {
                self.0.insert(start, piece.start);
            }
            if end > piece.end {
                self.0.insert(piece.end, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stains_spread_and_are_wiped_by_bytes() {
        let mut stains = Stains::default();
        stains.add(10..20);
        stains.add(30..40);
        stains.add(20..25);
        assert_eq!(stains.0, BTreeMap::from([(10, 25), (30, 40)]));
        stains.remove(12..35);
        assert_eq!(stains.0, BTreeMap::from([(10, 12), (35, 40)]));
        assert!(
            stains.meets(11..12) && !stains.meets(12..35) && stains.meets(39..50) && !stains.meets(40..50)
        );
        stains.add(0..100);
        assert_eq!(stains.0, BTreeMap::from([(0, 100)]));
        stains.remove(0..100);
        assert!(stains.0.is_empty() && !stains.meets(0..u64::MAX));
    }
}
