//! A product whose loads run ahead of its multiplications: while the matrix unit works on one pair of
//! buffers, the next tiles arrive in the other.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
use argus_runtime::{KernelEntry, SourceFile, source_file};
use argus_tile::{Core, GlobalShape, KernelResult, Pipe, Tile};
use std::sync::Arc;

use super::{OperandAt, hand_over, raw_at, tensor_at};

const SOURCES: &[SourceFile] = &[source_file!("double_buffered.rs"), super::SHARED];
const SIGNATURE: &[ArgDirection] = &[ArgDirection::In, ArgDirection::In, ArgDirection::Out];
/// Buffers of each kind, and flags of each pair of pipes: a flag has its buffer's number.
const BUFFERS: u8 = 2;

/// `[m x k] * [k x n]`, k in steps of `k_tile`.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub m: u32,
    pub k: u32,
    pub n: u32,
    pub k_tile: u32,
}

/// The tiles of one of the two buffers.
struct Buffer {
    id: u8,
    a_l1: Tile,
    b_l1: Tile,
    left: Tile,
    right: Tile,
}

impl Buffer {
    fn new(id: u8, sizes: Sizes) -> Buffer {
        let Sizes { m, n, k_tile, .. } = sizes;
        let (a_bytes, b_bytes) = (m * k_tile * 4, k_tile * n * 4);
        let index = u32::from(id);
        let l1 = index * (a_bytes + b_bytes);
        Buffer {
            id,
            a_l1: Tile::mat_nz(DType::F32, m, k_tile).at(l1),
            b_l1: Tile::mat_nz(DType::F32, k_tile, n).at(l1 + a_bytes),
            left: Tile::left(DType::F32, m, k_tile).at(index * a_bytes),
            right: Tile::right(DType::F32, k_tile, n).at(index * b_bytes),
        }
    }
}

fn product(core: &mut Core, args: &KernelArgs<'_>, operand: OperandAt, sizes: Sizes) -> KernelResult {
    let steps = sizes.k / sizes.k_tile;
    let buffers = [0, 1].map(|id| Buffer::new(id, sizes));
    let buffer_of = |step: u32| &buffers[(step % u32::from(BUFFERS)) as usize];
    let sum = Tile::acc(DType::F32, sizes.m, sizes.n).at(0);
    // All buffers are free at first, as if they had just been emptied.
    for id in 0..BUFFERS {
        core.set_flag(Pipe::Mte1, Pipe::Mte2, id)?;
        core.set_flag(Pipe::M, Pipe::Mte1, id)?;
    }
    load(core, args, operand, sizes, 0, buffer_of(0))?;
    for step in 0..steps {
        if step + 1 < steps {
            load(core, args, operand, sizes, step + 1, buffer_of(step + 1))?;
        }
        multiply(core, buffer_of(step), &sum, step == 0)?;
    }
    // Nothing waits for the last ones; a flag left behind would confuse the next kernel.
    for id in 0..BUFFERS {
        core.wait_flag(Pipe::Mte1, Pipe::Mte2, id)?;
        core.wait_flag(Pipe::M, Pipe::Mte1, id)?;
    }
    let c = operand(core, args, 2, DType::F32, 0, GlobalShape::nd(sizes.m, sizes.n))?;
    hand_over(core, Pipe::M, Pipe::Fix, 0)?;
    core.tstore(&c, &sum)?;
    core.pipe_sync()
}

/// Brings the tiles of one step to L1.
fn load(
    core: &mut Core,
    args: &KernelArgs<'_>,
    operand: OperandAt,
    sizes: Sizes,
    step: u32,
    buffer: &Buffer,
) -> KernelResult {
    let Sizes { m, k, n, k_tile } = sizes;
    let first = u64::from(step * k_tile);
    let a = operand(core, args, 0, DType::F32, first, GlobalShape::nd_strided(m, k_tile, k.into()))?;
    let b = operand(core, args, 1, DType::F32, first * u64::from(n), GlobalShape::nd(k_tile, n))?;
    core.wait_flag(Pipe::Mte1, Pipe::Mte2, buffer.id)?;
    core.tload(&buffer.a_l1, &a)?;
    core.tload(&buffer.b_l1, &b)?;
    core.set_flag(Pipe::Mte2, Pipe::Mte1, buffer.id)
}

/// Moves the tiles of one step on to L0 and multiplies them.
fn multiply(core: &mut Core, buffer: &Buffer, sum: &Tile, first: bool) -> KernelResult {
    let &Buffer { id, a_l1, b_l1, left, right } = buffer;
    core.wait_flag(Pipe::Mte2, Pipe::Mte1, id)?;
    core.wait_flag(Pipe::M, Pipe::Mte1, id)?;
    core.tmov(&left, &a_l1)?;
    core.tmov(&right, &b_l1)?;
    core.set_flag(Pipe::Mte1, Pipe::Mte2, id)?;
    hand_over(core, Pipe::Mte1, Pipe::M, id)?;
    if first {
        core.tmatmul(sum, &left, &right)?;
    } else {
        core.tmatmul_acc(sum, sum, &left, &right)?;
    }
    core.set_flag(Pipe::M, Pipe::Mte1, id)
}

fn entry(func_id: u32, operand: OperandAt, sizes: Sizes) -> KernelEntry {
    KernelEntry {
        func_id: FuncId(func_id),
        name: "matmul_double_buffered".into(),
        core_type: CoreType::Aic,
        signature: SIGNATURE.into(),
        sources: SOURCES.into(),
        kernel: Arc::new(move |core: &mut Core, args: &KernelArgs<'_>| product(core, args, operand, sizes)),
    }
}

/// c = a b on tensor descriptors in slots 0, 1, 2.
pub fn matmul(func_id: u32, sizes: Sizes) -> KernelEntry {
    entry(func_id, tensor_at, sizes)
}

/// c = a b on raw addresses in slots 0, 1, 2.
pub fn matmul_raw(func_id: u32, sizes: Sizes) -> KernelEntry {
    entry(func_id, raw_at, sizes)
}
