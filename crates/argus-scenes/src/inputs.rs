//! Inputs of the scenes, the same bits on every machine.

use argus_scene::generator::Generator;

use crate::params::PagedAttention;

/// The host arguments of a paged attention case, in argument order (the output is left out).
#[derive(Clone, Debug)]
pub struct PagedAttentionInputs {
    /// `[batch][num_heads][head_dim]`, bf16 bits.
    pub query: Vec<u16>,
    /// `[total_blocks][block_size][head_dim]`, bf16 bits.
    pub key_cache: Vec<u16>,
    /// As `key_cache`.
    pub value_cache: Vec<u16>,
    /// `[batch][max_blocks_per_request]`: which cache block holds the n-th block of a request.
    pub block_table: Vec<i32>,
    /// `[batch]`.
    pub context_lens: Vec<i32>,
    pub scale: f32,
}

impl PagedAttentionInputs {
    /// The inputs of one case. Requests may share cache blocks: the table is drawn with repetition.
    pub fn generate(scene: &str, case: &str, params: &PagedAttention) -> Self {
        let generator = |argument| Generator::for_argument(scene, case, argument);
        let cache = params.cache_elements();
        Self {
            query: generator("query").uniform_vec_bf16(params.query_elements(), -0.5, 0.5),
            key_cache: generator("key_cache").uniform_vec_bf16(cache, -0.5, 0.5),
            value_cache: generator("value_cache").uniform_vec_bf16(cache, -1.0, 1.0),
            block_table: generator("block_table")
                .below_vec_i32(params.batch * params.max_blocks_per_request(), params.total_blocks() as u32),
            context_lens: params.context_lens.iter().map(|&len| len as i32).collect(),
            scale: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paged_attention_inputs_have_the_shapes_of_the_case() {
        let params = PagedAttention::case_var_seq2();
        let inputs = PagedAttentionInputs::generate("paged_attention", "CaseVarSeq2", &params);
        assert_eq!(inputs.query.len(), 2 * 16 * 16);
        assert_eq!(inputs.key_cache.len(), 6 * 16 * 16);
        assert_eq!(inputs.value_cache.len(), 6 * 16 * 16);
        assert_eq!(inputs.block_table.len(), 2 * 16);
        assert!(inputs.block_table.iter().all(|&block| (0..6).contains(&block)));
        assert_eq!(inputs.context_lens, [33, 17]);
        assert_ne!(inputs.key_cache, inputs.value_cache);
    }
}
