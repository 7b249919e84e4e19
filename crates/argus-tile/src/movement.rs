//! Moves on the core: TMOV, TEXTRACT, TTRANS, the fills, and the two that move only a handle.

use core::panic::Location;

use argus_abi::DType;
use bytemuck::Pod;

use crate::convert::{RoundMode, Saturation, is_bit_copy};
use crate::core::{Caller, Core};
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::layout::InnerOrder;
use crate::log::{LogEntry, Work, repeats};
use crate::memory::{Memory, by_width, check_region, check_type};
use crate::opcode::{Opcode, Pipe};
use crate::pack::{pack, unpack};
use crate::space::Space;
use crate::tile::{Pad, Region, Tile};
use crate::transfer::pad_element;

/// Where on-chip moves read and write.
const SOURCES: &[Space] = &[Space::Vec, Space::Mat, Space::Acc];
const TARGETS: &[Space] = &[
    Space::Vec,
    Space::Mat,
    Space::Left,
    Space::Right,
    Space::Bias,
    Space::Scaling,
    Space::ScaleLeft,
    Space::ScaleRight,
];

impl Core {
    /// Gives a tile an address. Nothing is checked here: the tile may never be used.
    #[track_caller]
    pub fn tassign(&mut self, tile: &mut Tile, addr: u32) -> KernelResult {
        let caller = Location::caller();
        *tile = tile.at(addr);
        let assigned = *tile;
        self.issue(
            Opcode::Tassign,
            caller,
            |_| Ok(()),
            |_| LogEntry::new(Opcode::Tassign, Pipe::S, caller).writes("tile", &assigned),
        )
    }

