//! Products of row-major matrices: the base of every scene with a matrix core.

use multiversion::multiversion;

pub use super::vector::add as tile_add;

/// Sizes of a product: `[m x k] * [k x n] -> [m x n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims {
    pub m: usize,
    pub k: usize,
    pub n: usize,
}

impl Dims {
    /// A product of two square matrices.
    pub const fn square(edge: usize) -> Self {
        Self { m: edge, k: edge, n: edge }
    }
}

/// The product in f32: every element starts at 0 and adds its products with k ascending, each product added
/// before it is rounded.
pub fn gemm(a: &[f32], b: &[f32], dims: Dims) -> Vec<f32> {
    check(a, b, dims);
    let mut c = vec![0.0; dims.m * dims.n];
    // Whole rows of B at a time: same order of additions for every element, and the inner loop vectorises.
    for (a_row, c_row) in a.chunks_exact(dims.k).zip(c.chunks_exact_mut(dims.n)) {
        for (&x, b_row) in a_row.iter().zip(b.chunks_exact(dims.n)) {
            add_scaled(c_row, x, b_row);
        }
    }
    c
}

/// `sums += x * row`, rounded once each. Where the CPU has no such instruction the same bits come from a call.
#[multiversion(targets("x86_64+avx2+fma"))]
fn add_scaled(sums: &mut [f32], x: f32, row: &[f32]) {
    for (sum, &y) in sums.iter_mut().zip(row) {
        *sum = x.mul_add(y, *sum);
    }
}

/// The product with sums in f64: what [`gemm`] would give if additions did not round.
pub fn gemm_f64(a: &[f32], b: &[f32], dims: Dims) -> Vec<f64> {
    check(a, b, dims);
    let mut c = Vec::with_capacity(dims.m * dims.n);
    for a_row in a.chunks_exact(dims.k) {
        for column in 0..dims.n {
            let terms =
                a_row.iter().enumerate().map(|(k, &x)| f64::from(x) * f64::from(b[k * dims.n + column]));
            c.push(terms.sum());
        }
    }
    c
}

fn check(a: &[f32], b: &[f32], dims: Dims) {
    assert!(dims.m > 0 && dims.k > 0 && dims.n > 0, "a product needs sizes of at least 1, not {dims:?}");
    assert_eq!(a.len(), dims.m * dims.k, "left operand against {dims:?}");
    assert_eq!(b.len(), dims.k * dims.n, "right operand against {dims:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMS: Dims = Dims { m: 2, k: 3, n: 2 };
    const A: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    const B: [f32; 6] = [7.0, 8.0, 9.0, 10.0, 11.0, 12.0];

    #[test]
    fn a_product_by_hand() {
        assert_eq!(gemm(&A, &B, DIMS), [58.0, 64.0, 139.0, 154.0]);
        assert_eq!(gemm_f64(&A, &B, DIMS), [58.0, 64.0, 139.0, 154.0]);
    }

    #[test]
    fn f32_sums_round_in_ascending_k_and_f64_sums_do_not() {
        // 2^24 + 1 is no f32: added first to last the ones vanish, added last to first they would not.
        let a = [16_777_216.0, 1.0, 1.0];
        let ones = [1.0; 3];
        let dims = Dims { m: 1, k: 3, n: 1 };
        assert_eq!(gemm(&a, &ones, dims), [16_777_216.0]);
        assert_eq!(gemm_f64(&a, &ones, dims), [16_777_218.0]);
    }

    #[test]
    fn products_are_added_before_they_are_rounded() {
        // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24; rounded on its own the product would lose the last term.
        let x = 1.0 + 2.0f32.powi(-12);
        let dims = Dims { m: 1, k: 2, n: 1 };
        assert_eq!(gemm(&[-1.0, x], &[1.0, x], dims), [2.0f32.powi(-11) + 2.0f32.powi(-24)]);
    }

    #[test]
    #[should_panic(expected = "left operand")]
    fn operands_must_have_the_stated_sizes() {
        gemm(&A[..5], &B, DIMS);
    }

    #[test]
    fn tiles_are_added_element_by_element() {
        assert_eq!(tile_add(&[1.0, 2.0], &[3.0, 5.0]), [4.0, 7.0]);
    }
}
