//! Whose values the wrong elements hold.

use super::field::{Field, MOST, evidence_bits, finding, scatter};
use super::{Candidate, Confidence, Finding, Pattern};
use crate::metrics::raw_bits;

/// The farthest shift that is looked for, in rows or columns.
const FARTHEST: usize = 4096;
/// Right elements that must fit a transposition as well.
const TRANSPOSED_SAMPLE: usize = 512;
/// So many equal elements say something even if the other side is all one value.
const ENOUGH_OF_ONE_VALUE: u64 = 8;

/// Equal to what was there before, or to the poison of memory that was never written.
pub(super) fn never_written(field: &Field<'_>, before: Option<&[u8]>) -> Option<Finding> {
    let kept =
        before.and_then(|bytes| held(field, bytes, Pattern::NeverWritten, "what was there before the task"));
    kept.or_else(|| poisoned(field))
}

/// The bytes of fresh device memory: 0xFF, which is NaN in every float that has one.
fn poisoned(field: &Field<'_>) -> Option<Finding> {
    let poison = u64::MAX >> (64 - field.dtype.bits());
    // In integers this is -1 or the largest value, which programs write too.
    if !field.dtype.is_float() || field.dtype.bits() < 8 {
        return None;
    }
    if !field.plausible(|index| field.actual_bits(index) == poison) {
        return None;
    }
    let matches = field.count_wrong(|index| field.actual_bits(index) == poison);
    let chance = field.share(|index| field.expected_bits(index) == poison);
    finding(
        Pattern::NeverWritten,
        evidence_bits(matches, field.count, chance, 1),
        matches,
        field.count,
        || {
            format!(
                "{matches} of {} wrong elements hold 0xFF bytes, the poison of memory that was never written",
                field.count
            )
        },
    )
}

/// Equal to what an earlier task left here.
pub(super) fn stale(field: &Field<'_>, candidate: &Candidate<'_>) -> Option<Finding> {
    let pattern = Pattern::Stale { label: candidate.label.to_owned() };
    held(field, candidate.bytes, pattern, &format!("the value of {}", candidate.label))
}

/// Wrong elements that hold the bits of `bytes`.
fn held(field: &Field<'_>, bytes: &[u8], pattern: Pattern, whose: &str) -> Option<Finding> {
    if bytes.len() != field.pair.actual().len() {
        return None;
    }
    let bits = |index| raw_bits(field.dtype, bytes, index);
    if !field.plausible(|index| field.actual_bits(index) == bits(index)) {
        return None;
    }
    let matches = field.count_wrong(|index| field.actual_bits(index) == bits(index));
    let chance = field.chance(|index, other| field.actual_bits(index) == bits(other));
    let evidence = evidence_bits(matches, field.count, chance, 1);
    let found = finding(pattern.clone(), evidence, matches, field.count, || {
        format!("{matches} of {} wrong elements hold {whose}, bit for bit", field.count)
    });
    if found.is_some() || matches < ENOUGH_OF_ONE_VALUE || matches < field.count {
        return found;
    }
    // All of one value: having been left alone and having been written with it look the same.
    let first = field.actual_bits(field.sample.first().copied()?);
    if field.count_wrong(|index| field.actual_bits(index) == first) < field.count {
        return None;
    }
    Some(Finding {
        pattern,
        confidence: Confidence::Likely,
        explains: matches,
        evidence: format!(
            "all {matches} wrong elements hold {whose}; it is one value everywhere, \
             so a task that writes that value would look the same"
        ),
    })
}

/// Row `i` holds what row `i - by` should.
pub(super) fn rows_shifted(field: &Field<'_>) -> Option<Finding> {
    let rows = Lines { name: "row", length: field.rows, stride: field.columns };
    shifted(field, &rows, |by| Pattern::RowsShifted { by })
}

/// Column `j` holds what column `j - by` should.
pub(super) fn columns_shifted(field: &Field<'_>) -> Option<Finding> {
    let columns = Lines { name: "column", length: field.columns, stride: 1 };
    shifted(field, &columns, |by| Pattern::ColumnsShifted { by })
}

