//! Elements and rows stored where indices say: MSCATTER.

use core::panic::Location;

use argus_gm::MemoryError;

use crate::core::Core;
use crate::fault::{Fault, FaultKind};
use crate::global::Global;
use crate::kernel::KernelResult;
use crate::log::{LogEntry, repeats};
use crate::memory::{Memory, by_dtype, check_region};
use crate::number::Element;
use crate::opcode::{Opcode, Pipe};
use crate::sort::check_index;
use crate::space::Space;
use crate::tile::Tile;

/// What an index counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ScatterBy {
    /// Rows of the tensor, which keep its strides: one index for each row of the tile.
    Row = 0,
    /// Elements from the tensor's start, as if it had no gaps: one index for each element.
    Element = 1,
}

/// What happens to the element that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ScatterOp {
    Replace = 0,
    Add = 1,
    Max = 2,
    Min = 3,
}

/// What becomes of an index outside the tensor. Negative ones are outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ScatterBounds {
    /// It is used as it is; what lies there must still be device memory.
    Unchecked = 0,
    Skip = 1,
    /// The last place takes it.
    Clamp = 2,
    /// It counts from the start again.
    Wrap = 3,
}

impl ScatterBounds {
    fn place(self, index: u32, capacity: u64) -> Option<u64> {
        let index = u64::from(index);
        match self {
            _ if index < capacity || self == ScatterBounds::Unchecked => Some(index),
            ScatterBounds::Clamp if capacity > 0 => Some(capacity - 1),
            ScatterBounds::Wrap if capacity > 0 => Some(index % capacity),
            _ => None,
        }
    }
}

impl Core {
    /// Stores the source's valid region where indices say, in row-major order: of two elements for one place the
    /// last one stays. Other cores' adding stores do not get in between.
    #[track_caller]
    pub fn mscatter(
        &mut self,
        dst: &Global,
        src: &Tile,
        idx: &Tile,
        by: ScatterBy,
        op: ScatterOp,
        bounds: ScatterBounds,
    ) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Mscatter,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("src", src, &[Space::Vec])?;
                memory.check("idx", idx, &[Space::Vec])?;
                check_index("idx", idx)?;
                if src.dtype != dst.dtype() {
                    let text = format!("a tile of {} cannot be scattered to {}", src.dtype, dst.dtype());
                    return Err(Fault::new(FaultKind::WrongType, text).operand("src"));
                }
                match by {
                    ScatterBy::Element => {
                        check_region("idx", idx, src.valid_rows as usize, src.valid_cols as usize)?
                    }
                    ScatterBy::Row
                        if u64::from(src.valid_rows) > u64::from(idx.rows) * u64::from(idx.cols) =>
                    {
                        let text = format!("{} rows need as many indices", src.valid_rows);
                        return Err(Fault::new(FaultKind::WrongShape, text).operand("idx"));
                    }
                    ScatterBy::Row => {}
                }
                by_dtype!(src.dtype, T => {
                    let f = match op {
                        ScatterOp::Replace => |_: T, new: T| new,
                        ScatterOp::Add => T::add,
                        ScatterOp::Max => T::larger,
                        ScatterOp::Min => T::smaller,
                    };
                    scatter::<T>(memory, dst, src, idx, by, bounds, f)
                        .map_err(|error| Fault::memory(error).operand("dst"))
                })
            },
            |_| {
                LogEntry::new(Opcode::Mscatter, Pipe::V, caller)
                    .writes_global("dst", dst)
                    .reads("src", src)
                    .reads("idx", idx)
                    .scalar((by as i32).into())
                    .scalar((op as i32).into())
                    .bytes((src.region().elements() * src.dtype.size()) as u64)
                    .work(repeats(src, src.region(), src.dtype.size()))
            },
        )
    }
}

fn scatter<T: Element>(
    memory: &mut Memory,
    dst: &Global,
    src: &Tile,
    idx: &Tile,
    by: ScatterBy,
    bounds: ScatterBounds,
    f: impl Fn(T, T) -> T,
) -> Result<(), MemoryError> {
    let region = src.region();
    memory.unpack::<T>(0, src, region);
    let places = match by {
        ScatterBy::Element => memory.unpack::<u32>(1, idx, region).len(),
        // The indices of rows are counted as they lie.
        ScatterBy::Row => {
            let mut slot = core::mem::take(&mut memory.scratch[1]);
            slot.take::<u32>(region.rows).copy_from_slice(&memory.tile::<u32>(idx)[..region.rows]);
            memory.scratch[1] = slot;
            region.rows
        }
    };
    let [values, indices, ..] = &mut memory.scratch;
    let (values, indices) = (values.take::<T>(region.elements()), indices.take::<u32>(places));
    let (shape, stride) = (&dst.shape().shape, &dst.shape().stride);
    // Between reading and writing an element nothing else may add.
    let _turn = dst.window().take_turn();
    let store = |offset: u64, value: T| {
        let addr = dst.address(offset);
        let mut old = T::zeroed();
        dst.window().read(addr, bytemuck::bytes_of_mut(&mut old))?;
        dst.window().write(addr, bytemuck::bytes_of(&f(old, value)))
    };
    match by {
        ScatterBy::Element => {
            let capacity = shape.iter().map(|&size| u64::from(size)).product();
            for (&value, &index) in values.iter().zip(&*indices) {
                if let Some(place) = bounds.place(index, capacity) {
                    store(place, value)?;
                }
            }
        }
        ScatterBy::Row => {
            let rows = values.chunks_exact(region.cols.max(1)).zip(&*indices);
            for (row, &index) in rows {
                let Some(place) = bounds.place(index, u64::from(shape[3])) else { continue };
                for (col, &value) in row.iter().enumerate() {
                    let offset = place
                        .saturating_mul(stride[3])
                        .saturating_add((col as u64).saturating_mul(stride[4]));
                    store(offset, value)?;
                }
            }
        }
    }
    Ok(())
}
