//! Paged attention with fewer, larger tasks: each works on one block position of 16 requests.

use argus_abi::{DType, RuntimeKind, Tensor};
use argus_runtime::{Arg, EntryArgs, Fatal, Orchestration, ScopeMode, TaskOutputs, TensorCreateInfo, Trb};
use std::sync::Arc;

use super::paged_attention::case::{self, case};
use super::paged_attention::plan::index;
use crate::kernels::batch_paged_attention as kernels;
use crate::kernels::paged_attention::{PV, QK, SF, UP};
use crate::params::PagedAttention;
use argus_scene::{Prepared, Scene};

const NAME: &str = "batch_paged_attention";
const RUNTIMES: &[RuntimeKind] = &[RuntimeKind::Trb];
/// Requests that one task works on.
const CHUNK: u32 = 16;

pub fn scene() -> Scene {
    Scene::new(NAME, "paged attention whose kernels loop over the requests of a batch")
        .with_case(case("CaseSmall1", &[], RUNTIMES, (4, 9), |_| {
            prepare("CaseSmall1", PagedAttention::batch_case_small1())
        }))
        .with_case(case("CaseSmall2", &[], RUNTIMES, (4, 9), |_| {
            prepare("CaseSmall2", PagedAttention::batch_case_small2())
        }))
        .with_case(case("CaseSmall3", &[], RUNTIMES, (4, 9), |_| {
            prepare("CaseSmall3", PagedAttention::batch_case_small3())
        }))
        .with_case(case("CaseVarSeq2", &[], RUNTIMES, (4, 9), |_| {
            prepare("CaseVarSeq2", PagedAttention::case_var_seq2())
        }))
        .with_case(case("CaseVarSeq4", &[], RUNTIMES, (4, 9), |_| {
            prepare("CaseVarSeq4", PagedAttention::case_var_seq4())
        }))
}

fn prepare(case: &str, params: PagedAttention) -> Prepared {
    let args = case::arguments(NAME, case, &params);
    let orchestration = Orchestration::TensormapAndRingbuffer(Arc::new(orchestrate));
    case::prepare(params, args, orchestration, kernels::on_tensors())
}

/// The arguments of a run, and its sizes.
struct Batch {
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    block_table: Tensor,
    context_lens: Tensor,
    out: Tensor,
    scale: u64,
    heads: u32,
    head_dim: u32,
    block_size: u32,
    /// Entries of one row of the block table.
    table_row: u32,
    /// Blocks of the longest request.
    blocks: u32,
}

/// Heads of some requests that go through the graph together.
struct Chunk {
    first_request: u32,
    requests: u32,
    first_head: u32,
    /// Heads per request.
    heads: u32,
}

fn orchestrate(trb: &mut Trb, args: &EntryArgs) -> Result<(), Fatal> {
    let (batch, requests) = Batch::new(trb, args)?;
    let q_tile = batch.heads.min(case::MAX_Q_TILE);
    for first_request in (0..requests).step_by(CHUNK as usize) {
        for first_head in (0..batch.heads).step_by(q_tile as usize) {
            let chunk = Chunk {
                first_request,
                requests: CHUNK.min(requests - first_request),
                first_head,
                heads: q_tile.min(batch.heads - first_head),
            };
            trb.scope(ScopeMode::Auto, |trb| batch.chunk(trb, &chunk))?;
        }
    }
    Ok(())
}

impl Batch {
    /// The batch and how many requests it has.
    fn new(trb: &mut Trb, args: &EntryArgs) -> Result<(Batch, u32), Fatal> {
        let (query, cache) = (args.tensor(case::QUERY)?, args.tensor(case::KEY_CACHE)?);
        let table = args.tensor(case::BLOCK_TABLE)?;
        let (&[requests, heads @ (1..), head_dim], &[cached, block_size @ (1..), 1, _], &[_, table_row]) =
            (query.shape(), cache.shape(), table.shape())
        else {
            return Err(Fatal::invalid("query, cache or block table have shapes that are none of a batch"));
        };
        let flat = |index: usize, rows: u32| {
            let flat = args.tensor(index)?.reshape(&[rows, head_dim]);
            flat.map_err(|error| Fatal::invalid(error.to_string()))
        };
        let context_lens = *args.tensor(case::CONTEXT_LENS)?;
        let mut longest = 0;
        for request in 0..requests {
            longest = longest.max(index(trb.get_tensor_data(&context_lens, &[request])?)?);
        }
        let batch = Batch {
            query: flat(case::QUERY, requests * heads)?,
            keys: flat(case::KEY_CACHE, cached * block_size)?,
            values: flat(case::VALUE_CACHE, cached * block_size)?,
            block_table: *table,
            context_lens,
            out: flat(case::OUT, requests * heads)?,
            scale: args.scalar(case::SCALE)?,
            heads,
            head_dim,
            block_size,
            table_row,
            blocks: longest.div_ceil(block_size),
        };
        Ok((batch, requests))
    }

