//! `mixed_example`: five tasks per iteration, one for each way to combine a matrix core and vector cores.

use super::gemm::{Dims, gemm};
use super::vector::{add, mul};

/// Edge of the square matrices.
pub const EDGE: usize = 128;

/// One or more iterations, one after the other in every slice.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Left matrices, `[iterations][EDGE][EDGE]`.
    pub a: &'a [f32],
    /// Right matrices.
    pub b: &'a [f32],
    /// Summands.
    pub d: &'a [f32],
    pub e: &'a [f32],
    /// Factors.
    pub g: &'a [f32],
    pub h: &'a [f32],
}

/// The outputs under the names of the scene, laid out as the inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    matmul: Vec<f32>,
    sum: Vec<f32>,
    product: Vec<f32>,
}

impl Outputs {
    /// Every output by name. Three computations, nine buffers:
    ///
    /// | task | outputs |
    /// |---|---|
    /// | matrix core and two vector cores | C = A B, F = D + E, I = G * H |
    /// | matrix core | J = A B |
    /// | vector core | K = D + E |
    /// | two vector cores | L = D + E, M = G * H |
    /// | matrix core and vector core | N = A B, O = D + E |
    pub fn named(&self) -> [(&'static str, &[f32]); 9] {
        [
            ("C", &self.matmul),
            ("F", &self.sum),
            ("I", &self.product),
            ("J", &self.matmul),
            ("K", &self.sum),
            ("L", &self.sum),
            ("M", &self.product),
            ("N", &self.matmul),
            ("O", &self.sum),
        ]
    }
}

pub fn golden(inputs: &Inputs<'_>) -> Outputs {
    let elements = EDGE * EDGE;
    assert_eq!(inputs.a.len(), inputs.b.len(), "A and B differ in length");
    assert!(inputs.a.len().is_multiple_of(elements), "A is not made of whole {EDGE} x {EDGE} matrices");
    let pairs = inputs.a.chunks_exact(elements).zip(inputs.b.chunks_exact(elements));
    Outputs {
        matmul: pairs.flat_map(|(a, b)| gemm(a, b, Dims::square(EDGE))).collect(),
        sum: add(inputs.d, inputs.e),
        product: mul(inputs.g, inputs.h),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_output_holds_its_computation_for_every_iteration() {
        let elements = EDGE * EDGE;
        let filled = |first: f32, second: f32| [vec![first; elements], vec![second; elements]].concat();
        let (a, b) = (filled(0.5, 1.0), filled(2.0, 3.0));
        let (d, e) = (filled(1.0, 2.0), filled(10.0, 20.0));
        let (g, h) = (filled(3.0, 4.0), filled(5.0, 6.0));
        let outputs = golden(&Inputs { a: &a, b: &b, d: &d, e: &e, g: &g, h: &h });
        for (name, values) in outputs.named() {
            let expected = match name {
                "C" | "J" | "N" => filled(128.0, 384.0),
                "F" | "K" | "L" | "O" => filled(11.0, 22.0),
                "I" | "M" => filled(15.0, 24.0),
                other => panic!("unknown output {other}"),
            };
            assert_eq!(values, expected, "{name}");
        }
    }
}
