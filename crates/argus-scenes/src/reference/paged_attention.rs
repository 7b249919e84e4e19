//! Paged attention: one query token per request against keys and values kept in blocks.
//!
//! Per block: scores (QK), softmax of the block (SF), weighted values (PV), and a merge with the blocks before
//! (UP). Batch paged attention and the host-built graph cut the same maths into other tasks, so the one
//! [`golden`] serves all of them.

use half::bf16;

use super::gemm::{Dims, gemm};
use crate::inputs::PagedAttentionInputs;
use crate::params::PagedAttention;

/// The least row maximum. It keeps a row without any valid column out of `inf - inf`: its weights become 0.
pub const MIN_ROW_MAX: f32 = -1e30;

/// What a softmax leaves per row: maximum, sum of weights, and weighted values `[rows][head_dim]`.
#[derive(Clone, Copy, Debug)]
pub struct Partial<'a> {
    pub m: &'a [f32],
    pub l: &'a [f32],
    pub o: &'a [f32],
}

/// The weights of one block: `p` is `[rows][block_size]` in bf16 bits, `m` and `l` have one element per row.
#[derive(Clone, Debug, PartialEq)]
pub struct Softmax {
    pub p: Vec<u16>,
    pub m: Vec<f32>,
    pub l: Vec<f32>,
}

/// The running state after a merge; `out` is there after the last block only.
#[derive(Clone, Debug, PartialEq)]
pub struct Updated {
    pub m: Vec<f32>,
    pub l: Vec<f32>,
    pub o: Vec<f32>,
    pub out: Option<Vec<f32>>,
}

/// Kernel QK: `q [rows][head_dim]` times the transpose of `k [block_size][head_dim]`, bf16 bits in, f32 out.
pub fn qk(q: &[u16], k: &[u16], head_dim: usize) -> Vec<f32> {
    scores(&widen(q), &widen(k), head_dim)
}

/// Kernel SF over `s [rows][block_size]`: columns from `valid_len` on have weight 0, the others
/// exp(scale * s - row maximum) rounded to bf16. The sum is that of the rounded weights, left to right. A
/// maximum that is no number leaves no number in its row.
pub fn softmax_prepare(s: &[f32], block_size: usize, valid_len: usize, scale: f32) -> Softmax {
    let weights = softmax(s, block_size, valid_len, scale);
    Softmax {
        p: weights.p.iter().map(|&p| bf16::from_f32(p).to_bits()).collect(),
        m: weights.m,
        l: weights.l,
    }
}

/// Kernel PV: `p [rows][block_size]` times `v [block_size][head_dim]`, bf16 bits in, f32 out.
pub fn pv(p: &[u16], v: &[u16], head_dim: usize) -> Vec<f32> {
    weighted_values(&widen(p), &widen(v), head_dim)
}

/// Kernel UP: merges a block into the running state. The first block replaces the state, which is never read
/// then: it may be uninitialised memory. The last one writes the output instead of the state's values, which
/// stay as they were.
pub fn online_update(block: Partial<'_>, running: Partial<'_>, is_first: bool, is_last: bool) -> Updated {
    let (m, l, o) = if is_first {
        check_rows(block);
        (block.m.to_vec(), block.l.to_vec(), block.o.to_vec())
    } else {
        merge(block, running)
    };
    let out = is_last.then(|| {
        let rows = o.chunks_exact(o.len() / l.len()).zip(&l);
        rows.flat_map(|(row, &l)| row.iter().map(move |&o| o / l)).collect()
    });
    let o = if is_last && !is_first { running.o.to_vec() } else { o };
    Updated { m, l, o, out }
}

/// The whole scene: `[batch][num_heads][head_dim]` in f32. Lengths come from `params`.
///
/// A request is done after its own last block. Kernels that go on to the longest request of a batch meet
/// blocks without valid columns, which change nothing: their weight is 0 and the factor of the rest exactly 1.
pub fn golden(params: &PagedAttention, inputs: &PagedAttentionInputs) -> Vec<f32> {
    let query = widen(&inputs.query);
    let keys = widen(&inputs.key_cache);
    let values = widen(&inputs.value_cache);
    assert_eq!(query.len(), params.query_elements(), "query against {params:?}");
    assert_eq!(keys.len(), params.cache_elements(), "key cache against {params:?}");
    assert_eq!(values.len(), params.cache_elements(), "value cache against {params:?}");
    let table_row = params.max_blocks_per_request();
    assert_eq!(inputs.block_table.len(), params.batch * table_row, "block table against {params:?}");

    let block_elements = params.block_size * params.head_dim;
    let mut out = Vec::with_capacity(query.len());
    for request in 0..params.batch {
        let q = &query[request * params.num_heads * params.head_dim..][..params.num_heads * params.head_dim];
        let mut state = Updated { m: vec![], l: vec![], o: vec![], out: None };
        let blocks = params.blocks_of(request);
        for block in 0..blocks {
            let cache_block = inputs.block_table[request * table_row + block] as usize;
            let k = &keys[cache_block * block_elements..][..block_elements];
            let v = &values[cache_block * block_elements..][..block_elements];
            let s = scores(q, k, params.head_dim);
            let weights = softmax(&s, params.block_size, params.valid_len(request, block), inputs.scale);
            let o = weighted_values(&weights.p, v, params.head_dim);
            let partial = Partial { m: &weights.m, l: &weights.l, o: &o };
            let running = Partial { m: &state.m, l: &state.l, o: &state.o };
            state = online_update(partial, running, block == 0, block + 1 == blocks);
        }
        out.extend(state.out.into_iter().flatten());
    }
    out
}

