//! The bytes of a journal, see the tables in the parent module.

use std::mem::size_of;

use argus_abi::capture::{EDGES_PER_ENTRY, EdgesEntry, SkipEntry, TaskEntry, TaskFields};
use argus_abi::{EdgeReason, MAX_DIMS, TaskId};
use argus_facts::Edge;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use super::{BODY_BYTES, ENTRY_BYTES, HEADER_BYTES};

/// Numbers of the kinds of entry. 0 is no kind: it is what unwritten bytes look like.
pub mod kind {
    pub const KERNEL: u8 = 1;
    pub const TASK: u8 = 2;
    pub const EDGES: u8 = 3;
    pub const ARGUMENT: u8 = 4;
    pub const SKIP: u8 = 5;
    pub const LOSS: u8 = 6;
    pub const END: u8 = 7;
}

/// Bits that the writer adds to [`ArgumentHead::flags`]; the low four and the highest are those of
/// [`argus_abi::capture::argument_flags`].
pub mod marks {
    pub const CHECKSUM: u8 = 0x10;
    pub const STATISTICS: u8 = 0x20;
    /// An equal payload was stored before; this record names that one.
    pub const SHARED: u8 = 0x40;
}

/// Values of [`EndRecord::status`].
pub mod status {
    pub const COMPLETE: u8 = 0;
    pub const FAILED: u8 = 1;
    /// A copy of a dump whose run was killed or still active; `error` says what that dump said.
    pub const UNFINISHED: u8 = 2;
    /// A copy of a dump that does not tell.
    pub const UNKNOWN: u8 = 3;
}

/// Start of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Header {
    pub magic: [u8; 8],
    pub version: u32,
    pub header_bytes: u32,
    pub entry_bytes: u32,
    pub crc: u32,
    pub run_id: [u8; 16],
    pub started_unix_ns: u64,
    pub options: u32,
    pub reserved: [u8; 204],
}

/// One entry as it lies in the file.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct RawEntry {
    pub(super) head: EntryHead,
    pub(super) body: [u8; BODY_BYTES],
}

/// What every entry begins with.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct EntryHead {
    /// Of everything behind it.
    pub(super) crc: u32,
    pub(super) kind: u8,
    pub(super) reserved: [u8; 3],
    pub(super) number: u64,
}

/// A kernel of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct KernelRecord {
    pub func_id: u32,
    /// 0 matrix core, 1 vector core.
    pub core_type: u8,
    /// 0 tensor descriptors, 1 raw addresses and scalars.
    pub abi: u8,
    pub signature_len: u8,
    pub name_len: u8,
    /// Directions: 0 scalar, 1 in, 2 out, 3 in and out.
    pub signature: [u8; 52],
    /// UTF-8, cut between characters if it is longer.
    pub name: [u8; 116],
}

impl KernelRecord {
    pub fn name(&self) -> &str {
        let bytes = self.name.get(..usize::from(self.name_len)).unwrap_or(&self.name);
        match std::str::from_utf8(bytes) {
            Ok(name) => name,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""),
        }
    }

    pub fn signature(&self) -> &[u8] {
        self.signature.get(..usize::from(self.signature_len)).unwrap_or(&self.signature)
    }
}

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct TaskRecord {
    pub task: TaskFields,
    pub reserved: [u8; 80],
}

impl From<&TaskEntry> for TaskRecord {
    fn from(entry: &TaskEntry) -> TaskRecord {
        TaskRecord { task: entry.task, reserved: [0; 80] }
    }
}

/// Tasks that a task waits for; fields as in [`EdgesEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct EdgesRecord {
    pub consumer: u64,
    pub count: u8,
    pub reserved: [u8; 7],
    pub reasons: [u8; 16],
    pub producers: [u64; EDGES_PER_ENTRY],
    pub reserved_end: [u8; 64],
}

impl EdgesRecord {
    /// The edges, or the first reason that is not a number of an [`EdgeReason`]. A count above the limit is cut.
    pub fn edges(&self) -> Result<impl Iterator<Item = Edge> + '_, u8> {
        let named = || self.producers.iter().zip(self.reasons).take(usize::from(self.count));
        if let Some((_, wrong)) = named().find(|&(_, reason)| EdgeReason::from_raw(reason).is_none()) {
            return Err(wrong);
        }
        let to = TaskId::from_raw(self.consumer);
        Ok(named().filter_map(move |(&from, reason)| {
            Some(Edge { from: TaskId::from_raw(from), to, reason: EdgeReason::from_raw(reason)? })
        }))
    }
}

impl From<&EdgesEntry> for EdgesRecord {
    fn from(entry: &EdgesEntry) -> EdgesRecord {
        EdgesRecord {
            consumer: entry.consumer,
            count: entry.count,
            reserved: [0; 7],
            reasons: entry.reasons,
            producers: entry.producers,
            reserved_end: [0; 64],
        }
    }
}

