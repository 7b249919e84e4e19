//! Operands that are lines of contiguous elements, and who of them shares memory with whom.
//!
//! Elementwise instructions on unboxed tiles work in place or between disjoint ranges of a space. Whatever
//! overlaps otherwise is copied first, because an instruction reads all sources before it writes.

use core::ops::Range;

use bytemuck::Pod;

use crate::layout::Layout;
use crate::store::Scratch;
use crate::tile::{Region, Tile};

/// How many lines, and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub lines: usize,
    pub len: usize,
}

/// The lines of one operand, in elements of its space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strip {
    pub start: usize,
    pub stride: usize,
}

impl Strip {
    fn new(tile: &Tile, stride: u32) -> Strip {
        Strip { start: tile.addr as usize / tile.dtype.size(), stride: stride as usize }
    }

    /// From the first to one past the last element touched.
    pub fn span(&self, grid: Grid) -> Range<usize> {
        self.start..self.start + (grid.lines - 1) * self.stride + grid.len
    }

    fn relation(&self, other: &Strip, grid: Grid) -> Relation {
        let (a, b) = (self.span(grid), other.span(grid));
        if a.end <= b.start || b.end <= a.start {
            Relation::Apart
        } else if a == b && (self.stride == other.stride || grid.lines == 1) {
            Relation::Same
        } else {
            Relation::Overlap
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Apart,
    Same,
    Overlap,
}

/// The lines of tiles of one layout, nd or dn; `None` if a tile is boxed or the layouts differ. A region
/// that covers whole lines of all tiles is one line. The region must not be empty.
pub(crate) fn strips<const N: usize>(tiles: [&Tile; N], region: Region) -> Option<(Grid, [Strip; N])> {
    if let Some(strips) = row_strips(tiles, region) {
        return Some(strips);
    }
    if tiles.iter().any(|tile| tile.layout() != Layout::Dn) {
        return None;
    }
    let grid = Grid { lines: region.cols, len: region.rows };
    Some(join(grid, tiles.map(|tile| Strip::new(tile, tile.rows))))
}

/// The rows of tiles in nd.
pub(crate) fn row_strips<const N: usize>(tiles: [&Tile; N], region: Region) -> Option<(Grid, [Strip; N])> {
    let grid = Grid { lines: region.rows, len: region.cols };
    unjoined_rows(tiles, region).map(|strips| join(grid, strips))
}

/// The rows of tiles in nd, one line each even where they could be joined.
pub(crate) fn unjoined_rows<const N: usize>(tiles: [&Tile; N], region: Region) -> Option<[Strip; N]> {
    let rows = region.elements() > 0 && tiles.iter().all(|tile| tile.layout() == Layout::Nd);
    rows.then(|| tiles.map(|tile| Strip::new(tile, tile.cols)))
}

fn join<const N: usize>(grid: Grid, strips: [Strip; N]) -> (Grid, [Strip; N]) {
    let gapless = strips.iter().all(|strip| strip.stride == grid.len);
    if gapless { (Grid { lines: 1, len: grid.lines * grid.len }, strips) } else { (grid, strips) }
}

/// A source of an elementwise loop.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a, T> {
    /// The destination itself.
    InPlace,
    /// Lines elsewhere.
    Lines(&'a [T], usize),
}

/// Splits a space into the destination's lines and one source for each strip. A source that equals the
/// destination stays in place; one that overlaps it otherwise is copied to scratch.
pub(crate) fn split<'a, T: Pod, const N: usize>(
    space: &'a mut [T],
    scratch: &'a mut [Scratch; 4],
    grid: Grid,
    dst: Strip,
    sources: [Strip; N],
) -> (&'a mut [T], [Source<'a, T>; N]) {
    let mut slot = scratch.iter_mut();
    let copies = sources.map(|strip| {
        if strip.relation(&dst, grid) != Relation::Overlap {
            return None;
        }
        let copy = slot.next()?.take::<T>(grid.lines * grid.len);
        for (line, copy) in copy.chunks_exact_mut(grid.len).enumerate() {
            copy.copy_from_slice(&space[strip.start + line * strip.stride..][..grid.len]);
        }
        Some(&*copy)
    });
    let range = dst.span(grid);
    let (before, rest) = space.split_at_mut(range.start);
    let (target, after) = rest.split_at_mut(range.len());
    let (before, after) = (&*before, &*after);
    let mut copies = copies.into_iter();
    let sources = sources.map(|strip| {
        let span = strip.span(grid);
        match copies.next().flatten() {
            Some(copy) => Source::Lines(copy, grid.len),
            None if span.end <= range.start => Source::Lines(&before[span], strip.stride),
            None if span.start >= range.end => {
                Source::Lines(&after[span.start - range.end..span.end - range.end], strip.stride)
            }
            None => Source::InPlace,
        }
    });
    (target, sources)
}
