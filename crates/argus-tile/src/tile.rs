//! Tiles: what an instruction knows of an operand in a core's memory.

use argus_abi::DType;

use crate::layout::{BlockOrder, InnerOrder, Layout, Walk, box_shape};
use crate::space::Space;

/// What fills a tile beyond its valid region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Pad {
    /// None stated; TLOAD fills with zero, TFILLPAD refuses.
    Null = 0,
    Zero = 1,
    /// Plus infinity, or the type's largest integer.
    Max = 2,
    /// Minus infinity, or the type's smallest integer.
    Min = 3,
    /// The raw bits of one element, in the low bits.
    Custom(u32) = 4,
}

impl Pad {
    /// The bits of one padding element. 64-bit types are always padded with zero.
    pub const fn bits(self, dtype: DType) -> u32 {
        match self {
            Pad::Null | Pad::Zero => 0,
            Pad::Custom(bits) => bits,
            Pad::Max => match dtype {
                DType::F32 => 0x7F80_0000,
                DType::F16 => 0x7C00,
                DType::Bf16 => 0x7F80,
                DType::I32 => i32::MAX as u32,
                DType::I16 => i16::MAX as u32,
                DType::I8 => i8::MAX as u32,
                DType::U32 => u32::MAX,
                DType::U16 => u16::MAX as u32,
                DType::U8 => u8::MAX as u32,
                _ => 0,
            },
            Pad::Min => match dtype {
                DType::F32 => 0xFF80_0000,
                DType::F16 => 0xFC00,
                DType::Bf16 => 0xFF80,
                DType::I32 => i32::MIN as u32,
                DType::I16 => 0x8000,
                DType::I8 => 0x80,
                _ => 0,
            },
        }
    }
}

/// A handle to part of a core's memory: address, type, layout, storage shape and valid region.
///
/// Copying copies the handle, never data; any number of tiles may overlap. The layout is fixed so that a
/// C++ header can fill one in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Tile {
    /// Byte offset in its space.
    pub addr: u32,
    pub rows: u32,
    pub cols: u32,
    pub valid_rows: u32,
    pub valid_cols: u32,
    pub space: Space,
    pub dtype: DType,
    pub block: BlockOrder,
    pub inner: InnerOrder,
    /// Bytes of a box: 512, 1024 or 32.
    pub fractal: u16,
    /// Whether `addr` means anything yet.
    pub assigned: bool,
    pub pad: Pad,
}

impl Tile {
    /// A tile of any layout, whole storage valid, without an address.
    pub const fn new(space: Space, dtype: DType, rows: u32, cols: u32, layout: Layout, fractal: u16) -> Tile {
        let (block, inner) = match layout {
            Layout::Nd => (BlockOrder::RowMajor, InnerOrder::NoneBox),
            Layout::Dn => (BlockOrder::ColMajor, InnerOrder::NoneBox),
            Layout::Nz => (BlockOrder::ColMajor, InnerOrder::RowMajor),
            Layout::Zn => (BlockOrder::RowMajor, InnerOrder::ColMajor),
            Layout::Zz => (BlockOrder::RowMajor, InnerOrder::RowMajor),
            Layout::Nn => (BlockOrder::ColMajor, InnerOrder::ColMajor),
        };
        Tile {
            addr: 0,
            rows,
            cols,
            valid_rows: rows,
            valid_cols: cols,
            space,
            dtype,
            block,
            inner,
            fractal,
            assigned: false,
            pad: Pad::Null,
        }
    }

    /// A row-major tile in UB.
    pub const fn vec(dtype: DType, rows: u32, cols: u32) -> Tile {
        Tile::new(Space::Vec, dtype, rows, cols, Layout::Nd, 512)
    }

    /// A tile in L1, boxes column by column, elements in them row by row.
    pub const fn mat_nz(dtype: DType, rows: u32, cols: u32) -> Tile {
        Tile::new(Space::Mat, dtype, rows, cols, Layout::Nz, 512)
    }

