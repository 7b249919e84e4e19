//! `matmul_double_buffered`: one matrix core loads the next tiles of A and B while it multiplies the last.

use super::gemm::{Dims, gemm, tile_add};

/// The sizes of the scene.
pub const DIMS: Dims = Dims { m: 64, k: 512, n: 64 };
/// How much of K one load brings.
pub const K_TILE: usize = 64;

/// The product in the kernel's order: each tile of K is summed on its own from 0, k ascending, and then added
/// to the result. [`gemm_f64`](super::gemm::gemm_f64) gives the same without rounding.
pub fn golden(a: &[f32], b: &[f32], dims: Dims, k_tile: usize) -> Vec<f32> {
    let Dims { m, k, n } = dims;
    assert!(k_tile > 0 && k.is_multiple_of(k_tile), "K of {k} does not divide into tiles of {k_tile}");
    assert_eq!(a.len(), m * k, "left operand against {dims:?}");
    assert_eq!(b.len(), k * n, "right operand against {dims:?}");
    let mut c = vec![0.0; m * n];
    for start in (0..k).step_by(k_tile) {
        let a_tile: Vec<f32> =
            a.chunks_exact(k).flat_map(|row| &row[start..start + k_tile]).copied().collect();
        let b_tile = &b[start * n..][..k_tile * n];
        c = tile_add(&c, &gemm(&a_tile, b_tile, Dims { m, k: k_tile, n }));
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::gemm::gemm_f64;
    use argus_scene::generator::Generator;

    #[test]
    fn each_tile_is_summed_before_it_is_added() {
        // In one go both ones would vanish against 2^24; as a tile of their own they survive.
        let a = [16_777_216.0, 0.0, 1.0, 1.0];
        let dims = Dims { m: 1, k: 4, n: 1 };
        assert_eq!(golden(&a, &[1.0; 4], dims, 2), [16_777_218.0]);
        assert_eq!(golden(&a, &[1.0; 4], dims, 4), [16_777_216.0]);
    }

    #[test]
    fn rows_are_cut_where_the_tiles_are() {
        let dims = Dims { m: 2, k: 2, n: 2 };
        let product = golden(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], dims, 1);
        assert_eq!(product, [19.0, 22.0, 43.0, 50.0]);
    }

    #[test]
    fn the_scene_is_close_to_sums_in_f64() {
        let a = Generator::new("a").normal_vec_f32(DIMS.m * DIMS.k, 1.0);
        let b = Generator::new("b").normal_vec_f32(DIMS.k * DIMS.n, 1.0);
        let c = golden(&a, &b, DIMS, K_TILE);
        let exact = gemm_f64(&a, &b, DIMS);
        assert!(c.iter().zip(&exact).all(|(&x, &y)| (f64::from(x) - y).abs() < 1e-3));
    }
}
