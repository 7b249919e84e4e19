//! The records of a dump as a table of any length.

use std::io::{self, Write};

use argus_dump::read::Dump;
use argus_text::record;

use super::row::{COLUMNS, RIGHT, row};
use crate::long_table::LongTable;
use crate::marks::printable;

/// The role, the dtype and the size follow from other columns, or are of less use.
const TABLE: LongTable<{ COLUMNS.len() }> = LongTable { columns: COLUMNS, right: RIGHT, spared: &[8, 4, 6] };

/// Writes the selected records; `colour` marks what is alarming. On a terminal of `columns` characters no line is
/// longer.
pub fn write(
    out: &mut dyn Write,
    dump: &Dump,
    selected: &[usize],
    colour: bool,
    columns: Option<usize>,
) -> io::Result<()> {
    let widths = TABLE.widths(selected, |index| widths(dump, index));
    TABLE.write(out, selected, widths, (colour, columns), |index| Some(row(dump, &dump.record(index))))
}

/// Widths of a record's cells, without its values.
fn widths(dump: &Dump, index: usize) -> [usize; COLUMNS.len()] {
    let record = dump.record(index);
    let mut widths = [0; COLUMNS.len()];
    widths[0] = digits(record.index as u64);
    widths[1] = 18 + if record.subtask.is_some() { 2 } else { 0 };
    widths[2] = printable(&dump.kernel_names(&record)).chars().count();
    widths[3] = record::stage(record.stage).len();
    widths[4] = record.role.name().len();
    widths[5] = digits(record.arg_index.into()) + usize::from(record.ambiguous_index);
    widths[6] = record::dtype(&record).len();
    widths[7] = if record.kind == argus_abi::Kind::Scalar {
        6
    } else {
        let extents: usize = record.shape().iter().map(|&extent| digits(extent)).sum();
        2 + extents + 2 * record.shape().len().saturating_sub(1)
    };
    widths[8] = digits(record.bin_size.max(record.logical_bytes.unwrap_or(0)));
    widths
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../argus-dump/tests/it/data/june");
        let dump = Dump::open(&data).unwrap();
        let all: Vec<usize> = (0..dump.len()).collect();
        let lines = |columns| {
            let mut text = Vec::new();
            write(&mut text, &dump, &all, false, columns).unwrap();
            String::from_utf8(text).unwrap()
        };
        let longest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest(&lines(None)) > 80, "{}", lines(None));
        for columns in [80, 60, 40] {
            let text = lines(Some(columns));
            assert!(longest(&text) <= columns, "{columns}:\n{text}");
            assert!(text.lines().next().unwrap().contains("TASK"), "{text}");
        }
        assert!(lines(Some(200)).contains("BYTES") && !lines(Some(80)).contains("BYTES"));
    }
}
