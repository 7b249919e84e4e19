//! Several runs of one program with the same inputs: where do they part?
//!
//! A task whose inputs are the same bits in all runs and whose outputs are not is where it begins. Everything
//! behind it differs because its inputs do.

use argus_abi::Kind;
use argus_dump::read::{Dump, PayloadError, Record, Scalar};
use argus_facts::with_causes;

use crate::align::{Alignment, Side, align};
use crate::arguments::{Arguments, pair_arguments};

/// What several runs have in common, task by task of the first.
#[derive(Clone, Debug, Default)]
pub struct Parting {
    /// Tasks with equal inputs and different outputs, dependencies first.
    pub begins: Vec<Begin>,
    /// Tasks whose inputs differ between runs.
    pub behind: Vec<usize>,
    /// Tasks that could not be compared, and why.
    pub unknown: Vec<(usize, String)>,
    /// Tasks that are the same bits in all runs.
    pub same: usize,
    /// How the other runs were matched with the first.
    pub alignments: Vec<Alignment>,
}

/// A task where runs part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    pub task: usize,
    /// Which run differs from the first, counted from 1, and the record of the first that differs.
    pub runs: Vec<(usize, usize)>,
}

/// What one task looks like in two runs.
enum Same {
    Yes,
    Outputs(usize),
    Inputs,
    Unknown(String),
}

/// Compares the first run with each of the others.
pub fn part(sides: &[Side<'_>]) -> Parting {
    let Some((&first, others)) = sides.split_first() else { return Parting::default() };
    let alignments: Vec<Alignment> = others.iter().map(|&other| align(first, other)).collect();
    let mut parting = Parting { alignments, ..Parting::default() };
    for &at in first.tasks.order() {
        if first.tasks.get(at).is_idle() {
            parting.same += 1;
            continue;
        }
        let (mut runs, mut inputs, mut unknown) = (Vec::new(), false, None);
        for (number, (&other, alignment)) in others.iter().zip(&parting.alignments).enumerate() {
            let same = match alignment.pairs[at] {
                Some(place) => compare(first, at, other, place),
                None => Same::Unknown(format!("run {} has no such task", number + 2)),
            };
            match same {
                Same::Yes => {}
                Same::Outputs(record) => runs.push((number + 1, record)),
                Same::Inputs => inputs = true,
                Same::Unknown(why) => unknown = Some(why),
            }
        }
        if !runs.is_empty() {
            parting.begins.push(Begin { task: at, runs });
        } else if inputs {
            parting.behind.push(at);
        } else if let Some(why) = unknown {
            parting.unknown.push((at, why));
        } else {
            parting.same += 1;
        }
    }
    parting
}

fn compare(first: Side<'_>, at: usize, other: Side<'_>, place: usize) -> Same {
    let (a, b) = (first.tasks.get(at), other.tasks.get(place));
    let Arguments { pairs: inputs, .. } = pair_arguments(first.dump, &a.inputs, other.dump, &b.inputs);
    let Arguments { pairs: outputs, unpaired } =
        pair_arguments(first.dump, &a.outputs, other.dump, &b.outputs);
    for &(one, two) in &inputs {
        match equal_bits(first.dump, one, other.dump, two) {
            Ok(true) => {}
            Ok(false) => return Same::Inputs,
            Err(error) => return Same::Unknown(with_causes(&error)),
        }
    }
    if let Some(why) = unpaired.first() {
        return Same::Unknown(why.clone());
    }
    for &(one, two) in &outputs {
        match equal_bits(first.dump, one, other.dump, two) {
            Ok(true) => {}
            Ok(false) => return Same::Outputs(one),
            Err(error) => return Same::Unknown(with_causes(&error)),
        }
    }
    Same::Yes
}

/// Whether two records hold the same bits. Checksums tell without reading.
fn equal_bits(left: &Dump, one: usize, right: &Dump, two: usize) -> Result<bool, PayloadError> {
    let (a, b) = (left.record(one), right.record(two));
    if a.kind == Kind::Scalar {
        return Ok(scalar_bits(&a) == scalar_bits(&b));
    }
    if let (Some(one), Some(two)) = (a.checksum, b.checksum)
        && a.logical_bytes == b.logical_bytes
    {
        return Ok(one == two);
    }
    Ok(left.payload(&a)? == right.payload(&b)?)
}

fn scalar_bits(record: &Record) -> Option<u64> {
    record.scalar.map(|scalar| match scalar {
        Scalar::Bits(bits) => bits,
        Scalar::Rounded(value) => value.to_bits(),
    })
}
