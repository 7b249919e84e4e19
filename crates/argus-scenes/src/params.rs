//! The parameters of cases as plain data, and the presets.

use thiserror::Error;

/// Why a set of parameters describes no case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParamsError {
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    #[error("{given} context lengths for a batch of {batch}")]
    ContextCount { given: usize, batch: usize },
    #[error("context length {context} of request {request} is outside 1..={max}")]
    ContextLength { request: usize, context: u32, max: usize },
    #[error("{num_heads} heads do not divide into query tiles of {q_tile}")]
    HeadTiles { num_heads: usize, q_tile: usize },
    #[error("{blocks} cache blocks exceed the int32 entries of a block table")]
    TooManyBlocks { blocks: usize },
    #[error("{tasks} matmul-add pairs do not divide into groups of {grid_k}")]
    Groups { tasks: usize, grid_k: usize },
}

/// Head rows one task works on at most.
const MAX_Q_TILE: usize = 128;

/// A paged attention case with one key/value head, bf16 inputs and an f32 output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagedAttention {
    pub batch: usize,
    pub num_heads: usize,
    pub head_dim: usize,
    /// Positions per cache block.
    pub block_size: usize,
    /// One length per request.
    pub context_lens: Vec<u32>,
    pub max_model_len: usize,
}

impl PagedAttention {
    pub fn case_small1() -> Self {
        Self::small(vec![33])
    }

    pub fn case_small2() -> Self {
        Self::small(vec![128])
    }

    pub fn case_var_seq2() -> Self {
        Self::small(vec![33, 17])
    }

    pub fn case_var_seq4() -> Self {
        Self::small(vec![33, 64, 128, 15])
    }

    /// `small1` of the host-built graph.
    pub fn hbg_small1() -> Self {
        Self::small(vec![16])
    }

    /// `small2` of the host-built graph.
    pub fn hbg_small2() -> Self {
        Self::small(vec![64])
    }

    /// `CaseSmall1` of batch paged attention.
    pub fn batch_case_small1() -> Self {
        Self::case_small1()
    }

    /// `CaseSmall2` of batch paged attention; not the same as [`case_small2`](Self::case_small2).
    pub fn batch_case_small2() -> Self {
        Self::small(vec![31])
    }

    /// `CaseSmall3` of batch paged attention.
    pub fn batch_case_small3() -> Self {
        Self::case_small2()
    }

    /// Enough requests and blocks to keep a whole chip busy, at the sizes of `CaseSmall2`.
    pub fn large() -> Self {
        Self::small(vec![256; 256])
    }

    /// The sizes all presets share: 16 heads of 16, blocks of 16 positions, models of at most 256.
    fn small(context_lens: Vec<u32>) -> Self {
        Self {
            batch: context_lens.len(),
            num_heads: 16,
            head_dim: 16,
            block_size: 16,
            context_lens,
            max_model_len: 256,
        }
    }

    /// Checks what the derived values and the references rely on.
    pub fn validate(&self) -> Result<(), ParamsError> {
        for (name, value) in [
            ("batch", self.batch),
            ("num_heads", self.num_heads),
            ("head_dim", self.head_dim),
            ("block_size", self.block_size),
        ] {
            if value == 0 {
                return Err(ParamsError::Zero(name));
            }
        }
        if self.context_lens.len() != self.batch {
            return Err(ParamsError::ContextCount { given: self.context_lens.len(), batch: self.batch });
        }
        // A block table row has room for whole blocks only.
        let max = self.max_blocks_per_request() * self.block_size;
        for (request, &context) in self.context_lens.iter().enumerate() {
            if context == 0 || context as usize > max {
                return Err(ParamsError::ContextLength { request, context, max });
            }
        }
        if !self.num_heads.is_multiple_of(self.q_tile()) {
            return Err(ParamsError::HeadTiles { num_heads: self.num_heads, q_tile: self.q_tile() });
        }
        if i32::try_from(self.total_blocks()).is_err() {
            return Err(ParamsError::TooManyBlocks { blocks: self.total_blocks() });
        }
        Ok(())
    }

