//! Rows and brackets as numpy prints them.

use crate::Array;
use crate::number::number;
use crate::slice::Part;

/// Tensors of more elements are shown by their edges.
const WHOLE: u64 = 1000;
/// Columns of a line of values, as in numpy.
const LINE: usize = 75;
/// Elements shown at either edge of a dimension that is shown by its edges.
const EDGE: u64 = 3;

/// The part as nested rows; elements that the payload does not have show as `?`.
pub fn rows(array: &Array<'_>, part: &Part) -> String {
    let shape = part.shape();
    let elements = shape.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent));
    if shape.contains(&0) {
        return "[]".to_owned();
    }
    let elide = elements.is_none_or(|elements| elements > WHOLE);
    let mut cells = Vec::new();
    collect(array, part, &shape, elide, &mut Vec::new(), &mut cells);
    let width = cells.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    let mut cells = cells.into_iter();
    layout(&shape, elide, 0, width, &mut cells, &mut text);
    text
}

/// Indices shown along a dimension, and whether some in the middle are left out.
fn shown(extent: u64, elide: bool) -> (Vec<u64>, bool) {
    if elide && extent > 2 * EDGE {
        ((0..EDGE).chain(extent - EDGE..extent).collect(), true)
    } else {
        ((0..extent).collect(), false)
    }
}

fn collect(
    array: &Array<'_>,
    part: &Part,
    shape: &[u64],
    elide: bool,
    index: &mut Vec<u64>,
    cells: &mut Vec<String>,
) {
    let Some((&extent, rest)) = shape.split_first() else {
        let value = array.get(part.position(index));
        cells.push(value.map_or_else(|| "?".to_owned(), |value| number(array.dtype, value)));
        return;
    };
    for at in shown(extent, elide).0 {
        index.push(at);
        collect(array, part, rest, elide, index, cells);
        index.pop();
    }
}

fn layout(
    shape: &[u64],
    elide: bool,
    depth: usize,
    width: usize,
    cells: &mut impl Iterator<Item = String>,
    text: &mut String,
) {
    let Some((&extent, rest)) = shape.split_first() else {
        let cell = cells.next().unwrap_or_default();
        text.push_str(&format!("{cell:>width$}"));
        return;
    };
    let (indices, elided) = shown(extent, elide);
    if rest.is_empty() {
        let mut words: Vec<String> =
            cells.take(indices.len()).map(|cell| format!("{cell:>width$}")).collect();
        if elided {
            words.insert(words.len() / 2, "...".to_owned());
        }
        row(&words, depth + 1, text);
        return;
    }
    // Rows go below each other; more dimensions get an empty line each.
    let between = format!("{}{}", "\n".repeat(rest.len()), " ".repeat(depth + 1));
    text.push('[');
    for (place, _) in indices.iter().enumerate() {
        if place > 0 {
            text.push_str(&between);
        }
        if elided && place == indices.len() / 2 {
            text.push_str("...");
            text.push_str(&between);
        }
        layout(rest, elide, depth + 1, width, cells, text);
    }
    text.push(']');
}

/// The last dimension; what does not fit into a line continues in the next one.
fn row(words: &[String], indent: usize, text: &mut String) {
    text.push('[');
    let mut column = indent;
    for (place, word) in words.iter().enumerate() {
        if place > 0 && column + 1 + word.len() >= LINE {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if place > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.len();
    }
    text.push(']');
}

#[cfg(test)]
mod tests {
    use argus_abi::DType;

    use super::*;

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn small_tensors_are_shown_whole() {
        let payload = f32s(&[1.0, 2.5, -3.0, 0.0]);
        let array = Array { dtype: DType::F32, payload: &payload };
        assert_eq!(rows(&array, &Part::whole(&[2, 2])), "[[ 1. 2.5]\n [-3.  0.]]");
        assert_eq!(rows(&array, &Part::parse("1", &[2, 2]).unwrap()), "[-3.  0.]");
        assert_eq!(rows(&array, &Part::parse("0,1", &[2, 2]).unwrap()), "2.5");
        assert_eq!(rows(&array, &Part::parse("0:0", &[2, 2]).unwrap()), "[]");
    }

    #[test]
    fn large_tensors_are_shown_by_their_edges() {
        let payload: Vec<u8> = (0..2000u16).flat_map(u16::to_le_bytes).collect();
        let array = Array { dtype: DType::U16, payload: &payload };
        assert_eq!(rows(&array, &Part::whole(&[2000])), "[   0    1    2 ... 1997 1998 1999]");
        let array = Array { dtype: DType::U16, payload: &payload };
        let expected = "[[   0    1    2 ...  997  998  999]\n [1000 1001 1002 ... 1997 1998 1999]]";
        assert_eq!(rows(&array, &Part::whole(&[2, 1000])), expected);
    }

    #[test]
    fn long_rows_are_broken_where_a_line_ends() {
        let payload: Vec<u8> = (0..40u8).collect();
        let array = Array { dtype: DType::U8, payload: &payload };
        let expected = "\
[[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
  24]
 [25 26 27 28 29 30 31 32 33 34 35 36 37 38 39  ?  ?  ?  ?  ?  ?  ?  ?  ?
   ?]]";
        assert_eq!(rows(&array, &Part::whole(&[2, 25])), expected);
    }

    #[test]
    fn what_has_no_elements_is_empty_whatever_its_shape_claims() {
        let array = Array { dtype: DType::U8, payload: &[] };
        assert_eq!(rows(&array, &Part::whole(&[u64::MAX, 0])), "[]");
    }

    #[test]
    fn what_is_not_there_shows() {
        let array = Array { dtype: DType::F32, payload: &1f32.to_le_bytes() };
        assert_eq!(rows(&array, &Part::whole(&[2])), "[1.  ?]");
    }

    #[test]
    fn blocks_are_apart() {
        let array = Array { dtype: DType::U8, payload: &[1, 2, 3, 4] };
        assert_eq!(rows(&array, &Part::whole(&[2, 1, 2])), "[[[1 2]]\n\n [[3 4]]]");
    }
}
