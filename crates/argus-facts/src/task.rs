//! A task as the run left it.

use argus_abi::capture::{EntryHeader, TaskEntry, TaskFields};
use argus_abi::{CoreSet, TaskId, TaskState};

use crate::kernel_info::FuncIds;

/// A task that completed or will never run any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    pub id: TaskId,
    pub func_ids: FuncIds,
    /// 0 for a task without kernels.
    pub blocks: u32,
    /// Position in the order of first dispatch; `None` if it never was dispatched.
    pub dispatch_order: Option<u64>,
    /// Nanoseconds since the run began.
    pub dispatched_ns: u64,
    pub finished_ns: u64,
    /// The cores that ran a part of it.
    pub cores: CoreSet,
    /// Scopes around the task when it was submitted.
    pub scope_depth: u32,
    /// How many arguments it has of either kind.
    pub tensors: u16,
    pub scalars: u16,
    pub state: TaskState,
}

impl TaskInfo {
    /// A task of which nothing but its id is known.
    pub fn new(id: TaskId) -> TaskInfo {
        TaskInfo {
            id,
            func_ids: FuncIds::default(),
            blocks: 0,
            dispatch_order: None,
            dispatched_ns: 0,
            finished_ns: 0,
            cores: CoreSet::EMPTY,
            scope_depth: 0,
            tensors: 0,
            scalars: 0,
            state: TaskState::Completed,
        }
    }

    /// What an entry or a journal says; `None` if its state is a number that is not assigned.
    pub fn from_fields(task: &TaskFields) -> Option<TaskInfo> {
        Some(TaskInfo {
            id: TaskId::from_raw(task.task_id),
            func_ids: task.func_ids.into_iter().collect(),
            blocks: task.blocks,
            dispatch_order: Some(task.dispatch_order).filter(|&order| order != u64::MAX),
            dispatched_ns: task.dispatched_ns,
            finished_ns: task.finished_ns,
            cores: task.cores,
            scope_depth: task.scope_depth,
            tensors: task.tensors,
            scalars: task.scalars,
            state: TaskState::from_raw(task.state)?,
        })
    }

    /// As a device would have written it down.
    pub fn entry(&self, header: EntryHeader) -> TaskEntry {
        let task = TaskFields {
            task_id: self.id.raw(),
            func_ids: self.func_ids.padded(),
            blocks: self.blocks,
            dispatch_order: self.dispatch_order.unwrap_or(u64::MAX),
            dispatched_ns: self.dispatched_ns,
            finished_ns: self.finished_ns,
            cores: self.cores,
            scope_depth: self.scope_depth,
            tensors: self.tensors,
            scalars: self.scalars,
            state: self.state as u8,
            reserved: [0; 7],
        };
        TaskEntry { header, task, reserved: [0; 16] }
    }
}
