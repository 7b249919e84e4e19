//! Single elements: gathers, ramps, and the scalar stream's own reads and writes of a tile.

use core::panic::Location;

use argus_abi::DType;
use bytemuck::Pod;

use crate::core::Core;
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::log::{LogEntry, repeats};
use crate::memory::{Memory, by_width, check_region, check_type};
use crate::opcode::{Opcode, Pipe};
use crate::scalar::Scalar;
use crate::space::Space;
use crate::tile::Tile;

/// Which columns a masked gather selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MaskPattern {
    /// 0, 2, 4, ...
    P0101 = 1,
    /// 1, 3, 5, ...
    P1010 = 2,
    /// 0, 4, 8, ...
    P0001 = 3,
    /// 1, 5, 9, ...
    P0010 = 4,
    /// 2, 6, 10, ...
    P0100 = 5,
    /// 3, 7, 11, ...
    P1000 = 6,
    /// All.
    P1111 = 7,
}

impl MaskPattern {
    /// First selected column and distance to the next.
    const fn steps(self) -> (usize, usize) {
        match self {
            MaskPattern::P0101 => (0, 2),
            MaskPattern::P1010 => (1, 2),
            MaskPattern::P0001 => (0, 4),
            MaskPattern::P0010 => (1, 4),
            MaskPattern::P0100 => (2, 4),
            MaskPattern::P1000 => (3, 4),
            MaskPattern::P1111 => (0, 1),
        }
    }
}

impl Core {
    /// `dst(r, c)` = the element of `src` whose number, counted row by row over the storage, is `idx(r, c)`;
    /// zero for a number outside. `tmp` is what a real chip needs; it is checked and left alone.
    #[track_caller]
    pub fn tgather(&mut self, dst: &Tile, src: &Tile, idx: &Tile, tmp: &Tile) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tgather,
            caller,
            |core| {
                let memory = &mut core.memory;
                for (name, tile) in [("dst", dst), ("src", src), ("idx", idx)] {
                    memory.check(name, tile, &[Space::Vec])?;
                }
                memory.check_scratch("tmp", tmp)?;
                check_type("src", src, dst.dtype)?;
                if !matches!(idx.dtype, DType::I32 | DType::U32) {
                    let text = format!("indices are 32-bit integers, not {}", idx.dtype);
                    return Err(Fault::new(FaultKind::WrongType, text).operand("idx"));
                }
                check_region("idx", idx, dst.valid_rows as usize, dst.valid_cols as usize)?;
                by_width!(dst.dtype, T => memory.gather::<T>(dst, src, idx));
                Ok(())
            },
            |_| {
                LogEntry::new(Opcode::Tgather, Pipe::V, caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .reads("idx", idx)
                    .scratch("tmp", tmp)
                    .work(repeats(dst, dst.region(), dst.dtype.size()))
            },
        )
    }

    /// Appends the selected columns of every valid row of `src`, row after row, to the start of `dst`'s
    /// storage. Bits are copied, so the element types need only have one width.
    #[track_caller]
    pub fn tgather_mask(&mut self, dst: &Tile, src: &Tile, mask: MaskPattern) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::TgatherMask,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, &[Space::Vec])?;
                memory.check("src", src, &[Space::Vec])?;
                if dst.dtype.size() != src.dtype.size() {
                    let text = format!("bits of {} do not fit {}", src.dtype, dst.dtype);
                    return Err(Fault::new(FaultKind::WrongType, text).operand("dst"));
                }
                by_width!(dst.dtype, T => memory.gather_mask::<T>(dst, src, mask))
            },
            |_| {
                LogEntry::new(Opcode::TgatherMask, Pipe::V, caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .scalar((mask as i32).into())
                    .work(repeats(src, src.region(), src.dtype.size()))
            },
        )
    }

    /// `dst(0, c) = start + c`, or `start - c` descending.
    #[track_caller]
    pub fn tci(&mut self, dst: &Tile, start: i32, descending: bool) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tci,
            caller,
            |core| {
                core.memory.check("dst", dst, &[Space::Vec])?;
                if dst.rows != 1 {
                    let text = format!("a ramp has one row, not {}", dst.rows);
                    return Err(Fault::new(FaultKind::WrongShape, text).operand("dst"));
                }
                let ramp = (0..dst.valid_cols as i32)
                    .map(|c| if descending { start.wrapping_sub(c) } else { start.wrapping_add(c) });
                match dst.dtype {
                    DType::I32 | DType::U32 => core.memory.write_row(dst, ramp),
                    DType::I16 | DType::U16 => core.memory.write_row(dst, ramp.map(|value| value as i16)),
                    other => return Err(crate::memory::no_compute(other)),
                }
                Ok(())
            },
            |_| {
                LogEntry::new(Opcode::Tci, Pipe::S, caller)
                    .writes("dst", dst)
                    .scalar(start.into())
                    .scalar(i32::from(descending).into())
            },
        )
    }

    /// Reads element `index` of the storage, counted as it lies in memory.
    #[track_caller]
    pub fn get_value<T: Scalar>(&mut self, src: &Tile, index: u32) -> Result<T, Fault> {
        let caller = Location::caller();
        self.issue_value(
            Opcode::GetValue,
            caller,
            |core| {
                core.memory.check_value::<T>("src", src, index)?;
                Ok(core.memory.tile::<T>(src)[index as usize])
            },
            |_, _| {
                LogEntry::new(Opcode::GetValue, Pipe::S, caller)
                    .reads("src", src)
                    .scalar((index as i32).into())
                    .bytes(size_of::<T>() as u64)
            },
        )
    }

    /// Writes element `index` of the storage, counted as it lies in memory.
    #[track_caller]
    pub fn set_value<T: Scalar>(&mut self, dst: &Tile, index: u32, value: T) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::SetValue,
            caller,
            |core| {
                core.memory.check_value::<T>("dst", dst, index)?;
                core.memory.tile_mut::<T>(dst)[index as usize] = value;
                Ok(())
            },
            |_| {
                LogEntry::new(Opcode::SetValue, Pipe::S, caller)
                    .writes("dst", dst)
                    .scalar((index as i32).into())
                    .bytes(size_of::<T>() as u64)
            },
        )
    }
}

