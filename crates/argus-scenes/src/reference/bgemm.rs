//! Blocked matrix multiplication: products of tiles, added tile by tile.
//!
//! Every result starts at 0; each product is summed on its own from 0 and then added, k ascending.

use super::gemm::{Dims, gemm, tile_add};
use crate::params::Bgemm;

/// A grid of square tiles, stored tile after tile: `A[m][k]`, `B[k][n]`, `C[m][n]`, each `[tile][tile]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Tiles in each direction.
    pub tiles: Dims,
    /// Edge of a tile.
    pub tile: usize,
}

impl Grid {
    /// The grid of the host-built `bgemm`.
    pub const HBG: Self = Self { tiles: Dims::square(4), tile: 64 };
}

/// The host-built `bgemm`.
pub fn hbg_golden(a: &[f32], b: &[f32], grid: Grid) -> Vec<f32> {
    let Grid { tiles: Dims { m, k, n }, tile } = grid;
    let elements = tile * tile;
    assert_eq!(a.len(), m * k * elements, "A against {grid:?}");
    assert_eq!(b.len(), k * n * elements, "B against {grid:?}");
    let mut c = Vec::with_capacity(m * n * elements);
    for row in 0..m {
        for column in 0..n {
            let pairs =
                (0..k).map(|step| (tile_at(a, row * k + step, tile), tile_at(b, step * n + column, tile)));
            c.extend(sum_of_products(pairs, tile));
        }
    }
    c
}

/// `benchmark_bgemm`: A and B are `[groups][grid_k][incore_loop][tile][tile]`, C is
/// `[groups][incore_loop][tile][tile]`, and `C[g][l]` sums `A[g][k][l]` times `B[g][k][l]` over k.
pub fn benchmark_golden(params: &Bgemm, a: &[f32], b: &[f32]) -> Vec<f32> {
    assert_eq!(a.len(), params.input_elements(), "A against {params:?}");
    assert_eq!(b.len(), params.input_elements(), "B against {params:?}");
    let mut c = Vec::with_capacity(params.output_elements());
    for group in 0..params.groups() {
        for step in 0..params.incore_loop {
            let pairs = (0..params.grid_k).map(|k| {
                let index = (group * params.grid_k + k) * params.incore_loop + step;
                (tile_at(a, index, params.tile), tile_at(b, index, params.tile))
            });
            c.extend(sum_of_products(pairs, params.tile));
        }
    }
    c
}

fn tile_at(tiles: &[f32], index: usize, tile: usize) -> &[f32] {
    let elements = tile * tile;
    &tiles[index * elements..][..elements]
}

fn sum_of_products<'a>(pairs: impl Iterator<Item = (&'a [f32], &'a [f32])>, tile: usize) -> Vec<f32> {
    pairs.fold(vec![0.0; tile * tile], |sum, (a, b)| tile_add(&sum, &gemm(a, b, Dims::square(tile))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use argus_scene::generator::Generator;

    #[test]
    fn a_grid_of_single_elements_is_a_plain_product() {
        let grid = Grid { tiles: Dims { m: 2, k: 3, n: 2 }, tile: 1 };
        let c = hbg_golden(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[7.0, 8.0, 9.0, 10.0, 11.0, 12.0], grid);
        assert_eq!(c, [58.0, 64.0, 139.0, 154.0]);
    }

    /// Tile-major storage of a row-major square matrix.
    fn to_tiles(matrix: &[f32], edge: usize, tile: usize) -> Vec<f32> {
        let mut tiles = Vec::new();
        for top in (0..edge).step_by(tile) {
            for left in (0..edge).step_by(tile) {
                for row in top..top + tile {
                    tiles.extend_from_slice(&matrix[row * edge + left..][..tile]);
                }
            }
        }
        tiles
    }

    #[test]
    fn tiles_add_up_to_the_whole_product() {
        let edge = 4 * 64;
        let a = Generator::new("a").normal_vec_f32(edge * edge, 0.01);
        let b = Generator::new("b").normal_vec_f32(edge * edge, 0.01);
        let whole = to_tiles(&gemm(&a, &b, Dims::square(edge)), edge, 64);
        let tiled = hbg_golden(&to_tiles(&a, edge, 64), &to_tiles(&b, edge, 64), Grid::HBG);
        assert!(whole.iter().zip(&tiled).all(|(x, y)| (x - y).abs() < 1e-6));
    }

    #[test]
    fn benchmark_groups_and_loops_are_independent() {
        // Single-element tiles: 2 groups, 2 products each, 3 loop steps. A[g][k][l] = 1..12, B = 10, 20, ...
        let params = Bgemm { matmul_add_task_num: 4, tile: 1, incore_loop: 3, grid_k: 2 };
        let a: Vec<f32> = (1..=12).map(|i| i as f32).collect();
        let b: Vec<f32> = (1..=12).map(|i| 10.0 * i as f32).collect();
        // C[0][0] = 1*10 + 4*40, C[0][1] = 2*20 + 5*50, ..., C[1][2] = 9*90 + 12*120.
        assert_eq!(benchmark_golden(&params, &a, &b), [170.0, 290.0, 450.0, 1490.0, 1850.0, 2250.0]);
    }

    #[test]
    fn bgemm64_agrees_with_sums_in_f64() {
        let params = Bgemm::BGEMM64;
        let a = Generator::new("a").normal_vec_f32(params.input_elements(), 0.01);
        let b = Generator::new("b").normal_vec_f32(params.input_elements(), 0.01);
        let c = benchmark_golden(&params, &a, &b);
        assert_eq!(c.len(), params.output_elements());
        // Element (5, 9) of the last group, written out.
        let tile = params.tile;
        let base = (params.groups() - 1) * params.grid_k * tile * tile;
        let mut expected = 0.0f64;
        for k in 0..params.grid_k {
            for inner in 0..tile {
                let x = a[base + k * tile * tile + 5 * tile + inner];
                let y = b[base + k * tile * tile + inner * tile + 9];
                expected += f64::from(x) * f64::from(y);
            }
        }
        let actual = f64::from(c[(params.groups() - 1) * tile * tile + 5 * tile + 9]);
        assert!((actual - expected).abs() < 1e-7, "{actual} {expected}");
    }
}