fn scores(q: &[f32], k: &[f32], head_dim: usize) -> Vec<f32> {
    let block_size = k.len() / head_dim;
    // Transposed once, the product reads whole rows.
    let columns: Vec<f32> =
        (0..head_dim).flat_map(|d| (0..block_size).map(move |position| k[position * head_dim + d])).collect();
    gemm(q, &columns, Dims { m: q.len() / head_dim, k: head_dim, n: block_size })
}

fn weighted_values(p: &[f32], v: &[f32], head_dim: usize) -> Vec<f32> {
    let block_size = v.len() / head_dim;
    gemm(p, v, Dims { m: p.len() / block_size, k: block_size, n: head_dim })
}

/// [`Softmax`] with its weights widened: rounded to bf16, held as f32.
struct WideSoftmax {
    p: Vec<f32>,
    m: Vec<f32>,
    l: Vec<f32>,
}

fn softmax(s: &[f32], block_size: usize, valid_len: usize, scale: f32) -> WideSoftmax {
    assert!(valid_len <= block_size, "{valid_len} valid columns in a block of {block_size}");
    assert!(s.len().is_multiple_of(block_size), "scores are not made of whole rows of {block_size}");
    let rows = s.len() / block_size;
    let mut weights =
        WideSoftmax { p: vec![0.0; s.len()], m: Vec::with_capacity(rows), l: Vec::with_capacity(rows) };
    for (s_row, p_row) in s.chunks_exact(block_size).zip(weights.p.chunks_exact_mut(block_size)) {
        let valid = &s_row[..valid_len];
        let scaled = valid.iter().map(|&s| s * scale);
        let max = scaled.reduce(larger).map_or(MIN_ROW_MAX, |max| larger(max, MIN_ROW_MAX));
        let mut sum = 0.0;
        if max.is_nan() {
            p_row[valid_len..].fill(max);
        }
        for (p, &s) in p_row.iter_mut().zip(valid) {
            *p = bf16::from_f32(exp(s * scale - max)).to_f32();
            sum += *p;
        }
        weights.m.push(max);
        weights.l.push(sum);
    }
    weights
}

/// f64 inside, one rounding at the end: the nearest f32, whatever the library.
fn exp(x: f32) -> f32 {
    f64::from(x).exp() as f32
}

/// The larger of two as the vector unit finds it: a NaN that comes first stays, one that comes second is
/// dropped.
fn larger(first: f32, second: f32) -> f32 {
    if first < second { second } else { first }
}

fn merge(block: Partial<'_>, running: Partial<'_>) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let head_dim = check_rows(block);
    assert_eq!(head_dim, check_rows(running), "block and state differ in head size");
    assert_eq!(block.m.len(), running.m.len(), "block and state differ in rows");
    let rows = block.m.len();
    let (mut m, mut l) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut o = Vec::with_capacity(block.o.len());
    for row in 0..rows {
        let max = larger(running.m[row], block.m[row]);
        let alpha = exp(running.m[row] - max);
        let beta = exp(block.m[row] - max);
        m.push(max);
        l.push(alpha * running.l[row] + beta * block.l[row]);
        let elements = row * head_dim..(row + 1) * head_dim;
        o.extend(
            running.o[elements.clone()].iter().zip(&block.o[elements]).map(|(x, y)| alpha * x + beta * y),
        );
    }
    (m, l, o)
}

/// The head size, which is how many elements of `o` each row has.
fn check_rows(partial: Partial<'_>) -> usize {
    let rows = partial.m.len();
    assert!(rows > 0 && partial.l.len() == rows, "maxima and sums of {rows} and {} rows", partial.l.len());
    assert!(partial.o.len().is_multiple_of(rows), "{} values for {rows} rows", partial.o.len());
    partial.o.len() / rows
}