impl Memory {
    fn gather<T: Pod>(&mut self, dst: &Tile, src: &Tile, idx: &Tile) {
        let region = dst.region();
        let (walk, cols) = (src.walk(), src.cols as usize);
        self.unpack::<u32>(0, idx, region);
        let mut indices = core::mem::take(&mut self.scratch[0]);
        let mut values = core::mem::take(&mut self.scratch[1]);
        let from = self.tile::<T>(src);
        let pairs =
            values.take::<T>(region.elements()).iter_mut().zip(indices.take::<u32>(region.elements()));
        for (value, &mut index) in pairs {
            let index = index as usize;
            let inside = index < from.len();
            *value = if inside { from[walk.offset(index / cols, index % cols)] } else { T::zeroed() };
        }
        self.scratch[0] = indices;
        self.scratch[1] = values;
        self.pack::<T>(1, dst, region);
    }

    fn gather_mask<T: Pod>(&mut self, dst: &Tile, src: &Tile, mask: MaskPattern) -> KernelResult {
        let region = src.region();
        let (first, step) = mask.steps();
        let per_row = region.cols.saturating_sub(first).div_ceil(step);
        let count = per_row * region.rows;
        if count as u64 * dst.dtype.size() as u64 > dst.storage_bytes() {
            let text = format!("{count} selected elements do not fit a {}x{} tile", dst.rows, dst.cols);
            return Err(Fault::new(FaultKind::WrongShape, text).operand("dst"));
        }
        self.unpack::<T>(0, src, region);
        let mut rows = core::mem::take(&mut self.scratch[0]);
        let rows_slice = rows.take::<T>(region.elements());
        let selected =
            rows_slice.chunks_exact(region.cols.max(1)).flat_map(|row| row.iter().skip(first).step_by(step));
        for (to, &from) in self.tile_mut::<T>(dst).iter_mut().zip(selected) {
            *to = from;
        }
        self.scratch[0] = rows;
        Ok(())
    }

    /// Writes the first elements of a one-row tile.
    fn write_row<T: Pod>(&mut self, dst: &Tile, values: impl Iterator<Item = T>) {
        let walk = dst.walk();
        let to = self.tile_mut::<T>(dst);
        for (c, value) in values.enumerate() {
            to[walk.offset(0, c)] = value;
        }
    }

    fn check_value<T: Scalar>(&mut self, name: &'static str, tile: &Tile, index: u32) -> KernelResult {
        self.check(name, tile, &[Space::Vec])?;
        if tile.dtype.size() != size_of::<T>() {
            let text = format!("an element of {} cannot be accessed as {}", tile.dtype, T::DTYPE);
            return Err(Fault::new(FaultKind::WrongType, text).operand(name));
        }
        if u64::from(index) >= u64::from(tile.rows) * u64::from(tile.cols) {
            let text = format!("element {index} of a {}x{} tile does not exist", tile.rows, tile.cols);
            return Err(Fault::new(FaultKind::OutOfRange, text).operand(name));
        }
        Ok(())
    }
}
