//! Views of tensors: every way of looking at part of a buffer, with checked arithmetic.
//!
//! A view never moves data. It inherits buffer, owner and version from its parent; `manual_dep` is reset,
//! as in the reference.

use core::fmt;

use crate::tensor::{MAX_DIMS, Tensor, checked_numel, row_major_strides};

/// Why a view cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewError {
    /// A rank outside 1..=5.
    Rank { got: usize },
    /// Shape, offsets or order have another length than the tensor has dimensions.
    RankMismatch { got: usize, expected: usize },
    /// The view would leave its parent in this dimension.
    OutOfRange { dim: usize, end: u64, limit: u32 },
    /// A dimension number that the tensor does not have.
    NoSuchDim { dim: usize, ndims: usize },
    /// A slice step of zero.
    ZeroStep,
    /// A slice that starts after its end.
    Reversed { start: u32, end: u32 },
    /// `permute` was not given each dimension exactly once.
    NotAPermutation,
    /// `reshape` of a view whose elements do not lie next to each other.
    NotContiguous,
    /// `reshape` to another number of elements.
    NumelMismatch { from: u64, to: u64 },
    /// A size, stride or offset that the descriptor's fields cannot hold.
    TooLarge,
    /// The descriptor's dtype number is unknown.
    UnknownDType,
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewError::Rank { got } => write!(f, "a tensor has 1 to {MAX_DIMS} dimensions, not {got}"),
            ViewError::RankMismatch { got, expected } => {
                write!(f, "{got} values given for a tensor of {expected} dimensions")
            }
            ViewError::OutOfRange { dim, end, limit } => {
                write!(f, "the view ends at {end} in dimension {dim}, which has only {limit} elements")
            }
            ViewError::NoSuchDim { dim, ndims } => {
                write!(f, "there is no dimension {dim} in a tensor of {ndims} dimensions")
            }
            ViewError::ZeroStep => write!(f, "a slice step must be at least 1"),
            ViewError::Reversed { start, end } => write!(f, "the slice {start}:{end} starts behind its end"),
            ViewError::NotAPermutation => write!(f, "the order must name each dimension exactly once"),
            ViewError::NotContiguous => {
                write!(f, "only a contiguous view can be reshaped; copy it to a new tensor first")
            }
            ViewError::NumelMismatch { from, to } => {
                write!(f, "a view of {from} elements cannot be reshaped to {to} elements")
            }
            ViewError::TooLarge => write!(f, "a size or stride exceeds what a tensor descriptor can hold"),
            ViewError::UnknownDType => write!(f, "the tensor's dtype number is unknown"),
        }
    }
}

impl core::error::Error for ViewError {}

impl Tensor {
    /// The box of `shape` elements that starts at `offsets`.
    ///
    /// A box without elements is allowed anywhere; its offsets are ignored.
    pub fn view(&self, shape: &[u32], offsets: &[u32]) -> Result<Tensor, ViewError> {
        self.expect_rank(shape.len())?;
        self.expect_rank(offsets.len())?;
        let mut view = *self;
        view.shapes[..shape.len()].copy_from_slice(shape);
        if !shape.contains(&0) {
            for (dim, (&len, &offset)) in shape.iter().zip(offsets).enumerate() {
                let end = u64::from(offset) + u64::from(len);
                if end > u64::from(self.shapes[dim]) {
                    return Err(ViewError::OutOfRange { dim, end, limit: self.shapes[dim] });
                }
                view.advance(offset, self.strides[dim])?;
            }
        }
        view.finish()
    }

    /// The same elements in the same order under another shape.
    pub fn reshape(&self, shape: &[u32]) -> Result<Tensor, ViewError> {
        let strides = row_major_strides(shape)?;
        let (from, to) = (self.numel(), checked_numel(shape)?);
        if from != to {
            return Err(ViewError::NumelMismatch { from, to });
        }
        if !self.is_dense() {
            return Err(ViewError::NotContiguous);
        }
        let mut view = *self;
        view.ndims = shape.len() as u32;
        view.shapes[..shape.len()].copy_from_slice(shape);
        view.strides = strides;
        view.finish()
    }

