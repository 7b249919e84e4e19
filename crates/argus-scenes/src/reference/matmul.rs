//! The `matmul` scene: f = exp(b W1 + b W2) with b = sqrt(ln a), in f16 up to the products.

use half::f16;

use super::gemm::{Dims, gemm};

/// Edge of the square matrices.
pub const EDGE: usize = 128;

/// Every element of `a`: e^4, so that b is 2.
pub fn input_a() -> f16 {
    f16::from_f64(4f64.exp())
}

/// Every element of both weights: 1/256, so that each product is 1.
pub fn input_w() -> f16 {
    f16::from_f64(1.0 / 256.0)
}

/// Kernel: sqrt(ln a) in f16 bits; the kernel has an f16 tile between its two steps, so each step rounds.
pub fn log_sqrt(a: &[u16]) -> Vec<u16> {
    let ln = |bits| f16::from_f64(f16::from_bits(bits).to_f64().ln());
    let sqrt = |x: f16| f16::from_f64(x.to_f64().sqrt());
    a.iter().map(|&bits| sqrt(ln(bits)).to_bits()).collect()
}

/// Kernel: a product of f16 matrices, summed in f32 as [`gemm`] does.
pub fn matmul(a: &[u16], b: &[u16], dims: Dims) -> Vec<f32> {
    gemm(&widen(a), &widen(b), dims)
}

/// Kernel: exp(x + y) in f32.
pub fn add_exp(x: &[f32], y: &[f32]) -> Vec<f32> {
    assert_eq!(x.len(), y.len(), "operands of add_exp differ in length");
    // f64 inside, one rounding at the end: closer to the true value than any f32 implementation has to be.
    x.iter().zip(y).map(|(&x, &y)| f64::from(x + y).exp() as f32).collect()
}

/// The scene: three f16 matrices of [`EDGE`] x [`EDGE`] in, f out.
pub fn golden(a: &[u16], w1: &[u16], w2: &[u16]) -> Vec<f32> {
    let dims = Dims::square(EDGE);
    let b = log_sqrt(a);
    add_exp(&matmul(&b, w1, dims), &matmul(&b, w2, dims))
}

fn widen(bits: &[u16]) -> Vec<f32> {
    bits.iter().map(|&bits| f16::from_bits(bits).to_f32()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(values: &[f32]) -> Vec<u16> {
        values.iter().map(|&value| f16::from_f32(value).to_bits()).collect()
    }

    #[test]
    fn log_sqrt_rounds_after_each_step() {
        // ln 3 = 1.0986123, as f16 1.0986328 (1125/1024). Its root is 1.0481569, as f16 1.0478516
        // (1073/1024).
        assert_eq!(log_sqrt(&bits(&[3.0])), bits(&[1073.0 / 1024.0]));
        assert_eq!(log_sqrt(&bits(&[1.0])), bits(&[0.0]));
        assert!(f16::from_bits(log_sqrt(&bits(&[0.5]))[0]).is_nan());
    }

    #[test]
    fn products_of_f16_are_not_rounded_to_f16() {
        // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20, far finer than f16.
        let x = 1.0 + 2.0f32.powi(-10);
        let product = matmul(&bits(&[x]), &bits(&[x]), Dims::square(1));
        assert_eq!(product, [1.0 + 2.0f32.powi(-9) + 2.0f32.powi(-20)]);
    }

    #[test]
    fn add_exp_by_hand() {
        assert_eq!(add_exp(&[1.0, 0.0], &[-1.0, 1.0]), [1.0, std::f32::consts::E]);
    }

    #[test]
    fn the_scene_gives_e_squared() {
        let elements = EDGE * EDGE;
        let a = vec![input_a().to_bits(); elements];
        let w = vec![input_w().to_bits(); elements];
        let f = golden(&a, &w, &w);
        assert_eq!(f.len(), elements);
        assert!(f.iter().all(|&value| value == 2f64.exp() as f32), "{}", f[0]);
    }
}
