//! The 128-byte tensor descriptor that kernels receive and dumps describe.

use core::mem::{align_of, offset_of, size_of};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::dtype::DType;
use crate::task::TaskId;
use crate::view::ViewError;

/// A tensor has one to five dimensions.
pub const MAX_DIMS: usize = 5;

/// Runtime-made buffers are padded to this many bytes.
pub const BUFFER_ALIGN: u64 = 1024;

/// A view of a buffer in device memory: where it starts, its shape and its strides, in elements.
///
/// Fields are public because the layout is: C++ kernels read them by offset. Entries of `shapes` and
/// `strides` at or beyond `ndims` mean nothing; never hash or compare them ([`Tensor::same_view`] does
/// not).
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct Tensor {
    /// Base address of the allocation.
    pub addr: u64,
    /// Size of the allocation in bytes; not the size of the view.
    pub size: u64,
    /// The task that created the buffer, or all ones for a buffer from outside.
    pub owner_task_id: u64,
    /// Where the view starts, in elements from `addr`.
    pub start_offset: u64,
    pub version: i32,
    pub ndims: u32,
    pub dtype: u8,
    /// 1: only the creator edge is tracked for this view.
    pub manual_dep: u8,
    /// 1: strides are exactly the row-major ones of the shape, size-1 dimensions included.
    pub is_contiguous: u8,
    pub address_space: u8,
    pub shapes: [u32; MAX_DIMS],
    /// Elements between the first and one past the last that the view touches; 0 for an empty view.
    pub extent: u64,
    pub strides: [u32; MAX_DIMS],
    pub reserved: [u8; 36],
}

const _: () = {
    assert!(size_of::<Tensor>() == 128);
    assert!(align_of::<Tensor>() == 64);
    assert!(offset_of!(Tensor, addr) == 0);
    assert!(offset_of!(Tensor, size) == 8);
    assert!(offset_of!(Tensor, owner_task_id) == 16);
    assert!(offset_of!(Tensor, start_offset) == 24);
    assert!(offset_of!(Tensor, version) == 32);
    assert!(offset_of!(Tensor, ndims) == 36);
    assert!(offset_of!(Tensor, dtype) == 40);
    assert!(offset_of!(Tensor, manual_dep) == 41);
    assert!(offset_of!(Tensor, is_contiguous) == 42);
    assert!(offset_of!(Tensor, address_space) == 43);
    assert!(offset_of!(Tensor, shapes) == 44);
    assert!(offset_of!(Tensor, extent) == 64);
    assert!(offset_of!(Tensor, strides) == 72);
    assert!(offset_of!(Tensor, reserved) == 92);
};

impl Tensor {
    /// A contiguous tensor over a whole buffer.
    pub fn contiguous(addr: u64, dtype: DType, shape: &[u32]) -> Result<Tensor, ViewError> {
        let strides = row_major_strides(shape)?;
        let numel = checked_numel(shape)?;
        let bytes = dtype.packed_bytes(numel).ok_or(ViewError::TooLarge)?;
        addr.checked_add(bytes).ok_or(ViewError::TooLarge)?;
        let mut tensor = Tensor {
            addr,
            size: bytes,
            owner_task_id: TaskId::INVALID.raw(),
            start_offset: 0,
            version: 0,
            ndims: shape.len() as u32,
            dtype: dtype as u8,
            manual_dep: 0,
            is_contiguous: 1,
            address_space: 0,
            shapes: [0; MAX_DIMS],
            extent: numel,
            strides: [0; MAX_DIMS],
            reserved: [0; 36],
        };
        tensor.shapes[..shape.len()].copy_from_slice(shape);
        tensor.strides[..shape.len()].copy_from_slice(&strides[..shape.len()]);
        Ok(tensor)
    }

    /// The same view, marked so that only its creator is tracked as a dependency.
    pub fn with_manual_dep(mut self, manual: bool) -> Tensor {
        self.manual_dep = manual as u8;
        self
    }

    /// The view's shape. A descriptor from a foreign source may claim more than [`MAX_DIMS`]; it is cut.
    pub fn shape(&self) -> &[u32] {
        &self.shapes[..self.rank()]
    }