    fn chunk(&self, trb: &mut Trb, chunk: &Chunk) -> Result<(), Fatal> {
        let rows = chunk.requests * chunk.heads;
        let scores = TensorCreateInfo::new(&[rows, self.block_size], DType::F32)?;
        let weights = TensorCreateInfo::new(&[rows, self.block_size], DType::Bf16)?;
        let weighted = TensorCreateInfo::new(&[rows, self.head_dim], DType::F32)?;
        let per_row = TensorCreateInfo::new(&[rows], DType::F32)?;
        let state = trb.alloc_tensors(&[weighted, per_row, per_row])?;
        for position in 0..self.blocks {
            trb.scope(ScopeMode::Auto, |trb| {
                let qk = trb.submit_aic(QK, self.qk(chunk, position, &scores))?;
                let sf = trb.submit_aiv(SF, self.sf(chunk, position, &qk, &weights, &per_row)?)?;
                let pv = trb.submit_aic(PV, self.pv(chunk, position, &sf, &weighted)?)?;
                trb.submit_aiv(UP, self.up(chunk, position, [&sf, &pv, &state])?)?;
                Ok(())
            })?;
        }
        Ok(())
    }

    fn qk(&self, chunk: &Chunk, position: u32, scores: &TensorCreateInfo) -> Arg {
        let arg = Arg::new().input(&self.query).input(&self.keys).input(&self.block_table).create(scores);
        let arg = arg.scalar(chunk.requests.into()).scalar(position.into()).scalar(chunk.first_head.into());
        arg.scalar(self.table_row.into()).scalar(self.heads.into()).scalar(chunk.first_request.into())
    }

    fn sf(
        &self,
        chunk: &Chunk,
        position: u32,
        qk: &TaskOutputs,
        weights: &TensorCreateInfo,
        per_row: &TensorCreateInfo,
    ) -> Result<Arg, Fatal> {
        let arg = Arg::new().input(qk.tensor(0)?).input(&self.context_lens);
        let arg = arg.create(weights).create(per_row).create(per_row).scalar(self.scale);
        Ok(arg.scalar(chunk.requests.into()).scalar(position.into()).scalar(chunk.first_request.into()))
    }

    fn pv(
        &self,
        chunk: &Chunk,
        position: u32,
        sf: &TaskOutputs,
        weighted: &TensorCreateInfo,
    ) -> Result<Arg, Fatal> {
        let arg = Arg::new().input(sf.tensor(0)?).input(&self.values).input(&self.block_table);
        let arg = arg.create(weighted).scalar(chunk.requests.into()).scalar(position.into());
        Ok(arg.scalar(self.table_row.into()).scalar(chunk.first_request.into()))
    }

    fn up(&self, chunk: &Chunk, position: u32, [sf, pv, state]: [&TaskOutputs; 3]) -> Result<Arg, Fatal> {
        let (o, l, m) = (state.tensor(0)?, state.tensor(1)?, state.tensor(2)?);
        let arg = Arg::new().input(sf.tensor(1)?).input(sf.tensor(2)?).input(pv.tensor(0)?);
        let arg = arg.inout(m).inout(l).inout(o).inout(&self.out);
        let arg = arg.scalar((position == 0).into()).scalar((position + 1 == self.blocks).into());
        let arg = arg.scalar(chunk.requests.into()).scalar(chunk.first_head.into());
        Ok(arg.scalar(self.heads.into()).scalar(chunk.first_request.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_beyond_a_chunk_and_heads_beyond_a_tile_get_tasks_of_their_own() {
        let lens = (0..18).map(|request| 1 + request * 3).collect();
        let params = PagedAttention {
            batch: 18,
            num_heads: 256,
            context_lens: lens,
            ..PagedAttention::case_var_seq2()
        };
        // Two chunks of two head tiles; the longest request has 52 positions.
        let tasks = case::tests::assert_passes(prepare("18 requests", params));
        assert_eq!(tasks, 2 * 2 * (1 + 4 * 4));
    }
}
