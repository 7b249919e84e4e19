//! Elementwise kernels beside matrix products: sums that accumulate, and members of mixed tasks that find
//! their operands behind those of other members.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
use argus_runtime::{KernelEntry, SourceFile, source_file};
use argus_tile::{Core, Global, GlobalShape, Kernel, KernelResult, Pipe, Tile};
use std::sync::Arc;

use super::{OperandAt, hand_over, raw, raw_at, tensor, tensor_at};

const SOURCES: &[SourceFile] = &[source_file!("elementwise.rs"), super::SHARED];
const BINARY: &[ArgDirection] = &[ArgDirection::In, ArgDirection::In, ArgDirection::Out];
const ACCUMULATE: &[ArgDirection] = &[ArgDirection::Inout, ArgDirection::In];

/// Computes on tiles: the result, then the operands.
type Compute = fn(&mut Core, &Tile, &Tile, &Tile) -> KernelResult;

/// The `index`-th of the tiles of one size in UB.
fn tile(dtype: DType, edge: u32, index: u32) -> Tile {
    Tile::vec(dtype, edge, edge).at(index * edge * edge * dtype.size() as u32)
}

/// z = compute(x, y) for square f32 tiles. When it returns, the store is done and every buffer is free again.
fn combine(
    core: &mut Core,
    [x, y, z]: [&Global; 3],
    edge: u32,
    compute: impl FnOnce(&mut Core, &Tile, &Tile, &Tile) -> KernelResult,
) -> KernelResult {
    let [a, b, c] = [0, 1, 2].map(|index| tile(DType::F32, edge, index));
    core.tload(&a, x)?;
    core.tload(&b, y)?;
    hand_over(core, Pipe::Mte2, Pipe::V, 0)?;
    compute(core, &c, &a, &b)?;
    hand_over(core, Pipe::V, Pipe::Mte3, 0)?;
    core.tstore(z, &c)?;
    core.pipe_sync()
}

/// Adds operand 1 to operand 0, `count` tiles one after the other.
fn accumulate(
    core: &mut Core,
    args: &KernelArgs<'_>,
    operand: OperandAt,
    edge: u32,
    count: u64,
) -> KernelResult {
    let elements = u64::from(edge) * u64::from(edge);
    for index in 0..count {
        let (at, shape) = (index * elements, GlobalShape::nd(edge, edge));
        let sum = operand(core, args, 0, DType::F32, at, shape)?;
        let more = operand(core, args, 1, DType::F32, at, shape)?;
        combine(core, [&sum, &more, &sum], edge, |core, z, x, y| core.tadd(z, x, y))?;
    }
    Ok(())
}

fn entry(
    func_id: u32,
    name: &'static str,
    signature: &'static [ArgDirection],
    kernel: impl Kernel + 'static,
) -> KernelEntry {
    KernelEntry {
        func_id: FuncId(func_id),
        name: name.into(),
        core_type: CoreType::Aiv,
        signature: signature.into(),
        sources: SOURCES.into(),
        kernel: Arc::new(kernel),
    }
}

/// c = c + p for `count` tiles on tensor descriptors in slots 0, 1.
pub fn tile_add(func_id: u32, name: &'static str, edge: u32, count: u64) -> KernelEntry {
    entry(func_id, name, ACCUMULATE, move |core: &mut Core, args: &KernelArgs<'_>| {
        accumulate(core, args, tensor_at, edge, count)
    })
}

/// c = c + p for one tile on raw addresses in slots 0, 1.
pub fn tile_add_raw(func_id: u32, name: &'static str, edge: u32) -> KernelEntry {
    entry(func_id, name, ACCUMULATE, move |core: &mut Core, args: &KernelArgs<'_>| {
        accumulate(core, args, raw_at, edge, 1)
    })
}

/// z = x + y on tensor descriptors from slot `first` on.
pub fn add_from(func_id: u32, name: &'static str, edge: u32, first: usize) -> KernelEntry {
    binary_from(func_id, name, edge, first, |core, z, x, y| core.tadd(z, x, y))
}

/// z = x * y on tensor descriptors from slot `first` on.
pub fn mul_from(func_id: u32, name: &'static str, edge: u32, first: usize) -> KernelEntry {
    binary_from(func_id, name, edge, first, |core, z, x, y| core.tmul(z, x, y))
}

fn binary_from(func_id: u32, name: &'static str, edge: u32, first: usize, compute: Compute) -> KernelEntry {
    entry(func_id, name, BINARY, move |core: &mut Core, args: &KernelArgs<'_>| {
        let shape = GlobalShape::nd(edge, edge);
        let x = tensor(core, args, first, DType::F32, shape)?;
        let y = tensor(core, args, first + 1, DType::F32, shape)?;
        let z = tensor(core, args, first + 2, DType::F32, shape)?;
        combine(core, [&x, &y, &z], edge, compute)
    })
}

/// f = exp(x + y) on raw addresses in slots 0, 1, 2.
pub fn add_exp_raw(func_id: u32, edge: u32) -> KernelEntry {
    entry(func_id, "add_exp", BINARY, move |core: &mut Core, args: &KernelArgs<'_>| {
        let shape = GlobalShape::nd(edge, edge);
        let x = raw(core, args, 0, DType::F32, shape)?;
        let y = raw(core, args, 1, DType::F32, shape)?;
        let f = raw(core, args, 2, DType::F32, shape)?;
        combine(core, [&x, &y, &f], edge, |core, z, x, y| {
            core.tadd(z, x, y)?;
            core.pipe_barrier(Pipe::V)?;
            core.texp(z, z)
        })
    })
}

/// b = sqrt(ln a) in f16 on raw addresses in slots 0, 1.
pub fn log_sqrt_raw(func_id: u32, edge: u32) -> KernelEntry {
    const SIGNATURE: &[ArgDirection] = &[ArgDirection::In, ArgDirection::Out];
    entry(func_id, "log_sqrt", SIGNATURE, move |core: &mut Core, args: &KernelArgs<'_>| {
        let shape = GlobalShape::nd(edge, edge);
        let a = raw(core, args, 0, DType::F16, shape)?;
        let b = raw(core, args, 1, DType::F16, shape)?;
        let [x, y] = [0, 1].map(|index| tile(DType::F16, edge, index));
        core.tload(&x, &a)?;
        hand_over(core, Pipe::Mte2, Pipe::V, 0)?;
        core.tlog(&y, &x)?;
        core.pipe_barrier(Pipe::V)?;
        core.tsqrt(&y, &y)?;
        hand_over(core, Pipe::V, Pipe::Mte3, 0)?;
        core.tstore(&b, &y)?;
        core.pipe_sync()
    })
}