    /// Head rows of one task.
    pub fn q_tile(&self) -> usize {
        self.num_heads.min(MAX_Q_TILE)
    }

    /// Blocks that hold the context of one request.
    pub fn blocks_of(&self, request: usize) -> usize {
        (self.context_lens[request] as usize).div_ceil(self.block_size)
    }

    /// Positions of a request's `block`-th block that are inside its context; 0 past the last block.
    pub fn valid_len(&self, request: usize, block: usize) -> usize {
        (self.context_lens[request] as usize).saturating_sub(block * self.block_size).min(self.block_size)
    }

    /// Blocks of the longest request.
    pub fn max_blocks_in_use(&self) -> usize {
        (0..self.context_lens.len()).map(|request| self.blocks_of(request)).max().unwrap_or(0)
    }

    /// Entries of one row of the block table.
    pub fn max_blocks_per_request(&self) -> usize {
        self.max_model_len / self.block_size
    }

    /// Blocks in the key cache, and in the value cache.
    pub fn total_blocks(&self) -> usize {
        self.batch * self.max_blocks_in_use()
    }

    /// Elements of the query, and of the output.
    pub fn query_elements(&self) -> usize {
        self.batch * self.num_heads * self.head_dim
    }

    /// Elements of the key cache, and of the value cache.
    pub fn cache_elements(&self) -> usize {
        self.total_blocks() * self.block_size * self.head_dim
    }
}

/// A case of the blocked matrix multiplication benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bgemm {
    /// Pairs of one matmul task and one add task.
    pub matmul_add_task_num: usize,
    /// Edge of a square tile (`incore_data_size`).
    pub tile: usize,
    /// Tiles one task works through.
    pub incore_loop: usize,
    /// Products added into one result.
    pub grid_k: usize,
}

impl Bgemm {
    pub const CASE0: Self = Self { matmul_add_task_num: 500, tile: 128, incore_loop: 4, grid_k: 2 };
    pub const BGEMM64: Self = Self { matmul_add_task_num: 32, tile: 64, incore_loop: 1, grid_k: 4 };

    /// Checks what the derived values and the references rely on.
    pub fn validate(&self) -> Result<(), ParamsError> {
        for (name, value) in [
            ("matmul_add_task_num", self.matmul_add_task_num),
            ("incore_data_size", self.tile),
            ("incore_loop", self.incore_loop),
            ("grid_k", self.grid_k),
        ] {
            if value == 0 {
                return Err(ParamsError::Zero(name));
            }
        }
        if !self.matmul_add_task_num.is_multiple_of(self.grid_k) {
            return Err(ParamsError::Groups { tasks: self.matmul_add_task_num, grid_k: self.grid_k });
        }
        Ok(())
    }

    /// Independent results.
    pub fn groups(&self) -> usize {
        self.matmul_add_task_num / self.grid_k
    }

    /// Submitted tasks: each pair is a matmul and an add.
    pub fn tasks(&self) -> usize {
        self.groups() * self.grid_k * 2
    }

    /// Elements one task reads of A, of B, or writes of C: `[incore_loop][tile][tile]`.
    pub fn task_elements(&self) -> usize {
        self.incore_loop * self.tile * self.tile
    }

    /// Elements of A, and of B: `[groups][grid_k]` times the elements of a task.
    pub fn input_elements(&self) -> usize {
        self.groups() * self.grid_k * self.task_elements()
    }

