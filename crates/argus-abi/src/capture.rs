//! What a device writes down while it runs: entries of two whole cache lines, published through a ring.
//!
//! Four kinds of entry share one header. The host checks magic, version and sequence of each before it
//! believes the rest. An argument entry that carries a payload is followed by exactly that many bytes in the
//! ring's payload stream; nothing else is.

use core::mem::{align_of, offset_of, size_of};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::cores::CoreSet;
use crate::tensor::MAX_DIMS;

/// First word of every entry: "ARGC" in memory order.
pub const ENTRY_MAGIC: u32 = u32::from_le_bytes(*b"ARGC");
/// Changes whenever the layout of an entry does.
pub const ENTRY_VERSION: u16 = 2;
/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 128;

/// What an entry holds; the `what` byte of its header.
pub mod what {
    pub const ARGUMENT: u8 = 0;
    pub const TASK: u8 = 1;
    pub const EDGES: u8 = 2;
    pub const SKIP: u8 = 3;
}

/// Bits of [`ArgumentEntry::flags`].
pub mod argument_flags {
    /// The view's strides are exactly row-major.
    pub const CONTIGUOUS: u8 = 1;
    /// Taken while the task was still running or had failed: content may be half-written.
    pub const PARTIAL: u8 = 2;
    /// The level or selection leaves the payload out; the metadata is complete.
    pub const NO_PAYLOAD: u8 = 4;
    /// Only wanted for its statistics: the payload passes through and is not stored.
    pub const STATS_ONLY: u8 = 8;
    /// The task created the tensor: its memory was taken for it, after all earlier users were done.
    pub const CREATED: u8 = 0x80;
    /// Of a scalar: its value is not known. The same bit, because [`CREATED`] is about tensors; only a copy of a dump that
    /// does not tell the value has it.
    pub const NO_VALUE: u8 = 0x80;
}

/// Common start of every entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct EntryHeader {
    pub magic: u32,
    pub version: u16,
    pub what: u8,
    pub ring: u8,
    /// Counts the entries of a ring from 0, so that a gap shows.
    pub sequence: u64,
}

/// One argument of one task at one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct ArgumentEntry {
    pub header: EntryHeader,
    pub task_id: u64,
    /// Nanoseconds since the run began.
    pub time_ns: u64,
    pub arg_index: u16,
    pub stage: u8,
    pub role: u8,
    pub kind: u8,
    pub dtype: u8,
    pub ndims: u8,
    pub flags: u8,
    /// Address of the view's first element; 0 for scalars.
    pub address: u64,
    /// In elements from the buffer's base.
    pub start_offset: u64,
    /// Bytes of this entry in the payload stream.
    pub payload_bytes: u64,
    /// Raw bits of a scalar.
    pub scalar_bits: u64,
    pub shapes: [u32; MAX_DIMS],
    pub strides: [u32; MAX_DIMS],
    pub reserved: [u8; 16],
}

/// A task that has completed, or that will never run any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct TaskEntry {
    pub header: EntryHeader,
    pub task: TaskFields,
    pub reserved: [u8; 16],
}

/// What is known of a task, as an entry and a journal hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct TaskFields {
    pub task_id: u64,
    /// Kernels by place in the cluster, -1 where there is none.
    pub func_ids: [i32; 3],
    pub blocks: u32,
    /// Position among all tasks in the order of first dispatch; all ones if it was never dispatched.
    pub dispatch_order: u64,
    /// Nanoseconds since the run began.
    pub dispatched_ns: u64,
    pub finished_ns: u64,
    /// The cores that ran a part of the task.
    pub cores: CoreSet,
    /// Scopes around the task when it was submitted.
    pub scope_depth: u32,
    /// Number of tensors and scalars.
    pub tensors: u16,
    pub scalars: u16,
    /// A [`crate::TaskState`].
    pub state: u8,
    pub reserved: [u8; 7],
}

/// Producers that fit into one [`EdgesEntry`]; a task with more has several.
pub const EDGES_PER_ENTRY: usize = 10;

/// Tasks that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct EdgesEntry {
    pub header: EntryHeader,
    pub consumer: u64,
    pub count: u8,
    pub reserved: [u8; 7],
    /// Each an [`crate::EdgeReason`].
    pub reasons: [u8; 16],
    pub producers: [u64; EDGES_PER_ENTRY],
}

/// Something that should have been captured and was not, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct SkipEntry {
    pub header: EntryHeader,
    pub task_id: u64,
    /// The first kernel of the task, -1 where there is none.
    pub func_id: i32,
    /// All ones: the whole task.
    pub arg_index: u16,
    pub stage: u8,
    /// See [`skip_reason`].
    pub reason: u8,
    pub reserved: [u8; 96],
}

/// Values of [`SkipEntry::reason`].
pub mod skip_reason {
    /// A task with raw arguments whose orchestration registered no tensor information.
    pub const NO_METADATA: u8 = 0;
    /// The registered information does not fit the task's arguments or the kernel's signature.
    pub const METADATA_MISMATCH: u8 = 1;
    /// Device memory could not be read at the view's addresses.
    pub const UNREADABLE: u8 = 2;

    /// What it means, for people.
    pub const fn text(reason: u8) -> &'static str {
        match reason {
            NO_METADATA => "the orchestration registered no tensor information for this task",
            METADATA_MISMATCH => "the registered tensor information does not fit the task's arguments",
            UNREADABLE => "the view's addresses cannot be read",
            _ => "unknown reason",
        }
    }
}

const _: () = {
    assert!(size_of::<EntryHeader>() == 16);
    assert!(size_of::<ArgumentEntry>() == ENTRY_BYTES && align_of::<ArgumentEntry>() == 64);
    assert!(size_of::<TaskEntry>() == ENTRY_BYTES);
    assert!(size_of::<EdgesEntry>() == ENTRY_BYTES);
    assert!(size_of::<SkipEntry>() == ENTRY_BYTES);
    assert!(offset_of!(ArgumentEntry, shapes) == 72);
    assert!(size_of::<TaskFields>() == 96 && offset_of!(TaskEntry, task) == 16);
    assert!(offset_of!(EdgesEntry, producers) == 48);
};
