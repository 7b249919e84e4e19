//! Paged attention as a host-built graph: raw addresses, sizes as scalars, and every buffer allocated here.

use argus_abi::CoreType::{Aic, Aiv};
use argus_abi::DType;
use argus_runtime::{EntryArgs, Fatal, Hbg, SlotInfo};

use super::case;
use super::plan::{index, lookup};
use crate::kernels::paged_attention::{PV, QK, SF, UP};
use crate::params::PagedAttention;

const BF16: u64 = 2;
const F32: u64 = 4;

/// Addresses of the arguments, and the sizes of a tile.
struct Graph {
    query: u64,
    keys: u64,
    values: u64,
    out: u64,
    scale: u64,
    rows: u64,
    head_dim: u64,
    block_size: u64,
}

/// Addresses of the running state of one head tile.
struct State {
    m: u64,
    l: u64,
    o: u64,
}

/// One block of one head tile.
struct Block {
    /// Where the heads start in the rows of query and output.
    row: u64,
    cached: u64,
    valid_len: u64,
    is_first: bool,
    is_last: bool,
}

pub fn build(hbg: &mut Hbg, args: &EntryArgs, params: &PagedAttention) -> Result<(), Fatal> {
    let graph = Graph {
        query: hbg.upload(case::QUERY)?,
        keys: hbg.upload(case::KEY_CACHE)?,
        values: hbg.upload(case::VALUE_CACHE)?,
        out: hbg.device_malloc(params.query_elements() as u64 * F32)?,
        scale: args.scalar(case::SCALE)?,
        rows: params.q_tile() as u64,
        head_dim: params.head_dim as u64,
        block_size: params.block_size as u64,
    };
    hbg.record_tensor_pair(case::OUT, graph.out)?;
    let table: Vec<i32> = read(args, case::BLOCK_TABLE)?;
    let rows = table.chunks_exact(params.max_blocks_per_request());
    for (request, (&context, row)) in read(args, case::CONTEXT_LENS)?.iter().zip(rows).enumerate() {
        for head in (0..params.num_heads).step_by(params.q_tile()) {
            let first_row = (request * params.num_heads + head) as u64;
            graph.head_tile(hbg, first_row, index(context)?.into(), row)?;
        }
    }
    Ok(())
}

impl Graph {
    fn head_tile(&self, hbg: &mut Hbg, row: u64, context: u64, table: &[i32]) -> Result<(), Fatal> {
        let state = State {
            m: hbg.device_malloc(self.rows * F32)?,
            l: hbg.device_malloc(self.rows * F32)?,
            o: hbg.device_malloc(self.rows * self.head_dim * F32)?,
        };
        let blocks = context.div_ceil(self.block_size);
        let mut before = None;
        for position in 0..blocks {
            let block = Block {
                row,
                cached: lookup(table, position as usize)?.into(),
                valid_len: (context - position * self.block_size).min(self.block_size),
                is_first: position == 0,
                is_last: position + 1 == blocks,
            };
            let up = self.block(hbg, &block, &state)?;
            if let Some(before) = before.replace(up) {
                hbg.add_successor(before, up)?;
            }
        }
        Ok(())
    }

    /// Adds the tasks of one block and returns its last.
    fn block(&self, hbg: &mut Hbg, block: &Block, state: &State) -> Result<usize, Fatal> {
        let &Graph { rows, head_dim, block_size, scale, .. } = self;
        let query = self.query + block.row * head_dim * BF16;
        let out = self.out + block.row * head_dim * F32;
        let in_cache = block.cached * block_size * head_dim * BF16;
        let (keys, values) = (self.keys + in_cache, self.values + in_cache);
        let s = hbg.device_malloc(rows * block_size * F32)?;
        let p = hbg.device_malloc(rows * block_size * BF16)?;
        let m = hbg.device_malloc(rows * F32)?;
        let l = hbg.device_malloc(rows * F32)?;
        let o = hbg.device_malloc(rows * head_dim * F32)?;
        let (first, last) = (block.is_first.into(), block.is_last.into());
        let merge = [m, l, o, state.m, state.l, state.o, first, last, out, rows, head_dim];
        let softmax = [s, scale, p, m, l, rows, block_size, block.valid_len];
        let matrix = |dtype, rows: u64, cols: u64| SlotInfo::tensor(dtype, &[rows as u32, cols as u32]);
        let column = || SlotInfo::tensor(DType::F32, &[rows as u32]);
        let number = || SlotInfo::Scalar(DType::U64);
        let scores = || matrix(DType::F32, rows, block_size);
        let weights = || matrix(DType::Bf16, rows, block_size);
        let cached = || matrix(DType::Bf16, block_size, head_dim);
        let output = || matrix(DType::F32, rows, head_dim);
        // The softmax reads the valid columns only.
        let valid = SlotInfo::Tensor {
            dtype: DType::F32,
            shape: vec![rows as u32, block.valid_len as u32],
            raw_shape: vec![rows as u32, block_size as u32],
            offsets: vec![0, 0],
        };
        let of_qk = [matrix(DType::Bf16, rows, head_dim), cached(), scores(), number(), number(), number()];
        let of_sf = [
            valid,
            SlotInfo::Scalar(DType::F32),
            weights(),
            column(),
            column(),
            number(),
            number(),
            number(),
        ];
        let of_pv = [weights(), cached(), output(), number(), number(), number()];
        let of_up = [
            column(),
            column(),
            output(),
            column(),
            column(),
            output(),
            number(),
            number(),
            output(),
            number(),
            number(),
        ];
        let mut add = |args: &[u64], func, core_type, info: &[SlotInfo]| {
            hbg.add_task_with_tensor_info(args, func, core_type, info)
        };
        let qk = add(&[query, keys, s, rows, head_dim, block_size], QK, Aic, &of_qk)?;
        let sf = add(&softmax, SF, Aiv, &of_sf)?;
        let pv = add(&[p, values, o, rows, block_size, head_dim], PV, Aic, &of_pv)?;
        let up = add(&merge, UP, Aiv, &of_up)?;
        for (from, to) in [(qk, sf), (sf, pv), (pv, up)] {
            hbg.add_successor(from, to)?;
        }
        Ok(up)
    }
}

/// An argument in host memory, as integers.
fn read(args: &EntryArgs, argument: usize) -> Result<Vec<i32>, Fatal> {
    let bytes = args.bytes(argument)?;
    Ok(bytes.chunks_exact(size_of::<i32>()).map(bytemuck::pod_read_unaligned).collect())
}