    /// Two dimensions exchanged.
    pub fn transpose(&self, a: usize, b: usize) -> Result<Tensor, ViewError> {
        self.expect_dim(a)?;
        self.expect_dim(b)?;
        let mut view = *self;
        view.shapes.swap(a, b);
        view.strides.swap(a, b);
        view.finish()
    }

    /// Dimensions in another order: dimension `i` of the result is dimension `order[i]` of this tensor.
    pub fn permute(&self, order: &[usize]) -> Result<Tensor, ViewError> {
        self.expect_rank(order.len())?;
        let mut seen = [false; MAX_DIMS];
        let mut view = *self;
        for (to, &from) in order.iter().enumerate() {
            self.expect_dim(from)?;
            if core::mem::replace(&mut seen[from], true) {
                return Err(ViewError::NotAPermutation);
            }
            view.shapes[to] = self.shapes[from];
            view.strides[to] = self.strides[from];
        }
        view.finish()
    }

    /// Every `step`-th element of `start..end` in one dimension.
    pub fn slice(&self, dim: usize, start: u32, end: u32, step: u32) -> Result<Tensor, ViewError> {
        self.expect_dim(dim)?;
        if step == 0 {
            return Err(ViewError::ZeroStep);
        }
        if start > end {
            return Err(ViewError::Reversed { start, end });
        }
        if end > self.shapes[dim] {
            return Err(ViewError::OutOfRange { dim, end: u64::from(end), limit: self.shapes[dim] });
        }
        let mut view = *self;
        view.shapes[dim] = (end - start).div_ceil(step);
        if view.shapes[dim] > 0 {
            view.advance(start, self.strides[dim])?;
        }
        // One element has no neighbour, so its stride may stay what it was.
        if view.shapes[dim] > 1 {
            view.strides[dim] = self.strides[dim].checked_mul(step).ok_or(ViewError::TooLarge)?;
        }
        view.finish()
    }

    /// Element offset from the buffer's base of the element at `index`; `None` outside the view.
    pub fn element_offset(&self, index: &[u32]) -> Option<u64> {
        if index.len() != self.rank() {
            return None;
        }
        let mut offset = self.start_offset;
        for ((&at, &dim), &stride) in index.iter().zip(self.shape()).zip(self.stride()) {
            if at >= dim {
                return None;
            }
            offset = offset.checked_add(u64::from(at).checked_mul(u64::from(stride))?)?;
        }
        Some(offset)
    }

    fn advance(&mut self, steps: u32, stride: u32) -> Result<(), ViewError> {
        let distance = u64::from(steps) * u64::from(stride);
        self.start_offset = self.start_offset.checked_add(distance).ok_or(ViewError::TooLarge)?;
        Ok(())
    }

    /// Recomputes what follows from shape and strides, and checks that addresses still fit.
    fn finish(mut self) -> Result<Tensor, ViewError> {
        self.manual_dep = 0;
        self.extent = extent(self.shape(), self.stride()).ok_or(ViewError::TooLarge)?;
        // An empty view counts as contiguous whatever its strides are.
        let strict = match row_major_strides(self.shape()) {
            Ok(strides) => strides[..self.rank()] == *self.stride(),
            Err(_) => false,
        };
        self.is_contiguous = (strict || self.is_empty()) as u8;
        if self.dtype().is_none() {
            return Err(ViewError::UnknownDType);
        }
        self.byte_range().map(|_| self).ok_or(ViewError::TooLarge)
    }

    fn expect_rank(&self, got: usize) -> Result<(), ViewError> {
        let expected = self.rank();
        if got == expected { Ok(()) } else { Err(ViewError::RankMismatch { got, expected }) }
    }

    fn expect_dim(&self, dim: usize) -> Result<(), ViewError> {
        let ndims = self.rank();
        if dim < ndims { Ok(()) } else { Err(ViewError::NoSuchDim { dim, ndims }) }
    }
}

/// Elements from the first to one past the last: 1 + sum (dim - 1) * stride, or 0 without elements.
pub fn extent(shape: &[u32], strides: &[u32]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().zip(strides).try_fold(1u64, |sum, (&dim, &stride)| {
        sum.checked_add(u64::from(dim - 1).checked_mul(u64::from(stride))?)
    })
}
