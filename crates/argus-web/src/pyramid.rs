//! Tiles of a tensor at every level, exact at each.
//!
//! Few elements are looked at when a tile is asked for. A tile that stands for many is made of the plane's *base*: its
//! cells at one level, computed once in the background and kept as long as there is room. So is a single tile between the two,
//! in a plane whose cells at its level would take too much room. No tile is made of samples.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use rayon::prelude::*;

use crate::cells::{Cell, Elements};
use crate::columns::Columns;
use crate::plane::{Planes, TILE};

/// Elements that are looked at while a page waits.
pub const AT_ONCE: u64 = 1 << 22;
/// Cells of a base; with more, its level is higher.
const BASE_CELLS: u64 = 1 << 20;
/// What is kept of it, in bytes.
const KEPT_BYTES: usize = 96 << 20;

/// What of a tensor is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Of {
    Value,
    Reference,
    Difference,
}

/// A place in a pyramid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub plane: u64,
    pub level: u32,
    /// In tiles.
    pub row: u64,
    pub col: u64,
}

/// Cells in rows.
pub struct Tile {
    pub rows: u64,
    pub cols: u64,
    pub cells: Vec<Cell>,
    /// Exact values, at level 0.
    pub values: Vec<f64>,
}

/// A plane at one level.
pub struct Base {
    level: u32,
    cols: u64,
    cells: Vec<Cell>,
}

/// Which cells are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub record: usize,
    pub plane: u64,
    pub of: Of,
    /// One tile; all of the base if there is none.
    pub tile: Option<Place>,
}

/// What was made in the background.
pub enum Made {
    Base(Base),
    /// As `ATIL`.
    Tile(Bytes),
}

impl Made {
    fn bytes(&self) -> usize {
        match self {
            Made::Base(base) => size_of_val(&base.cells[..]),
            Made::Tile(columns) => columns.len(),
        }
    }
}

/// The cells of a dump's tensors that are there, or are being made.
#[derive(Default)]
pub struct Pyramids {
    /// The latest one last.
    kept: Mutex<Vec<(Key, Making)>>,
}

#[derive(Clone)]
pub enum Making {
    Done(Arc<Made>),
    /// Elements done so far, of all.
    Pending(Arc<AtomicU64>, u64),
}

impl Pyramids {
    /// What was asked for. The first caller has to make it: for it the second is true.
    pub fn get(&self, key: Key, elements: u64) -> (Making, bool) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(known, _)| *known == key) {
            let found = kept.remove(at);
            kept.push(found.clone());
            return (found.1, false);
        }
        let making = Making::Pending(Arc::default(), elements);
        kept.push((key, making.clone()));
        (making, true)
    }

    /// Keeps cells, and lets go of those that were not used for the longest time.
    pub fn keep(&self, key: Key, made: Made) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != key);
        kept.push((key, Making::Done(Arc::new(made))));
        let size = |making: &Making| match making {
            Making::Done(made) => made.bytes(),
            Making::Pending(..) => 0,
        };
        let mut total: usize = kept.iter().map(|(_, making)| size(making)).sum();
        let mut at = 0;
        while total > KEPT_BYTES && at + 1 < kept.len() {
            match size(&kept[at].1) {
                0 => at += 1,
                bytes => {
                    total -= bytes;
                    kept.remove(at);
                }
            }
        }
    }

    /// Forgets what is no longer being made.
    pub fn forget(&self, key: Key) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| *known != key);
    }
}

/// Rows and columns of a tile in cells; `None` if it lies outside. Above the pyramid there are smaller and smaller ones.
pub fn extent(planes: &Planes, place: Place) -> Option<(u64, u64)> {
    if place.plane >= planes.planes || place.level >= u64::BITS {
        return None;
    }
    let (rows, cols) = planes.cells(place.level);
    let rest = |all: u64, tile: u64| all.checked_sub(tile.checked_mul(TILE)?).filter(|rest| *rest > 0);
    Some((rest(rows, place.row)?.min(TILE), rest(cols, place.col)?.min(TILE)))
}

