//! Several runs of one program with the same inputs: where do they diverge?
//!
//! A task whose inputs are the same bits in all runs and whose outputs are not is where it begins. Everything
//! downstream differs because its inputs do. Where inputs were not captured, nothing is said about them.

use argus_abi::Kind;
use argus_dump::read::{Dump, PayloadError};
use argus_facts::with_causes;

use crate::align::{Alignment, Side, align};
use crate::arguments::{Arguments, pair_arguments};
use crate::compare::compare_scalars;
use crate::verdict::Agreement;

/// What several runs have in common, task by task of the first.
#[derive(Clone, Debug, Default)]
pub struct Parting {
    /// Tasks with equal inputs and different outputs, dependencies first.
    pub begins: Vec<Begin>,
    /// Tasks with different outputs whose inputs are not all known to be equal.
    pub open: Vec<Begin>,
    /// Tasks whose inputs differ between runs.
    pub behind: Vec<usize>,
    /// Tasks that could not be compared, and why.
    pub unknown: Vec<(usize, String)>,
    /// Tasks with a record that is damaged in one of the runs, and how.
    pub damaged: Vec<(usize, String)>,
    /// Tasks that are the same bits in all runs.
    pub same: usize,
    /// Those of them whose inputs were not all compared: captured in no run, or known to six digits only.
    pub same_outputs: usize,
    /// How many tasks that compute something each run has and the first lacks, by run, counted from 1.
    pub elsewhere: Vec<(usize, usize)>,
    /// How the other runs were matched with the first.
    pub alignments: Vec<Alignment>,
}

impl Parting {
    /// Whether two runs are known to differ.
    pub fn differs(&self) -> bool {
        !self.begins.is_empty() || !self.open.is_empty() || !self.behind.is_empty()
    }

    /// Whether everything was compared.
    pub fn is_whole(&self) -> bool {
        self.unknown.is_empty() && self.damaged.is_empty() && self.elsewhere.is_empty()
    }
}

/// A task where runs diverge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    pub task: usize,
    /// Which run differs from the first, counted from 1, and the record of the first that differs.
    pub runs: Vec<(usize, usize)>,
}

/// What one task looks like in two runs.
enum Same {
    /// Whether all inputs were compared.
    Yes(bool),
    /// The record that differs, and whether all inputs were compared.
    Outputs(usize, bool),
    Inputs,
    Unknown(String),
    Damaged(String),
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
        let (mut runs, mut inputs, mut unknown, mut damaged) = (Vec::new(), false, None, None);
        let mut all_known = true;
        for (number, (&other, alignment)) in others.iter().zip(&parting.alignments).enumerate() {
            let same = match alignment.pairs[at] {
                Some(place) => compare(first, at, other, place),
                None => Same::Unknown(format!("run {} has no such task", number + 2)),
            };
            match same {
                Same::Yes(known) => all_known &= known,
                Same::Outputs(record, known) => {
                    all_known &= known;
                    runs.push((number + 1, record));
                }
                Same::Inputs => inputs = true,
                Same::Unknown(why) => unknown = Some(why),
                Same::Damaged(why) => damaged = Some(why),
            }
        }
        if !runs.is_empty() {
            let list = if all_known { &mut parting.begins } else { &mut parting.open };
            list.push(Begin { task: at, runs });
        } else if inputs {
            parting.behind.push(at);
        } else if let Some(why) = damaged {
            parting.damaged.push((at, why));
        } else if let Some(why) = unknown {
            parting.unknown.push((at, why));
        } else {
            parting.same += 1;
            parting.same_outputs += usize::from(!all_known);
        }
    }
    for (number, (&other, alignment)) in others.iter().zip(&parting.alignments).enumerate() {
        let over = alignment.right_over.iter().filter(|&&at| !other.tasks.get(at).is_idle()).count();
        if over > 0 {
            parting.elsewhere.push((number + 1, over));
        }
    }
    parting
}

fn compare(first: Side<'_>, at: usize, other: Side<'_>, place: usize) -> Same {
    let (a, b) = (first.tasks.get(at), other.tasks.get(place));
    if !a.completed || !b.completed {
        return Same::Unknown("it was running when one of the runs ended".to_owned());
    }
    let Arguments { pairs: inputs, unpaired: unpaired_inputs, scalars_left } =
        pair_arguments(first.dump, &a.inputs, other.dump, &b.inputs);
    let Arguments { pairs: outputs, unpaired, .. } =
        pair_arguments(first.dump, &a.outputs, other.dump, &b.outputs);
    let mut open = None;
    let mut all_known = scalars_left == 0 && a.inputs_known && b.inputs_known;
    for &(one, two) in &inputs {
        match equal_bits(first.dump, one, other.dump, two) {
            Ok(Some(true)) => {}
            Ok(Some(false)) => return Same::Inputs,
            Ok(None) => all_known = false,
            Err(error) => open = open.or(Some(error)),
        }
    }
    if let Some(error) = open.take_if(|error| error.is_damage()) {
        return Same::Damaged(with_causes(&error));
    }
    if let Some(why) = unpaired.first() {
        return Same::Unknown(why.clone());
    }
    if outputs.is_empty() {
        return Same::Unknown("no output of it was captured".to_owned());
    }
    all_known &= open.is_none() && unpaired_inputs.is_empty();
    for &(one, two) in &outputs {
        match equal_bits(first.dump, one, other.dump, two) {
            Ok(Some(true) | None) => {}
            Ok(Some(false)) => return Same::Outputs(one, all_known),
            Err(error) if error.is_damage() => return Same::Damaged(with_causes(&error)),
            Err(error) => return Same::Unknown(with_causes(&error)),
        }
    }
    match (open, unpaired_inputs.first()) {
        (Some(error), _) => Same::Unknown(with_causes(&error)),
        (None, Some(why)) => Same::Unknown(why.clone()),
        (None, None) => Same::Yes(all_known),
    }
}

/// Whether two records hold the same bits; `None` if they do as far as a dump that rounds scalars can tell.
fn equal_bits(left: &Dump, one: usize, right: &Dump, two: usize) -> Result<Option<bool>, PayloadError> {
    let (a, b) = (left.record(one), right.record(two));
    if a.kind == Kind::Scalar {
        return Ok(match compare_scalars(&a, &b, String::new()).agreement {
            Agreement::Equal => Some(true),
            Agreement::Beyond => Some(false),
            Agreement::Within | Agreement::Unknown(_) | Agreement::Damaged(_) => None,
        });
    }
    // Payloads are held to their checksums as they are read, so those tell from here on.
    let (bytes, others) = (left.payload(&a)?, right.payload(&b)?);
    match (a.checksum, b.checksum) {
        (Some(one), Some(two)) if bytes.len() == others.len() => Ok(Some(one == two)),
        _ => Ok(Some(bytes == others)),
    }
}
