//! A matrix core feeds the two vector cores of its cluster: c = a b + bias, column tile by column tile.
//!
//! The pipe has fewer slots than there are column tiles, so the matrix core gets ahead, waits for the vector
//! cores and continues.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
use argus_runtime::{KernelEntry, SourceFile, source_file};
use argus_tile::{Core, Direction, GlobalShape, Kernel, KernelResult, Pipe, Split, TPipe, Tile};
use std::sync::Arc;

use super::{hand_over, tensor, tensor_at};

/// Rows of A that one task multiplies.
pub const ROWS: u32 = 32;
/// Columns of A.
pub const DEPTH: u32 = 32;
/// Columns that go through the pipe at once.
pub const COLS: u32 = 64;
/// Column tiles of one task.
pub const TILES: u32 = 8;
/// Columns of B, of the bias and of C.
pub const WIDTH: u32 = TILES * COLS;

/// Rows that each vector core gets.
const HALF: u32 = ROWS / 2;
const SLOTS: u32 = 2;
const PIPE: TPipe = TPipe::new(0, Direction::C2V, HALF * COLS * 4, SLOTS);

const SOURCES: &[SourceFile] = &[source_file!("pipe_mix.rs"), super::SHARED];
/// All members share one argument array: A, B, bias, C.
const SIGNATURE: &[ArgDirection] = &[ArgDirection::In, ArgDirection::In, ArgDirection::In, ArgDirection::Out];

/// Multiplies and pushes.
fn feed(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let a_l1 = Tile::mat_nz(DType::F32, ROWS, DEPTH).at(0);
    let b_l1 = Tile::mat_nz(DType::F32, DEPTH, COLS).at(ROWS * DEPTH * 4);
    let left = Tile::left(DType::F32, ROWS, DEPTH).at(0);
    let right = Tile::right(DType::F32, DEPTH, COLS).at(0);
    let sum = Tile::acc(DType::F32, ROWS, COLS).at(0);
    let a = tensor(core, args, 0, DType::F32, GlobalShape::nd(ROWS, DEPTH))?;
    core.tload(&a_l1, &a)?;
    hand_over(core, Pipe::Mte2, Pipe::Mte1, 0)?;
    core.tmov(&left, &a_l1)?;
    for index in 0..TILES {
        let columns = GlobalShape::nd_strided(DEPTH, COLS, WIDTH.into());
        let b = tensor_at(core, args, 1, DType::F32, u64::from(index * COLS), columns)?;
        core.tload(&b_l1, &b)?;
        hand_over(core, Pipe::Mte2, Pipe::Mte1, 0)?;
        core.tmov(&right, &b_l1)?;
        hand_over(core, Pipe::Mte1, Pipe::M, 0)?;
        core.tmatmul(&sum, &left, &right)?;
        hand_over(core, Pipe::M, Pipe::Fix, 0)?;
        core.tpush(&PIPE, &sum, Split::UpDown)?;
        // The next round uses the same buffers: it starts when the product has left them.
        core.pipe_sync()?;
    }
    Ok(())
}

/// Pops half a tile, adds its part of the bias and stores it.
fn add_bias(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let [product, bias, sum] =
        [0, 1, 2].map(|index| Tile::vec(DType::F32, HALF, COLS).at(index * HALF * COLS * 4));
    let first_row = HALF * args.sub_block_id() as u32;
    for index in 0..TILES {
        let part = GlobalShape::nd_strided(HALF, COLS, WIDTH.into());
        let at = u64::from(first_row * WIDTH + index * COLS);
        let from = tensor_at(core, args, 2, DType::F32, at, part)?;
        let to = tensor_at(core, args, 3, DType::F32, at, part)?;
        core.tload(&bias, &from)?;
        core.tpop(&PIPE, &product, Split::UpDown)?;
        hand_over(core, Pipe::Mte2, Pipe::V, 0)?;
        core.tadd(&sum, &product, &bias)?;
        hand_over(core, Pipe::V, Pipe::Mte3, 0)?;
        core.tstore(&to, &sum)?;
        core.pipe_sync()?;
        core.tfree(&PIPE, Split::UpDown)?;
    }
    Ok(())
}

fn entry(
    func_id: u32,
    name: &'static str,
    core_type: CoreType,
    kernel: impl Kernel + 'static,
) -> KernelEntry {
    KernelEntry {
        func_id: FuncId(func_id),
        name: name.into(),
        core_type,
        signature: SIGNATURE.into(),
        sources: SOURCES.into(),
        kernel: Arc::new(kernel),
    }
}

/// The matrix core's share.
pub fn matmul_push(func_id: u32) -> KernelEntry {
    entry(func_id, "matmul_push", CoreType::Aic, feed)
}

/// Each vector core's share.
pub fn pop_add_bias(func_id: u32) -> KernelEntry {
    entry(func_id, "pop_add_bias", CoreType::Aiv, add_bias)
}