/// Elements that a tile stands for; those behind the end of its plane count, too.
pub fn elements_of(planes: &Planes, place: Place) -> u64 {
    extent(planes, place)
        .map_or(0, |(rows, cols)| rows.saturating_mul(cols).saturating_mul(1 << (2 * place.level.min(30))))
}

/// Whether a tile is made of elements, while a page waits.
pub fn is_quick(planes: &Planes, place: Place) -> bool {
    place.level == 0 || elements_of(planes, place) <= AT_ONCE
}

/// A tile made of elements.
pub fn from_elements(elements: &Elements<'_>, planes: &Planes, place: Place) -> Option<Tile> {
    let (rows, cols) = extent(planes, place)?;
    let size = 1u64 << place.level;
    let (first_row, first_col) = (place.row * TILE * size, place.col * TILE * size);
    let start = place.plane * planes.elements;
    let mut cells = vec![Cell::EMPTY; (rows * cols) as usize];
    cells.par_chunks_mut(cols as usize).enumerate().for_each(|(row, cells)| {
        let from = first_row + row as u64 * size;
        for row in from..(from + size).min(planes.rows) {
            elements.add_row(part(planes, start, row, first_col, cols * size), size, cells);
        }
    });
    let mut values = Vec::new();
    if place.level == 0 {
        for row in first_row..first_row + rows {
            let known = part(planes, start, row, first_col, cols);
            let missing = cols - (known.end - known.start);
            values.extend(known.map(|index| elements.get(index).map_or(f64::NAN, |(value, _)| value)));
            values.extend(std::iter::repeat_n(f64::NAN, missing as usize));
        }
    }
    Some(Tile { rows, cols, cells, values })
}

/// Elements of a row of a plane, from a column on, `most` at most.
fn part(planes: &Planes, start: u64, row: u64, col: u64, most: u64) -> std::ops::Range<u64> {
    let from = row * planes.cols + col;
    let row_end = (row + 1) * planes.cols;
    let end = row_end.min(from + most).min(planes.elements);
    start + from.min(end)..start + end
}

impl Base {
    /// The cells of a whole plane, at the lowest level that they are not too many at. `done` counts elements, `wanted` is
    /// asked now and then; `None` if it is not.
    pub fn new(
        elements: &Elements<'_>,
        planes: &Planes,
        plane: u64,
        done: &AtomicU64,
        wanted: &(dyn Fn() -> bool + Sync),
    ) -> Option<Base> {
        let level = base_level(planes);
        let size = 1u64 << level;
        let (rows, cols) = planes.cells(level);
        let start = plane * planes.elements;
        let mut cells = vec![Cell::EMPTY; (rows * cols) as usize];
        let all = cells.par_chunks_mut((cols as usize).max(1)).enumerate().try_for_each(|(row, cells)| {
            let from = row as u64 * size;
            for row in from..(from + size).min(planes.rows) {
                if !wanted() {
                    return None;
                }
                let part = part(planes, start, row, 0, planes.cols);
                done.fetch_add(part.end - part.start, Ordering::Relaxed);
                elements.add_row(part, size, cells);
            }
            Some(())
        });
        all.map(|()| Base { level, cols, cells })
    }

    /// A tile of its level or of one above it; `None` if it lies below or outside.
    pub fn tile(&self, planes: &Planes, place: Place) -> Option<Tile> {
        let (rows, cols) = extent(planes, place)?;
        let size = 1u64 << place.level.checked_sub(self.level)?;
        let base_rows = self.cells.len() as u64 / self.cols.max(1);
        let mut cells = Vec::with_capacity((rows * cols) as usize);
        for row in 0..rows {
            let from_row = (place.row * TILE + row) * size;
            for col in 0..cols {
                let from_col = (place.col * TILE + col) * size;
                let mut cell = Cell::EMPTY;
                for row in from_row..(from_row + size).min(base_rows) {
                    let start = (row * self.cols + from_col) as usize;
                    let end = (row * self.cols + (from_col + size).min(self.cols)) as usize;
                    self.cells[start..end].iter().for_each(|part| cell.join(part));
                }
                cells.push(cell);
            }
        }
        Some(Tile { rows, cols, cells, values: Vec::new() })
    }
}

