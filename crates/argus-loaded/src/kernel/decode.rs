//! From descriptors to the engine's types. Nothing in a descriptor is believed: numbers of enumerations, counts and
//! addresses are checked here, shapes and ranges by the engine.
#![allow(unsafe_code)]

use std::ffi::c_char;
use std::mem::offset_of;

use argus_abi::DType;
use argus_tile::{
    BlockOrder, Core, Direction, Fault, Global, GlobalLayout, GlobalShape, InnerOrder, Opcode, ScalarValue,
    Space, Split, TPipe, Tile,
};
use half::{bf16, f16};
use thiserror::Error;

use super::abi;

/// An instruction with what its descriptor names. What every instruction asks for is decoded in line; what is wrong with
/// it is found out of line.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub opcode: Opcode,
    raw: &'a abi::Instruction,
}

impl<'a> Operands<'a> {
    /// Counts are held to what a descriptor has room for.
    #[inline(always)]
    pub fn new(core: &Core, raw: &'a abi::Instruction) -> Result<Operands<'a>, Fault> {
        let Some(opcode) = u8::try_from(raw.opcode).ok().and_then(Opcode::from_raw) else {
            return Err(no_opcode(core, raw.opcode));
        };
        let fits = usize::from(raw.tile_count) <= abi::MAX_TILES
            && usize::from(raw.global_count) <= abi::MAX_GLOBALS
            && usize::from(raw.scalar_count) <= abi::MAX_SCALARS;
        if !fits {
            return Err(too_many(core, opcode));
        }
        Ok(Operands { opcode, raw })
    }

    #[inline(always)]
    pub fn tiles(self) -> usize {
        usize::from(self.raw.tile_count)
    }

    /// The tile at a place.
    #[inline(always)]
    pub fn tile(self, core: &Core, at: usize) -> Result<&'a Tile, Fault> {
        if at < self.tiles()
            && let Some(raw) = self.descriptor(at)
            && let Ok(tile) = tile(raw)
        {
            return Ok(tile);
        }
        Err(self.no_tile(core, at))
    }

