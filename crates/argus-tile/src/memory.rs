//! A core's memories, and the checks that every operand passes before it is touched.

use core::ops::Range;

use argus_abi::{CoreType, DType};
use argus_chip::CoreSizes;
use argus_gm::Fill;
use bytemuck::Pod;

use crate::fault::{Fault, FaultKind};
use crate::layout::{Layout, Walk};
use crate::pack::{pack, unpack};
use crate::space::Space;
use crate::store::{Scratch, Store};
use crate::tile::{Region, Tile};

/// Every tile starts at a multiple of this.
const ALIGNMENT: u32 = 32;

/// Runs `$body` with `$T` as the compute type of a dtype; other dtypes are a fault.
macro_rules! by_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            argus_abi::DType::F32 => {
                type $T = f32;
                $body
            }
            argus_abi::DType::F16 => {
                type $T = half::f16;
                $body
            }
            argus_abi::DType::Bf16 => {
                type $T = half::bf16;
                $body
            }
            argus_abi::DType::I32 => {
                type $T = i32;
                $body
            }
            argus_abi::DType::I16 => {
                type $T = i16;
                $body
            }
            argus_abi::DType::I8 => {
                type $T = i8;
                $body
            }
            argus_abi::DType::U32 => {
                type $T = u32;
                $body
            }
            argus_abi::DType::U16 => {
                type $T = u16;
                $body
            }
            argus_abi::DType::U8 => {
                type $T = u8;
                $body
            }
            other => Err(crate::memory::no_compute(other)),
        }
    };
}

/// Runs `$body` with `$T` as an unsigned integer of an element's width: for instructions that move bits.
macro_rules! by_width {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.size() {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            _ => {
                type $T = u64;
                $body
            }
        }
    };
}

pub(crate) use {by_dtype, by_width};

#[cold]
pub(crate) fn no_compute(dtype: DType) -> Fault {
    Fault::new(FaultKind::WrongType, format!("the instruction does not compute with {dtype}")).operand("dst")
}

/// All memories of one core, and scratch that belongs to no kernel.
#[derive(Debug)]
pub(crate) struct Memory {
    sizes: CoreSizes,
    core_type: CoreType,
    stores: [Store; Space::ALL.len()],
    /// Up to where tiles in UB are allowed although it ends before, and how far the farthest one reached.
    pub ub_reach: u64,
    pub overrun: u64,
    pub scratch: [Scratch; 4],
}

impl Memory {
    pub fn new(sizes: CoreSizes, core_type: CoreType, fill: Fill) -> Memory {
        Memory {
            sizes,
            core_type,
            stores: Space::ALL.map(|_| Store::new(fill)),
            ub_reach: 0,
            overrun: 0,
            scratch: Default::default(),
        }
    }

    pub fn core_type(&self) -> CoreType {
        self.core_type
    }

    pub fn reset(&mut self) {
        for store in &mut self.stores {
            store.reset();
        }
        (self.ub_reach, self.overrun) = (0, 0);
    }

    /// Checks an operand by itself: its space, address, extent and shapes. Afterwards its bytes exist.
    pub fn check(&mut self, name: &'static str, tile: &Tile, spaces: &[Space]) -> Result<(), Fault> {
        self.find_flaw(tile, spaces).map_err(|fault| fault.operand(name))?;
        let end = tile.addr as usize + tile.storage_bytes() as usize;
        self.stores[tile.space as usize].reach(end);
        Ok(())
    }

    /// Checks a tile for intermediate values of a real chip. Nothing is kept there, so it needs no address; if it has one, that
    /// must be right.
    pub fn check_scratch(&mut self, name: &'static str, tile: &Tile) -> Result<(), Fault> {
        if tile.assigned { self.check(name, tile, &[Space::Vec]) } else { Ok(()) }
    }

