//! Between a tile's layout and dense rows.
//!
//! Everything that does not work on rows in place goes through here: a region of a tile is unpacked into
//! dense rows, computed on, and packed again. No loop asks the layout for single elements unless a box is
//! cut by the region's edge.

use bytemuck::Pod;

use crate::layout::Walk;
use crate::tile::Region;

/// Copies the region of a tile that starts at `origin` to rows that lie `pitch` elements apart.
pub(crate) fn unpack<T: Pod>(
    tile: &[T],
    walk: &Walk,
    origin: (usize, usize),
    region: Region,
    rows: &mut [T],
    pitch: usize,
) {
    if walk.col == 1 {
        for_runs(walk, origin, region, pitch, |at, row, len| {
            rows[row..row + len].copy_from_slice(&tile[at..at + len]);
        });
    } else if region.cols == 1 && pitch == 1 && walk.box_cols == 1 {
        let at = walk.offset(origin.0, origin.1);
        rows[..region.rows].copy_from_slice(&tile[at..at + region.rows]);
    } else {
        for_boxes(walk, origin, region, pitch, |at, row, size| match walk.col {
            8 => unpack_box::<T, 8>(&tile[at..], &mut rows[row..], size, pitch),
            16 => unpack_box::<T, 16>(&tile[at..], &mut rows[row..], size, pitch),
            32 => unpack_box::<T, 32>(&tile[at..], &mut rows[row..], size, pitch),
            _ => {
                let stride = if walk.col == 0 { walk.across } else { walk.col };
                for r in 0..size.rows {
                    let line = &mut rows[row + r * pitch..][..size.cols];
                    for (c, value) in line.iter_mut().enumerate() {
                        *value = tile[at + c * stride + r];
                    }
                }
            }
        });
    }
}

/// Copies dense rows to the upper left region of a tile.
pub(crate) fn pack<T: Pod>(rows: &[T], pitch: usize, region: Region, walk: &Walk, tile: &mut [T]) {
    let origin = (0, 0);
    if walk.col == 1 {
        for_runs(walk, origin, region, pitch, |at, row, len| {
            tile[at..at + len].copy_from_slice(&rows[row..row + len]);
        });
    } else if region.cols == 1 && pitch == 1 && walk.box_cols == 1 {
        tile[..region.rows].copy_from_slice(&rows[..region.rows]);
    } else {
        for_boxes(walk, origin, region, pitch, |at, row, size| match walk.col {
            8 => pack_box::<T, 8>(&rows[row..], &mut tile[at..], size, pitch),
            16 => pack_box::<T, 16>(&rows[row..], &mut tile[at..], size, pitch),
            32 => pack_box::<T, 32>(&rows[row..], &mut tile[at..], size, pitch),
            _ => {
                let stride = if walk.col == 0 { walk.across } else { walk.col };
                for c in 0..size.cols {
                    let column = &mut tile[at + c * stride..][..size.rows];
                    for (r, value) in column.iter_mut().enumerate() {
                        *value = rows[row + r * pitch + c];
                    }
                }
            }
        });
    }
}

/// Visits the contiguous runs of rows: `visit(offset in the tile, offset in the rows, length)`.
#[inline(always)]
fn for_runs(
    walk: &Walk,
    origin: (usize, usize),
    region: Region,
    pitch: usize,
    mut visit: impl FnMut(usize, usize, usize),
) {
    if region.elements() == 0 {
        return;
    }
    for r in 0..region.rows {
        let mut done = 0;
        while done < region.cols {
            let c = origin.1 + done;
            let len = (walk.box_cols - c % walk.box_cols).min(region.cols - done);
            let (at, row) = (walk.offset(origin.0 + r, c), r * pitch + done);
            // Spelled out so that the usual widths become one or two moves instead of a call.
            match len {
                8 => visit(at, row, 8),
                16 => visit(at, row, 16),
                32 => visit(at, row, 32),
                _ => visit(at, row, len),
            }
            done += len;
            // Further whole boxes of this row lie at a fixed distance.
            let mut at = at - (c % walk.box_cols) * walk.col;
            while region.cols - done >= walk.box_cols && walk.across > 0 {
                at += walk.across;
                match walk.box_cols {
                    8 => visit(at, r * pitch + done, 8),
                    16 => visit(at, r * pitch + done, 16),
                    32 => visit(at, r * pitch + done, 32),
                    width => visit(at, r * pitch + done, width),
                }
                done += walk.box_cols;
            }
        }
    }
}

/// Visits the boxes, whole or cut, of a layout whose boxes go column by column. An unboxed column-major
/// tile counts as one box.
#[inline(always)]
fn for_boxes(
    walk: &Walk,
    origin: (usize, usize),
    region: Region,
    pitch: usize,
    mut visit: impl FnMut(usize, usize, Region),
) {
    let box_cols = if walk.col == 0 { usize::MAX } else { walk.box_cols };
    let mut r = 0;
    while r < region.rows {
        let from = (origin.0 + r) % walk.box_rows;
        let rows = (walk.box_rows - from).min(region.rows - r);
        let mut c = 0;
        while c < region.cols {
            let cols = (box_cols - (origin.1 + c) % box_cols).min(region.cols - c);
            visit(walk.offset(origin.0 + r, origin.1 + c), r * pitch + c, Region { rows, cols });
            c += cols;
        }
        r += rows;
    }
}

/// One box of columns of `HEIGHT` elements to rows.
#[inline(always)]
fn unpack_box<T: Pod, const HEIGHT: usize>(from: &[T], rows: &mut [T], size: Region, pitch: usize) {
    if size.rows == HEIGHT && size.cols == 16 {
        let from = &from[..HEIGHT * 16];
        for r in 0..HEIGHT {
            let line = &mut rows[r * pitch..][..16];
            for c in 0..16 {
                line[c] = from[c * HEIGHT + r];
            }
        }
    } else {
        for r in 0..size.rows {
            for c in 0..size.cols {
                rows[r * pitch + c] = from[c * HEIGHT + r];
            }
        }
    }
}

/// Rows to one box of columns of `HEIGHT` elements.
#[inline(always)]
fn pack_box<T: Pod, const HEIGHT: usize>(rows: &[T], to: &mut [T], size: Region, pitch: usize) {
    if size.rows == HEIGHT && size.cols == 16 {
        let to = &mut to[..HEIGHT * 16];
        for r in 0..HEIGHT {
            let line = &rows[r * pitch..][..16];
            for c in 0..16 {
                to[c * HEIGHT + r] = line[c];
            }
        }
    } else {
        for r in 0..size.rows {
            for c in 0..size.cols {
                to[c * HEIGHT + r] = rows[r * pitch + c];
            }
        }
    }
}
