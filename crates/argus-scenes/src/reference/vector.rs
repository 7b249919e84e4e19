//! The vector kernels and the scenes made of them.

/// Elementwise `a + b`.
pub fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    zip_with(a, b, |x, y| x + y)
}

/// Elementwise `a + scalar`.
pub fn add_scalar(a: &[f32], scalar: f32) -> Vec<f32> {
    a.iter().map(|x| x + scalar).collect()
}

/// Elementwise `a * b`.
pub fn mul(a: &[f32], b: &[f32]) -> Vec<f32> {
    zip_with(a, b, |x, y| x * y)
}

/// `vector_example` with a tensor map: f = (a+b+1)(a+b+2) + (a+b).
pub fn trb_golden(a: &[f32], b: &[f32]) -> Vec<f32> {
    add(&hbg_golden(a, b), &add(a, b))
}

/// `vector_example` as a host-built graph: f = (a+b+1)(a+b+2).
pub fn hbg_golden(a: &[f32], b: &[f32]) -> Vec<f32> {
    let sum = add(a, b);
    mul(&add_scalar(&sum, 1.0), &add_scalar(&sum, 2.0))
}

/// `dump_tensor_example`: f = (a+b) + 1.
pub fn dump_tensor_golden(a: &[f32], b: &[f32]) -> Vec<f32> {
    add_scalar(&add(a, b), 1.0)
}

fn zip_with(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    assert_eq!(a.len(), b.len(), "operands of an elementwise kernel differ in length");
    a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_work_element_by_element() {
        assert_eq!(add(&[1.0, 2.0], &[10.0, 20.0]), [11.0, 22.0]);
        assert_eq!(add_scalar(&[1.0, -2.0], 0.5), [1.5, -1.5]);
        assert_eq!(mul(&[3.0, -2.0], &[10.0, 4.0]), [30.0, -8.0]);
    }

    #[test]
    fn scenes_give_the_published_constants() {
        assert_eq!(trb_golden(&[2.0], &[3.0]), [47.0]);
        assert_eq!(hbg_golden(&[2.0], &[3.0]), [42.0]);
        assert_eq!(dump_tensor_golden(&[2.0], &[3.0]), [6.0]);
    }

    #[test]
    #[should_panic(expected = "differ in length")]
    fn operands_must_match() {
        add(&[1.0], &[1.0, 2.0]);
    }
}