    fn find_flaw(&mut self, tile: &Tile, spaces: &[Space]) -> Result<(), Fault> {
        self.check_space(tile.space)?;
        if !spaces.contains(&tile.space) {
            let text = format!("the instruction takes no tile in {} here", tile.space.memory());
            return Err(Fault::new(FaultKind::WrongSpace, text));
        }
        if tile.dtype == DType::Fp4E2M1 {
            let text = format!("tiles of {} are not supported", tile.dtype);
            return Err(Fault::new(FaultKind::WrongType, text));
        }
        if !tile.assigned {
            return Err(Fault::new(FaultKind::Unassigned, "the tile has no address (TASSIGN is missing)"));
        }
        if !tile.addr.is_multiple_of(ALIGNMENT) {
            let text = format!("address {:#x} is not a multiple of {ALIGNMENT}", tile.addr);
            return Err(Fault::new(FaultKind::Misaligned, text));
        }
        check_shape(tile)?;
        let (size, end) = (tile.space.bytes_of(&self.sizes), u64::from(tile.addr) + tile.storage_bytes());
        if end > u64::from(size) {
            if tile.space == Space::Vec && end <= self.ub_reach {
                self.overrun = self.overrun.max(end);
                return Ok(());
            }
            let text = format!(
                "the tile occupies {:#x}..{end:#x}, but {} ends at {size:#x}",
                tile.addr,
                tile.space.memory()
            );
            return Err(Fault::new(FaultKind::OutOfRange, text));
        }
        Ok(())
    }

    /// Whether this core has the memory at all.
    pub fn check_space(&self, space: Space) -> Result<(), Fault> {
        if space.core_type() == self.core_type {
            return Ok(());
        }
        let text = format!("an {} core has no {}", self.core_type, space.memory());
        Err(Fault::new(FaultKind::WrongSpace, text))
    }

    /// The storage of a checked tile.
    pub fn tile<T: Pod>(&self, tile: &Tile) -> &[T] {
        &self.stores[tile.space as usize].elements()[element_range::<T>(tile)]
    }

    /// The storage of a checked tile, to be written.
    pub fn tile_mut<T: Pod>(&mut self, tile: &Tile) -> &mut [T] {
        &mut self.written_space(tile)[element_range::<T>(tile)]
    }

    /// The whole space of a checked tile that is about to be written, with scratch beside it.
    pub fn space_and_scratch<T: Pod>(&mut self, tile: &Tile) -> (&mut [T], &mut [Scratch; 4]) {
        let store = &mut self.stores[tile.space as usize];
        store.mark(tile.addr as usize..tile.addr as usize + tile.storage_bytes() as usize);
        (store.elements_mut(), &mut self.scratch)
    }

    fn written_space<T: Pod>(&mut self, tile: &Tile) -> &mut [T] {
        self.space_and_scratch(tile).0
    }

    /// A space's bytes; what was never reached holds the fill byte.
    pub fn peek(&mut self, space: Space, range: Range<usize>) -> &[u8] {
        let store = &mut self.stores[space as usize];
        store.reach(range.end);
        &store.elements()[range]
    }

    /// Overwrites a space's bytes.
    pub fn poke(&mut self, space: Space, addr: usize, bytes: &[u8]) {
        let store = &mut self.stores[space as usize];
        let range = addr..addr + bytes.len();
        store.reach(range.end);
        store.mark(range.clone());
        store.elements_mut()[range].copy_from_slice(bytes);
    }

    pub fn size(&self, space: Space) -> usize {
        space.bytes_of(&self.sizes) as usize
    }

    /// Unpacks the region of a checked tile that starts at `origin` into a scratch slot.
    pub fn unpack_from<T: Pod>(
        &mut self,
        slot: usize,
        tile: &Tile,
        origin: (usize, usize),
        region: Region,
        pitch: usize,
    ) -> &mut [T] {
        let from = &self.stores[tile.space as usize].elements::<T>()[element_range::<T>(tile)];
        let rows = self.scratch[slot].take(region.rows * pitch);
        unpack(from, &tile.walk(), origin, region, rows, pitch);
        rows
    }

    /// Unpacks the upper left region of a checked tile into a scratch slot, without gaps between rows.
    pub fn unpack<T: Pod>(&mut self, slot: usize, tile: &Tile, region: Region) -> &mut [T] {
        self.unpack_from(slot, tile, (0, 0), region, region.cols)
    }

