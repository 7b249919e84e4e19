//! From descriptors to the engine's types. Nothing in a descriptor is believed: numbers of enumerations, counts and
//! addresses are checked here, shapes and ranges by the engine.
#![allow(unsafe_code)]

use std::ffi::c_char;
use std::mem::MaybeUninit;

use argus_abi::DType;
use argus_tile::{
    BlockOrder, Core, Direction, Fault, Global, GlobalLayout, GlobalShape, InnerOrder, Opcode, Pad,
    ScalarValue, Space, Split, TPipe, Tile,
};
use half::{bf16, f16};
use thiserror::Error;

use super::abi;

/// The tiles of an instruction. They are decoded where they stay: moving one costs as much as decoding it.
pub(super) struct Tiles {
    count: usize,
    slots: [MaybeUninit<Tile>; abi::MAX_TILES],
}

impl Tiles {
    pub fn none() -> Tiles {
        Tiles { count: 0, slots: [const { MaybeUninit::uninit() }; abi::MAX_TILES] }
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&Tile> {
        // SAFETY: `count` says how many slots from the first on were written.
        (at < self.count).then(|| unsafe { self.slots[at].assume_init_ref() })
    }
}

/// An instruction with what its descriptor names.
pub(super) struct Operands<'a> {
    pub opcode: Opcode,
    raw: &'a abi::Instruction,
    tiles: &'a Tiles,
}