    /// A tile in L1, boxes row by row, elements in them column by column.
    pub const fn mat_zn(dtype: DType, rows: u32, cols: u32) -> Tile {
        Tile::new(Space::Mat, dtype, rows, cols, Layout::Zn, 512)
    }

    /// A left operand in L0A.
    pub const fn left(dtype: DType, rows: u32, cols: u32) -> Tile {
        Tile::new(Space::Left, dtype, rows, cols, Layout::Nz, 512)
    }

    /// A left operand in L0A in the row-by-row layout that some generated kernels spell.
    pub const fn left_zz(dtype: DType, rows: u32, cols: u32) -> Tile {
        Tile::new(Space::Left, dtype, rows, cols, Layout::Zz, 512)
    }

    /// A right operand in L0B.
    pub const fn right(dtype: DType, rows: u32, cols: u32) -> Tile {
        Tile::new(Space::Right, dtype, rows, cols, Layout::Zn, 512)
    }

    /// An accumulator in L0C.
    pub const fn acc(dtype: DType, rows: u32, cols: u32) -> Tile {
        Tile::new(Space::Acc, dtype, rows, cols, Layout::Nz, 1024)
    }

    /// A tile whose boxes and elements both go column by column.
    pub const fn nn(space: Space, dtype: DType, rows: u32, cols: u32) -> Tile {
        Tile::new(space, dtype, rows, cols, Layout::Nn, 512)
    }

    /// The same tile, column-major without boxes.
    pub const fn dn(mut self) -> Tile {
        self.block = BlockOrder::ColMajor;
        self.inner = InnerOrder::NoneBox;
        self
    }

    /// The same tile at a byte offset of its space.
    pub const fn at(mut self, addr: u32) -> Tile {
        self.addr = addr;
        self.assigned = true;
        self
    }

    /// The same tile with another valid region.
    pub const fn valid(mut self, rows: u32, cols: u32) -> Tile {
        self.valid_rows = rows;
        self.valid_cols = cols;
        self
    }

    /// The same tile with a pad value.
    pub const fn pad(mut self, pad: Pad) -> Tile {
        self.pad = pad;
        self
    }

    pub const fn layout(&self) -> Layout {
        Layout::new(self.block, self.inner)
    }

    /// Bytes of the storage, valid or not.
    pub const fn storage_bytes(&self) -> u64 {
        self.rows as u64 * self.cols as u64 * self.dtype.size() as u64
    }

    /// Elements from the tile's base to element (r, c); `None` outside the storage.
    pub fn element_offset(&self, r: u32, c: u32) -> Option<usize> {
        let inside = r < self.rows && c < self.cols && self.box_shape().is_some();
        inside.then(|| self.walk().offset(r as usize, c as usize))
    }

    /// Rows and columns of a box; `None` for an unknown fractal size.
    pub(crate) const fn box_shape(&self) -> Option<(usize, usize)> {
        box_shape(self.inner, self.fractal, self.dtype.size())
    }

    /// The layout's strides. Only for tiles whose box shape is known: operands are checked for it.
    pub(crate) fn walk(&self) -> Walk {
        let boxed = self.box_shape().unwrap_or((1, 1));
        Walk::new(self.layout(), self.rows as usize, self.cols as usize, boxed)
    }

    /// Whether the valid region is the whole storage.
    pub(crate) const fn is_full(&self) -> bool {
        self.valid_rows == self.rows && self.valid_cols == self.cols
    }

    /// Rows and columns of the valid region.
    pub(crate) const fn region(&self) -> Region {
        Region { rows: self.valid_rows as usize, cols: self.valid_cols as usize }
    }
}

/// The elements an instruction touches: rows and columns from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub rows: usize,
    pub cols: usize,
}

impl Region {
    pub const fn elements(self) -> usize {
        self.rows * self.cols
    }

    pub const fn transposed(self) -> Region {
        Region { rows: self.cols, cols: self.rows }
    }
}
