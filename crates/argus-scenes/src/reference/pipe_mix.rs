//! `pipe_mix`: a matrix core hands its product to two vector cores, which add a bias.

use super::gemm::{Dims, gemm};
use super::vector::add;

/// C = A B + bias, with a bias of the size of C. The first vector core stores the upper half of the rows, the
/// second the lower half.
pub fn golden(a: &[f32], b: &[f32], bias: &[f32], dims: Dims) -> Vec<f32> {
    assert!(dims.m.is_multiple_of(2), "{} rows have no two equal halves", dims.m);
    add(&gemm(a, b, dims), bias)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bias_is_added_to_the_product() {
        let dims = Dims { m: 2, k: 1, n: 2 };
        let c = golden(&[1.0, 2.0], &[3.0, 4.0], &[0.5, 0.25, -6.0, 10.0], dims);
        assert_eq!(c, [3.5, 4.25, 0.0, 18.0]);
    }

    #[test]
    #[should_panic(expected = "no two equal halves")]
    fn rows_must_halve() {
        golden(&[1.0], &[1.0], &[1.0], Dims::square(1));
    }
}
