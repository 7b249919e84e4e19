//! What kind of wrong it is.
//!
//! What comes in: a [`Context`], that is a pair whose elements do not agree and whatever else is known about
//! the output. What goes out: [`Finding`]s with their evidence, best first.
//!
//! Guarantees:
//! - Evidence is counted over elements that do not agree. What fits equal data as well is no evidence: a
//!   payload that agrees has no pattern but, at most, rounding in its last bits.
//! - A pattern is claimed only if chance would hardly show it. How often the same comparison holds between
//!   unrelated elements is measured on the data itself, so constants, masks and small integers do not look like
//!   patterns; and the more hypotheses are tried, the more evidence each needs.
//! - If nothing is left, the answer is [`Pattern::Unclear`] with what can be counted.
//!
//! What it never does: change a verdict.
//!
//! | file | subject |
//! |---|---|
//! | `field` | the wrong elements of a pair, and how likely chance is |
//! | `places` | where they lie: rows, columns, blocks, tails |
//! | `origin` | whose values they hold: before, stale, shifted, transposed |
//! | `values` | what was done to them: zero, sign, factor, bit, limit, rounding, NaN |

mod field;
mod origin;
mod places;
mod values;

use std::fmt;

use argus_abi::DType;
use argus_facts::number::Number;
use serde::Serialize;

use crate::metrics::{Pair, Tolerance, number_or_name, raw_bits, wrong_elements};
use field::Field;

/// What is known about an output that is not as expected.
pub struct Context<'a> {
    pub pair: &'a Pair<'a>,
    pub tolerance: &'a Tolerance,
    /// What the output held before the task ran: its bytes, in the layout of the pair.
    pub before: Option<&'a [u8]>,
    /// Values that earlier tasks left in the same place.
    pub stale: &'a [Candidate<'a>],
    /// What the task read.
    pub inputs: &'a [Input<'a>],
}

/// Bytes that the output may hold instead of its own, in the layout of the pair.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// How a report names them.
    pub label: &'a str,
    pub bytes: &'a [u8],
}

/// An input's payload.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// How a report names it.
    pub label: &'a str,
    pub dtype: DType,
    pub bytes: &'a [u8],
}

/// A kind of wrong. Rows and columns are those of the last dimension against all others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Pattern {
    /// The output holds what was there before, or the poison of fresh memory.
    NeverWritten,
    /// The output holds an earlier task's value.
    Stale {
        label: String,
    },
    /// The kernel read an argument as it was before its last writer.
    StaleRead {
        argument: u32,
    },
    /// Row `i` holds what row `i - by` should.
    RowsShifted {
        by: i64,
    },
    /// Column `j` holds what column `j - by` should.
    ColumnsShifted {
        by: i64,
    },
    /// The last two dimensions are exchanged.
    Transposed,
    SignFlipped,
    /// Every value is multiplied by one factor.
    Scaled {
        factor: f64,
    },
    /// The same bit is wrong everywhere, and only that.
    BitFlipped {
        bit: u32,
    },
    /// NaN or infinities that an input already has.
    NonFiniteInherited {
        label: String,
    },
    /// NaN or infinities that no input has.
    NonFiniteMade,
    /// NaN or infinities, and no inputs to look at.
    NonFiniteUnknown,
    /// Every element is zero.
    AllZeros,
    /// Every wrong element is zero.
    ZerosWhereWrong,
    /// Values are held at a limit of some dtype.
    Saturated {
        #[serde(serialize_with = "number_or_name")]
        limit: Number,
    },
    /// Only these rows, up to the last one.
    TailRows {
        from: u64,
    },
    /// Only these columns, up to the last one.
    TailColumns {
        from: u64,
    },
    /// Only these rows, the last one included.
    Rows {
        from: u64,
        to: u64,
    },
    /// Only these columns, the last one included.
    Columns {
        from: u64,
        to: u64,
    },
    /// Only these rows and columns, the last ones included.
    Block {
        rows: (u64, u64),
        columns: (u64, u64),
    },
    /// Neighbouring values in both directions.
    LastBits,
    /// Neighbouring values, mostly in one direction.
    LastBitsBiased,
    /// Nothing of the above, or too little to tell.
    Unclear,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::NeverWritten => write!(f, "never written"),
            Pattern::Stale { label } => write!(f, "stale value of {label}"),
            Pattern::StaleRead { argument } => write!(f, "stale read of argument {argument}"),
            Pattern::RowsShifted { by } => write!(f, "rows shifted by {by}"),
            Pattern::ColumnsShifted { by } => write!(f, "columns shifted by {by}"),
            Pattern::Transposed => write!(f, "transposed"),
            Pattern::SignFlipped => write!(f, "sign flipped"),
            Pattern::Scaled { factor } => write!(f, "scaled by {factor}"),
            Pattern::BitFlipped { bit } => write!(f, "bit {bit} flipped"),
            Pattern::NonFiniteInherited { label } => write!(f, "NaN or infinity from {label}"),
            Pattern::NonFiniteMade => write!(f, "NaN or infinity made here"),
            Pattern::NonFiniteUnknown => write!(f, "NaN or infinity"),
            Pattern::AllZeros => write!(f, "all zeros"),
            Pattern::ZerosWhereWrong => write!(f, "zeros where wrong"),
            Pattern::Saturated { .. } => write!(f, "saturated"),
            Pattern::TailRows { .. } => write!(f, "tail rows only"),
            Pattern::TailColumns { .. } => write!(f, "tail columns only"),
            Pattern::Rows { from, to } if from == to => write!(f, "one row only"),
            Pattern::Rows { .. } => write!(f, "some rows only"),
            Pattern::Columns { from, to } if from == to => write!(f, "one column only"),
            Pattern::Columns { .. } => write!(f, "some columns only"),
            Pattern::Block { .. } => write!(f, "one block only"),
            Pattern::LastBits => write!(f, "last bits rounded differently"),
            Pattern::LastBitsBiased => write!(f, "last bits off in one direction"),
            Pattern::Unclear => write!(f, "unclear"),
        }
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Too little to tell.
    Thin,
    /// Chance would show this once in a million.
    Likely,
    /// Chance would not show this.
    Strong,
}

