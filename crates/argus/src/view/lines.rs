//! A table of any length: widths first, then rows in pieces, each piece made by all processors.

use std::io::{self, Write};

use anstyle::Style;
use argus_dump::read::Dump;
use argus_text::record;
use rayon::prelude::*;

use super::row::{COLUMNS, RIGHT, Row};
use crate::output::printable;

const HEAD: Style = Style::new().bold();
const ALARM: Style = anstyle::AnsiColor::Red.on_default().bold();
/// Rows made at a time: the first piece is what a screen shows, and should not wait for more.
const FIRST_PIECE: usize = 256;
const PIECE: usize = 1 << 14;
/// The width of a column that is not shown.
const LEFT_OUT: usize = 0;

/// Columns that a narrow terminal does without, the first to go first.
const SPARED: [usize; 3] = [8, 4, 6];

/// Writes the selected records; `colour` marks what is alarming. On a terminal of `columns` characters no line is
/// longer: what follows from other columns is left out, and the rest is cut.
pub fn write(
    out: &mut dyn Write,
    dump: &Dump,
    selected: &[usize],
    colour: bool,
    columns: Option<usize>,
) -> io::Result<()> {
    let mut widths = widths(dump, selected);
    let room = columns.unwrap_or(usize::MAX);
    for column in SPARED {
        // Values want about as much room as a range of two numbers.
        let needed: usize = widths.iter().map(|width| width + 2).sum::<usize>() + 20;
        if needed > room {
            widths[column] = LEFT_OUT;
        }
    }
    let line =
        |cells: &[String; COLUMNS.len()], widths: &[usize; COLUMNS.len()]| cut(line(cells, widths), room);
    let head = line(&COLUMNS.map(str::to_owned), &widths);
    let head = if colour { format!("{HEAD}{head}{HEAD:#}\n") } else { format!("{head}\n") };
    out.write_all(head.as_bytes())?;
    let (first, rest) = selected.split_at(selected.len().min(FIRST_PIECE));
    for piece in std::iter::once(first).chain(rest.chunks(PIECE)) {
        let text: Vec<String> = piece
            .par_chunks(64)
            .map(|indices| {
                let mut text = String::with_capacity(indices.len() * 128);
                for &index in indices {
                    let row = Row::new(dump, &dump.record(index));
                    let line = line(&row.cells, &widths);
                    match colour && row.alarming {
                        true => text += &format!("{ALARM}{line}{ALARM:#}\n"),
                        false => {
                            text += &line;
                            text.push('\n');
                        }
                    }
                }
                text
            })
            .collect();
        for text in text {
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

/// Width of each column but the last, which nothing follows.
fn widths(dump: &Dump, selected: &[usize]) -> [usize; COLUMNS.len()] {
    let width = |index: &usize| {
        let record = dump.record(*index);
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
    };
    let wider = |a: [usize; COLUMNS.len()], b: [usize; COLUMNS.len()]| {
        std::array::from_fn(|column| a[column].max(b[column]))
    };
    selected.par_iter().map(width).reduce(|| COLUMNS.map(str::len), wider)
}

/// At most `room` characters; a cut shows.
fn cut(mut line: String, room: usize) -> String {
    if let Some((last, _)) = line.char_indices().nth(room.saturating_sub(1))
        && line.chars().count() > room
    {
        line.truncate(last);
        line.push('…');
    }
    line
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

fn line(cells: &[String; COLUMNS.len()], widths: &[usize; COLUMNS.len()]) -> String {
    let mut line = String::with_capacity(128);
    for (column, cell) in cells.iter().enumerate() {
        if widths[column] == LEFT_OUT && column != COLUMNS.len() - 1 {
            continue;
        }
        let space = widths[column].saturating_sub(cell.chars().count());
        if column == COLUMNS.len() - 1 {
            line += cell;
        } else if RIGHT[column] {
            line.extend(std::iter::repeat_n(' ', space));
            line += cell;
            line += "  ";
        } else {
            line += cell;
            line.extend(std::iter::repeat_n(' ', space + 2));
        }
    }
    let end = line.trim_end().len();
    line.truncate(end);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_shows_and_what_fits_stays() {
        assert_eq!(cut("abc".to_owned(), 3), "abc");
        assert_eq!(cut("abcd".to_owned(), 3), "ab…");
        assert_eq!(cut("1 … 2".to_owned(), 4), "1 ……");
        assert_eq!(cut("abc".to_owned(), usize::MAX), "abc");
    }

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
