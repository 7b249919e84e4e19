//! What journals of version 1 hold differently: a task had room for 128 cores.

use std::mem::offset_of;

use argus_abi::capture::TaskFields;
use zerocopy::{FromZeros, IntoBytes};

use super::{BODY_BYTES, TaskRecord};

/// Bytes of the set of cores in version 1; there are more now, and what follows the set starts later.
const OLD_CORES: usize = 16;
const CORES: usize = offset_of!(TaskFields, cores);
const BEHIND_CORES: usize = offset_of!(TaskFields, scope_depth);
const FIELDS: usize = size_of::<TaskFields>();

pub(super) fn task(body: &[u8; BODY_BYTES]) -> TaskRecord {
    let mut record = TaskRecord::new_zeroed();
    let (old_cores, fields) = (CORES + OLD_CORES, record.task.as_mut_bytes());
    fields[..old_cores].copy_from_slice(&body[..old_cores]);
    fields[BEHIND_CORES..].copy_from_slice(&body[old_cores..old_cores + FIELDS - BEHIND_CORES]);
    record
}
