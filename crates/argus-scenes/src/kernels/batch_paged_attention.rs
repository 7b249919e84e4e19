//! The kernels of batch paged attention: one block position of a whole chunk of requests per task.
//!
//! Intermediate tensors hold the requests of a chunk one below the other. A request that is shorter than
//! the longest meets blocks without valid columns at its end, which change nothing.

use argus_abi::ArgDirection::{In, Inout, Out, Scalar};
use argus_abi::{DType, KernelArgs};
use argus_runtime::{KernelEntry, SourceFile, source_file};
use argus_tile::{Core, Fault, GlobalShape, KernelResult};

use super::attention_tiles::{self as tiles, Partial, Product, Scores, Softmax, Step, index};
use super::paged_attention::{PV, QK, SF, UP, entry, matrix, size};
use super::{tensor, tensor_at};

pub const FILE: SourceFile = source_file!("batch_paged_attention.rs");

/// The four kernels.
///
/// | | tensors | scalars |
/// |---|---|---|
/// | QK | query, key cache, block table, s | chunk, block, first head, table row, heads, first request |
/// | SF | s, context lengths, p, m, l | scale, chunk, block, first request |
/// | PV | p, value cache, block table, o | chunk, block, table row, first request |
/// | UP | block's m, l, o; state's m, l, o; out | first?, last?, chunk, first head, heads, first request |
pub fn on_tensors() -> [KernelEntry; 4] {
    [
        entry(QK, "QK", &[In, In, In, Out, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar], qk),
        entry(SF, "SF", &[In, In, Out, Out, Out, Scalar, Scalar, Scalar, Scalar], sf),
        entry(PV, "PV", &[In, In, In, Out, Scalar, Scalar, Scalar, Scalar], pv),
        entry(
            UP,
            "UP",
            &[In, In, In, Inout, Inout, Inout, Inout, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar],
            up,
        ),
    ]
}

fn qk(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let (chunk, block, first_head) = (size(args, 4)?, size(args, 5)?, size(args, 6)?);
    let (table_row, heads, first_request) = (size(args, 7)?, size(args, 8)?, size(args, 9)?);
    let ((_, k), (rows, n)) = (matrix(args, 0)?, matrix(args, 3)?);
    let m = rows_each(rows, chunk)?;
    let table = tensor(core, args, 2, DType::I32, GlobalShape::nd(1, table_row))?;
    for nth in 0..chunk {
        let request = first_request + nth;
        let cached = index(core, &table, request * table_row + block)?;
        let query_at = elements([request * heads + first_head, k]);
        let q = tensor_at(core, args, 0, DType::Bf16, query_at, GlobalShape::nd(m, k))?;
        let key = tensor_at(core, args, 1, DType::Bf16, elements([cached, n, k]), GlobalShape::dn(k, n))?;
        let s = tensor_at(core, args, 3, DType::F32, elements([nth, m, n]), GlobalShape::nd(m, n))?;
        tiles::scores(core, &q, &key, &s, Product { m, k, n })?;
    }
    Ok(())
}

fn sf(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let scale = args.scalar_f32(5)?;
    let (chunk, block, first_request) = (size(args, 6)?, size(args, 7)?, size(args, 8)?);
    let (all_rows, cols) = matrix(args, 0)?;
    let rows = rows_each(all_rows, chunk)?;
    let lengths = tensor(core, args, 1, DType::I32, GlobalShape::nd(1, 1))?;
    let (tile, vector) = (GlobalShape::nd(rows, cols), GlobalShape::dn(rows, 1));
    for nth in 0..chunk {
        let context = index(core, &lengths, first_request + nth)?;
        let valid_cols = context.saturating_sub(block.saturating_mul(cols)).min(cols);
        let (row, at) = (elements([nth, rows]), elements([nth, rows, cols]));
        let io = Softmax {
            s: tensor_at(core, args, 0, DType::F32, at, tile)?,
            p: tensor_at(core, args, 2, DType::Bf16, at, tile)?,
            m: tensor_at(core, args, 3, DType::F32, row, vector)?,
            l: tensor_at(core, args, 4, DType::F32, row, vector)?,
        };
        tiles::softmax(core, &io, Scores { rows, cols, valid_cols, scale })?;
    }
    Ok(())
}

fn pv(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let (chunk, block) = (size(args, 4)?, size(args, 5)?);
    let (table_row, first_request) = (size(args, 6)?, size(args, 7)?);
    let ((rows, k), (_, n)) = (matrix(args, 0)?, matrix(args, 3)?);
    let m = rows_each(rows, chunk)?;
    let table = tensor(core, args, 2, DType::I32, GlobalShape::nd(1, table_row))?;
    for nth in 0..chunk {
        let cached = index(core, &table, (first_request + nth) * table_row + block)?;
        let p = tensor_at(core, args, 0, DType::Bf16, elements([nth, m, k]), GlobalShape::nd(m, k))?;
        let v = tensor_at(core, args, 1, DType::Bf16, elements([cached, k, n]), GlobalShape::nd(k, n))?;
        let o = tensor_at(core, args, 3, DType::F32, elements([nth, m, n]), GlobalShape::nd(m, n))?;
        tiles::weighted_values(core, &p, &v, &o, Product { m, k, n })?;
    }
    Ok(())
}

fn up(core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
    let (is_first, is_last) = (args.scalar(7)? != 0, args.scalar(8)? != 0);
    let (chunk, first_head) = (size(args, 9)?, size(args, 10)?);
    let (heads, first_request) = (size(args, 11)?, size(args, 12)?);
    let (all_rows, cols) = matrix(args, 2)?;
    let rows = rows_each(all_rows, chunk)?;
    let (tile, vector) = (GlobalShape::nd(rows, cols), GlobalShape::dn(rows, 1));
    for nth in 0..chunk {
        let (row, at) = (elements([nth, rows]), elements([nth, rows, cols]));
        let mut partial = |slot: usize| {
            Ok::<_, Fault>(Partial {
                m: tensor_at(core, args, slot, DType::F32, row, vector)?,
                l: tensor_at(core, args, slot + 1, DType::F32, row, vector)?,
                o: tensor_at(core, args, slot + 2, DType::F32, at, tile)?,
            })
        };
        let (block, state) = (partial(0)?, partial(3)?);
        let out_at = elements([(first_request + nth) * heads + first_head, cols]);
        let out = tensor_at(core, args, 6, DType::F32, out_at, tile)?;
        tiles::update(core, &block, &state, &out, Step { rows, cols, is_first, is_last })?;
    }
    Ok(())
}

/// Rows of one request where `chunk` requests share `rows`.
fn rows_each(rows: u32, chunk: u32) -> Result<u32, Fault> {
    match rows.checked_div(chunk) {
        Some(each) if each * chunk == rows => Ok(each),
        _ => Err(Fault::kernel(format!("{rows} rows cannot be shared by {chunk} requests"))),
    }
}

/// How many elements lie before something, as a product that cannot wrap: some factors are data.
fn elements<const N: usize>(factors: [u32; N]) -> u64 {
    factors.into_iter().fold(1, |product, factor| product.saturating_mul(factor.into()))
}