    /// Elements of C: `[groups]` times the elements of a task.
    pub fn output_elements(&self) -> usize {
        self.groups() * self.task_elements()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paged_attention_presets_are_valid_and_distinct_where_names_collide() {
        let presets = [
            PagedAttention::case_small1(),
            PagedAttention::case_small2(),
            PagedAttention::case_var_seq2(),
            PagedAttention::case_var_seq4(),
            PagedAttention::hbg_small1(),
            PagedAttention::hbg_small2(),
            PagedAttention::batch_case_small1(),
            PagedAttention::batch_case_small2(),
            PagedAttention::batch_case_small3(),
            PagedAttention::large(),
        ];
        for preset in presets {
            assert_eq!(preset.validate(), Ok(()), "{preset:?}");
        }
        assert_ne!(PagedAttention::case_small2(), PagedAttention::batch_case_small2());
    }

    #[test]
    fn case_small1_has_three_blocks_the_last_with_one_position() {
        let case = PagedAttention::case_small1();
        assert_eq!((case.q_tile(), case.blocks_of(0), case.total_blocks()), (16, 3, 3));
        assert_eq!(case.max_blocks_per_request(), 16);
        assert_eq!([0, 1, 2, 3].map(|block| case.valid_len(0, block)), [16, 16, 1, 0]);
    }

    #[test]
    fn caches_have_room_for_every_request_at_the_length_of_the_longest() {
        let case = PagedAttention::case_var_seq4();
        assert_eq!([0, 1, 2, 3].map(|request| case.blocks_of(request)), [3, 4, 8, 1]);
        assert_eq!(case.total_blocks(), 4 * 8);
        assert_eq!(case.cache_elements(), 32 * 16 * 16);
        assert_eq!(case.query_elements(), 4 * 16 * 16);
    }

    #[test]
    fn large_is_256_requests_of_16_blocks() {
        let case = PagedAttention::large();
        assert_eq!((case.batch, case.blocks_of(255), case.total_blocks()), (256, 16, 4096));
    }

    #[test]
    fn many_heads_are_cut_into_tiles_of_128() {
        let case = PagedAttention { num_heads: 256, ..PagedAttention::case_small1() };
        assert_eq!(case.q_tile(), 128);
        assert_eq!(case.validate(), Ok(()));
        let uneven = PagedAttention { num_heads: 200, ..case };
        assert_eq!(uneven.validate(), Err(ParamsError::HeadTiles { num_heads: 200, q_tile: 128 }));
    }

    #[test]
    fn impossible_cases_are_named() {
        let case = PagedAttention::case_small1();
        let no_blocks = PagedAttention { block_size: 0, ..case.clone() };
        assert_eq!(no_blocks.validate(), Err(ParamsError::Zero("block_size")));
        let two_for_one = PagedAttention { context_lens: vec![1, 2], ..case.clone() };
        assert_eq!(two_for_one.validate(), Err(ParamsError::ContextCount { given: 2, batch: 1 }));
        for context in [0, 257] {
            let outside = PagedAttention { context_lens: vec![context], ..case.clone() };
            assert_eq!(outside.validate(), Err(ParamsError::ContextLength { request: 0, context, max: 256 }));
        }
        let uneven = Bgemm { grid_k: 3, ..Bgemm::CASE0 };
        assert_eq!(uneven.validate(), Err(ParamsError::Groups { tasks: 500, grid_k: 3 }));
        assert_eq!(Bgemm { tile: 0, ..Bgemm::CASE0 }.validate(), Err(ParamsError::Zero("incore_data_size")));
    }

    #[test]
    fn bgemm_presets_have_the_published_task_counts() {
        assert_eq!(Bgemm::CASE0.validate(), Ok(()));
        assert_eq!(Bgemm::BGEMM64.validate(), Ok(()));
        assert_eq!((Bgemm::CASE0.groups(), Bgemm::CASE0.tasks()), (250, 1000));
        assert_eq!((Bgemm::BGEMM64.groups(), Bgemm::BGEMM64.tasks()), (8, 64));
        assert_eq!(Bgemm::BGEMM64.input_elements(), 32 * 64 * 64);
        assert_eq!(Bgemm::BGEMM64.output_elements(), 8 * 64 * 64);
    }
}
