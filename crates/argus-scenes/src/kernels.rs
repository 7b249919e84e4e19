//! The kernels of the scenes, one file per family. The files' texts are part of the registry, so that views
//! can show the lines a kernel was compiled from.

pub mod attention_tiles;
pub mod batch_paged_attention;
pub mod double_buffered;
pub mod elementwise;
pub mod failures;
pub mod gemm;
pub mod paged_attention;
pub mod pipe_mix;
pub mod spmd;
pub mod vector;

use argus_abi::{DType, KernelArgs};
use argus_runtime::{SourceFile, source_file};
use argus_tile::{Core, Fault, Global, GlobalShape, KernelResult, Pipe};

/// What is written here and used by kernels of all families.
const SHARED: SourceFile = source_file!("kernels.rs");

/// How a kernel finds its operands: a tensor descriptor per slot, or a raw device address.
///
/// The two argument conventions differ in this and in nothing else, so a kernel body is written once.
pub type Operand = fn(&mut Core, &KernelArgs<'_>, usize, DType, GlobalShape) -> Result<Global, Fault>;

/// The operand behind a tensor descriptor.
pub fn tensor(
    core: &mut Core,
    args: &KernelArgs<'_>,
    slot: usize,
    dtype: DType,
    shape: GlobalShape,
) -> Result<Global, Fault> {
    tensor_at(core, args, slot, dtype, 0, shape)
}

/// The operand behind a tensor descriptor, from another element than the first.
pub fn tensor_at(
    core: &mut Core,
    args: &KernelArgs<'_>,
    slot: usize,
    dtype: DType,
    offset: u64,
    shape: GlobalShape,
) -> Result<Global, Fault> {
    let tensor = args.tensor(slot)?;
    if tensor.dtype() != Some(dtype) {
        return Err(Fault::kernel(format!("argument {slot} is not {dtype}")));
    }
    core.global_at(tensor, offset, shape)
}

/// The operand at a raw address.
pub fn raw(
    core: &mut Core,
    args: &KernelArgs<'_>,
    slot: usize,
    dtype: DType,
    shape: GlobalShape,
) -> Result<Global, Fault> {
    raw_at(core, args, slot, dtype, 0, shape)
}

/// [`Operand`] from another element than the first.
pub type OperandAt = fn(&mut Core, &KernelArgs<'_>, usize, DType, u64, GlobalShape) -> Result<Global, Fault>;

/// The operand `offset` elements after a raw address.
pub fn raw_at(
    core: &mut Core,
    args: &KernelArgs<'_>,
    slot: usize,
    dtype: DType,
    offset: u64,
    shape: GlobalShape,
) -> Result<Global, Fault> {
    core.global_raw(args.scalar(slot)? + offset * dtype.size() as u64, dtype, shape)
}

/// Pipe `dst` continues when pipe `src` has done all it was given so far.
#[track_caller]
pub fn hand_over(core: &mut Core, src: Pipe, dst: Pipe, id: u8) -> KernelResult {
    core.set_flag(src, dst, id)?;
    core.wait_flag(src, dst, id)
}
