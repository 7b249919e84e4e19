//! Between global memory and a core: TLOAD, TSTORE and scalar accesses.

use core::panic::Location;

use argus_gm::MemoryError;
use bytemuck::Pod;

use crate::convert::{RoundMode, Saturation, convert_dense, is_bit_copy};
use crate::core::{Caller, Core};
use crate::fault::{Fault, FaultKind};
use crate::global::Global;
use crate::kernel::KernelResult;
use crate::log::LogEntry;
use crate::memory::{Memory, by_dtype, by_width, element_range};
use crate::number::Element;
use crate::opcode::{Opcode, Pipe};
use crate::pack::pack;
use crate::scalar::Scalar;
use crate::space::Space;
use crate::store::Scratch;
use crate::tile::Tile;

impl Core {
    /// Loads a tile: the pad value everywhere, then global memory over the valid region.
    #[track_caller]
    pub fn tload(&mut self, dst: &Tile, src: &Global) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tload,
            caller,
            |core| {
                core.memory.check("dst", dst, &[Space::Vec, Space::Mat])?;
                if dst.dtype.size() != src.dtype().size() {
                    let text = format!("a tile of {} cannot be loaded from {}", dst.dtype, src.dtype());
                    return Err(Fault::new(FaultKind::WrongType, text).operand("dst"));
                }
                by_width!(dst.dtype, T => load::<T>(&mut core.memory, dst, src))
                    .map_err(|error| Fault::memory(error).operand("src"))
            },
            |_| {
                LogEntry::new(Opcode::Tload, Pipe::Mte2, caller)
                    .writes("dst", dst)
                    .reads_global("src", src)
                    .bytes(region_bytes(dst, dst.dtype.size()))
            },
        )
    }

    /// Stores a tile's valid region, converted to the tensor's type.
    #[track_caller]
    pub fn tstore(&mut self, dst: &Global, src: &Tile) -> KernelResult {
        self.store(Opcode::Tstore, dst, src, Location::caller())
    }

    /// Adds a tile's valid region to global memory, in the tensor's type. Adding stores of other cores do
    /// not get in between.
    #[track_caller]
    pub fn tstore_atomic_add(&mut self, dst: &Global, src: &Tile) -> KernelResult {
        self.store(Opcode::TstoreAtomicAdd, dst, src, Location::caller())
    }

    /// Reads element `index` from the start of a tensor walk.
    #[track_caller]
    pub fn load_scalar<T: Scalar>(&mut self, src: &Global, index: u64) -> Result<T, Fault> {
        let caller = Location::caller();
        self.issue_value(
            Opcode::LoadScalar,
            caller,
            |_| {
                check_scalar::<T>("src", src)?;
                let mut value = T::zeroed();
                src.window()
                    .read(src.address(index), bytemuck::bytes_of_mut(&mut value))
                    .map_err(|error| Fault::memory(error).operand("src"))?;
                Ok(value)
            },
            |_, _| {
                LogEntry::new(Opcode::LoadScalar, Pipe::S, caller)
                    .element("src", false, src, index)
                    .bytes(size_of::<T>() as u64)
            },
        )
    }

    /// Writes element `index` from the start of a tensor walk.
    #[track_caller]
    pub fn store_scalar<T: Scalar>(&mut self, dst: &Global, index: u64, value: T) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::StoreScalar,
            caller,
            |_| {
                check_scalar::<T>("dst", dst)?;
                dst.window()
                    .write(dst.address(index), bytemuck::bytes_of(&value))
                    .map_err(|error| Fault::memory(error).operand("dst"))
            },
            |_| {
                LogEntry::new(Opcode::StoreScalar, Pipe::S, caller)
                    .element("dst", true, dst, index)
                    .bytes(size_of::<T>() as u64)
            },
        )
    }

    fn store(&mut self, opcode: Opcode, dst: &Global, src: &Tile, caller: Caller) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                core.memory.check("src", src, &[Space::Vec, Space::Mat, Space::Acc])?;
                if opcode == Opcode::Tstore {
                    return store_tile(&mut core.memory, dst, src);
                }
                stage(&mut core.memory, dst, src)?;
                let [_, staged, current, _] = &mut core.memory.scratch;
                by_dtype!(dst.dtype(), T => {
                    add::<T>(staged, current, dst, src).map_err(|error| Fault::memory(error).operand("dst"))
                })
            },
            |_| {
                LogEntry::new(opcode, opcode.pipe(None, Some(src.space)), caller)
                    .writes_global("dst", dst)
                    .reads("src", src)
                    .bytes(region_bytes(src, dst.dtype().size()))
            },
        )
    }
}