impl<'a> Operands<'a> {
    /// Counts are held to what a descriptor has room for. `tiles` takes the tiles.
    #[inline]
    pub fn new(core: &Core, raw: &'a abi::Instruction, tiles: &'a mut Tiles) -> Result<Operands<'a>, Fault> {
        let Some(opcode) = u8::try_from(raw.opcode).ok().and_then(Opcode::from_raw) else {
            return Err(no_opcode(core, raw.opcode));
        };
        let count = usize::from(raw.tile_count);
        let fits = count <= abi::MAX_TILES
            && usize::from(raw.global_count) <= abi::MAX_GLOBALS
            && usize::from(raw.scalar_count) <= abi::MAX_SCALARS;
        if !fits {
            let what = format_args!("the descriptor counts more operands than it has");
            return Err(wrong(core, opcode, what));
        }
        for at in 0..count {
            if raw.tiles[at].is_null() {
                return Err(wrong(core, opcode, format_args!("tile {at} is missing")));
            }
            // SAFETY: a pointer below the count leads to a tile that lives until the instruction returns; headers fill in
            // both together.
            let from = unsafe { &*raw.tiles[at] };
            tile_into(from, &mut tiles.slots[at])
                .map_err(|bad| wrong(core, opcode, format_args!("{bad}")))?;
            tiles.count = at + 1;
        }
        Ok(Operands { opcode, raw, tiles })
    }

    pub fn tiles(&self) -> usize {
        self.tiles.count
    }

    /// The tile at a place.
    #[inline]
    pub fn tile(&self, core: &Core, at: usize) -> Result<&'a Tile, Fault> {
        self.tiles.get(at).ok_or_else(|| self.wrong(core, format_args!("tile {at} is missing")))
    }

    /// The tensor walk at a place. Its bounds are those of the allocation that its address lies in. It is lent: an
    /// instruction that is done with it gives it back.
    #[inline]
    pub fn global(&self, core: &mut Core, at: usize) -> Result<Global, Fault> {
        if at >= usize::from(self.raw.global_count) || self.raw.globals[at].is_null() {
            return Err(self.wrong(core, format_args!("tensor {at} is missing")));
        }
        // SAFETY: as for tiles.
        let raw = unsafe { &*self.raw.globals[at] };
        let dtype = self.dtype(core, raw.dtype)?;
        let layout = match raw.layout {
            0 => GlobalLayout::Nd,
            1 => GlobalLayout::Dn,
            2 => GlobalLayout::Nz,
            6 => GlobalLayout::MxAZz,
            9 => GlobalLayout::MxBNn,
            other => {
                return Err(
                    self.wrong(core, format_args!("tensors of layout number {other} cannot be walked"))
                );
            }
        };
        // One look at all five: a number of 32 bits has no others set.
        let all = raw.shape.iter().fold(0, |all, &extent| all | extent as u64);
        if all > u64::from(u32::MAX) {
            let wrong =
                raw.shape.into_iter().find(|&extent| u32::try_from(extent).is_err()).unwrap_or_default();
            return Err(
                self.wrong(core, format_args!("a tensor cannot have {wrong} elements in a dimension"))
            );
        }
        let shape = raw.shape.map(|extent| extent as u32);
        // Strides of dimensions of size 1 are anything; one that is used and negative leads out of every allocation.
        let stride = raw.stride.map(|stride| stride as u64);
        core.lend_global(raw.addr, dtype, GlobalShape { shape, stride, layout })
    }

    /// An option: an offset, an enumerator, a template argument.
    #[inline]
    pub fn option(&self, core: &Core, at: usize) -> Result<i64, Fault> {
        match at < usize::from(self.raw.scalar_count) {
            true => Ok(self.raw.scalars[at] as i64),
            false => Err(self.wrong(core, format_args!("option {at} is missing"))),
        }
    }

    /// An option that must be one of these.
    #[inline]
    pub fn choice<T: Copy>(&self, core: &Core, at: usize, choices: &[T]) -> Result<T, Fault> {
        let value = self.option(core, at)?;
        let choice = usize::try_from(value).ok().and_then(|index| choices.get(index)).copied();
        choice.ok_or_else(|| self.wrong(core, format_args!("option {at} cannot be {value}")))
    }

    /// A scalar, whose bits have the type that the descriptor names.
    pub fn scalar(&self, core: &Core, at: usize) -> Result<ScalarValue, Fault> {
        let bits = self.option(core, at)? as u64;
        Ok(match self.dtype(core, self.raw.scalar_types[at])? {
            DType::F32 => ScalarValue::F32(f32::from_bits(bits as u32)),
            DType::F16 => ScalarValue::F32(f16::from_bits(bits as u16).to_f32()),
            DType::Bf16 => ScalarValue::F32(bf16::from_bits(bits as u16).to_f32()),
            DType::I8 => ScalarValue::I32((bits as i8).into()),
            DType::I16 => ScalarValue::I32((bits as i16).into()),
            DType::U8 | DType::Bool => ScalarValue::I32((bits as u8).into()),
            DType::U16 => ScalarValue::I32((bits as u16).into()),
            DType::I32 | DType::U32 => ScalarValue::I32(bits as u32 as i32),
            other => return Err(self.wrong(core, format_args!("a scalar cannot be {other}"))),
        })
    }

    /// The queue, and where its slots lie in global memory if they do.
    pub fn pipe(&self, core: &Core) -> Result<(TPipe, u64), Fault> {
        if self.raw.pipe.is_null() {
            return Err(self.wrong(core, format_args!("the pipe is missing")));
        }
        // SAFETY: as for tiles.
        let raw = unsafe { &*self.raw.pipe };
        let dir = match raw.direction {
            1 => Direction::C2V,
            2 => Direction::V2C,
            3 => Direction::Both,
            other => return Err(self.wrong(core, format_args!("no direction has number {other}"))),
        };
        let pipe = TPipe {
            flag_id: raw.flag_id,
            dir,
            slot_size: raw.slot_size,
            slot_num: raw.slot_num,
            local_slot_num: raw.local_slot_num,
            no_split: raw.no_split != 0,
        };
        Ok((pipe, raw.slots_addr))
    }

    pub fn split(&self, core: &Core) -> Result<Split, Fault> {
        self.choice(core, 0, &[Split::NoSplit, Split::UpDown, Split::LeftRight])
    }

    /// Hands values back to the kernel, as many as the instruction gives.
    pub fn give(&self, core: &Core, values: &[u64]) -> Result<(), Fault> {
        if self.raw.result.is_null() {
            return Err(self.wrong(core, format_args!("there is no room for the result")));
        }
        for (index, &value) in values.iter().enumerate() {
            // SAFETY: headers give room for as many words as the instruction has results.
            unsafe { self.raw.result.add(index).write(value) };
        }
        Ok(())
    }

    pub fn wrong(&self, core: &Core, what: std::fmt::Arguments<'_>) -> Fault {
        wrong(core, self.opcode, what)
    }

    fn dtype(&self, core: &Core, number: u8) -> Result<DType, Fault> {
        DType::from_raw(number)
            .ok_or_else(|| self.wrong(core, format_args!("no element type has number {number}")))
    }
}

