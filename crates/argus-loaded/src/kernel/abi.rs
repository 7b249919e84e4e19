//! The C types of `include/argus/kernel_abi.h`. A test compiles that header and compares every size and offset.

use std::ffi::c_char;

use argus_abi::Tensor;

pub const ABI: u32 = 2;
pub const MAX_TILES: usize = 6;
pub const MAX_GLOBALS: usize = 2;
pub const MAX_SCALARS: usize = 4;

pub const DONE: i32 = 0;
pub const HALTED: i32 = 1;
pub const EXCEPTION: i32 = 2;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Tile {
    pub addr: u32,
    pub rows: u32,
    pub cols: u32,
    pub valid_rows: u32,
    pub valid_cols: u32,
    pub space: u8,
    pub dtype: u8,
    pub block: u8,
    pub inner: u8,
    pub fractal: u16,
    pub assigned: u8,
    pub reserved: u8,
    pub pad: u32,
    pub pad_bits: u32,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Global {
    pub addr: u64,
    pub shape: [i64; 5],
    pub stride: [i64; 5],
    pub dtype: u8,
    pub layout: u8,
    pub reserved: [u8; 6],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pipe {
    pub slot_size: u32,
    pub slot_num: u32,
    pub local_slot_num: u32,
    pub flag_id: u8,
    pub direction: u8,
    pub no_split: u8,
    pub reserved: u8,
    pub slots_addr: u64,
}

#[derive(Debug)]
#[repr(C)]
pub struct Instruction {
    pub opcode: u16,
    pub tile_count: u8,
    pub global_count: u8,
    pub scalar_count: u8,
    pub scalar_types: [u8; MAX_SCALARS],
    pub reserved: [u8; 3],
    pub line: u32,
    pub file: *const c_char,
    pub file_length: u32,
    pub reserved2: u32,
    pub scalars: [u64; MAX_SCALARS],
    pub tiles: [*const Tile; MAX_TILES],
    pub globals: [*const Global; MAX_GLOBALS],
    pub pipe: *const Pipe,
    pub result: *mut u64,
}

/// What a kernel sees of its core; the engine's own part follows it.
#[derive(Debug)]
#[repr(C)]
pub struct Core {
    pub sub_block_id: i32,
    pub reserved: i32,
}

#[derive(Debug)]
#[repr(C)]
pub struct Table {
    pub size: u32,
    pub abi: u32,
    pub issue: extern "C" fn(core: *mut Core, instruction: *const Instruction) -> i32,
    pub clock: extern "C" fn(core: *mut Core) -> u64,
    pub show_tile: extern "C" fn(core: *mut Core, tile: *const Tile, rows: u32, cols: u32) -> *const c_char,
    pub show_tensor:
        extern "C" fn(core: *mut Core, tensor: *const Tensor, rows: u32, cols: u32) -> *const c_char,
    pub complete_when: extern "C" fn(
        core: *mut Core,
        addr: u64,
        value: i32,
        file: *const c_char,
        file_length: u32,
        line: u32,
    ) -> i32,
}

pub type Call =
    unsafe extern "C" fn(core: *mut Core, args: *mut i64, message: *mut c_char, room: usize) -> i32;

#[derive(Debug)]
#[repr(C)]
pub struct Object {
    pub size: u32,
    pub abi: u32,
    pub call: Call,
}

pub type Bind = unsafe extern "C" fn(table: *const Table) -> *const Object;

#[cfg(test)]
mod layout;
