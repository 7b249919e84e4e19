//! The verdict: what the task wrote against what was captured, bit by bit.
//!
//! The task runs twice, and bytes that were not captured hold one pattern the first time and another the second.
//! An element that keeps both patterns was not written. One that differs between the two runs without keeping
//! them was computed from bytes that are not there. Neither can be found with one run.

use std::sync::Arc;

use argus_abi::{DType, Role};
use argus_chip::Chip;
use argus_facts::{number, with_causes};
use argus_runtime::KernelTable;

use crate::error::ReplayError;
use crate::execute::{Options, Outcome, Output, run};
use crate::rebuild::Poison;
use crate::task::{CapturedTask, Content};

/// What a replay showed.
#[derive(Debug)]
pub struct Proof {
    /// The first run.
    pub outcome: Outcome,
    /// One for each output, by slot; empty if the first run failed.
    pub verdicts: Vec<Verdict>,
    /// How often it ran with the pattern of the run.
    pub times: u32,
    /// Later runs that gave other bytes than the first.
    pub flaky: Vec<Flaky>,
    /// The task failed when unknown bytes held another pattern: it needs bytes that were not captured.
    pub fails_otherwise: Option<String>,
}

impl Proof {
    /// Every output that could be compared was equal, and nothing else is wrong.
    pub fn passed(&self) -> bool {
        let differs = |verdict: &Verdict| matches!(verdict.judgement, Judgement::Differs(_));
        self.outcome.result.is_ok() && self.flaky.is_empty() && !self.verdicts.iter().any(differs)
    }

    /// Whether anything was compared.
    pub fn compared(&self) -> bool {
        self.verdicts.iter().any(|verdict| !matches!(verdict.judgement, Judgement::Unchecked(_)))
    }

    /// Elements of outputs that were compared, and elements of outputs.
    pub fn elements(&self) -> (u64, u64) {
        let sum = |of: fn(&Verdict) -> u64| self.verdicts.iter().map(of).sum();
        (sum(|verdict| verdict.compared), sum(|verdict| verdict.elements))
    }
}

/// One output.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub slot: usize,
    pub role: Role,
    pub dtype: DType,
    pub shape: Vec<u32>,
    pub elements: u64,
    pub judgement: Judgement,
    /// Elements that were compared with what was captured.
    pub compared: u64,
    /// Elements that the task did not write. They are compared if the task created the tensor and the run did not
    /// leave one value in all of them, which the tensor may have been created with.
    pub unwritten: u64,
    /// Elements that came out otherwise when unknown bytes did.
    pub dependent: u64,
}

/// Whether an output is what it was.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    BitEqual,
    Differs(Difference),
    /// There is nothing to compare with, and why.
    Unchecked(String),
}

/// How two payloads differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Elements that differ.
    pub count: u64,
    pub first: Sample,
    /// The one with the largest error.
    pub worst: Sample,
    /// Of those that differ, how many are NaN on both sides.
    pub both_nan: u64,
}

/// One element on both sides; raw bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// In logical order.
    pub index: u64,
    pub got: u64,
    pub expected: u64,
    /// Absolute; infinite where one side is NaN or the difference cannot be told.
    pub error: f64,
}

/// A run that gave other bytes than the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaky {
    /// Counted from 1.
    pub run: u32,
    pub change: Change,
}

/// How a run differs from the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The first element that came out otherwise.
    Output { slot: usize, element: u64 },
    /// The run failed, and why.
    Failed(String),
}

/// Runs a task and judges every output; `times` runs with the pattern of the run look for flakiness.
pub fn replay(
    task: &CapturedTask,
    kernels: &KernelTable,
    chip: &'static Chip,
    options: &Options,
    times: u32,
) -> Result<Proof, ReplayError> {
    let poison = Poison::of_run(task);
    let outcome = run(task, kernels, chip, poison, options)?;
    let mut proof = Proof { outcome, verdicts: Vec::new(), times, flaky: Vec::new(), fails_otherwise: None };
    if proof.outcome.result.is_err() {
        return Ok(proof);
    }
    let (timeout, interrupt) = (options.timeout, Arc::clone(&options.interrupt));
    let quiet = Options { timeout, interrupt, ..Options::default() };
    let other = run(task, kernels, chip, Poison::OTHER, &quiet)?;
    proof.fails_otherwise = other.result.as_ref().err().map(|error| with_causes(error));
    for (slot, tensor) in task.outputs() {
        let find = |outcome: &'_ Outcome| outcome.outputs.iter().position(|output| output.slot == slot);
        let (Some(first), Some(second)) = (find(&proof.outcome), find(&other)) else { continue };
        let (first, second) = (&proof.outcome.outputs[first], &other.outputs[second]);
        let second = proof.fails_otherwise.is_none().then_some(second);
        proof.verdicts.push(judge(task, slot, tensor, first, second));
    }
    for number in 2..=times {
        let again = run(task, kernels, chip, poison, &quiet)?;
        let change = match &again.result {
            Err(error) => Some(Change::Failed(with_causes(error))),
            Ok(_) => first_change(task, &proof.outcome.outputs, &again.outputs),
        };
        proof.flaky.extend(change.map(|change| Flaky { run: number, change }));
    }
    Ok(proof)
}

