//! A table of any length: widths first, then rows in pieces, each piece made by all processors.

use std::io::{self, Write};

use anstyle::Style;
use rayon::prelude::*;

const HEAD: Style = Style::new().bold();
const ALARM: Style = anstyle::AnsiColor::Red.on_default().bold();
/// Rows made at a time: the first piece is what a screen shows, and should not wait for more.
const FIRST_PIECE: usize = 256;
const PIECE: usize = 1 << 14;
/// The width of a column that is not shown.
const LEFT_OUT: usize = 0;

/// A line of a table with so many columns.
pub struct Row<const N: usize> {
    pub cells: [String; N],
    /// Is marked where there are colours.
    pub alarming: bool,
}

/// The columns of a table.
pub struct LongTable<const N: usize> {
    pub columns: [&'static str; N],
    /// Columns that are numbers, and lean to the right.
    pub right: [bool; N],
    /// Columns that a narrow terminal does without, the first to go first.
    pub spared: &'static [usize],
}

impl<const N: usize> LongTable<N> {
    /// The widest of each column but the last, which nothing follows; `width` gives those of one item.
    pub fn widths(&self, items: &[usize], width: impl Fn(usize) -> [usize; N] + Sync) -> [usize; N] {
        let wider = |a: [usize; N], b: [usize; N]| std::array::from_fn(|column| a[column].max(b[column]));
        items.par_iter().map(|&item| width(item)).reduce(|| self.columns.map(str::len), wider)
    }

    /// Writes the rows of `items`, without those that have none; `colour` marks what is alarming. On a terminal of
    /// `room` characters no line is longer: what follows from other columns is left out, and the rest is cut.
    pub fn write(
        &self,
        out: &mut dyn Write,
        items: &[usize],
        mut widths: [usize; N],
        (colour, room): (bool, Option<usize>),
        row: impl Fn(usize) -> Option<Row<N>> + Sync,
    ) -> io::Result<()> {
        let room = room.unwrap_or(usize::MAX);
        for &column in self.spared {
            // The last column wants about as much room as a range of two numbers.
            let needed: usize = widths.iter().map(|width| width + 2).sum::<usize>() + 20;
            if needed > room {
                widths[column] = LEFT_OUT;
            }
        }
        let line = |cells: &[String; N]| cut(self.line(cells, &widths), room);
        let head = line(&self.columns.map(str::to_owned));
        let head = if colour { format!("{HEAD}{head}{HEAD:#}\n") } else { format!("{head}\n") };
        out.write_all(head.as_bytes())?;
        let (first, rest) = items.split_at(items.len().min(FIRST_PIECE));
        for piece in std::iter::once(first).chain(rest.chunks(PIECE)) {
            let text: Vec<String> = piece
                .par_chunks(64)
                .map(|items| {
                    let mut text = String::with_capacity(items.len() * 128);
                    for row in items.iter().filter_map(|&item| row(item)) {
                        let line = line(&row.cells);
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

    fn line(&self, cells: &[String; N], widths: &[usize; N]) -> String {
        let mut line = String::with_capacity(128);
        for (column, cell) in cells.iter().enumerate() {
            if widths[column] == LEFT_OUT && column != N - 1 {
                continue;
            }
            let space = widths[column].saturating_sub(cell.chars().count());
            if column == N - 1 {
                line += cell;
            } else if self.right[column] {
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
}
