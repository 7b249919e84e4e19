//! Products of tiles on the matrix core.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
use argus_runtime::{KernelEntry, SourceFile, source_file};
use argus_tile::{Core, Global, GlobalShape, Kernel, KernelResult, Pipe, Tile};
use std::sync::Arc;

use super::{OperandAt, hand_over, raw_at, tensor_at};

const SOURCES: &[SourceFile] = &[source_file!("gemm.rs"), super::SHARED];
const SIGNATURE: &[ArgDirection] = &[ArgDirection::In, ArgDirection::In, ArgDirection::Out];

/// What one call multiplies: `count` pairs of square tiles that lie one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    pub edge: u32,
    pub count: u64,
    /// Of both factors; products are f32.
    pub dtype: DType,
}

impl Tiles {
    /// One pair of f32 tiles.
    pub const fn one(edge: u32) -> Tiles {
        Tiles { edge, count: 1, dtype: DType::F32 }
    }
}

/// Multiplies operand 0 by operand 1 into operand 2, tile by tile.
fn products(core: &mut Core, args: &KernelArgs<'_>, operand: OperandAt, tiles: Tiles) -> KernelResult {
    let Tiles { edge, count, dtype } = tiles;
    let elements = u64::from(edge) * u64::from(edge);
    for index in 0..count {
        let (at, shape) = (index * elements, GlobalShape::nd(edge, edge));
        let a = operand(core, args, 0, dtype, at, shape)?;
        let b = operand(core, args, 1, dtype, at, shape)?;
        let c = operand(core, args, 2, DType::F32, at, shape)?;
        product(core, &a, &b, &c, edge)?;
    }
    Ok(())
}

/// c = a b for square tiles. When it returns, the store is done and every buffer is free again.
fn product(core: &mut Core, a: &Global, b: &Global, c: &Global, edge: u32) -> KernelResult {
    let dtype = a.dtype();
    let a_l1 = Tile::mat_nz(dtype, edge, edge).at(0);
    let b_l1 = Tile::mat_nz(dtype, edge, edge).at(edge * edge * dtype.size() as u32);
    let left = Tile::left(dtype, edge, edge).at(0);
    let right = Tile::right(dtype, edge, edge).at(0);
    let sum = Tile::acc(DType::F32, edge, edge).at(0);
    core.tload(&a_l1, a)?;
    core.tload(&b_l1, b)?;
    hand_over(core, Pipe::Mte2, Pipe::Mte1, 0)?;
    core.tmov(&left, &a_l1)?;
    core.tmov(&right, &b_l1)?;
    hand_over(core, Pipe::Mte1, Pipe::M, 0)?;
    core.tmatmul(&sum, &left, &right)?;
    hand_over(core, Pipe::M, Pipe::Fix, 0)?;
    core.tstore(c, &sum)?;
    core.pipe_sync()
}

fn entry(func_id: u32, name: &'static str, kernel: impl Kernel + 'static) -> KernelEntry {
    KernelEntry {
        func_id: FuncId(func_id),
        name: name.into(),
        core_type: CoreType::Aic,
        signature: SIGNATURE.into(),
        sources: SOURCES.into(),
        kernel: Arc::new(kernel),
    }
}

/// c = a b on tensor descriptors in slots 0, 1, 2.
pub fn matmul(func_id: u32, name: &'static str, tiles: Tiles) -> KernelEntry {
    entry(func_id, name, move |core: &mut Core, args: &KernelArgs<'_>| products(core, args, tensor_at, tiles))
}

/// c = a b on raw addresses in slots 0, 1, 2.
pub fn matmul_raw(func_id: u32, name: &'static str, tiles: Tiles) -> KernelEntry {
    entry(func_id, name, move |core: &mut Core, args: &KernelArgs<'_>| products(core, args, raw_at, tiles))
}
