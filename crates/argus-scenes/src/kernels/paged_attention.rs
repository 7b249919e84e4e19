//! The kernels of paged attention: one block of one request per task.

use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs};
use argus_runtime::{KernelEntry, SourceFile, source_file};
use argus_tile::{Core, Fault, GlobalShape, Kernel, KernelResult};
use std::sync::Arc;

use super::attention_tiles::{self as tiles, Partial, Product, Scores, Softmax, Step};
use super::{Operand, raw, tensor};
use ArgDirection::{In, Inout, Out, Scalar};

const SOURCES: &[SourceFile] =
    &[source_file!("paged_attention.rs"), super::batch_paged_attention::FILE, tiles::FILE, super::SHARED];

pub const QK: FuncId = FuncId(0);
pub const SF: FuncId = FuncId(1);
pub const PV: FuncId = FuncId(2);
pub const UP: FuncId = FuncId(3);

/// The four kernels on tensor descriptors. Sizes come from the descriptors.
pub fn on_tensors() -> [KernelEntry; 4] {
    [
        entry(QK, "QK", &[In, In, Out], |core: &mut Core, args: &KernelArgs<'_>| {
            let ((m, k), (_, n)) = (matrix(args, 0)?, matrix(args, 2)?);
            qk(core, args, tensor, Product { m, k, n })
        }),
        entry(SF, "SF", &[In, Out, Out, Out, Scalar], |core: &mut Core, args: &KernelArgs<'_>| {
            // The first operand is cut to the columns inside the context; the whole block follows it in memory.
            let ((_, valid_cols), (rows, cols)) = (matrix(args, 0)?, matrix(args, 1)?);
            let pitch = u64::from(args.tensor(0)?.stride()[0]);
            let block = Scores { rows, cols, valid_cols, scale: args.scalar_f32(4)? };
            sf(core, args, tensor, [0, 1, 2, 3], pitch, block)
        }),
        entry(PV, "PV", &[In, In, Out], |core: &mut Core, args: &KernelArgs<'_>| {
            let ((m, k), (_, n)) = (matrix(args, 0)?, matrix(args, 2)?);
            pv(core, args, tensor, Product { m, k, n })
        }),
        entry(
            UP,
            "UP",
            &[In, In, In, Inout, Inout, Inout, Inout, Scalar, Scalar],
            |core: &mut Core, args: &KernelArgs<'_>| {
                let (rows, cols) = matrix(args, 2)?;
                let (is_first, is_last) = (args.scalar(7)? != 0, args.scalar(8)? != 0);
                up(core, args, tensor, 6, Step { rows, cols, is_first, is_last })
            },
        ),
    ]
}

/// The four kernels on raw addresses, which are followed by the sizes.
pub fn on_addresses() -> [KernelEntry; 4] {
    const PRODUCT: &[ArgDirection] = &[In, In, Out, Scalar, Scalar, Scalar];
    [
        entry(QK, "QK", PRODUCT, |core: &mut Core, args: &KernelArgs<'_>| {
            qk(core, args, raw, product_at(args, 3)?)
        }),
        entry(
            SF,
            "SF",
            &[In, Scalar, Out, Out, Out, Scalar, Scalar, Scalar],
            |core: &mut Core, args: &KernelArgs<'_>| {
                let (rows, cols, valid_cols) = (size(args, 5)?, size(args, 6)?, size(args, 7)?);
                let block = Scores { rows, cols, valid_cols, scale: args.scalar_f32(1)? };
                sf(core, args, raw, [0, 2, 3, 4], u64::from(cols), block)
            },
        ),
        entry(PV, "PV", PRODUCT, |core: &mut Core, args: &KernelArgs<'_>| {
            pv(core, args, raw, product_at(args, 3)?)
        }),
        entry(
            UP,
            "UP",
            &[In, In, In, Inout, Inout, Inout, Scalar, Scalar, Out, Scalar, Scalar],
            |core: &mut Core, args: &KernelArgs<'_>| {
                let (is_first, is_last) = (args.scalar(6)? != 0, args.scalar(7)? != 0);
                let (rows, cols) = (size(args, 9)?, size(args, 10)?);
                up(core, args, raw, 8, Step { rows, cols, is_first, is_last })
            },
        ),
    ]
}

