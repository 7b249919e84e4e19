//! The contiguous pieces of a strided view, in logical order.

use crate::dtype::DType;
use crate::tensor::{MAX_DIMS, Tensor};

/// Iterates over the pieces of a view: element offsets from the buffer's base, each the start of
/// [`Runs::run_len`] neighbouring elements. Concatenated, the pieces are the view in row-major order.
#[derive(Clone, Debug)]
pub struct Runs {
    shape: [u32; MAX_DIMS],
    strides: [u32; MAX_DIMS],
    index: [u32; MAX_DIMS],
    outer: usize,
    offset: u64,
    run_len: u64,
    left: u64,
}

impl Tensor {
    /// The view's contiguous pieces. Inner dimensions that lie next to each other are one piece.
    pub fn runs(&self) -> Runs {
        let mut outer = self.rank();
        let mut run_len = 1u64;
        while outer > 0 {
            let (dim, stride) = (self.shapes[outer - 1], self.strides[outer - 1]);
            if dim != 1 && u64::from(stride) != run_len {
                break;
            }
            run_len *= u64::from(dim);
            outer -= 1;
        }
        let left = if self.is_empty() {
            0
        } else {
            self.shapes[..outer].iter().map(|&dim| u64::from(dim)).product()
        };
        Runs {
            shape: self.shapes,
            strides: self.strides,
            index: [0; MAX_DIMS],
            outer,
            offset: self.start_offset,
            run_len,
            left,
        }
    }

    /// The contiguous pieces in bytes: the length of each, and their addresses in logical order. `None` for
    /// elements of half a byte that start or end inside one, and for numbers that no address space has.
    pub fn byte_runs(&self) -> Option<(u64, impl Iterator<Item = u64>)> {
        if !self.has_whole_bytes() {
            return None;
        }
        let (base, bits) = (self.addr, u64::from(self.dtype()?.bits()));
        let runs = self.runs();
        let length = runs.run_len().checked_mul(bits)? / 8;
        Some((length, runs.map(move |element| base.wrapping_add(element.wrapping_mul(bits) / 8))))
    }

    /// Whether every contiguous piece starts and ends at a byte. Only elements of half a byte may not.
    pub fn has_whole_bytes(&self) -> bool {
        if self.dtype() != Some(DType::Fp4E2M1) {
            return true;
        }
        // Strides matter only outside a piece and where there is a second index.
        let run_len = self.runs().run_len();
        let mut inside = 1;
        let mut even_steps = true;
        for (&dim, &stride) in self.shape().iter().zip(self.stride()).rev() {
            if inside < run_len {
                inside *= u64::from(dim);
            } else if dim > 1 {
                even_steps &= stride % 2 == 0;
            }
        }
        even_steps && run_len.is_multiple_of(2) && self.start_offset.is_multiple_of(2)
    }
}

impl Runs {
    /// Elements in each piece.
    pub fn run_len(&self) -> u64 {
        self.run_len
    }
}

impl Iterator for Runs {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let here = self.offset;
        // An odometer: advance the innermost outer dimension, carry where it overflows.
        for dim in (0..self.outer).rev() {
            self.index[dim] += 1;
            self.offset += u64::from(self.strides[dim]);
            if self.index[dim] < self.shape[dim] {
                break;
            }
            self.offset -= u64::from(self.strides[dim]) * u64::from(self.shape[dim]);
            self.index[dim] = 0;
        }
        Some(here)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        (left, usize::try_from(self.left).ok())
    }
}
