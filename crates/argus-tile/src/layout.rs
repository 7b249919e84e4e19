//! Where an element of a tile lies.
//!
//! Six layouts, one formula: a tile is a grid of boxes of `box_rows` x `box_cols` elements, and the offset
//! of an element is a sum of four strides, for the box's row, the row in the box, the box's column and the
//! column in the box. Unboxed tiles are grids of boxes as wide (nd) or as high (dn) as the tile.

use core::fmt;

/// Order of the boxes, or of the elements of an unboxed tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BlockOrder {
    RowMajor = 0,
    ColMajor = 1,
}

/// Order of the elements in a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum InnerOrder {
    NoneBox = 0,
    RowMajor = 1,
    ColMajor = 2,
}

/// The six layouts by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    Nd,
    Dn,
    Nz,
    Zn,
    Zz,
    Nn,
}

impl Layout {
    pub const fn new(block: BlockOrder, inner: InnerOrder) -> Layout {
        match (block, inner) {
            (BlockOrder::RowMajor, InnerOrder::NoneBox) => Layout::Nd,
            (BlockOrder::ColMajor, InnerOrder::NoneBox) => Layout::Dn,
            (BlockOrder::ColMajor, InnerOrder::RowMajor) => Layout::Nz,
            (BlockOrder::RowMajor, InnerOrder::ColMajor) => Layout::Zn,
            (BlockOrder::RowMajor, InnerOrder::RowMajor) => Layout::Zz,
            (BlockOrder::ColMajor, InnerOrder::ColMajor) => Layout::Nn,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Layout::Nd => "nd",
            Layout::Dn => "dn",
            Layout::Nz => "nz",
            Layout::Zn => "zn",
            Layout::Zz => "zz",
            Layout::Nn => "nn",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Rows and columns of one box; `None` when the fractal size is none of the known three.
pub(crate) const fn box_shape(inner: InnerOrder, fractal: u16, element: usize) -> Option<(usize, usize)> {
    let (rows, cols) = match fractal {
        1024 => (16, 16),
        512 => (16, 32 / element),
        32 => (16, 2),
        _ => return None,
    };
    match inner {
        InnerOrder::NoneBox => Some((1, 1)),
        InnerOrder::RowMajor => Some((rows, cols)),
        InnerOrder::ColMajor => Some((cols, rows)),
    }
}

/// The strides of a layout, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    pub box_rows: usize,
    pub box_cols: usize,
    /// From one row of boxes to the next.
    pub down: usize,
    /// From one row to the next in a box.
    pub row: usize,
    /// From one column of boxes to the next.
    pub across: usize,
    /// From one column to the next in a box.
    pub col: usize,
}

impl Walk {
    /// `(ir, ic)` is the box shape of [`box_shape`].
    pub fn new(layout: Layout, rows: usize, cols: usize, (ir, ic): (usize, usize)) -> Walk {
        let boxed = |down, row, across, col| Walk { box_rows: ir, box_cols: ic, down, row, across, col };
        match layout {
            Layout::Nd => Walk { box_rows: 1, box_cols: cols, down: cols, row: 0, across: 0, col: 1 },
            Layout::Dn => Walk { box_rows: rows, box_cols: 1, down: 0, row: 1, across: rows, col: 0 },
            Layout::Nz => boxed(ir * ic, ic, rows * ic, 1),
            Layout::Zn => boxed(cols * ir, 1, ir * ic, ir),
            Layout::Zz => boxed(cols * ir, ic, ir * ic, 1),
            Layout::Nn => boxed(ir * ic, 1, rows * ic, ir),
        }
    }

    /// Offset of element (r, c) from the tile's base.
    pub fn offset(&self, r: usize, c: usize) -> usize {
        r / self.box_rows * self.down
            + r % self.box_rows * self.row
            + c / self.box_cols * self.across
            + c % self.box_cols * self.col
    }

    /// The same bytes with rows and columns exchanged: nd <-> dn, nz <-> zn, zz <-> nn.
    pub fn transposed(&self) -> Walk {
        Walk {
            box_rows: self.box_cols,
            box_cols: self.box_rows,
            down: self.across,
            row: self.col,
            across: self.down,
            col: self.row,
        }
    }

    /// Distance between rows when each row is one contiguous run, as in nd.
    pub fn line_stride(&self) -> Option<usize> {
        (self.box_rows == 1 && self.across == 0 && self.col == 1).then_some(self.down)
    }
}
