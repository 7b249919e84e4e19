//! Where the wrong elements lie.

use super::field::{Field, evidence_bits, finding};
use super::{Finding, Pattern};

/// The rows and columns that have wrong elements.
pub(super) struct Spread {
    /// How many rows have one.
    pub(super) rows: u64,
    /// How many columns have one.
    pub(super) columns: u64,
    first_row: usize,
    last_row: usize,
    first_column: usize,
    last_column: usize,
}

pub(super) fn spread(field: &Field<'_>) -> Spread {
    let mut hit = vec![false; field.columns];
    let mut spread = Spread {
        rows: 0,
        columns: 0,
        first_row: usize::MAX,
        last_row: 0,
        first_column: usize::MAX,
        last_column: 0,
    };
    let mut latest = usize::MAX;
    for index in field.wrong() {
        let (row, column) = (index / field.columns, index % field.columns);
        // Elements come in order, so a row that was seen is the latest one.
        spread.rows += u64::from(row != latest);
        latest = row;
        spread.first_row = spread.first_row.min(row);
        spread.last_row = row;
        hit[column] = true;
    }
    spread.columns = hit.iter().filter(|&&hit| hit).count() as u64;
    spread.first_column = hit.iter().position(|&hit| hit).unwrap_or(0);
    spread.last_column = hit.iter().rposition(|&hit| hit).unwrap_or(0);
    spread
}

/// One direction of the matrix.
struct Axis {
    from: usize,
    to: usize,
    length: usize,
}

impl Axis {
    fn width(&self) -> usize {
        self.to - self.from + 1
    }

    fn is_tail(&self) -> bool {
        self.from > 0 && self.to + 1 == self.length
    }

    /// The evidence that so many elements are here by more than chance. Elements that were used to draw the
    /// bounds are no evidence for them.
    fn bits(&self, count: u64) -> f64 {
        if self.width() == self.length {
            return 0.0;
        }
        let drawn = if self.width() == 1 || self.is_tail() { 1 } else { 2 };
        let free = count.saturating_sub(drawn);
        let chance = self.width() as f64 / self.length as f64;
        evidence_bits(free, free, chance, self.length as u64)
    }
}

/// Wrong elements in some rows, columns or a block only.
pub(super) fn confined(field: &Field<'_>) -> Option<Finding> {
    let spread = spread(field);
    let rows = Axis { from: spread.first_row, to: spread.last_row, length: field.rows };
    let columns = Axis { from: spread.first_column, to: spread.last_column, length: field.columns };
    let (row_bits, column_bits) = (rows.bits(field.count), columns.bits(field.count));
    let enough = |bits| super::field::confidence(bits).is_some();
    let range = |axis: &Axis| (axis.from as u64, axis.to as u64);
    let (pattern, bits) = match (enough(row_bits), enough(column_bits)) {
        (true, true) => {
            (Pattern::Block { rows: range(&rows), columns: range(&columns) }, row_bits.min(column_bits))
        }
        (true, false) if rows.is_tail() => (Pattern::TailRows { from: rows.from as u64 }, row_bits),
        (true, false) => (Pattern::Rows { from: rows.from as u64, to: rows.to as u64 }, row_bits),
        (false, true) if columns.is_tail() => {
            (Pattern::TailColumns { from: columns.from as u64 }, column_bits)
        }
        (false, true) => (Pattern::Columns { from: columns.from as u64, to: columns.to as u64 }, column_bits),
        (false, false) => return None,
    };
    finding(pattern, bits, field.count, field.count, || {
        format!(
            "all {} wrong elements lie in {} of {} and {} of {}; {} of {} elements there are wrong",
            field.count,
            named("row", &rows),
            field.rows,
            named("column", &columns),
            field.columns,
            field.count,
            rows.width() as u64 * columns.width() as u64,
        )
    })
}

fn named(what: &str, axis: &Axis) -> String {
    if axis.width() == 1 {
        format!("{what} {}", axis.from)
    } else {
        format!("{what}s {}..={}", axis.from, axis.to)
    }
}
