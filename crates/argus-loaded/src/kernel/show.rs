//! Tiles and tensors as text, for a person at a debugger.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Write;

use argus_abi::{DType, Tensor};
use argus_facts::number::{self, Number};
use argus_tile::Core;

use super::abi;
use super::decode;

/// What is said where there is nothing to look at.
pub(super) const NO_CORE: &str = "this thread runs no kernel, or that is no address of a tile or tensor";

thread_local! {
    /// What was said last on this thread.
    static SAID: RefCell<CString> = RefCell::default();
}

/// Keeps a text for a reader in C until the next one.
pub(super) fn keep(text: String) -> *const c_char {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    SAID.with_borrow_mut(|said| {
        *said = text;
        said.as_ptr()
    })
}

/// A tile: one line for what it is, one for each row of its valid region.
pub(super) fn tile(core: &mut Core, raw: &abi::Tile, rows: u32, cols: u32) -> String {
    let tile = match decode::tile(raw) {
        Ok(tile) => tile,
        Err(bad) => return format!("not a tile: {bad}"),
    };
    let place = if tile.assigned { format!("at {:#x}", tile.addr) } else { "without an address".to_owned() };
    let head = format!(
        "{} tile {place}, {} {} x {}, valid {} x {}",
        tile.space, tile.dtype, tile.rows, tile.cols, tile.valid_rows, tile.valid_cols
    );
    let start = tile.addr as usize;
    let storage = (tile.assigned && tile.dtype.bits() >= 8)
        .then(|| core.peek(tile.space, start..start + tile.storage_bytes() as usize))
        .flatten();
    let Some(storage) = storage else { return head };
    let width = tile.dtype.size();
    let element = |row: u32, col: u32| {
        let at = tile.element_offset(row, col)? * width;
        number::element(tile.dtype, storage.get(at..at + width)?, 0)
    };
    let shape = [tile.valid_rows.min(tile.rows), tile.valid_cols.min(tile.cols)];
    head + &matrix(tile.dtype, shape, [rows, cols], element)
}

/// A tensor of the kernel's arguments: its last dimension is a row.
pub(super) fn tensor(core: &mut Core, tensor: &Tensor, rows: u32, cols: u32) -> String {
    let known = tensor.dtype().filter(|dtype| dtype.bits() >= 8).zip(tensor.data_addr());
    let Some((dtype, start)) = known.filter(|_| tensor.rank() > 0 && tensor.fits_buffer()) else {
        return "not a tensor".to_owned();
    };
    let (shape, stride) = (tensor.shape(), tensor.stride());
    let head = format!("tensor at {start:#x}, {dtype} {shape:?}, strides {stride:?}");
    let last = shape.len() - 1;
    let count = shape[..last].iter().fold(1u32, |product, &extent| product.saturating_mul(extent));
    let width = dtype.size();
    let element = |row: u32, col: u32| {
        let mut left = row;
        let mut offset = u64::from(col) * u64::from(stride[last]);
        for dim in (0..last).rev() {
            offset += u64::from(left % shape[dim].max(1)) * u64::from(stride[dim]);
            left /= shape[dim].max(1);
        }
        let mut bytes = [0; 8];
        core.peek_global(start + offset * width as u64, &mut bytes[..width]).ok()?;
        number::element(dtype, &bytes[..width], 0)
    };
    head + &matrix(dtype, [count, shape[last]], [rows, cols], element)
}

/// Numbers in columns, with the numbers of rows and columns at the edges.
fn matrix(
    dtype: DType,
    shape: [u32; 2],
    limit: [u32; 2],
    element: impl Fn(u32, u32) -> Option<Number>,
) -> String {
    let [rows, cols] = [shape[0].min(limit[0]), shape[1].min(limit[1])];
    let word = |row, col| element(row, col).map_or_else(|| "?".to_owned(), |value| word(dtype, value));
    let words: Vec<Vec<String>> =
        (0..rows).map(|row| (0..cols).map(|col| word(row, col)).collect()).collect();
    let width = words.iter().flatten().map(String::len).max().unwrap_or(0).max(cols.to_string().len());
    let edge = rows.to_string().len().max(3);
    let mut text = String::new();
    let more = if cols < shape[1] { "  ..." } else { "" };
    let _ = write!(text, "\n{:edge$}", "");
    for col in 0..cols {
        let _ = write!(text, "  {col:>width$}");
    }
    for (row, words) in words.iter().enumerate() {
        let _ = write!(text, "\n{row:>edge$}");
        for word in words {
            let _ = write!(text, "  {word:>width$}");
        }
        text += more;
    }
    if rows < shape[0] {
        let _ = write!(text, "\n{:>edge$}", "...");
    }
    text
}

fn word(dtype: DType, value: Number) -> String {
    if number::is_unwritten(dtype, value) {
        return "unwritten".to_owned();
    }
    match value {
        // The shortest digits that give the value back in its own type.
        Number::Float(value) => format!("{}", value as f32),
        Number::Signed(value) => value.to_string(),
        Number::Unsigned(value) => value.to_string(),
        Number::Bool(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_has_numbers_at_its_edges_and_says_what_is_left_out() {
        let element = |row: u32, col: u32| Some(Number::Float(f64::from(row) * 10.0 + f64::from(col) / 2.0));
        let text = matrix(DType::F32, [3, 4], [2, 3], element);
        assert_eq!(
            text,
            "\n        0     1     2\n  0     0   0.5     1  ...\n  1    10  10.5    11  ...\n..."
        );
    }
}
