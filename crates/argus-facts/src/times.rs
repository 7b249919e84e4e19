//! When what ran where: what the timeline of a run is drawn from.
//!
//! Times are nanoseconds of the machine that simulates, from the start of the run.

use argus_abi::{FuncId, Member, Stage, TaskId};
use serde::{Deserialize, Serialize};

/// The times of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTimes {
    /// Only cores that ran something.
    pub cores: Vec<CoreTimes>,
    /// One for each control thread that schedules.
    pub control_threads: Vec<Vec<CaptureWait>>,
}

/// What one core did, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreTimes {
    pub core: u32,
    pub cluster: u32,
    pub member: Member,
    pub parts: Vec<PartTime>,
}

/// One kernel call: a block of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartTime {
    pub task: TaskId,
    pub func: FuncId,
    pub block: u32,
    /// When the control thread gave it to the core.
    pub posted_ns: u64,
    pub started_ns: u64,
    pub ended_ns: u64,
}

/// Time in which a control thread did not schedule, because what it captured of a task had no room on the way to
/// the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureWait {
    pub task: TaskId,
    pub stage: Stage,
    pub started_ns: u64,
    pub ended_ns: u64,
}