/// The lowest level that is not made while a page waits, or a higher one if its cells are too many.
fn base_level(planes: &Planes) -> u32 {
    let mut level = 1;
    while (TILE * TILE) << (2 * level) <= AT_ONCE {
        level += 1;
    }
    let cells = |level: u32| {
        let (rows, cols) = planes.cells(level);
        rows.saturating_mul(cols)
    };
    while cells(level) > BASE_CELLS && level + 1 < planes.levels() {
        level += 1;
    }
    level
}

/// Whether the base of a plane has what a tile of this level is made of.
pub fn in_base(planes: &Planes, level: u32) -> bool {
    level >= base_level(planes)
}

impl Tile {
    /// As `ATIL`.
    pub fn columns(&self) -> Vec<u8> {
        let mut columns = Columns::new(b"ATIL", 1);
        columns.u32s([self.rows as u32, self.cols as u32]);
        let finite = |cell: &Cell, value: f32| if cell.finite > 0 { value } else { f32::NAN };
        columns.f32s(self.cells.iter().map(|cell| finite(cell, cell.min)));
        columns.f32s(self.cells.iter().map(|cell| finite(cell, cell.max)));
        columns.f32s(self.cells.iter().map(|cell| finite(cell, cell.mean())));
        columns.u32s(self.cells.iter().map(Cell::counts));
        if !self.values.is_empty() {
            columns.f64s(self.values.iter().copied());
        }
        columns.finish()
    }
}

#[cfg(test)]
mod tests {
    use argus_abi::DType;
    use argus_facts::number::element;

    use super::*;