fn qk(core: &mut Core, args: &KernelArgs<'_>, operand: Operand, size: Product) -> KernelResult {
    let q = operand(core, args, 0, DType::Bf16, GlobalShape::nd(size.m, size.k))?;
    let k = operand(core, args, 1, DType::Bf16, GlobalShape::dn(size.k, size.n))?;
    let s = operand(core, args, 2, DType::F32, GlobalShape::nd(size.m, size.n))?;
    tiles::scores(core, &q, &k, &s, size)
}

/// `slots` are those of the scores, the weights, the maxima and the sums; scores have rows `pitch` apart.
fn sf(
    core: &mut Core,
    args: &KernelArgs<'_>,
    operand: Operand,
    slots: [usize; 4],
    pitch: u64,
    block: Scores,
) -> KernelResult {
    let Scores { rows, cols, .. } = block;
    let io = Softmax {
        s: operand(core, args, slots[0], DType::F32, GlobalShape::nd_strided(rows, cols, pitch))?,
        p: operand(core, args, slots[1], DType::Bf16, GlobalShape::nd(rows, cols))?,
        m: operand(core, args, slots[2], DType::F32, GlobalShape::dn(rows, 1))?,
        l: operand(core, args, slots[3], DType::F32, GlobalShape::dn(rows, 1))?,
    };
    tiles::softmax(core, &io, block)
}

fn pv(core: &mut Core, args: &KernelArgs<'_>, operand: Operand, size: Product) -> KernelResult {
    let p = operand(core, args, 0, DType::Bf16, GlobalShape::nd(size.m, size.k))?;
    let v = operand(core, args, 1, DType::Bf16, GlobalShape::nd(size.k, size.n))?;
    let o = operand(core, args, 2, DType::F32, GlobalShape::nd(size.m, size.n))?;
    tiles::weighted_values(core, &p, &v, &o, size)
}

/// Slots 0 to 2 hold the block's partial result, 3 to 5 the state, and `out` the slot of the output.
fn up(core: &mut Core, args: &KernelArgs<'_>, operand: Operand, out: usize, step: Step) -> KernelResult {
    let matrix = GlobalShape::nd(step.rows, step.cols);
    let vector = GlobalShape::dn(step.rows, 1);
    let mut partial = |first: usize| {
        Ok::<_, Fault>(Partial {
            m: operand(core, args, first, DType::F32, vector)?,
            l: operand(core, args, first + 1, DType::F32, vector)?,
            o: operand(core, args, first + 2, DType::F32, matrix)?,
        })
    };
    let (block, state) = (partial(0)?, partial(3)?);
    let out = operand(core, args, out, DType::F32, matrix)?;
    tiles::update(core, &block, &state, &out, step)
}

/// A registered kernel. QK and PV multiply matrices; SF and UP work on vectors.
pub(super) fn entry(
    func_id: FuncId,
    name: &'static str,
    signature: &'static [ArgDirection],
    kernel: impl Kernel + 'static,
) -> KernelEntry {
    let core_type = if matches!(func_id, QK | PV) { CoreType::Aic } else { CoreType::Aiv };
    KernelEntry {
        func_id,
        name: name.into(),
        core_type,
        signature: signature.into(),
        sources: SOURCES.into(),
        kernel: Arc::new(kernel),
    }
}

/// Rows and columns of a tensor argument.
pub(super) fn matrix(args: &KernelArgs<'_>, slot: usize) -> Result<(u32, u32), Fault> {
    match args.tensor(slot)?.shape() {
        &[rows, cols] => Ok((rows, cols)),
        shape => Err(Fault::kernel(format!("argument {slot} is not a matrix: its shape is {shape:?}"))),
    }
}

/// A size, index or count in a scalar slot.
pub(super) fn size(args: &KernelArgs<'_>, slot: usize) -> Result<u32, Fault> {
    let value = args.scalar(slot)?;
    u32::try_from(value).map_err(|_| Fault::kernel(format!("argument {slot} is not a size: {value}")))
}

fn product_at(args: &KernelArgs<'_>, slot: usize) -> Result<Product, Fault> {
    Ok(Product { m: size(args, slot)?, k: size(args, slot + 1)?, n: size(args, slot + 2)? })
}
