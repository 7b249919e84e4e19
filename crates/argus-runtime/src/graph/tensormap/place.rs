//! Where a view lies: boxes that meet wherever [`Tensor::overlap`] sees bytes in common.
//!
//! The byte range of a tile spans whole rows of its tensor, so all tiles of a row of tiles would meet. Views that
//! are boxes of one grid are compared exactly, and for them bytes are folded at the grid's strides: they become
//! rows and columns, and tiles that do not touch do not meet. Of other pairs the overlap goes by byte ranges
//! alone, so the range is an axis too, and the only one that such a pair is asked about.

use argus_abi::{MAX_DIMS, Tensor};

/// First and last position along each axis, both included: three axes of the grid, then bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub first: [i64; 4],
    pub last: [i64; 4],
}

/// What boxes have in common that are compared exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    addr: u64,
    width: i64,
    rank: usize,
    /// Those beyond `rank` are zero.
    strides: [u32; MAX_DIMS],
}

impl Grid {
    /// The grid of which a view is a box: each stride divides the next larger one, and no row is left.
    ///
    /// Two boxes of one grid stay boxes if dimensions are left out in which both have one element, so
    /// [`Tensor::overlap`] has an exact answer for them.
    pub fn of(view: &Tensor) -> Option<Grid> {
        let bits = view.dtype()?.bits();
        if bits < 8 || view.is_empty() {
            return None;
        }
        let rank = view.rank();
        let mut axes: [(u32, u32); MAX_DIMS] = [(0, 0); MAX_DIMS];
        let mut strides = [0; MAX_DIMS];
        for dim in 0..rank {
            axes[dim] = (view.strides[dim], view.shapes[dim]);
            strides[dim] = view.strides[dim];
        }
        let axes = &mut axes[..rank];
        axes.sort_unstable_by_key(|&(stride, _)| std::cmp::Reverse(stride));
        let mut at = view.start_offset;
        let mut row: Option<u64> = None;
        for &(stride, len) in axes.iter() {
            let (stride, len) = (u64::from(stride), u64::from(len));
            if stride == 0 || row.is_some_and(|row| row % stride != 0) {
                return None;
            }
            if row.is_some_and(|row| at / stride + len > row / stride) {
                return None;
            }
            at %= stride;
            row = Some(stride);
        }
        Some(Grid { addr: view.addr, width: i64::from(bits) / 8, rank, strides })
    }

    /// The two smallest strides beyond an element, the larger one first, in bytes. Zero: there is none.
    fn folds(&self) -> (i64, i64) {
        let strides = || self.strides.iter().copied().filter(|&stride| stride > 1);
        let inner = strides().min().unwrap_or(0);
        let outer = strides().filter(|&stride| stride > inner).min().unwrap_or(0);
        (i64::from(outer) * self.width, i64::from(inner) * self.width)
    }
}

/// The box around a view's bytes, counted from `origin`; `grid` is the view's own, or none.
pub fn place(view: &Tensor, grid: Option<&Grid>, origin: u64) -> Place {
    let range = view.byte_range().unwrap_or(0..u64::MAX >> 1);
    // Addresses are far below 2^63.
    let first = range.start.wrapping_sub(origin) as i64;
    let last = (range.end.wrapping_sub(origin) as i64).wrapping_sub(1).max(first);
    let flat = Place { first: [0, 0, 0, first], last: [0, 0, 0, last] };
    let Some(grid) = grid else { return flat };
    let (outer, inner) = grid.folds();
    if inner == 0 {
        return flat;
    }
    let column = remainders(view, grid, (first, last), inner);
    if outer == 0 {
        let rows = (first.div_euclid(inner), last.div_euclid(inner));
        return Place { first: [0, rows.0, column.0, first], last: [0, rows.1, column.1, last] };
    }
    let row = remainders(view, grid, (first, last), outer);
    let row = (row.0 / inner, row.1 / inner);
    let outer = (first.div_euclid(outer), last.div_euclid(outer));
    Place { first: [outer.0, row.0, column.0, first], last: [outer.1, row.1, column.1, last] }
}

/// First and last remainder of a view's positions divided by a stride of its grid. It leaves no row.
fn remainders(view: &Tensor, grid: &Grid, (first, last): (i64, i64), stride: i64) -> (i64, i64) {
    let start = first.rem_euclid(stride);
    if first.div_euclid(stride) == last.div_euclid(stride) {
        return (start, start + (last - first));
    }
    let below = view.shape().iter().zip(view.stride());
    let reach: i64 = below
        .map(|(&len, &step)| (i64::from(len) - 1, i64::from(step) * grid.width))
        .filter(|&(_, step)| step < stride)
        .map(|(steps, step)| steps * step)
        .sum();
    (start, start + reach + grid.width - 1)
}