    /// The view's strides in elements.
    pub fn stride(&self) -> &[u32] {
        &self.strides[..self.rank()]
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        (self.ndims as usize).min(MAX_DIMS)
    }

    /// The element type, or `None` when a foreign descriptor holds an unknown number.
    pub fn dtype(&self) -> Option<DType> {
        DType::from_raw(self.dtype)
    }

    pub fn owner(&self) -> TaskId {
        TaskId::from_raw(self.owner_task_id)
    }

    pub fn is_manual_dep(&self) -> bool {
        self.manual_dep != 0
    }

    /// Number of elements of the view.
    pub fn numel(&self) -> u64 {
        self.shape().iter().fold(1u64, |product, &dim| product.saturating_mul(u64::from(dim)))
    }

    /// Bytes of the view's elements packed together: the size of its payload in a dump.
    pub fn packed_bytes(&self) -> Option<u64> {
        self.dtype()?.packed_bytes(self.numel())
    }

    /// Whether the view has no elements.
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// Whether the elements lie next to each other in logical order. Unlike the flag in the descriptor,
    /// strides of size-1 dimensions do not matter here.
    pub fn is_dense(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut expected = 1u64;
        for (&dim, &stride) in self.shape().iter().zip(self.stride()).rev() {
            if dim != 1 && u64::from(stride) != expected {
                return false;
            }
            expected = expected.saturating_mul(u64::from(dim));
        }
        true
    }

    /// Address of the byte that holds the view's first element.
    pub fn data_addr(&self) -> Option<u64> {
        let bits = u64::from(self.dtype()?.bits());
        self.addr.checked_add(self.start_offset.checked_mul(bits)? / 8)
    }

    /// The half-open range of addresses that the view touches; `None` if the descriptor's numbers do not
    /// fit an address space or the dtype is unknown. Empty views have an empty range.
    pub fn byte_range(&self) -> Option<core::ops::Range<u64>> {
        let bits = u64::from(self.dtype()?.bits());
        let first = self.start_offset.checked_mul(bits)?;
        let last = self.start_offset.checked_add(self.extent)?.checked_mul(bits)?;
        let start = self.addr.checked_add(first / 8)?;
        if self.extent == 0 {
            return Some(start..start);
        }
        Some(start..self.addr.checked_add(last.div_ceil(8))?)
    }

    /// Whether the view stays inside its buffer.
    pub fn fits_buffer(&self) -> bool {
        let end = self.addr.checked_add(self.size);
        matches!((self.byte_range(), end), (Some(range), Some(end)) if range.end <= end)
    }

    /// Whether two descriptors name the same elements in the same order.
    pub fn same_view(&self, other: &Tensor) -> bool {
        self.addr == other.addr
            && self.start_offset == other.start_offset
            && self.dtype == other.dtype
            && self.shape() == other.shape()
            && self.stride() == other.stride()
    }
}

/// Product of the dimensions.
pub(crate) fn checked_numel(shape: &[u32]) -> Result<u64, ViewError> {
    shape
        .iter()
        .try_fold(1u64, |product, &dim| product.checked_mul(u64::from(dim)))
        .ok_or(ViewError::TooLarge)
}

/// Row-major strides of a shape. Strides are 32-bit in the descriptor, so a shape whose outer stride does
/// not fit is refused rather than wrapped. Zero-sized dimensions count as one, so strides stay positive.
pub(crate) fn row_major_strides(shape: &[u32]) -> Result<[u32; MAX_DIMS], ViewError> {
    if shape.is_empty() || shape.len() > MAX_DIMS {
        return Err(ViewError::Rank { got: shape.len() });
    }
    let mut strides = [0u32; MAX_DIMS];
    let mut stride = 1u64;
    for index in (0..shape.len()).rev() {
        strides[index] = u32::try_from(stride).map_err(|_| ViewError::TooLarge)?;
        stride = stride.checked_mul(u64::from(shape[index].max(1))).ok_or(ViewError::TooLarge)?;
    }
    Ok(strides)
}
