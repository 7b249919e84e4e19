//! Tensors in global memory as a kernel walks them.

use core::panic::Location;

use argus_abi::{DType, Tensor};
use argus_gm::{MemoryError, Window};

use crate::core::{Caller, Core};
use crate::fault::{Fault, FaultKind};
use crate::tile::Region;

/// How rows and columns of a tile map to the five dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum GlobalLayout {
    /// Columns run along the last dimension.
    Nd = 0,
    /// Rows run along the fourth dimension, columns along the fifth and then the outer ones.
    Dn = 1,
    /// Boxes of the last two dimensions.
    Nz = 2,
    /// Scales of a left operand: boxes of 16 rows and 2 columns, row of boxes by row of boxes.
    MxAZz = 6,
    /// Scales of a right operand: boxes of 2 rows and 16 columns, column of boxes by column of boxes.
    MxBNn = 9,
}

/// Shape and strides of a walk, in elements. Strides of dimensions of size 1 mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalShape {
    pub shape: [u32; 5],
    pub stride: [u64; 5],
    pub layout: GlobalLayout,
}

impl GlobalShape {
    /// Rows that follow each other without a gap.
    pub fn nd(rows: u32, cols: u32) -> GlobalShape {
        GlobalShape::nd_strided(rows, cols, u64::from(cols))
    }

    /// Rows `row_stride` elements apart.
    pub fn nd_strided(rows: u32, cols: u32, row_stride: u64) -> GlobalShape {
        let all = u64::from(rows).saturating_mul(row_stride);
        GlobalShape {
            shape: [1, 1, 1, rows, cols],
            stride: [all, all, all, row_stride, 1],
            layout: GlobalLayout::Nd,
        }
    }

    /// Columns that follow each other without a gap.
    pub fn dn(rows: u32, cols: u32) -> GlobalShape {
        GlobalShape::dn_strided(rows, cols, u64::from(rows))
    }

    /// Columns `ld` elements apart.
    pub fn dn_strided(rows: u32, cols: u32, ld: u64) -> GlobalShape {
        let all = u64::from(cols).saturating_mul(ld);
        GlobalShape { shape: [1, 1, 1, rows, cols], stride: [all, all, all, 1, ld], layout: GlobalLayout::Dn }
    }

    /// Boxes of 16 rows and 32 bytes, column of boxes by column of boxes.
    pub fn nz(rows: u32, cols: u32, dtype: DType) -> GlobalShape {
        let width = 32 / dtype.size() as u32;
        let (r, c, w) = (u64::from(rows), u64::from(cols), u64::from(width));
        GlobalShape {
            shape: [1, cols.div_ceil(width), rows.div_ceil(16), 16, width],
            stride: [r * c, r * w, 16 * w, w, 1],
            layout: GlobalLayout::Nz,
        }
    }
}

/// A tensor argument with the way a kernel walks it. Its bounds were looked up when it was made.
#[derive(Clone, Debug)]
pub struct Global {
    window: Window,
    addr: u64,
    dtype: DType,
    shape: GlobalShape,
}

impl Global {
    /// Address of the first element.
    pub fn addr(&self) -> u64 {
        self.addr
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub fn shape(&self) -> &GlobalShape {
        &self.shape
    }

    pub(crate) fn window(&self) -> &Window {
        &self.window
    }

    /// Address of an element; what does not fit an address becomes the last one, which is never allowed.
    pub(crate) fn address(&self, offset: u64) -> u64 {
        self.addr.saturating_add(offset.saturating_mul(self.dtype.size() as u64))
    }

    /// Whether the walk goes column by column.
    pub(crate) fn is_columnwise(&self) -> bool {
        self.shape.layout == GlobalLayout::Dn
    }

    /// Visits a region in contiguous pieces: `visit(index in lines that lie pitch elements apart, number of
    /// elements, address)`. Lines are rows, or columns if the walk goes column by column.
    pub(crate) fn for_pieces(
        &self,
        region: Region,
        pitch: usize,
        mut visit: impl FnMut(usize, usize, u64) -> Result<(), MemoryError>,
    ) -> Result<(), MemoryError> {
        let (lines, len) =
            if self.is_columnwise() { (region.cols, region.rows) } else { (region.rows, region.cols) };
        if lines == 0 || len == 0 {
            return Ok(());
        }
        if len == pitch && self.is_gapless(lines, len) {
            return visit(0, lines * len, self.addr);
        }
        for line in 0..lines {
            let mut done = 0;
            while done < len {
                let count = self.piece(done).min(len - done);
                visit(line * pitch + done, count, self.address(self.offset(line, done)))?;
                done += count;
            }
        }
        Ok(())
    }

    /// Whether all lines follow each other without a gap.
    fn is_gapless(&self, lines: usize, len: usize) -> bool {
        let (shape, stride) = (&self.shape.shape, &self.shape.stride);
        let (line, step, wrap) = match self.shape.layout {
            GlobalLayout::Nd => (stride[3], stride[4], shape[3]),
            GlobalLayout::Dn => (stride[4], stride[3], shape[4]),
            GlobalLayout::Nz | GlobalLayout::MxAZz | GlobalLayout::MxBNn => return false,
        };
        (step == 1 || len == 1) && (lines == 1 || (line == len as u64 && lines <= wrap as usize))
    }

    /// Elements that follow each other in memory from position `at` of a line.
    fn piece(&self, at: usize) -> usize {
        let width = self.shape.shape[4].max(1) as usize;
        match self.shape.layout {
            GlobalLayout::Nd if self.shape.stride[4] == 1 => usize::MAX,
            GlobalLayout::Dn if self.shape.stride[3] == 1 => usize::MAX,
            GlobalLayout::Nz if self.shape.stride[4] == 1 => width - at % width,
            _ => 1,
        }
    }

    /// Elements from the start to position `at` of a line.
    fn offset(&self, line: usize, at: usize) -> u64 {
        let [_, s1, s2, s3, s4] = self.shape.shape.map(|dim| u64::from(dim.max(1)));
        let (line, at) = (line as u64, at as u64);
        let index = match self.shape.layout {
            GlobalLayout::Nd => [line / (s1 * s2 * s3), line / (s3 * s2) % s1, line / s3 % s2, line % s3, at],
            GlobalLayout::Dn => [line / (s1 * s2 * s4), line / (s4 * s2) % s1, line / s4 % s2, at, line % s4],
            GlobalLayout::Nz => [at / s4 / s1, at / s4 % s1, line / s3, line % s3, at % s4],
            GlobalLayout::MxAZz => [0, line / 16, at / 2, line % 16, at % 2],
            GlobalLayout::MxBNn => [0, at / 16, line / 2, at % 16, line % 2],
        };
        index
            .iter()
            .zip(&self.shape.stride)
            .fold(0u64, |sum, (&index, &stride)| sum.saturating_add(index.saturating_mul(stride)))
    }
}

impl Core {
    /// A tensor argument as the kernel wants to walk it, from the tensor's first element. Bounds are the
    /// tensor's whole buffer, which must lie in device memory.
    #[track_caller]
    pub fn global(&mut self, tensor: &Tensor, shape: GlobalShape) -> Result<Global, Fault> {
        self.make_global(tensor, 0, shape, Location::caller())
    }