/// An argument at a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct ArgumentRecord {
    pub head: ArgumentHead,
    /// Zeros without [`marks::STATISTICS`].
    pub statistics: StatisticsRecord,
}

/// What every argument has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct ArgumentHead {
    pub task_id: u64,
    /// Nanoseconds since the run began; all ones if the dump that this is a copy of does not tell.
    pub time_ns: u64,
    pub address: u64,
    pub start_offset: u64,
    pub scalar_bits: u64,
    /// Where the payload lies in the payload file; 0 if it is not there.
    pub bin_offset: u64,
    /// Bytes of the payload in the payload file.
    pub bin_size: u64,
    /// Bytes of the payload that came; more than `bin_size` if only its statistics were wanted.
    pub payload_bytes: u64,
    /// xxh3_128, most significant byte first; see [`marks::CHECKSUM`].
    pub checksum: [u8; 16],
    pub shapes: [u32; MAX_DIMS],
    pub strides: [u32; MAX_DIMS],
    pub arg_index: u16,
    pub stage: u8,
    pub role: u8,
    pub kind: u8,
    pub dtype: u8,
    pub ndims: u8,
    /// See [`marks`].
    pub flags: u8,
}

/// What the elements of a payload have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct StatisticsRecord {
    /// Bits of an f64 for floats, of an i64 for integers, of a u64 for UINT64.
    pub min: u64,
    pub max: u64,
    /// Bits of an f64; NaN if there is no finite value.
    pub mean: u64,
    pub nan: u64,
    pub inf: u64,
    pub zero: u64,
}

impl ArgumentHead {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Stage, argument and role, in the reference's order of the records of a task.
    pub(crate) fn place(&self) -> u32 {
        u32::from(self.stage) << 24 | u32::from(self.arg_index) << 8 | u32::from(self.role)
    }

    /// Dimensions that can be meant: never more than there is room for.
    pub fn ndims(&self) -> usize {
        usize::from(self.ndims).min(MAX_DIMS)
    }

    /// Number of elements of the view; `None` if it exceeds a `u64`.
    pub fn numel(&self) -> Option<u64> {
        self.shapes[..self.ndims()]
            .iter()
            .try_fold(1u64, |product, &extent| product.checked_mul(extent.into()))
    }
}

/// Something that should have been captured and was not; fields as in [`SkipEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct SkipRecord {
    pub task_id: u64,
    pub func_id: i32,
    pub arg_index: u16,
    pub stage: u8,
    pub reason: u8,
    pub reserved: [u8; 160],
}

impl From<&SkipEntry> for SkipRecord {
    fn from(entry: &SkipEntry) -> SkipRecord {
        SkipRecord {
            task_id: entry.task_id,
            func_id: entry.func_id,
            arg_index: entry.arg_index,
            stage: entry.stage,
            reason: entry.reason,
            reserved: [0; 160],
        }
    }
}

/// The account of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct LossRecord {
    pub lane: u32,
    pub reserved: u32,
    pub lost_entries: u64,
    pub lost_bytes: u64,
    pub waits: u64,
    pub wait_ns: u64,
    pub reserved_end: [u8; 136],
}

/// The run's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct EndRecord {
    pub records: u64,
    pub tasks: u64,
    pub edges: u64,
    pub skipped: u64,
    pub lost_entries: u64,
    pub lost_bytes: u64,
    pub stored_bytes: u64,
    /// See [`status`].
    pub status: u8,
    pub error_len: u8,
    pub reserved: [u8; 6],
    /// UTF-8, cut between characters if it is longer.
    pub error: [u8; 112],
}

/// Puts as much of `text` into `room` as fits between characters; its length.
pub(super) fn put_text(text: &str, room: &mut [u8]) -> u8 {
    let len = text.floor_char_boundary(room.len().min(255));
    room[..len].copy_from_slice(&text.as_bytes()[..len]);
    len as u8
}

/// A record with nothing in it.
pub(super) fn blank<T: FromZeros>() -> T {
    T::new_zeroed()
}

const _: () = {
    // Records go to the file as they lie in memory.
    assert!(cfg!(target_endian = "little"));
    assert!(size_of::<Header>() == HEADER_BYTES);
    assert!(size_of::<RawEntry>() == ENTRY_BYTES);
    assert!(size_of::<KernelRecord>() == BODY_BYTES);
    assert!(size_of::<TaskRecord>() == BODY_BYTES);
    assert!(size_of::<EdgesRecord>() == BODY_BYTES);
    assert!(size_of::<ArgumentRecord>() == BODY_BYTES);
    assert!(size_of::<SkipRecord>() == BODY_BYTES);
    assert!(size_of::<LossRecord>() == BODY_BYTES);
    assert!(size_of::<EndRecord>() == BODY_BYTES);
};