    #[inline(always)]
    fn descriptor(self, at: usize) -> Option<&'a abi::Tile> {
        // SAFETY: a pointer below the count is null or leads to a tile that lives and does not change until the instruction
        // returns; headers fill in both together.
        unsafe { self.raw.tiles[at].as_ref() }
    }

    #[cold]
    #[inline(never)]
    fn no_tile(self, core: &Core, at: usize) -> Fault {
        let raw = (at < self.tiles()).then(|| self.descriptor(at)).flatten();
        match raw.map(tile) {
            Some(Err(bad)) => self.wrong(core, format_args!("{bad}")),
            Some(Ok(_)) | None => self.wrong(core, format_args!("tile {at} is missing")),
        }
    }

    /// The address that a tile is given.
    #[inline(always)]
    pub fn address(self, core: &Core) -> Result<u32, Fault> {
        let given = self.option(core, 0)?;
        u32::try_from(given).map_err(|_| self.no_address(core, given))
    }

    #[cold]
    #[inline(never)]
    fn no_address(self, core: &Core, given: i64) -> Fault {
        self.wrong(core, format_args!("address {given:#x} is beyond every memory of a core"))
    }

    /// The tensor walk at a place. Its bounds are those of the allocation that its address lies in. It is lent: an
    /// instruction that is done with it gives it back.
    #[inline]
    pub fn global(self, core: &mut Core, at: usize) -> Result<Global, Fault> {
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
    #[inline(always)]
    pub fn option(self, core: &Core, at: usize) -> Result<i64, Fault> {
        match at < usize::from(self.raw.scalar_count) {
            true => Ok(self.raw.scalars[at] as i64),
            false => Err(self.no_option(core, at)),
        }
    }

    #[cold]
    #[inline(never)]
    fn no_option(self, core: &Core, at: usize) -> Fault {
        self.wrong(core, format_args!("option {at} is missing"))
    }

    /// An option that must be one of these.
    #[inline(always)]
    pub fn choice<T: Copy>(self, core: &Core, at: usize, choices: &[T]) -> Result<T, Fault> {
        let value = self.option(core, at)?;
        let choice = usize::try_from(value).ok().and_then(|index| choices.get(index)).copied();
        choice.ok_or_else(|| self.no_choice(core, at, value))
    }

    #[cold]
    #[inline(never)]
    fn no_choice(self, core: &Core, at: usize, value: i64) -> Fault {
        self.wrong(core, format_args!("option {at} cannot be {value}"))
    }

    /// A scalar, whose bits have the type that the descriptor names.
    pub fn scalar(self, core: &Core, at: usize) -> Result<ScalarValue, Fault> {
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
    pub fn pipe(self, core: &Core) -> Result<(TPipe, u64), Fault> {
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

    pub fn split(self, core: &Core) -> Result<Split, Fault> {
        self.choice(core, 0, &[Split::NoSplit, Split::UpDown, Split::LeftRight])
    }

    /// Hands values back to the kernel, as many as the instruction gives.
    pub fn give(self, core: &Core, values: &[u64]) -> Result<(), Fault> {
        if self.raw.result.is_null() {
            return Err(self.wrong(core, format_args!("there is no room for the result")));
        }
        for (index, &value) in values.iter().enumerate() {
            // SAFETY: headers give room for as many words as the instruction has results.
            unsafe { self.raw.result.add(index).write(value) };
        }
        Ok(())
    }

    pub fn wrong(self, core: &Core, what: std::fmt::Arguments<'_>) -> Fault {
        wrong(core, self.opcode, what)
    }

    fn dtype(self, core: &Core, number: u8) -> Result<DType, Fault> {
        DType::from_raw(number)
            .ok_or_else(|| self.wrong(core, format_args!("no element type has number {number}")))
    }
}

#[cold]
fn wrong(core: &Core, opcode: Opcode, what: std::fmt::Arguments<'_>) -> Fault {
    core.complaint(format!("{opcode}: {what}"))
}

#[cold]
fn too_many(core: &Core, opcode: Opcode) -> Fault {
    wrong(core, opcode, format_args!("the descriptor counts more operands than it has"))
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
    Pad(u32),
    #[error("a tile is assigned or not, and not {0}")]
    Assigned(u8),
}

/// Both sides have the same bytes for a tile.
const _: () = {
    assert!(size_of::<abi::Tile>() == size_of::<Tile>() && align_of::<abi::Tile>() == align_of::<Tile>());
    macro_rules! same {
        ($($field:ident),*) => {
            $(assert!(offset_of!(abi::Tile, $field) == offset_of!(Tile, $field));)*
        };
    }
    same!(addr, rows, cols, valid_rows, valid_cols, space, dtype, block, inner, fractal, assigned, pad);
};

/// The last number of each enumeration, all of which begin at 0 and have no gap.
const LAST_SPACE: u8 = Space::ScaleRight as u8;
const LAST_DTYPE: u8 = DType::Fp4E2M1 as u8;
const LAST_BLOCK: u8 = BlockOrder::ColMajor as u8;
const LAST_INNER: u8 = InnerOrder::ColMajor as u8;
const LAST_PAD: u32 = 4;

/// A tile out of its descriptor: the same bytes, once every number among them means something.
#[inline(always)]
pub(super) fn tile(raw: &abi::Tile) -> Result<&Tile, BadTile> {
    let good = raw.space <= LAST_SPACE
        && raw.dtype <= LAST_DTYPE
        && raw.block <= LAST_BLOCK
        && raw.inner <= LAST_INNER
        && raw.assigned <= 1
        && raw.pad <= LAST_PAD;
    if !good {
        return Err(flaw(raw));
    }
    // SAFETY: sizes and offsets are equal. Integers hold every pattern of bits, each enumeration was held to its numbers,
    // and an enumeration over `u32` with one value that carries a `u32` is its number and that word.
    Ok(unsafe { &*std::ptr::from_ref(raw).cast::<Tile>() })
}

#[cold]
fn flaw(raw: &abi::Tile) -> BadTile {
    if raw.space > LAST_SPACE {
        BadTile::Space(raw.space)
    } else if raw.dtype > LAST_DTYPE {
        BadTile::DType(raw.dtype)
    } else if raw.block > LAST_BLOCK {
        BadTile::Block(raw.block)
    } else if raw.inner > LAST_INNER {
        BadTile::Inner(raw.inner)
    } else if raw.pad > LAST_PAD {
        BadTile::Pad(raw.pad)
    } else {
        BadTile::Assigned(raw.assigned)
    }
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

#[cfg(test)]
mod tests {
    use argus_tile::Pad;

    use super::*;

    const DESCRIPTOR: abi::Tile = abi::Tile {
        addr: 0x200,
        rows: 16,
        cols: 32,
        valid_rows: 3,
        valid_cols: 5,
        space: Space::Vec as u8,
        dtype: DType::F32 as u8,
        block: 0,
        inner: 0,
        fractal: 512,
        assigned: 1,
        reserved: 0xAA,
        pad: 0,
        pad_bits: 0x7F80_0000,
    };

    #[test]
    fn a_descriptor_of_each_kind_is_the_engines_tile() {
        let orders = [(BlockOrder::RowMajor, 0), (BlockOrder::ColMajor, 1)];
        let inners = [(InnerOrder::NoneBox, 0), (InnerOrder::RowMajor, 1), (InnerOrder::ColMajor, 2)];
        let pads = [Pad::Null, Pad::Zero, Pad::Max, Pad::Min, Pad::Custom(DESCRIPTOR.pad_bits)];
        for space in Space::ALL {
            for dtype in DType::ALL {
                for (block, block_number) in orders {
                    for (inner, inner_number) in inners {
                        for (pad_number, pad) in (0..).zip(pads) {
                            for assigned in [false, true] {
                                let raw = abi::Tile {
                                    space: space as u8,
                                    dtype: dtype as u8,
                                    block: block_number,
                                    inner: inner_number,
                                    assigned: assigned.into(),
                                    pad: pad_number,
                                    ..DESCRIPTOR
                                };
                                let expected = Tile {
                                    addr: 0x200,
                                    rows: 16,
                                    cols: 32,
                                    valid_rows: 3,
                                    valid_cols: 5,
                                    space,
                                    dtype,
                                    block,
                                    inner,
                                    fractal: 512,
                                    assigned,
                                    pad,
                                };
                                assert_eq!(*tile(&raw).unwrap(), expected);
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn each_number_without_a_meaning_is_refused_by_its_name() {
        let said = |raw: abi::Tile| tile(&raw).unwrap_err().to_string();
        assert_eq!(said(abi::Tile { space: 9, ..DESCRIPTOR }), "no tile type has number 9");
        assert_eq!(said(abi::Tile { dtype: 15, ..DESCRIPTOR }), "no element type has number 15");
        assert_eq!(said(abi::Tile { block: 2, ..DESCRIPTOR }), "no block layout has number 2");
        assert_eq!(said(abi::Tile { inner: 3, ..DESCRIPTOR }), "no inner layout has number 3");
        assert_eq!(said(abi::Tile { pad: 5, ..DESCRIPTOR }), "no pad value has number 5");
        assert_eq!(said(abi::Tile { pad: 1 << 31, ..DESCRIPTOR }), "no pad value has number 2147483648");
        assert_eq!(said(abi::Tile { assigned: 2, ..DESCRIPTOR }), "a tile is assigned or not, and not 2");
        assert_eq!(said(abi::Tile { space: 255, dtype: 255, ..DESCRIPTOR }), "no tile type has number 255");
    }
}
