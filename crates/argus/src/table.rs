//! Tables without lines: they copy well and read well without colour.

use comfy_table::{ContentArrangement, Table, presets};

/// A table that wraps to the width of the terminal, and does not wrap where there is none.
pub fn plain(header: &[&str]) -> Table {
    let mut table = without_header();
    table.set_header(header);
    // Columns are told apart by space alone; none is needed before the first.
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 1 }, 1));
    }
    table
}

/// The same without a header.
pub fn without_header() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table
}

/// The lines of a table. It is padded to a rectangle, and spaces at line ends get in the way of copying.
pub fn lines(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