    /// Bytes that look random and are the same each time.
    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..bytes).map(|_| next()).collect()
    }

    /// One cell, by looking at every element of the plane.
    fn naive(elements: &Elements<'_>, planes: &Planes, place: Place, row: u64, col: u64) -> Cell {
        let mut cell = Cell::EMPTY;
        for index in 0..planes.elements {
            let (r, c) = (index / planes.cols, index % planes.cols);
            if (r >> place.level, c >> place.level) == (place.row * TILE + row, place.col * TILE + col)
                && let Some((value, unwritten)) = elements.get(place.plane * planes.elements + index)
            {
                add(&mut cell, value, unwritten);
            }
        }
        cell
    }

    fn add(cell: &mut Cell, value: f64, unwritten: bool) {
        if value.is_finite() {
            let near = (value as f32).clamp(f32::MIN, f32::MAX);
            cell.min = cell.min.min(near);
            cell.max = cell.max.max(near);
            cell.sum += value;
            cell.finite += 1;
        } else if unwritten {
            cell.unwritten += 1;
        } else {
            cell.alarming += 1;
        }
    }

    fn same(one: &Cell, other: &Cell) -> bool {
        let sums =
            one.sum == other.sum || (one.sum - other.sum).abs() <= 1e-9 * one.sum.abs().max(other.sum.abs());
        (one.min, one.max, one.finite, one.alarming, one.unwritten)
            == (other.min, other.max, other.finite, other.alarming, other.unwritten)
            && (sums || !other.sum.is_finite())
    }

    #[test]
    fn every_tile_of_every_dtype_is_what_its_elements_are() {
        for dtype in DType::ALL {
            for shape in [&[5u64, 7][..], &[2, 3, 5], &[1030], &[1], &[0], &[]] {
                let planes = Planes::of(shape).unwrap();
                let count = planes.planes * planes.elements;
                let mut payload = noise(dtype.packed_bytes(count).unwrap() as usize);
                let size = dtype.size().min(payload.len());
                payload[..size].fill(0xff);
                let elements = Elements { dtype, payload: &payload, minus: None };
                for plane in 0..planes.planes {
                    for level in 0..planes.levels() {
                        let place = Place { plane, level, row: 0, col: 0 };
                        let Some(tile) = from_elements(&elements, &planes, place) else {
                            assert_eq!(count, 0);
                            continue;
                        };
                        let stride = (tile.rows * tile.cols).div_ceil(40).max(1);
                        for at in (0..tile.rows * tile.cols).step_by(stride as usize) {
                            let (row, col) = (at / tile.cols, at % tile.cols);
                            let cell = tile.cells[at as usize];
                            let wanted = naive(&elements, &planes, place, row, col);
                            assert!(
                                same(&cell, &wanted),
                                "{dtype} {shape:?} {place:?} {row} {col}: {cell:?} {wanted:?}"
                            );
                            if level == 0 && row * planes.cols + col < planes.elements {
                                let number = element(
                                    dtype,
                                    &payload,
                                    plane * planes.elements + row * planes.cols + col,
                                );
                                let (told, wanted) = (tile.values[at as usize], number.unwrap().as_f64());
                                assert!(told == wanted || told.is_nan() && wanted.is_nan());
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn tiles_of_a_base_are_those_of_the_elements() {
        let planes = Planes::of(&[2, 4700, 2900]).unwrap();
        let payload = noise(2 * 4700 * 2900);
        let elements = Elements { dtype: DType::I8, payload: &payload, minus: None };
        let done = AtomicU64::new(0);
        let base = Base::new(&elements, &planes, 1, &done, &|| true).unwrap();
        assert_eq!(done.into_inner(), planes.elements);
        for level in 0..planes.levels() {
            let (rows, cols) = planes.cells(level);
            for (row, col) in [(0, 0), (rows.div_ceil(TILE) - 1, cols.div_ceil(TILE) - 1)] {
                let place = Place { plane: 1, level, row, col };
                assert_eq!(base.tile(&planes, place).is_some(), in_base(&planes, level));
                if let Some(tile) = base.tile(&planes, place) {
                    assert_eq!(
                        tile.cells,
                        from_elements(&elements, &planes, place).unwrap().cells,
                        "{place:?}"
                    );
                }
            }
        }
        assert!(Base::new(&elements, &planes, 0, &AtomicU64::new(0), &|| false).is_none());
    }

    #[test]
    fn differences_are_exact_and_equal_values_differ_by_nothing() {
        let (a, b) = ([f32::NAN, f32::INFINITY, 1.5, 2.0], [f32::NAN, f32::INFINITY, 1.0, f32::NAN]);
        let bytes =
            |values: [f32; 4]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let (a, b) = (bytes(a), bytes(b));
        let elements = Elements { dtype: DType::F32, payload: &a, minus: Some(&b) };
        let told: Vec<f64> = (0..4).map(|at| elements.get(at).unwrap().0).collect();
        assert_eq!(told[..3], [0.0, 0.0, 0.5]);
        assert!(told[3].is_nan() && elements.get(4).is_none());
        let (a, b) = (u64::MAX.to_le_bytes(), (u64::MAX - 1).to_le_bytes());
        let elements = Elements { dtype: DType::U64, payload: &a, minus: Some(&b) };
        assert_eq!(elements.get(0), Some((1.0, false)));
    }

    #[test]
    fn bases_that_were_not_used_for_long_are_let_go() {
        let pyramids = Pyramids::default();
        let base = || Made::Base(Base { level: 4, cols: 1 << 10, cells: vec![Cell::EMPTY; 1 << 20] });
        let key = |record| Key { record, plane: 0, of: Of::Value, tile: None };
        for record in 0..5 {
            assert!(pyramids.get(key(record), 1).1, "it is for the first to make it");
            assert!(!pyramids.get(key(record), 1).1);
            pyramids.keep(key(record), base());
        }
        let kept = |record| matches!(pyramids.get(key(record), 1).0, Making::Done(_));
        assert_eq!([kept(4), kept(3), kept(2)], [true; 3]);
        assert!(!kept(0));
    }
}