    /// Unpacks a region of a checked tile along another walk than its own, such as the transposed one.
    pub fn unpack_walk<T: Pod>(&mut self, slot: usize, tile: &Tile, walk: &Walk, region: Region) {
        let from = &self.stores[tile.space as usize].elements::<T>()[element_range::<T>(tile)];
        let rows = self.scratch[slot].take(region.elements());
        unpack(from, walk, (0, 0), region, rows, region.cols);
    }

    /// Packs a scratch slot that holds rows without gaps into the upper left region of a checked tile.
    pub fn pack<T: Pod>(&mut self, slot: usize, tile: &Tile, region: Region) {
        self.pack_pitched::<T>(slot, tile, region, region.cols);
    }

    /// Like [`Memory::pack`], with rows `pitch` elements apart.
    pub fn pack_pitched<T: Pod>(&mut self, slot: usize, tile: &Tile, region: Region, pitch: usize) {
        let (space, scratch) = self.space_and_scratch::<T>(tile);
        let rows = scratch[slot].take(region.rows * pitch);
        pack(rows, pitch, region, &tile.walk(), &mut space[element_range::<T>(tile)]);
    }
}

/// The elements of a tile's storage in its space.
pub(crate) fn element_range<T>(tile: &Tile) -> Range<usize> {
    let start = tile.addr as usize / size_of::<T>();
    start..start + tile.rows as usize * tile.cols as usize
}

/// What a C++ compiler would refuse, and valid regions larger than the storage.
fn check_shape(tile: &Tile) -> Result<(), Fault> {
    let wrong = |text: String| Err(Fault::new(FaultKind::WrongShape, text));
    let (rows, cols) = (tile.rows as usize, tile.cols as usize);
    if rows == 0 || cols == 0 {
        return wrong(format!("the storage is {rows}x{cols}"));
    }
    if tile.valid_rows > tile.rows || tile.valid_cols > tile.cols {
        let (vr, vc) = (tile.valid_rows, tile.valid_cols);
        return wrong(format!("the valid region {vr}x{vc} exceeds the storage {rows}x{cols}"));
    }
    let Some((box_rows, box_cols)) = tile.box_shape() else {
        return wrong(format!("a fractal of {} bytes is unknown", tile.fractal));
    };
    let layout = tile.layout();
    match layout {
        Layout::Nd if !(cols * tile.dtype.size()).is_multiple_of(ALIGNMENT as usize) => {
            wrong(format!("rows of {cols} {} are no multiple of {ALIGNMENT} bytes", tile.dtype))
        }
        Layout::Dn if !(rows * tile.dtype.size()).is_multiple_of(ALIGNMENT as usize) => {
            wrong(format!("columns of {rows} {} are no multiple of {ALIGNMENT} bytes", tile.dtype))
        }
        Layout::Nd | Layout::Dn => Ok(()),
        // Below the last whole box of a column of boxes nz simply ends.
        Layout::Nz if cols.is_multiple_of(box_cols) => Ok(()),
        _ if cols.is_multiple_of(box_cols) && rows.is_multiple_of(box_rows) => Ok(()),
        _ => wrong(format!("{rows}x{cols} is not a multiple of the {box_rows}x{box_cols} box of {layout}")),
    }
}

/// Checks that a region lies inside an operand's storage.
pub(crate) fn check_region(name: &'static str, tile: &Tile, rows: usize, cols: usize) -> Result<(), Fault> {
    if rows <= tile.rows as usize && cols <= tile.cols as usize {
        return Ok(());
    }
    let text =
        format!("the instruction works on {rows}x{cols} elements of a {}x{} tile", tile.rows, tile.cols);
    Err(Fault::new(FaultKind::WrongShape, text).operand(name))
}

/// Checks that two operands have the same element type.
pub(crate) fn check_type(name: &'static str, tile: &Tile, wanted: DType) -> Result<(), Fault> {
    if tile.dtype == wanted {
        return Ok(());
    }
    let text = format!("the tile holds {} where {wanted} is needed", tile.dtype);
    Err(Fault::new(FaultKind::WrongType, text).operand(name))
}