fn widen(bits: &[u16]) -> Vec<f32> {
    bits.iter().map(|&bits| bf16::from_bits(bits).to_f32()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(values: &[f32]) -> Vec<u16> {
        values.iter().map(|&value| bf16::from_f32(value).to_bits()).collect()
    }

    /// 1/e = 0.36788 as bf16.
    const INVERSE_E: f32 = 47.0 / 128.0;

    #[test]
    fn qk_multiplies_by_the_transpose() {
        let s = qk(&bits(&[1.0, 2.0, 3.0, 4.0]), &bits(&[5.0, 6.0, 7.0, 8.0, 9.0, 10.0]), 2);
        assert_eq!(s, [17.0, 23.0, 29.0, 39.0, 53.0, 67.0]);
    }

    #[test]
    fn softmax_rounds_weights_before_summing_them() {
        let softmax = softmax_prepare(&[1.0, 0.0, 3.0, 4.0], 2, 2, 1.0);
        assert_eq!(softmax.p, bits(&[1.0, INVERSE_E, INVERSE_E, 1.0]));
        assert_eq!(softmax.m, [1.0, 4.0]);
        assert_eq!(softmax.l, [1.0 + INVERSE_E, 1.0 + INVERSE_E]);
    }

    #[test]
    fn softmax_scales_before_taking_the_maximum() {
        let softmax = softmax_prepare(&[4.0, 2.0], 2, 2, 0.5);
        assert_eq!((softmax.m, softmax.p), (vec![2.0], bits(&[1.0, INVERSE_E])));
    }

    #[test]
    fn columns_outside_the_context_do_not_count() {
        let softmax = softmax_prepare(&[1.0, 99.0, 2.0, f32::NAN], 2, 1, 1.0);
        assert_eq!(softmax.p, bits(&[1.0, 0.0, 1.0, 0.0]));
        assert_eq!((softmax.m, softmax.l), (vec![1.0, 2.0], vec![1.0, 1.0]));
    }

    #[test]
    fn a_nan_in_the_first_column_makes_its_row_nan_and_a_later_one_only_its_weight() {
        let none = softmax_prepare(&[f32::NAN, 1.0], 2, 1, 1.0);
        assert!(none.p.iter().all(|&bits| bf16::from_bits(bits).is_nan()), "columns outside the context too");
        let softmax = softmax_prepare(&[f32::NAN, 1.0, 1.0, f32::NAN], 2, 2, 1.0);
        assert!(softmax.m[0].is_nan() && softmax.l[0].is_nan());
        assert_eq!(softmax.m[1], 1.0);
        let nan: Vec<bool> = softmax.p.iter().map(|&bits| bf16::from_bits(bits).is_nan()).collect();
        assert_eq!(nan, [true, true, false, true]);
    }

    #[test]
    fn a_merge_keeps_the_nan_of_the_state_and_drops_that_of_the_block_in_the_maximum() {
        let nan = Partial { m: &[f32::NAN], l: &[1.0], o: &[1.0] };
        let number = Partial { m: &[2.0], l: &[1.0], o: &[1.0] };
        assert!(online_update(number, nan, false, false).m[0].is_nan());
        let updated = online_update(nan, number, false, false);
        assert_eq!(updated.m, [2.0]);
        assert!(updated.l[0].is_nan() && updated.o[0].is_nan());
    }

    #[test]
    fn pv_weighs_values() {
        let o = pv(&bits(&[1.0, 0.5, 0.0, 2.0]), &bits(&[1.0, 2.0, 3.0, 4.0]), 2);
        assert_eq!(o, [2.5, 4.0, 6.0, 8.0]);
    }

    #[test]
    fn the_first_block_replaces_whatever_the_state_held() {
        let block = Partial { m: &[1.0], l: &[2.0], o: &[3.0, 5.0] };
        let garbage = Partial { m: &[f32::NAN], l: &[f32::NAN], o: &[f32::NAN; 2] };
        let updated = online_update(block, garbage, true, false);
        assert_eq!(updated, Updated { m: vec![1.0], l: vec![2.0], o: vec![3.0, 5.0], out: None });
        assert_eq!(online_update(block, garbage, true, true).out, Some(vec![1.5, 2.5]));
    }

    #[test]
    fn later_blocks_are_rescaled_to_the_larger_maximum() {
        let low = Partial { m: &[0.0], l: &[2.0], o: &[4.0] };
        let high = Partial { m: &[1.0], l: &[1.0], o: &[3.0] };
        let factor = (-1.0f32).exp();
        let expected = (vec![1.0], vec![factor * 2.0 + 1.0], vec![factor * 4.0 + 3.0]);
        for (block, running) in [(high, low), (low, high)] {
            let Updated { m, l, o, out } = online_update(block, running, false, false);
            assert_eq!((m, l, o), expected);
            assert_eq!(out, None);
        }
    }

    #[test]
    fn a_block_without_valid_columns_changes_nothing() {
        let empty = softmax_prepare(&[7.0, 8.0], 2, 0, 1.0);
        assert_eq!(empty, Softmax { p: vec![0, 0], m: vec![MIN_ROW_MAX], l: vec![0.0] });
        let nothing = Partial { m: &empty.m, l: &empty.l, o: &[0.0] };
        let running = Partial { m: &[-3.0], l: &[1.7], o: &[0.3] };
        for (block, state) in [(nothing, running), (running, nothing)] {
            let updated = online_update(block, state, false, false);
            assert_eq!((updated.m, updated.l, updated.o), (vec![-3.0], vec![1.7], vec![0.3]));
        }
    }

    /// Two heads of size 2, unit keys, so that the scores are 1 on the diagonal and 0 elsewhere.
    fn two_by_two(block_size: usize) -> (PagedAttention, PagedAttentionInputs) {
        let params = PagedAttention {
            batch: 1,
            num_heads: 2,
            head_dim: 2,
            block_size,
            context_lens: vec![2],
            max_model_len: 2,
        };
        let unit = bits(&[1.0, 0.0, 0.0, 1.0]);
        let inputs = PagedAttentionInputs {
            query: unit.clone(),
            key_cache: unit,
            value_cache: bits(&[1.0, 2.0, 3.0, 4.0]),
            block_table: (0..2 / block_size as i32).collect(),
            context_lens: vec![2],
            scale: 1.0,
        };
        (params, inputs)
    }

    #[test]
    fn one_block_by_hand() {
        // Row 0: weights 1 and 47/128, so (128 * 1 + 47 * 3) / 175 and (128 * 2 + 47 * 4) / 175.
        let (params, inputs) = two_by_two(2);
        let expected: Vec<f32> = [269.0, 444.0, 431.0, 606.0].iter().map(|x| x / 175.0).collect();
        assert_eq!(golden(&params, &inputs), expected);
    }

    #[test]
    fn two_blocks_by_hand() {
        // A block of one position has weight 1; the merge uses 1/e in f32: (1 + 3/e) / (1 + 1/e), ...
        let (params, inputs) = two_by_two(1);
        let e = std::f32::consts::E.recip();
        let expected = [1.0 + 3.0 * e, 2.0 + 4.0 * e, e + 3.0, 2.0 * e + 4.0].map(|o| o / (1.0 + e));
        for (actual, expected) in golden(&params, &inputs).iter().zip(expected) {
            assert!((actual - expected).abs() < 1e-6, "{actual} {expected}");
        }
    }

    #[test]
    fn the_block_table_picks_the_blocks() {
        let (params, mut inputs) = two_by_two(1);
        inputs.block_table = vec![1, 1];
        // Both positions hold the second value.
        assert_eq!(golden(&params, &inputs), [3.0, 4.0, 3.0, 4.0]);
    }

    /// Attention as it is defined, in f64 and without blocks or rounding.
    fn direct(params: &PagedAttention, inputs: &PagedAttentionInputs) -> Vec<f64> {
        let wide = |bits: u16| bf16::from_bits(bits).to_f64();
        let d = params.head_dim;
        let mut out = Vec::new();
        for request in 0..params.batch {
            for head in 0..params.num_heads {
                let q = &inputs.query[(request * params.num_heads + head) * d..][..d];
                let mut weight_sum = 0.0;
                let mut row = vec![0.0; d];
                for position in 0..params.context_lens[request] as usize {
                    let entry = request * params.max_blocks_per_request() + position / params.block_size;
                    let cached =
                        inputs.block_table[entry] as usize * params.block_size + position % params.block_size;
                    let k = &inputs.key_cache[cached * d..][..d];
                    let v = &inputs.value_cache[cached * d..][..d];
                    let weight = q.iter().zip(k).map(|(&x, &y)| wide(x) * wide(y)).sum::<f64>().exp();
                    weight_sum += weight;
                    row.iter_mut().zip(v).for_each(|(sum, &v)| *sum += weight * wide(v));
                }
                out.extend(row.iter().map(|sum| sum / weight_sum));
            }
        }
        out
    }

    #[test]
    fn presets_agree_with_attention_as_defined() {
        for params in [
            PagedAttention::case_small1(),
            PagedAttention::case_small2(),
            PagedAttention::case_var_seq2(),
            PagedAttention::case_var_seq4(),
            PagedAttention::batch_case_small2(),
            PagedAttention { num_heads: 5, head_dim: 24, block_size: 8, ..PagedAttention::case_var_seq4() },
        ] {
            let inputs = PagedAttentionInputs::generate("paged_attention", "test", &params);
            let golden = golden(&params, &inputs);
            assert_eq!(golden.len(), params.query_elements());
            for (&actual, expected) in golden.iter().zip(direct(&params, &inputs)) {
                // bf16 weights are off by at most 1 part in 512.
                assert!((f64::from(actual) - expected).abs() < 4e-3, "{actual} {expected} in {params:?}");
            }
        }
    }
}