    /// The same from another element of the tensor.
    #[track_caller]
    pub fn global_at(
        &mut self,
        tensor: &Tensor,
        offset_elems: u64,
        shape: GlobalShape,
    ) -> Result<Global, Fault> {
        self.make_global(tensor, offset_elems, shape, Location::caller())
    }

    /// A raw device address, as host_build_graph kernels get it. Bounds reach to the end of the allocation
    /// that the address lies in.
    #[track_caller]
    pub fn global_raw(&mut self, addr: u64, dtype: DType, shape: GlobalShape) -> Result<Global, Fault> {
        let caller = Location::caller();
        let window =
            self.allocation_of(addr).map_err(|error| Fault::memory(error).located(self.site(caller)))?;
        check_dtype(dtype).map_err(|fault| fault.located(self.site(caller)))?;
        Ok(Global { window, addr, dtype, shape })
    }

    /// [`Core::global_raw`] for one instruction: what is kept of its allocation is lent, and [`Core::give_back`] takes it
    /// again. Counting its users up and down would cost more than the rest of a small instruction's descriptor.
    #[track_caller]
    #[inline]
    pub fn lend_global(&mut self, addr: u64, dtype: DType, shape: GlobalShape) -> Result<Global, Fault> {
        let caller = Location::caller();
        let kept = self.near.iter_mut().find(|kept| kept.as_ref().is_some_and(|window| window.holds(addr)));
        let window = match kept.and_then(Option::take) {
            Some(window) => window,
            // A walk over no elements may begin anywhere, at a null pointer too: the first access says what is wrong.
            None => (self.global.window_around(addr).or_else(|_| self.global.no_window()))
                .map_err(|error| Fault::memory(error).located(self.site(caller)))?,
        };
        check_dtype(dtype).map_err(|fault| fault.located(self.site(caller)))?;
        Ok(Global { window, addr, dtype, shape })
    }

    /// Takes back what an instruction was lent, for the next one.
    #[inline]
    pub fn give_back(&mut self, global: Global) {
        if self.near.iter().all(Option::is_some) {
            self.near.rotate_right(1);
            self.near[0] = None;
        }
        if let Some(place) = self.near.iter_mut().find(|kept| kept.is_none()) {
            *place = Some(global.window);
        }
    }

    /// The allocation that an address lies in. Kernels come back to the same few, so those of this kernel are kept.
    fn allocation_of(&mut self, addr: u64) -> Result<Window, MemoryError> {
        if let Some(window) = self.near.iter().flatten().find(|window| window.holds(addr)) {
            return Ok(window.clone());
        }
        let window = self.global.window_around(addr)?;
        self.near.rotate_right(1);
        self.near[0] = Some(window.clone());
        Ok(window)
    }

    fn make_global(
        &self,
        tensor: &Tensor,
        offset: u64,
        shape: GlobalShape,
        caller: Caller,
    ) -> Result<Global, Fault> {
        let wrong = |text: String| Fault::new(FaultKind::WrongType, text).located(caller);
        let dtype =
            tensor.dtype().ok_or_else(|| wrong(format!("dtype number {} is unknown", tensor.dtype)))?;
        check_dtype(dtype).map_err(|fault| fault.located(caller))?;
        let window = self
            .global
            .window(tensor.addr, tensor.size)
            .map_err(|error| Fault::memory(error).located(caller))?;
        let start = tensor.data_addr().unwrap_or(u64::MAX);
        let addr = start.saturating_add(offset.saturating_mul(dtype.size() as u64));
        Ok(Global { window, addr, dtype, shape })
    }
}

fn check_dtype(dtype: DType) -> Result<(), Fault> {
    if dtype == DType::Fp4E2M1 {
        let text = format!("kernels cannot walk tensors of {dtype}: its elements share bytes");
        return Err(Fault::new(FaultKind::WrongType, text));
    }
    Ok(())
}