    /// Copies the source's valid region, from any layout to any layout, converted to the destination's type
    /// as C++ casts.
    #[track_caller]
    pub fn tmov(&mut self, dst: &Tile, src: &Tile) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tmov,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, TARGETS)?;
                memory.check("src", src, SOURCES)?;
                check_region("dst", dst, src.valid_rows as usize, src.valid_cols as usize)?;
                if !is_bit_copy(src.dtype, dst.dtype) {
                    return memory.convert(dst, src, RoundMode::None, Saturation::Off);
                }
                by_width!(src.dtype, T => memory.copy::<T>(dst, src));
                Ok(())
            },
            |_| log_move(Opcode::Tmov, dst, src, src, caller),
        )
    }

    /// `dst(r, c) = src(r + row, c + col)` over the destination's valid region.
    #[track_caller]
    pub fn textract(&mut self, dst: &Tile, src: &Tile, row: u16, col: u16) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Textract,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, TARGETS)?;
                memory.check("src", src, SOURCES)?;
                check_type("src", src, dst.dtype)?;
                let (origin, region) = ((usize::from(row), usize::from(col)), dst.region());
                check_region("src", src, origin.0 + region.rows, origin.1 + region.cols)?;
                by_width!(src.dtype, T => {
                    memory.unpack_from::<T>(0, src, origin, region, region.cols);
                    memory.pack::<T>(0, dst, region);
                });
                Ok(())
            },
            |_| {
                log_move(Opcode::Textract, dst, src, dst, caller)
                    .scalar(i32::from(row).into())
                    .scalar(i32::from(col).into())
            },
        )
    }

    /// The destination becomes another view of the source's bytes. No data moves.
    #[track_caller]
    pub fn treshape(&mut self, dst: &mut Tile, src: &Tile) -> KernelResult {
        let caller = Location::caller();
        let view = dst.at(src.addr);
        self.issue(
            Opcode::Treshape,
            caller,
            |core| {
                core.memory.check("src", src, &Space::ALL)?;
                check_reshape(&view, src).map_err(|fault| fault.operand("dst"))?;
                core.memory.check("dst", &view, &Space::ALL)
            },
            |_| LogEntry::new(Opcode::Treshape, Pipe::S, caller).writes("dst", &view).reads("src", src),
        )?;
        *dst = view;
        Ok(())
    }

    /// `dst(c, r) = src(r, c)` over the source's valid region. `tmp` is what a real chip needs; it is
    /// checked and left alone.
    #[track_caller]
    pub fn ttrans(&mut self, dst: &Tile, src: &Tile, tmp: &Tile) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Ttrans,
            caller,
            |core| {
                let memory = &mut core.memory;
                for (name, tile) in [("dst", dst), ("src", src)] {
                    memory.check(name, tile, &[Space::Vec])?;
                }
                memory.check_scratch("tmp", tmp)?;
                check_type("src", src, dst.dtype)?;
                check_region("dst", dst, src.valid_cols as usize, src.valid_rows as usize)?;
                by_width!(src.dtype, T => memory.transpose::<T>(dst, src));
                Ok(())
            },
            |_| {
                LogEntry::new(Opcode::Ttrans, Pipe::V, caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .scratch("tmp", tmp)
                    .work(repeats(src, src.region(), src.dtype.size()))
            },
        )
    }

    /// Every valid row of the destination becomes the valid columns of `src0`, then those of `src1`.
    #[track_caller]
    pub fn tconcat(&mut self, dst: &Tile, src0: &Tile, src1: &Tile) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tconcat,
            caller,
            |core| {
                let memory = &mut core.memory;
                for (name, tile) in [("dst", dst), ("src0", src0), ("src1", src1)] {
                    memory.check(name, tile, &[Space::Vec])?;
                    check_type(name, tile, dst.dtype)?;
                    check_region(name, tile, dst.valid_rows as usize, 0)?;
                }
                let cols = src0.valid_cols as usize + src1.valid_cols as usize;
                check_region("dst", dst, dst.valid_rows as usize, cols)?;
                by_width!(dst.dtype, T => memory.join_columns::<T>(dst, src0, src1));
                Ok(())
            },
            |_| {
                LogEntry::new(Opcode::Tconcat, Pipe::V, caller)
                    .writes("dst", dst)
                    .reads("src0", src0)
                    .reads("src1", src1)
                    .work(repeats(dst, dst.region(), dst.dtype.size()))
            },
        )
    }

    /// Copies the source's valid region and writes the destination's pad value to all the rest of its
    /// storage. Nothing happens if the destination's valid region is empty.
    #[track_caller]
    pub fn tfillpad(&mut self, dst: &Tile, src: &Tile) -> KernelResult {
        self.fill_pad(Opcode::Tfillpad, dst, src, Location::caller())
    }

    /// [`Core::tfillpad`] for tiles at one address.
    #[track_caller]
    pub fn tfillpad_inplace(&mut self, dst: &Tile, src: &Tile) -> KernelResult {
        self.fill_pad(Opcode::TfillpadInplace, dst, src, Location::caller())
    }

    fn fill_pad(&mut self, opcode: Opcode, dst: &Tile, src: &Tile, caller: Caller) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, &[Space::Vec, Space::Mat])?;
                memory.check("src", src, &[Space::Vec, Space::Mat])?;
                check_type("src", src, dst.dtype)?;
                // L1 has a default; a vector tile must say what it wants.
                if dst.pad == Pad::Null && dst.space == Space::Vec {
                    let text = "the tile names no pad value";
                    return Err(Fault::new(FaultKind::WrongShape, text).operand("dst"));
                }
                if (dst.rows, dst.cols) != (src.rows, src.cols) {
                    let (rows, cols) = (src.rows, src.cols);
                    let text =
                        format!("the storage is {}x{}, the source's {rows}x{cols}", dst.rows, dst.cols);
                    return Err(Fault::new(FaultKind::WrongShape, text).operand("dst"));
                }
                if dst.region().elements() > 0 {
                    by_width!(dst.dtype, T => {
                        memory.unpack::<T>(0, src, src.region());
                        memory.tile_mut::<T>(dst).fill(pad_element(dst));
                        memory.pack::<T>(0, dst, src.region());
                    });
                }
                Ok(())
            },
            |_| {
                let whole = dst.valid(dst.rows, dst.cols);
                LogEntry::new(opcode, opcode.pipe(Some(dst.space), Some(src.space)), caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .work(repeats(&whole, whole.region(), dst.dtype.size()))
            },
        )
    }
}

