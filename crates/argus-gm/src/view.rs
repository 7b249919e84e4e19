//! Views of device memory: their bytes in logical order, and back.
//!
//! [`Gather`] is a stream that can be taken in pieces of any size; [`gather`] and [`scatter`] move a whole view.
//! Nothing is moved before the whole range of the view was found readable, so a stream that was begun can
//! always be finished.

use core::mem;

use argus_abi::runs::Runs;
use argus_abi::{DType, Tensor};
use thiserror::Error;

use crate::memory::{GlobalMemory, MemoryError, RecentWindows, Window};

/// Why a view cannot be moved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MoveError {
    #[error("the view's dtype, shape or strides are not valid")]
    Shape,
    #[error("the view has {needed} bytes, not {given}")]
    Size { given: u64, needed: u64 },
    #[error("two elements share a byte, so the view cannot be written piece by piece")]
    SharedBytes,
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// What is left of a view's bytes.
#[derive(Debug)]
pub struct Gather<'w> {
    left: u64,
    walk: Walk<'w>,
}

#[derive(Debug)]
enum Walk<'w> {
    Nothing,
    /// Elements lie next to each other.
    Dense {
        window: &'w Window,
        addr: u64,
    },
    /// Pieces of whole bytes.
    Bytes {
        window: &'w Window,
        base: u64,
        runs: Runs,
        bits: u64,
        addr: u64,
        run_left: u64,
    },
    /// Half-byte elements that start or end inside a byte.
    Nibbles {
        window: &'w Window,
        base: u64,
        runs: Runs,
        element: u64,
        run_left: u64,
    },
}

impl<'w> Gather<'w> {
    /// Nothing at all: a scalar, or a payload that is not wanted.
    pub fn nothing() -> Gather<'w> {
        Gather { left: 0, walk: Walk::Nothing }
    }

    /// The bytes of `view`. Its memory is looked for among what was asked for before.
    pub fn new(
        view: &Tensor,
        memory: &GlobalMemory,
        recent: &'w mut RecentWindows,
    ) -> Result<Gather<'w>, MoveError> {
        let dtype = view.dtype().ok_or(MoveError::Shape)?;
        let left = view.packed_bytes().ok_or(MoveError::Shape)?;
        // Before anything is asked about strides: those of an empty view may be anything.
        if view.is_empty() {
            return Ok(Gather::nothing());
        }
        let range = touched(view, dtype).ok_or(MoveError::Shape)?;
        let window = recent.window(memory, range.start, range.end - range.start)?;
        let base = view.addr;
        let walk = if !view.has_whole_bytes() {
            Walk::Nibbles { window, base, runs: view.runs(), element: 0, run_left: 0 }
        } else if view.is_dense() {
            Walk::Dense { window, addr: range.start }
        } else {
            let bits = u64::from(dtype.bits());
            Walk::Bytes { window, base, runs: view.runs(), bits, addr: 0, run_left: 0 }
        };
        Ok(Gather { left, walk })
    }

    /// Bytes still to come.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next `into.len()` bytes, at most [`Gather::left`].
    pub fn fill(&mut self, into: &mut [u8]) {
        debug_assert!(into.len() as u64 <= self.left);
        self.left -= into.len() as u64;
        match &mut self.walk {
            Walk::Nothing => {}
            Walk::Dense { window, addr } => {
                read(window, *addr, into);
                *addr += into.len() as u64;
            }
            Walk::Bytes { window, base, runs, bits, addr, run_left } => {
                let mut rest = into;
                while !rest.is_empty() {
                    if *run_left == 0 {
                        let Some(element) = runs.next() else { return };
                        *addr = *base + element * *bits / 8;
                        *run_left = runs.run_len() * *bits / 8;
                    }
                    let len = (*run_left).min(rest.len() as u64);
                    let (piece, after) = mem::take(&mut rest).split_at_mut(len as usize);
                    read(window, *addr, piece);
                    (*addr, *run_left, rest) = (*addr + len, *run_left - len, after);
                }
            }
            Walk::Nibbles { window, base, runs, element, run_left } => {
                let mut nibble = || {
                    if *run_left == 0 {
                        *element = runs.next()?;
                        *run_left = runs.run_len();
                    }
                    let mut byte = [0];
                    read(window, *base + *element / 2, &mut byte);
                    let value = if *element % 2 == 0 { byte[0] & 0xF } else { byte[0] >> 4 };
                    (*element, *run_left) = (*element + 1, *run_left - 1);
                    Some(value)
                };
                for byte in into {
                    // An odd number of elements leaves the last half byte zero.
                    *byte = nibble().unwrap_or(0) | nibble().unwrap_or(0) << 4;
                }
            }
        }
    }
}

/// The bytes of a whole view in logical order.
pub fn gather(memory: &GlobalMemory, view: &Tensor) -> Result<Vec<u8>, MoveError> {
    let mut recent = RecentWindows::default();
    let mut left = Gather::new(view, memory, &mut recent)?;
    let refused = |reason: String| MemoryError::Allocation { bytes: left.left(), reason };
    let size = usize::try_from(left.left()).map_err(|error| refused(error.to_string()))?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|error| refused(error.to_string()))?;
    bytes.resize(size, 0);
    left.fill(&mut bytes);
    Ok(bytes)
}

/// Puts bytes in logical order to the places of a view.
pub fn scatter(memory: &GlobalMemory, view: &Tensor, bytes: &[u8]) -> Result<(), MoveError> {
    let dtype = view.dtype().ok_or(MoveError::Shape)?;
    let (given, needed) = (bytes.len() as u64, view.packed_bytes().ok_or(MoveError::Shape)?);
    if given != needed {
        return Err(MoveError::Size { given, needed });
    }
    if view.is_empty() {
        return Ok(());
    }
    let range = touched(view, dtype).ok_or(MoveError::Shape)?;
    let window = memory.window(range.start, range.end - range.start)?;
    if view.is_dense() && (view.start_offset * u64::from(dtype.bits())).is_multiple_of(8) {
        return Ok(window.write(range.start, bytes)?);
    }
    let (length, addresses) = view.byte_runs().ok_or(MoveError::SharedBytes)?;
    for (piece, addr) in bytes.chunks_exact(length as usize).zip(addresses) {
        window.write(addr, piece)?;
    }
    Ok(())
}

fn read(window: &Window, addr: u64, into: &mut [u8]) {
    window.read(addr, into).expect("the window was made to hold every element of the view");
}

/// The addresses a view touches, from shape and strides: the descriptor's own `extent` may come from a
/// kernel and be wrong. `None` if the numbers do not fit an address space.
fn touched(view: &Tensor, dtype: DType) -> Option<core::ops::Range<u64>> {
    let mut last = view.start_offset;
    for (&dim, &stride) in view.shape().iter().zip(view.stride()) {
        last = last.checked_add(u64::from(dim - 1) * u64::from(stride))?;
    }
    let bits = u64::from(dtype.bits());
    let start = view.addr.checked_add(view.start_offset.checked_mul(bits)? / 8)?;
    let end = view.addr.checked_add(last.checked_add(1)?.checked_mul(bits)?.div_ceil(8))?;
    Some(start..end)
}
