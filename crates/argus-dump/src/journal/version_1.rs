//! What journals of version 1 hold differently: a task had room for 128 cores.

use std::mem::size_of;

use argus_abi::CoreSet;
use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{BODY_BYTES, TaskRecord};

#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct OldTaskRecord {
    task_id: u64,
    func_ids: [i32; 3],
    blocks: u32,
    dispatch_order: u64,
    dispatched_ns: u64,
    finished_ns: u64,
    cores: [u64; 2],
    scope_depth: u32,
    tensors: u16,
    scalars: u16,
    state: u8,
    reserved: [u8; 103],
}

impl From<OldTaskRecord> for TaskRecord {
    fn from(old: OldTaskRecord) -> TaskRecord {
        TaskRecord {
            task_id: old.task_id,
            func_ids: old.func_ids,
            blocks: old.blocks,
            dispatch_order: old.dispatch_order,
            dispatched_ns: old.dispatched_ns,
            finished_ns: old.finished_ns,
            cores: CoreSet::from_words([old.cores[0], old.cores[1], 0, 0]),
            scope_depth: old.scope_depth,
            tensors: old.tensors,
            scalars: old.scalars,
            state: old.state,
            reserved: [0; 87],
        }
    }
}

const _: () = assert!(size_of::<OldTaskRecord>() == BODY_BYTES);