/// An entry for a move over the valid region of `over`.
fn log_move(opcode: Opcode, dst: &Tile, src: &Tile, over: &Tile, caller: Caller) -> LogEntry {
    let pipe = opcode.pipe(Some(dst.space), Some(src.space));
    let work = if pipe == Pipe::V { repeats(over, over.region(), over.dtype.size()) } else { Work::None };
    LogEntry::new(opcode, pipe, caller)
        .writes("dst", dst)
        .reads("src", src)
        .bytes((over.region().elements() * dst.dtype.size()) as u64)
        .work(work)
}

fn check_reshape(dst: &Tile, src: &Tile) -> KernelResult {
    let wrong = |kind, text: String| Err(Fault::new(kind, text));
    if dst.space != src.space {
        return wrong(
            FaultKind::WrongSpace,
            format!("a {} tile cannot view a {} tile", dst.space, src.space),
        );
    }
    let integral = |dtype: DType| !dtype.is_float();
    if integral(dst.dtype) != integral(src.dtype) {
        return wrong(FaultKind::WrongType, format!("{} cannot be viewed as {}", src.dtype, dst.dtype));
    }
    if dst.storage_bytes() != src.storage_bytes() {
        let (have, want) = (src.storage_bytes(), dst.storage_bytes());
        return wrong(FaultKind::WrongShape, format!("{have} bytes cannot be viewed as {want} bytes"));
    }
    if (dst.inner == InnerOrder::NoneBox) != (src.inner == InnerOrder::NoneBox) {
        let (from, to) = (src.layout(), dst.layout());
        return wrong(FaultKind::WrongShape, format!("a {from} tile cannot be viewed as {to}"));
    }
    Ok(())
}

impl Memory {
    /// Copies the source's valid region between checked tiles of one element width.
    fn copy<T: Pod>(&mut self, dst: &Tile, src: &Tile) {
        let alike = dst.walk() == src.walk() && (dst.rows, dst.cols) == (src.rows, src.cols);
        if alike && src.is_full() {
            // The same elements in the same order: through scratch as one piece.
            let mut scratch = core::mem::take(&mut self.scratch[0]);
            let all = scratch.take::<T>(src.region().elements());
            all.copy_from_slice(self.tile(src));
            self.tile_mut(dst).copy_from_slice(all);
            self.scratch[0] = scratch;
            return;
        }
        self.unpack::<T>(0, src, src.region());
        self.pack::<T>(0, dst, src.region());
    }

    fn join_columns<T: Pod>(&mut self, dst: &Tile, src0: &Tile, src1: &Tile) {
        let rows = dst.valid_rows as usize;
        let [left, right] = [src0, src1].map(|src| Region { rows, cols: src.valid_cols as usize });
        let whole = Region { rows, cols: left.cols + right.cols };
        self.unpack::<T>(0, src0, left);
        self.unpack::<T>(1, src1, right);
        let [a, b, to, _] = &mut self.scratch;
        let (a, b) = (a.take::<T>(left.elements()), b.take::<T>(right.elements()));
        for (row, line) in to.take::<T>(whole.elements()).chunks_exact_mut(whole.cols.max(1)).enumerate() {
            line[..left.cols].copy_from_slice(&a[row * left.cols..][..left.cols]);
            line[left.cols..].copy_from_slice(&b[row * right.cols..][..right.cols]);
        }
        self.pack::<T>(2, dst, whole);
    }

    fn transpose<T: Pod>(&mut self, dst: &Tile, src: &Tile) {
        let region = src.region();
        let mut scratch = core::mem::take(&mut self.scratch[0]);
        let rows = scratch.take::<T>(region.elements());
        unpack(self.tile::<T>(src), &src.walk(), (0, 0), region, rows, region.cols);
        // The transposed layout takes rows where the destination has columns.
        pack(rows, region.cols, region, &dst.walk().transposed(), self.tile_mut::<T>(dst));
        self.scratch[0] = scratch;
    }
}
