//! Which bytes two views share.
//!
//! Dependencies and races are questions about bytes: an f32 view and a bf16 view of one buffer conflict
//! where their bytes meet, whatever their element numbers say. The answer may be too cautious (an overlap
//! reported where there is none costs an edge), never too bold.

use crate::tensor::{MAX_DIMS, Tensor};

/// How a probe relates to an earlier view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// No byte in common.
    None,
    /// Some bytes in common, or not known better.
    Partial,
    /// The probe touches every byte of the earlier view.
    Covers,
}

/// A dimension both views run through with one stride.
#[derive(Clone, Copy, Default)]
struct Axis {
    stride: u64,
    probe_len: u64,
    entry_len: u64,
}

impl Tensor {
    /// How this view (the probe) overlaps an earlier one.
    pub fn overlap(&self, entry: &Tensor) -> Overlap {
        let (Some(probe_bytes), Some(entry_bytes)) = (self.byte_range(), entry.byte_range()) else {
            return Overlap::Partial;
        };
        if probe_bytes.is_empty() || entry_bytes.is_empty() {
            return Overlap::None;
        }
        if probe_bytes.end <= entry_bytes.start || entry_bytes.end <= probe_bytes.start {
            return Overlap::None;
        }
        if let Some(exact) = self.overlap_on_grid(entry) {
            return exact;
        }
        let inside = probe_bytes.start <= entry_bytes.start && entry_bytes.end <= probe_bytes.end;
        if self.is_dense() && inside { Overlap::Covers } else { Overlap::Partial }
    }

    /// The exact answer where both views are boxes of one grid: equal element width, and strides of which
    /// each divides the next larger one. `None` where that does not hold.
    fn overlap_on_grid(&self, entry: &Tensor) -> Option<Overlap> {
        let bits = u64::from(self.dtype()?.bits());
        // Two packed FP4 elements share a byte, so element boxes say nothing about bytes there.
        if bits < 8 || u64::from(entry.dtype()?.bits()) != bits || self.rank() != entry.rank() {
            return None;
        }
        let width = bits / 8;
        let (mut axes, count) = self.shared_axes(entry)?;
        let axes = &mut axes[..count];
        axes.sort_unstable_by_key(|axis| core::cmp::Reverse(axis.stride));

        // Both origins as element numbers from the lower of the two buffers.
        let base = self.addr.min(entry.addr);
        let origin = |tensor: &Tensor| {
            let distance = tensor.addr - base;
            distance.is_multiple_of(width).then(|| (distance / width).checked_add(tensor.start_offset))?
        };
        let (mut probe_at, mut entry_at) = (origin(self)?, origin(entry)?);

        let mut covers = true;
        let mut disjoint = false;
        let mut row = u64::MAX;
        for axis in axes.iter() {
            if axis.stride == 0 || (row != u64::MAX && !row.is_multiple_of(axis.stride)) {
                return None;
            }
            let (probe_first, entry_first) = (probe_at / axis.stride, entry_at / axis.stride);
            probe_at %= axis.stride;
            entry_at %= axis.stride;
            let (probe_end, entry_end) = (probe_first + axis.probe_len, entry_first + axis.entry_len);
            // A box that runs over the end of its row wraps into the next one: no longer a box.
            let steps_per_row = row / axis.stride;
            if row != u64::MAX && (probe_end > steps_per_row || entry_end > steps_per_row) {
                return None;
            }
            disjoint |= probe_end <= entry_first || entry_end <= probe_first;
            covers &= probe_first <= entry_first && entry_end <= probe_end;
            row = axis.stride;
        }
        // What is left is the position below the smallest stride; all elements of a view share it.
        if disjoint || probe_at != entry_at {
            return Some(Overlap::None);
        }
        Some(if covers { Overlap::Covers } else { Overlap::Partial })
    }

    /// The dimensions in which at least one view has more than one element; `None` if strides disagree.
    fn shared_axes(&self, entry: &Tensor) -> Option<([Axis; MAX_DIMS], usize)> {
        let mut axes = [Axis::default(); MAX_DIMS];
        let mut count = 0;
        for dim in 0..self.rank() {
            let (probe_len, entry_len) = (self.shapes[dim], entry.shapes[dim]);
            let stride = match (probe_len > 1, entry_len > 1) {
                (false, false) => continue,
                (true, false) => self.strides[dim],
                (false, true) => entry.strides[dim],
                (true, true) if self.strides[dim] == entry.strides[dim] => self.strides[dim],
                (true, true) => return None,
            };
            axes[count] = Axis {
                stride: u64::from(stride),
                probe_len: u64::from(probe_len),
                entry_len: u64::from(entry_len),
            };
            count += 1;
        }
        Some((axes, count))
    }
}