fn judge(
    task: &CapturedTask,
    slot: usize,
    tensor: &crate::task::TensorArgument,
    first: &Output,
    second: Option<&Output>,
) -> Verdict {
    let width = tensor.dtype.size();
    let elements = (first.bytes.len() / width) as u64;
    let (mut unwritten, mut dependent) = (Vec::new(), 0);
    if let Some(second) = second
        && (first.bytes != second.bytes || first.initial != second.initial)
    {
        for index in 0..first.bytes.len() / width {
            let at = index * width..(index + 1) * width;
            let (one, two) = (&first.bytes[at.clone()], &second.bytes[at.clone()]);
            let unknown = first.initial[at.clone()] != second.initial[at.clone()];
            if unknown && *one == first.initial[at.clone()] && *two == second.initial[at] {
                unwritten.push(index);
            } else if one != two {
                dependent += 1;
            }
        }
    }
    // What a task left alone in memory that it was given is not its doing. In a tensor that it created there is
    // nothing but the fill, which is what the first run began with, or one value that it was created with.
    let one_value = || match &tensor.after {
        Content::Bytes(expected) => {
            let element = |index: usize| expected.get(index * width..(index + 1) * width);
            let first = unwritten.first().and_then(|&index| element(index));
            let filled = first.is_some_and(|first| first.iter().all(|&byte| byte == task.fill.byte()));
            !filled && unwritten.iter().all(|&index| element(index) == first)
        }
        Content::Missing(_) | Content::Unneeded => true,
    };
    let left_out = if tensor.created && !one_value() { &[][..] } else { &unwritten[..] };
    let judgement = match &tensor.after {
        Content::Bytes(_) if !task.completed => {
            Judgement::Unchecked("the task did not end in the run".into())
        }
        Content::Bytes(expected)
            if !tensor.created
                && unwritten.len() as u64 == elements
                && elements > 0
                && expected != &first.bytes =>
        {
            Judgement::Unchecked("the task wrote none of it".into())
        }
        Content::Bytes(expected) => compare(tensor.dtype, &first.bytes, expected, left_out),
        Content::Missing(why) => Judgement::Unchecked(why.clone()),
        Content::Unneeded => Judgement::Unchecked("it was not captured after the task".into()),
    };
    Verdict {
        slot,
        role: tensor.role,
        dtype: tensor.dtype,
        shape: tensor.shape.clone(),
        elements,
        compared: match judgement {
            Judgement::Unchecked(_) => 0,
            Judgement::BitEqual | Judgement::Differs(_) => elements - left_out.len() as u64,
        },
        judgement,
        unwritten: unwritten.len() as u64,
        dependent,
    }
}

/// Compares element by element; those in `skip`, which is sorted, do not count.
fn compare(dtype: DType, got: &[u8], expected: &[u8], skip: &[usize]) -> Judgement {
    if got == expected {
        return Judgement::BitEqual;
    }
    let width = dtype.size();
    let mut skip = skip.iter().copied().peekable();
    let mut difference: Option<Difference> = None;
    for (index, (one, two)) in got.chunks_exact(width).zip(expected.chunks_exact(width)).enumerate() {
        if skip.next_if_eq(&index).is_some() || one == two {
            continue;
        }
        let (got, expected) = (bits(one), bits(two));
        let number = |bits| number::number(dtype, bits).as_f64();
        let (a, b) = (number(got), number(expected));
        let error = (a - b).abs();
        let error = if error.is_nan() { f64::INFINITY } else { error };
        let sample = Sample { index: index as u64, got, expected, error };
        let both_nan = u64::from(a.is_nan() && b.is_nan());
        match &mut difference {
            None => difference = Some(Difference { count: 1, first: sample, worst: sample, both_nan }),
            Some(difference) => {
                difference.count += 1;
                difference.both_nan += both_nan;
                if error > difference.worst.error {
                    difference.worst = sample;
                }
            }
        }
    }
    difference.map_or(Judgement::BitEqual, Judgement::Differs)
}

fn bits(element: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..element.len()].copy_from_slice(element);
    u64::from_le_bytes(bytes)
}

/// The first element that two runs disagree about.
fn first_change(task: &CapturedTask, one: &[Output], two: &[Output]) -> Option<Change> {
    one.iter().zip(two).find_map(|(one, two)| {
        let width = task.outputs().find(|(slot, _)| *slot == one.slot)?.1.dtype.size();
        let at = one.bytes.iter().zip(&two.bytes).position(|(a, b)| a != b)?;
        Some(Change::Output { slot: one.slot, element: (at / width) as u64 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn a_difference_is_counted_and_its_first_and_worst_element_named() {
        let got = floats(&[1.0, 2.0, 3.5, f32::NAN, 9.0, 4.0]);
        let expected = floats(&[1.0, 2.5, 3.0, f32::NAN, 1.0, 9.0]);
        let Judgement::Differs(difference) = compare(DType::F32, &got, &expected, &[5]) else { panic!() };
        assert_eq!(difference.count, 3);
        assert_eq!((difference.first.index, difference.first.error), (1, 0.5));
        assert_eq!((difference.worst.index, difference.worst.error), (4, 8.0));
        assert_eq!(difference.both_nan, 0);
        assert_eq!(difference.first.got, u64::from(2.0f32.to_bits()));
        assert_eq!(compare(DType::F32, &got, &got, &[]), Judgement::BitEqual);
        assert_eq!(compare(DType::F32, &got, &expected, &[1, 2, 4, 5]), Judgement::BitEqual);
    }

    #[test]
    fn signs_of_zero_and_payloads_of_nan_are_differences() {
        let got = floats(&[0.0, f32::from_bits(0x7fc0_0001), 1.0]);
        let expected = floats(&[-0.0, f32::from_bits(0x7fc0_0000), f32::NAN]);
        let Judgement::Differs(difference) = compare(DType::F32, &got, &expected, &[]) else { panic!() };
        assert_eq!((difference.count, difference.both_nan), (3, 1));
        assert_eq!((difference.first.index, difference.first.error), (0, 0.0));
        assert_eq!(difference.worst.error, f64::INFINITY);
    }
}