/// A pattern and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub pattern: Pattern,
    pub confidence: Confidence,
    /// How many of the wrong elements it explains.
    pub explains: u64,
    /// What was counted, in one sentence.
    pub evidence: String,
}

/// The patterns that fit, best first. Empty if all elements agree and none differs in its last bits.
pub fn recognise(context: &Context<'_>) -> Vec<Finding> {
    let field = Field::new(context.pair, context.tolerance);
    if field.count == 0 {
        return values::last_bits(&field).into_iter().collect();
    }
    // What explains most comes first among equally sure ones: first whose values they are, then what was done
    // to them, then where they lie.
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(origin::never_written(&field, context.before));
    findings.extend(context.stale.iter().filter_map(|candidate| origin::stale(&field, candidate)));
    findings.extend(origin::rows_shifted(&field));
    findings.extend(origin::columns_shifted(&field));
    findings.extend(origin::transposed(&field));
    findings.extend(values::sign_flipped(&field));
    findings.extend(values::scaled(&field));
    findings.extend(values::bit_flipped(&field));
    findings.extend(values::non_finite(&field, context.inputs));
    findings.extend(values::zeros(&field));
    findings.extend(values::saturated(&field));
    findings.extend(values::last_bits(&field));
    findings.extend(places::confined(&field));
    if findings.is_empty() {
        findings.push(unclear(&field));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.confidence));
    findings
}

/// How many elements are wrong.
pub(crate) fn wrong_of(pair: &Pair<'_>, tolerance: &Tolerance) -> u64 {
    wrong_elements(pair, tolerance).iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Whether every wrong element holds the bits of `bytes`, which are in the layout of the pair.
pub(crate) fn all_wrong_are(pair: &Pair<'_>, tolerance: &Tolerance, bytes: &[u8]) -> bool {
    if bytes.len() != pair.actual().len() {
        return false;
    }
    let words = wrong_elements(pair, tolerance);
    let mut wrong = (0..pair.elements() as usize).filter(|index| words[index / 64] >> (index % 64) & 1 == 1);
    wrong.all(|index| raw_bits(pair.dtype(), pair.actual(), index) == raw_bits(pair.dtype(), bytes, index))
}

fn unclear(field: &Field<'_>) -> Finding {
    let spread = places::spread(field);
    let evidence = format!(
        "{} of {} elements are wrong, in {} of {} rows and {} of {} columns; no known pattern fits",
        field.count, field.elements, spread.rows, field.rows, spread.columns, field.columns,
    );
    Finding { pattern: Pattern::Unclear, confidence: Confidence::Thin, explains: 0, evidence }
}