fn region_bytes(tile: &Tile, element: usize) -> u64 {
    (tile.region().elements() * element) as u64
}

fn check_scalar<T: Scalar>(name: &'static str, global: &Global) -> KernelResult {
    if size_of::<T>() == global.dtype().size() {
        return Ok(());
    }
    let text = format!("an element of {} cannot be accessed as {}", global.dtype(), T::DTYPE);
    Err(Fault::new(FaultKind::WrongType, text).operand(name))
}

fn load<T: Pod>(memory: &mut Memory, dst: &Tile, src: &Global) -> Result<(), MemoryError> {
    let region = dst.region();
    if !dst.is_full() {
        memory.tile_mut::<T>(dst).fill(pad_element(dst));
    }
    // Seen column by column a tile has the transposed layout: columns become its rows.
    let (walk, lines) = match src.is_columnwise() {
        true => (dst.walk().transposed(), region.transposed()),
        false => (dst.walk(), region),
    };
    let (space, scratch) = memory.space_and_scratch::<T>(dst);
    let tile = &mut space[element_range::<T>(dst)];
    if let Some(stride) = walk.line_stride() {
        return src.for_pieces(region, stride, |at, len, addr| {
            src.window().read(addr, bytemuck::cast_slice_mut(&mut tile[at..at + len]))
        });
    }
    let rows = scratch[0].take::<T>(region.elements());
    src.for_pieces(region, lines.cols, |at, len, addr| {
        src.window().read(addr, bytemuck::cast_slice_mut(&mut rows[at..at + len]))
    })?;
    pack(rows, lines.cols, lines, &walk, tile);
    Ok(())
}

/// The pad value as an unsigned element; 64-bit elements are padded with zero.
pub(crate) fn pad_element<T: Pod>(tile: &Tile) -> T {
    let bits = u64::from(tile.pad.bits(tile.dtype)).to_le_bytes();
    bytemuck::pod_read_unaligned(&bits[..size_of::<T>()])
}

fn store_tile(memory: &mut Memory, dst: &Global, src: &Tile) -> KernelResult {
    let walk = if dst.is_columnwise() { src.walk().transposed() } else { src.walk() };
    let written = match walk.line_stride() {
        // Rows go out as they lie.
        Some(stride) if is_bit_copy(src.dtype, dst.dtype()) => by_width!(src.dtype, T => {
            let tile = memory.tile::<T>(src);
            dst.for_pieces(src.region(), stride, |at, len, addr| {
                dst.window().write(addr, bytemuck::cast_slice(&tile[at..at + len]))
            })
        }),
        _ => {
            let pitch = stage(memory, dst, src)?;
            let size = dst.dtype().size();
            let rows = memory.scratch[1].take::<u8>(src.region().elements() * size);
            dst.for_pieces(src.region(), pitch, |at, len, addr| {
                dst.window().write(addr, &rows[at * size..(at + len) * size])
            })
        }
    };
    written.map_err(|error| Fault::memory(error).operand("dst"))
}

/// Puts a tile's valid region into scratch slot 1, line by line as the tensor walks and in its type. The
/// distance between lines.
fn stage(memory: &mut Memory, dst: &Global, src: &Tile) -> Result<usize, Fault> {
    let (walk, lines) = match dst.is_columnwise() {
        true => (src.walk().transposed(), src.region().transposed()),
        false => (src.walk(), src.region()),
    };
    by_width!(src.dtype, T => memory.unpack_walk::<T>(0, src, &walk, lines));
    let [from, to, ..] = &mut memory.scratch;
    convert_dense(from, src.dtype, to, dst.dtype(), lines.elements(), RoundMode::None, Saturation::Off)?;
    Ok(lines.cols)
}

fn add<T: Element>(
    staged: &mut Scratch,
    current: &mut Scratch,
    dst: &Global,
    src: &Tile,
) -> Result<(), MemoryError> {
    let region = src.region();
    let pitch = if dst.is_columnwise() { region.rows } else { region.cols };
    let staged = staged.take::<T>(region.elements());
    let current = current.take::<T>(region.elements());
    // Between reading and writing an element nothing else may add.
    let _turn = dst.window().take_turn();
    dst.for_pieces(region, pitch, |at, len, addr| {
        let current = &mut current[..len];
        dst.window().read(addr, bytemuck::cast_slice_mut(current))?;
        for (value, &more) in current.iter_mut().zip(&staged[at..at + len]) {
            *value = value.add(more);
        }
        dst.window().write(addr, bytemuck::cast_slice(current))
    })
}
