//! One captured argument, whatever wrote it down.

use argus_abi::{DType, Kind, MAX_DIMS, Role, Stage, TaskId};
use argus_facts::FuncIds;

use crate::stats::Statistics;

/// An argument of a task at a stage, as every format version can say it.
///
/// What a version does not know is `None`. It is what the dump says: whether `bin_size` fits the view is a question
/// for [`crate::verify`], and whether the payload file has those bytes is found out by [`super::Dump::payload`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Position in the dump's own order, counted from 0.
    pub index: usize,
    pub task_id: TaskId,
    /// Kernels of the task. Empty where the dump does not know (June), or knows that it does not (-1 in August).
    pub func_ids: FuncIds,
    /// Member of the task, where the dump tells members apart (April).
    pub subtask: Option<u8>,
    pub arg_index: u32,
    /// The slot may be another: the program passed the same object twice (August).
    pub ambiguous_index: bool,
    pub stage: Stage,
    pub role: Role,
    pub kind: Kind,
    /// As written; `None` for a name or number that is not assigned.
    pub dtype: Option<DType>,
    pub ndims: u8,
    pub shape: [u64; MAX_DIMS],
    /// In elements; of an April record computed from its raw shape.
    pub strides: [u64; MAX_DIMS],
    /// In elements, from the start of the buffer.
    pub start_offset: u64,
    pub contiguous: bool,
    /// Of a scalar: its raw bits, as far as the dump keeps them.
    pub scalar: Option<Scalar>,
    pub bin_offset: u64,
    /// 0: no payload was kept.
    pub bin_size: u64,
    /// Bytes that the view takes in logical order; `None` if the dtype is unknown or the product overflows.
    pub logical_bytes: Option<u64>,
    pub truncated: bool,
    pub overwritten: bool,
    /// The task had not completed.
    pub partial: bool,
    /// The task created this tensor, in memory whose earlier users were done.
    pub created: bool,
    /// Shares the payload of an earlier record.
    pub shared: bool,
    pub address: Option<u64>,
    /// Nanoseconds since the run began.
    pub time_ns: Option<u64>,
    /// xxh3_128 of the payload.
    pub checksum: Option<u128>,
    /// Those that were recorded with it.
    pub statistics: Option<Statistics>,
}

/// A scalar's value as the dump gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// The exact bits, low end first.
    Bits(u64),
    /// August writes floats in six digits: the bits are lost.
    Rounded(f64),
}

impl Record {
    pub fn shape(&self) -> &[u64] {
        &self.shape[..usize::from(self.ndims)]
    }

    pub fn strides(&self) -> &[u64] {
        &self.strides[..usize::from(self.ndims)]
    }

    /// Elements of the view. A view without dimensions has one.
    pub fn numel(&self) -> Option<u64> {
        self.shape().iter().try_fold(1u64, |product, &extent| product.checked_mul(extent))
    }

    /// See [`Record::logical_bytes`].
    pub(super) fn view_bytes(&self) -> Option<u64> {
        self.dtype?.packed_bytes(self.numel()?)
    }

    /// Whether there are payload bytes, whole or in part.
    pub fn has_payload(&self) -> bool {
        self.kind == Kind::Tensor && self.bin_size > 0 && !self.overwritten
    }
}