/// The rows or the columns of a field.
struct Lines {
    name: &'static str,
    length: usize,
    /// How many elements the next line is away.
    stride: usize,
}

impl Lines {
    fn line_at(&self, index: usize) -> usize {
        index / self.stride % self.length
    }

    /// The element that lies `by` lines before this one, if there is one.
    fn before(&self, index: usize, by: isize) -> Option<usize> {
        let line = self.line_at(index).checked_add_signed(-by).filter(|&line| line < self.length)?;
        Some(index - self.line_at(index) * self.stride + line * self.stride)
    }
}

fn shifted(field: &Field<'_>, lines: &Lines, pattern: impl Fn(i64) -> Pattern) -> Option<Finding> {
    let farthest = lines.length.saturating_sub(1).min(FARTHEST) as isize;
    let fits = |by: isize| {
        let inside = field.sample.iter().filter(|&&index| lines.before(index, by).is_some()).count();
        2 * inside >= field.sample.len()
            && field.plausible(|index| lines.before(index, by).is_none_or(|other| field.agrees(index, other)))
    };
    let by = (1..=farthest).flat_map(|by| [by, -by]).find(|&by| fits(by))?;
    let inside = field.count_wrong(|index| lines.before(index, by).is_some());
    let matches =
        field.count_wrong(|index| lines.before(index, by).is_some_and(|other| field.agrees(index, other)));
    let chance = field.chance(|index, other| field.agrees(index, other));
    let bits = evidence_bits(matches, inside, chance, 2 * farthest as u64);
    finding(pattern(by as i64), bits, matches, inside, || {
        let name = lines.name;
        let from = if by > 0 { format!("i-{by}") } else { format!("i+{}", -by) };
        let rest = match field.count - inside {
            0 => String::new(),
            outside => format!("; {outside} more have no such {name}"),
        };
        format!(
            "{} differ; {name} i equals expected {name} {from} in {matches} of {inside} wrong elements{rest}",
            which(field, lines)
        )
    })
}

/// The lines that have wrong elements, in words.
fn which(field: &Field<'_>, lines: &Lines) -> String {
    let mut hit = vec![false; lines.length];
    field.wrong().for_each(|index| hit[lines.line_at(index)] = true);
    let first = hit.iter().position(|&hit| hit).unwrap_or(0);
    let last = hit.iter().rposition(|&hit| hit).unwrap_or(0);
    let count = hit.iter().filter(|&&hit| hit).count();
    let (name, length) = (lines.name, lines.length);
    match count {
        1 => format!("{name} {first} of {length}"),
        _ if count == last - first + 1 => format!("{name}s {first}..={last} of {length}"),
        _ => format!("{count} {name}s in {first}..={last} of {length}"),
    }
}

/// The last two dimensions exchanged, in every matrix of the payload.
pub(super) fn transposed(field: &Field<'_>) -> Option<Finding> {
    let &[.., rows, columns] = field.pair.shape() else { return None };
    let (rows, columns) = (rows as usize, columns as usize);
    if rows < 2 || columns < 2 {
        return None;
    }
    let matrix = rows * columns;
    let source = |index: usize| {
        let (start, inside) = (index / matrix * matrix, index % matrix);
        start + inside % rows * columns + inside / rows
    };
    if !field.plausible(|index| field.agrees(index, source(index))) {
        return None;
    }
    // Right elements must be where a transposition would put them, too.
    let trials = TRANSPOSED_SAMPLE.min(field.elements);
    let fitting = (0..trials as u64)
        .map(|trial| scatter(trial) as usize % field.elements)
        .filter(|&index| field.agrees(index, source(index)))
        .count();
    if (fitting as f64) < MOST * trials as f64 {
        return None;
    }
    let matches = field.count_wrong(|index| field.agrees(index, source(index)));
    let chance = field.chance(|index, other| field.agrees(index, other));
    finding(Pattern::Transposed, evidence_bits(matches, field.count, chance, 1), matches, field.count, || {
        format!(
            "{matches} of {} wrong elements of the {rows} x {columns} matrix equal the expected element of the \
             transposed one",
            field.count
        )
    })
}