#[cold]
fn wrong(core: &Core, opcode: Opcode, what: std::fmt::Arguments<'_>) -> Fault {
    core.complaint(format!("{opcode}: {what}"))
}

#[cold]
fn no_opcode(core: &Core, number: u16) -> Fault {
    core.complaint(format!("no instruction has number {number}"))
}

/// A number in a descriptor of a tile that means nothing.
#[derive(Debug, Error)]
pub(super) enum BadTile {
    #[error("no tile type has number {0}")]
    Space(u8),
    #[error("no element type has number {0}")]
    DType(u8),
    #[error("no block layout has number {0}")]
    Block(u8),
    #[error("no inner layout has number {0}")]
    Inner(u8),
    #[error("no pad value has number {0}")]
    Pad(u8),
    #[error("address {0:#x} is beyond every memory of a core")]
    Address(u64),
}

/// A tile out of its descriptor.
pub(super) fn tile(raw: &abi::Tile) -> Result<Tile, BadTile> {
    let mut slot = MaybeUninit::uninit();
    tile_into(raw, &mut slot)?;
    // SAFETY: it was written, or there is an error.
    Ok(unsafe { slot.assume_init() })
}

/// A tile out of its descriptor, into its place.
#[inline]
fn tile_into(raw: &abi::Tile, slot: &mut MaybeUninit<Tile>) -> Result<(), BadTile> {
    let space = Space::ALL.get(usize::from(raw.space)).copied().ok_or(BadTile::Space(raw.space))?;
    let dtype = DType::from_raw(raw.dtype).ok_or(BadTile::DType(raw.dtype))?;
    let block = match raw.block {
        0 => BlockOrder::RowMajor,
        1 => BlockOrder::ColMajor,
        other => return Err(BadTile::Block(other)),
    };
    let inner = match raw.inner {
        0 => InnerOrder::NoneBox,
        1 => InnerOrder::RowMajor,
        2 => InnerOrder::ColMajor,
        other => return Err(BadTile::Inner(other)),
    };
    let pad = match raw.pad {
        0 => Pad::Null,
        1 => Pad::Zero,
        2 => Pad::Max,
        3 => Pad::Min,
        4 => Pad::Custom(raw.pad_bits),
        other => return Err(BadTile::Pad(other)),
    };
    let addr = u32::try_from(raw.addr).map_err(|_| BadTile::Address(raw.addr))?;
    slot.write(Tile {
        addr,
        rows: raw.rows,
        cols: raw.cols,
        valid_rows: raw.valid_rows,
        valid_cols: raw.valid_cols,
        space,
        dtype,
        block,
        inner,
        fractal: raw.fractal,
        assigned: raw.assigned != 0,
        pad,
    });
    Ok(())
}

/// The name of the source file that an instruction stands in.
pub(super) fn file_of(raw: &abi::Instruction) -> &'static [u8] {
    file(raw.file, raw.file_length)
}

/// The name of a source file, as objects give it.
pub(super) fn file(name: *const c_char, length: u32) -> &'static [u8] {
    if name.is_null() {
        return b"(unknown)";
    }
    // SAFETY: the name is a literal of the object, which is never unloaded; its length was taken from it.
    unsafe { std::slice::from_raw_parts(name.cast(), length as usize) }
}
