//! Elementwise kernels on 128 x 128 f32 tiles.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
use argus_runtime::{KernelEntry, SourceFile, source_file};
use argus_tile::{Core, Fault, GlobalShape, Kernel, KernelResult, Pipe, Tile};
use std::sync::Arc;

use super::{Operand, raw, tensor};

/// Elements that each kernel processes.
pub const SIZE: u32 = EDGE * EDGE;
const EDGE: u32 = 128;
const SHAPE: fn() -> GlobalShape = || GlobalShape::nd(EDGE, EDGE);
const TILE_BYTES: u32 = SIZE * 4;

const SOURCES: &[SourceFile] = &[source_file!("vector.rs"), super::SHARED];
const BINARY: &[ArgDirection] = &[ArgDirection::In, ArgDirection::In, ArgDirection::Out];

fn tile(index: u32) -> Tile {
    Tile::vec(DType::F32, EDGE, EDGE).at(index * TILE_BYTES)
}

/// Loads operands 0 and 1, combines them and stores to operand 2.
fn binary(
    core: &mut Core,
    args: &KernelArgs<'_>,
    operand: Operand,
    combine: fn(&mut Core, &Tile, &Tile, &Tile) -> Result<(), Fault>,
) -> KernelResult {
    let a = operand(core, args, 0, DType::F32, SHAPE())?;
    let b = operand(core, args, 1, DType::F32, SHAPE())?;
    let c = operand(core, args, 2, DType::F32, SHAPE())?;
    let (x, y, z) = (tile(0), tile(1), tile(2));
    core.tload(&x, &a)?;
    core.tload(&y, &b)?;
    core.set_flag(Pipe::Mte2, Pipe::V, 0)?;
    core.wait_flag(Pipe::Mte2, Pipe::V, 0)?;
    combine(core, &z, &x, &y)?;
    core.set_flag(Pipe::V, Pipe::Mte3, 0)?;
    core.wait_flag(Pipe::V, Pipe::Mte3, 0)?;
    core.tstore(&c, &z)?;
    core.pipe_sync()
}

/// Loads the operand `from`, adds a scalar and stores to the operand `to`.
fn add_scalar(
    core: &mut Core,
    args: &KernelArgs<'_>,
    operand: Operand,
    from: usize,
    to: usize,
    scalar: f32,
) -> KernelResult {
    let a = operand(core, args, from, DType::F32, SHAPE())?;
    let c = operand(core, args, to, DType::F32, SHAPE())?;
    let (x, z) = (tile(0), tile(1));
    core.tload(&x, &a)?;
    core.set_flag(Pipe::Mte2, Pipe::V, 0)?;
    core.wait_flag(Pipe::Mte2, Pipe::V, 0)?;
    core.tadds(&z, &x, scalar)?;
    core.set_flag(Pipe::V, Pipe::Mte3, 0)?;
    core.wait_flag(Pipe::V, Pipe::Mte3, 0)?;
    core.tstore(&c, &z)?;
    core.pipe_sync()
}

fn entry(
    func_id: u32,
    name: &'static str,
    signature: &'static [ArgDirection],
    kernel: impl Kernel + 'static,
) -> KernelEntry {
    let kernel = Arc::new(kernel);
    KernelEntry {
        func_id: FuncId(func_id),
        name: name.into(),
        core_type: CoreType::Aiv,
        signature: signature.into(),
        sources: SOURCES.into(),
        kernel,
    }
}

/// c = a + b on tensor descriptors.
pub fn add(func_id: u32) -> KernelEntry {
    entry(func_id, "add", BINARY, |core: &mut Core, args: &KernelArgs<'_>| {
        binary(core, args, tensor, |core, z, x, y| core.tadd(z, x, y))
    })
}

/// c = a * b on tensor descriptors.
pub fn mul(func_id: u32) -> KernelEntry {
    entry(func_id, "mul", BINARY, |core: &mut Core, args: &KernelArgs<'_>| {
        binary(core, args, tensor, |core, z, x, y| core.tmul(z, x, y))
    })
}

/// c = a + scalar on tensor descriptors; the scalar follows the tensors.
pub fn add_scalar_tensor(func_id: u32) -> KernelEntry {
    const SIGNATURE: &[ArgDirection] = &[ArgDirection::In, ArgDirection::Out, ArgDirection::Scalar];
    entry(func_id, "add_scalar", SIGNATURE, |core: &mut Core, args: &KernelArgs<'_>| {
        add_scalar(core, args, tensor, 0, 1, args.scalar_f32(2)?)
    })
}

/// a = a + scalar on a tensor descriptor.
pub fn add_scalar_inplace(func_id: u32) -> KernelEntry {
    const SIGNATURE: &[ArgDirection] = &[ArgDirection::Inout, ArgDirection::Scalar];
    entry(func_id, "add_scalar_inplace", SIGNATURE, |core: &mut Core, args: &KernelArgs<'_>| {
        add_scalar(core, args, tensor, 0, 0, args.scalar_f32(1)?)
    })
}

/// c = a + b on raw addresses in slots 0, 1, 2; slot 3 holds the number of elements.
pub fn add_raw(func_id: u32) -> KernelEntry {
    entry(func_id, "add", BINARY, |core: &mut Core, args: &KernelArgs<'_>| {
        binary(core, args, raw, |core, z, x, y| core.tadd(z, x, y))
    })
}

/// c = a * b on raw addresses in slots 0, 1, 2; slot 3 holds the number of elements.
pub fn mul_raw(func_id: u32) -> KernelEntry {
    entry(func_id, "mul", BINARY, |core: &mut Core, args: &KernelArgs<'_>| {
        binary(core, args, raw, |core, z, x, y| core.tmul(z, x, y))
    })
}

/// c = a + scalar on raw addresses: slots hold a, the scalar's bits, c and the number of elements.
pub fn add_scalar_raw(func_id: u32) -> KernelEntry {
    const SIGNATURE: &[ArgDirection] = &[ArgDirection::In, ArgDirection::Scalar, ArgDirection::Out];
    entry(func_id, "add_scalar", SIGNATURE, |core: &mut Core, args: &KernelArgs<'_>| {
        add_scalar(core, args, raw, 0, 2, args.scalar_f32(1)?)
    })
}

/// a = a + scalar on a raw address: slots hold a, the scalar's bits and the number of elements.
pub fn add_scalar_inplace_raw(func_id: u32) -> KernelEntry {
    const SIGNATURE: &[ArgDirection] = &[ArgDirection::Inout, ArgDirection::Scalar, ArgDirection::Scalar];
    entry(func_id, "add_scalar_inplace", SIGNATURE, |core: &mut Core, args: &KernelArgs<'_>| {
        add_scalar(core, args, raw, 0, 0, args.scalar_f32(1)?)
    })
}
