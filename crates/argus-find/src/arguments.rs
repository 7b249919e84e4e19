//! Which argument of one task is which of its counterpart.

use argus_abi::Kind;
use argus_dump::read::{Dump, FormatVersion, Record};

use crate::indices::Indices;

/// Pairs of records, and what has no counterpart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    pub pairs: Vec<(usize, usize)>,
    /// Sentences about tensors of either task without a counterpart.
    pub unpaired: Vec<String>,
    /// Scalars of either task without a counterpart.
    pub scalars_left: usize,
}

/// Pairs the records of one stage: tensors by position among the tensors, so that raw kernels, which count
/// scalars in between, line up as well; scalars by argument index and type, else not at all. June lost the types of
/// scalars and kept their bits, so equal bits are enough there.
pub fn pair_arguments(left: &Dump, lefts: &Indices, right: &Dump, rights: &Indices) -> Arguments {
    let records = |dump: &Dump, indices: &Indices, kind: Kind| -> Vec<Record> {
        indices.iter().map(|index| dump.record(index)).filter(|record| record.kind == kind).collect()
    };
    let mut arguments = Arguments::default();
    let (a, b) = (records(left, lefts, Kind::Tensor), records(right, rights, Kind::Tensor));
    // Where all indices of one side are known to the other, they say more than positions: a part of the
    // arguments may not have been captured.
    let by_index = a.iter().all(|one| b.iter().any(|two| same_slot(one, two)))
        || b.iter().all(|two| a.iter().any(|one| same_slot(one, two)));
    let mut taken = vec![false; b.len()];
    for (position, one) in a.iter().enumerate() {
        let nth = a[..position].iter().filter(|earlier| same_slot(earlier, one)).count();
        let two = if by_index {
            (0..b.len()).filter(|&at| same_slot(one, &b[at])).nth(nth)
        } else {
            Some(position).filter(|_| a.len() == b.len())
        };
        if let Some(at) = two {
            taken[at] = true;
        }
        match two.map(|at| &b[at]) {
            Some(two) if two.dtype != one.dtype || two.numel() != one.numel() => {
                arguments.unpaired.push(format!(
                    "argument {} is {} on one side and {} on the other",
                    one.arg_index,
                    view(one),
                    view(two)
                ));
            }
            Some(two) => arguments.pairs.push((one.index, two.index)),
            None => arguments.unpaired.push(format!("argument {} is on this side only", one.arg_index)),
        }
    }
    for (two, _) in b.iter().zip(&taken).filter(|(_, taken)| !**taken) {
        arguments.unpaired.push(format!("argument {} is on the other side only", two.arg_index));
    }
    let (a, b) = (records(left, lefts, Kind::Scalar), records(right, rights, Kind::Scalar));
    let untyped = [left, right].iter().any(|dump| dump.format_version() == FormatVersion::June);
    let same_scalar = |one: &Record, two: &Record| {
        same_slot(one, two) && (one.dtype == two.dtype || untyped && one.scalar == two.scalar)
    };
    let mut paired = 0;
    for one in &a {
        if let Some(two) = b.iter().find(|two| same_scalar(one, two)) {
            arguments.pairs.push((one.index, two.index));
            paired += 1;
        }
    }
    arguments.scalars_left = a.len().max(b.len()) - paired;
    arguments
}

fn same_slot(one: &Record, two: &Record) -> bool {
    one.arg_index == two.arg_index && one.subtask == two.subtask
}

/// `FLOAT32 [16, 16]`
pub(crate) fn view(record: &Record) -> String {
    format!("{} {:?}", record.dtype.map_or("of unknown type", |dtype| dtype.name()), record.shape())
}
