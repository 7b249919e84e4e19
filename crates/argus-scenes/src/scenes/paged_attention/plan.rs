//! The graph of paged attention without its edges: tasks and their arguments, the same for every runtime
//! whose kernels take tensor descriptors.

use argus_abi::view::ViewError;
use argus_abi::{DType, Tensor};
use argus_runtime::{Arg, EntryArgs, Fatal, TaskOutputs, TensorCreateInfo};

use super::case;
use crate::scenes::views::entries;

/// The arguments of a run, flattened to matrices, and the tensors that tasks create.
pub struct Plan {
    pub block_table: Tensor,
    pub context_lens: Tensor,
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    out: Tensor,
    scale: u64,
    sizes: Sizes,
    scores: TensorCreateInfo,
    weights: TensorCreateInfo,
    weighted: TensorCreateInfo,
    per_row: TensorCreateInfo,
}

#[derive(Clone, Copy)]
struct Sizes {
    batch: u32,
    heads: u32,
    q_tile: u32,
    block_size: u32,
}

/// Heads of one request that go through the graph together.
#[derive(Clone, Copy)]
pub struct HeadTile {
    pub request: u32,
    /// Where they start in the rows of query and output.
    row: u32,
}

/// The four tasks of one block.
pub struct Block<'a> {
    plan: &'a Plan,
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    out: Tensor,
    valid_len: u32,
    is_first: bool,
    is_last: bool,
}

impl Plan {
    pub fn new(args: &EntryArgs) -> Result<Plan, Fatal> {
        let (query, cache) = (args.tensor(case::QUERY)?, args.tensor(case::KEY_CACHE)?);
        let (&[batch, heads, head_dim], &[blocks, block_size, 1, _]) = (query.shape(), cache.shape()) else {
            let (query, cache) = (query.shape(), cache.shape());
            let message = format!("a query of shape {query:?} cannot be put to a cache of shape {cache:?}");
            return Err(Fatal::invalid(message));
        };
        let q_tile = heads.min(case::MAX_Q_TILE);
        if q_tile == 0 || !heads.is_multiple_of(q_tile) || block_size == 0 {
            let message =
                format!("{heads} heads and blocks of {block_size} positions cannot be cut into tiles");
            return Err(Fatal::invalid(message));
        }
        let flat = |index: usize, rows: u32| {
            args.tensor(index)?.reshape(&[rows, head_dim]).map_err(|error| no_view(&error))
        };
        Ok(Plan {
            block_table: *args.tensor(case::BLOCK_TABLE)?,
            context_lens: *args.tensor(case::CONTEXT_LENS)?,
            query: flat(case::QUERY, batch * heads)?,
            keys: flat(case::KEY_CACHE, blocks * block_size)?,
            values: flat(case::VALUE_CACHE, blocks * block_size)?,
            out: flat(case::OUT, batch * heads)?,
            scale: args.scalar(case::SCALE)?,
            sizes: Sizes { batch, heads, q_tile, block_size },
            scores: TensorCreateInfo::new(&[q_tile, block_size], DType::F32)?,
            weights: TensorCreateInfo::new(&[q_tile, block_size], DType::Bf16)?,
            weighted: TensorCreateInfo::new(&[q_tile, head_dim], DType::F32)?,
            per_row: TensorCreateInfo::new(&[q_tile], DType::F32)?,
        })
    }

    /// Every request, and every tile of its heads.
    pub fn head_tiles(&self) -> impl Iterator<Item = HeadTile> + use<> {
        let Sizes { batch, heads, q_tile, .. } = self.sizes;
        (0..batch).flat_map(move |request| {
            (0..heads)
                .step_by(q_tile as usize)
                .map(move |head| HeadTile { request, row: request * heads + head })
        })
    }

    /// The running state of a head tile: values, sums and maxima.
    pub fn state(&self) -> [TensorCreateInfo; 3] {
        [self.weighted, self.per_row, self.per_row]
    }

    /// Blocks that a context of this length fills.
    pub fn blocks(&self, context: u32) -> u32 {
        context.div_ceil(self.sizes.block_size)
    }

    /// The `position`-th block of a request, which is block `cached` of the caches.
    pub fn block(
        &self,
        tile: HeadTile,
        context: u32,
        position: u32,
        cached: u32,
    ) -> Result<Block<'_>, Fatal> {
        let Sizes { q_tile, block_size, .. } = self.sizes;
        let in_cache = cached.saturating_mul(block_size);
        Ok(Block {
            plan: self,
            query: entries(&self.query, tile.row, q_tile)?,
            keys: entries(&self.keys, in_cache, block_size)?,
            values: entries(&self.values, in_cache, block_size)?,
            out: entries(&self.out, tile.row, q_tile)?,
            valid_len: context.saturating_sub(position * block_size).min(block_size),
            is_first: position == 0,
            is_last: position + 1 == self.blocks(context),
        })
    }
}

impl Block<'_> {
    /// Creates the scores.
    pub fn qk(&self) -> Arg {
        Arg::new().input(&self.query).input(&self.keys).create(&self.plan.scores)
    }

    /// Takes what QK created; creates weights, maxima and sums.
    pub fn sf(&self, qk: &TaskOutputs) -> Result<Arg, Fatal> {
        let rows = self.plan.sizes.q_tile;
        let inside = qk.tensor(0)?.view(&[rows, self.valid_len], &[0, 0]).map_err(|error| no_view(&error))?;
        let Plan { weights, per_row, .. } = self.plan;
        Ok(Arg::new().input(&inside).create(weights).create(per_row).create(per_row).scalar(self.plan.scale))
    }

    /// Takes what SF created; creates weighted values.
    pub fn pv(&self, sf: &TaskOutputs) -> Result<Arg, Fatal> {
        Ok(Arg::new().input(sf.tensor(0)?).input(&self.values).create(&self.plan.weighted))
    }

    /// Takes what SF and PV created; changes the state and writes the output.
    pub fn up(&self, sf: &TaskOutputs, pv: &TaskOutputs, state: &TaskOutputs) -> Result<Arg, Fatal> {
        let (o, l, m) = (state.tensor(0)?, state.tensor(1)?, state.tensor(2)?);
        let block = Arg::new().input(sf.tensor(1)?).input(sf.tensor(2)?).input(pv.tensor(0)?);
        let merged = block.inout(m).inout(l).inout(o).inout(&self.out);
        Ok(merged.scalar(self.is_first.into()).scalar(self.is_last.into()))
    }
}

/// An index or a length out of an index tensor.
pub fn index(value: i32) -> Result<u32, Fatal> {
    u32::try_from(value).map_err(|_| Fatal::invalid(format!("{value} in an index tensor is negative")))
}

/// An element of an index tensor in host memory.
pub fn lookup(table: &[i32], at: usize) -> Result<u32, Fatal> {
    let missing = || Fatal::invalid(format!("an index tensor of {} has no element {at}", table.len()));
    table.get(at).copied().ok_or_else(missing).and_then(index)
}

fn no_view(error: &ViewError) -> Fatal {
    Fatal::invalid(error.to_string())
}
