//! The entries of a manifest in memory, each kept small: a dump may have a million.

use std::collections::BTreeMap;

use argus_abi::{DType, Kind, MAX_DIMS, Role, Stage, TaskId};
use argus_facts::FuncIds;

use super::record::{Record, Scalar};
use crate::stats::Statistics;

/// Bits of [`Row::flags`].
pub(crate) mod flag {
    pub const CONTIGUOUS: u16 = 1;
    pub const TRUNCATED: u16 = 2;
    pub const OVERWRITTEN: u16 = 4;
    pub const AMBIGUOUS: u16 = 8;
    pub const PARTIAL: u16 = 0x10;
    pub const SHARED: u16 = 0x20;
    /// [`super::Row::scalar`] holds bits.
    pub const BITS: u16 = 0x40;
    /// [`super::Row::scalar`] holds an f64.
    pub const ROUNDED: u16 = 0x80;
    /// The entry says another number of elements than its shape.
    pub const NUMEL_WRONG: u16 = 0x100;
    /// The entry says that the view is contiguous or is not, its strides say otherwise.
    pub const CONTIGUOUS_WRONG: u16 = 0x200;
    /// The view is given as in April.
    pub const RAW_SHAPE: u16 = 0x400;
    /// The task created the tensor.
    pub const CREATED: u16 = 0x800;
    /// The payload was left out, or only looked at, as was asked for.
    pub const LEFT_OUT: u16 = 0x1000;
}

/// No dtype that is known.
pub(super) const NO_DTYPE: u8 = u8::MAX;
/// The format version does not tell members apart.
pub(super) const NO_SUBTASK: u8 = u8::MAX;
pub(super) const NO_EXTRA: u32 = u32::MAX;

/// An entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(super) task_id: u64,
    pub(super) start_offset: u64,
    pub(super) bin_offset: u64,
    pub(super) bin_size: u64,
    pub(super) scalar: u64,
    pub(super) shape: [u64; MAX_DIMS],
    pub(super) strides: [u64; MAX_DIMS],
    pub(super) func_ids: FuncIds,
    pub(super) arg_index: u32,
    /// DumpFiles in the list of what only our own manifests say.
    pub(super) extra: u32,
    pub(super) flags: u16,
    pub(super) subtask: u8,
    pub(super) stage: Stage,
    pub(super) role: Role,
    pub(super) kind: Kind,
    pub(super) dtype: u8,
    pub(super) ndims: u8,
}

/// What only our own manifests say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extra {
    pub(super) address: Option<u64>,
    pub(super) time_ns: Option<u64>,
    pub(super) checksum: Option<u128>,
    pub(super) statistics: Option<Statistics>,
}

impl Row {
    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn is_tensor(&self) -> bool {
        self.kind == Kind::Tensor
    }

    pub(super) fn share(&mut self) {
        self.flags |= flag::SHARED;
    }

    pub(super) fn range(&self) -> (u64, u64) {
        (self.bin_offset, self.bin_size)
    }

    pub(crate) fn record(&self, index: usize, extras: &[Extra]) -> Record {
        let extra = extras.get(self.extra as usize).copied().unwrap_or_default();
        let mut record = Record {
            index,
            task_id: TaskId::from_raw(self.task_id),
            func_ids: self.func_ids,
            subtask: Some(self.subtask).filter(|&subtask| subtask != NO_SUBTASK),
            arg_index: self.arg_index,
            ambiguous_index: self.has(flag::AMBIGUOUS),
            stage: self.stage,
            role: self.role,
            kind: self.kind,
            dtype: DType::from_raw(self.dtype),
            ndims: self.ndims,
            shape: self.shape,
            strides: self.strides,
            start_offset: self.start_offset,
            contiguous: self.has(flag::CONTIGUOUS),
            scalar: match self.flags & (flag::BITS | flag::ROUNDED) {
                flag::BITS => Some(Scalar::Bits(self.scalar)),
                flag::ROUNDED => Some(Scalar::Rounded(f64::from_bits(self.scalar))),
                _ => None,
            },
            bin_offset: self.bin_offset,
            bin_size: self.bin_size,
            logical_bytes: None,
            truncated: self.has(flag::TRUNCATED),
            overwritten: self.has(flag::OVERWRITTEN),
            partial: self.has(flag::PARTIAL),
            created: self.has(flag::CREATED),
            shared: self.has(flag::SHARED),
            address: extra.address,
            time_ns: extra.time_ns,
            checksum: extra.checksum,
            statistics: extra.statistics,
        };
        record.logical_bytes = record.view_bytes();
        record
    }
}

/// Which of the reference's words for the list of entries the manifest uses; numbers mean other things in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListName {
    /// August.
    Args,
    /// April, June, and ours.
    Tensors,
}

/// The entries read so far.
pub(crate) struct Rows {
    pub(super) list: ListName,
    pub(super) rows: Vec<Row>,
    pub(super) extras: Vec<Extra>,
    /// Kernels that entries name.
    pub(super) names: BTreeMap<i32, String>,
}

impl Rows {
    pub(super) fn new(list: ListName) -> Rows {
        Rows { list, rows: Vec::new(), extras: Vec::new(), names: BTreeMap::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The entry at `place`, which is record `index` of the dump.
    pub(crate) fn record(&self, place: usize, index: usize) -> Record {
        self.rows[place].record(index, &self.extras)
    }

    /// Whether an entry gives its view as in April.
    pub(crate) fn has_raw_shapes(&self) -> bool {
        self.rows.iter().any(|row| row.has(flag::RAW_SHAPE))
    }

    pub(crate) fn into_names(self) -> BTreeMap<i32, String> {
        self.names
    }

    /// Adds the entries that follow.
    pub(super) fn append(&mut self, other: Rows) {
        let first = self.extras.len() as u32;
        self.extras.extend(other.extras);
        self.rows
            .extend(other.rows.into_iter().map(|row| Row { extra: row.extra.saturating_add(first), ..row }));
        for (id, name) in other.names {
            self.names.entry(id).or_insert(name);
        }
    }

    /// Adds an entry, with what only our own manifests say and the joined names of its kernels.
    pub(super) fn push(&mut self, mut row: Row, extra: Extra, kernel: Option<&str>) {
        if extra != Extra::default() {
            row.extra = self.extras.len() as u32;
            self.extras.push(extra);
        }
        if let Some(kernel) = kernel {
            self.name(&row.func_ids, kernel);
        }
        self.rows.push(row);
    }

    /// Learns which name belongs to which number from the joined names of a task.
    fn name(&mut self, func_ids: &[i32], joined: &str) {
        let mut different: Vec<i32> = Vec::with_capacity(3);
        for &func_id in func_ids {
            if !different.contains(&func_id) {
                different.push(func_id);
            }
        }
        if different.iter().all(|id| self.names.contains_key(id)) {
            return;
        }
        let parts: Vec<&str> = match different.len() {
            1 => vec![joined],
            _ => joined.split('+').collect(),
        };
        if parts.len() == different.len() {
            for (id, name) in different.into_iter().zip(parts) {
                self.names.entry(id).or_insert_with(|| name.to_owned());
            }
        }
    }
}
