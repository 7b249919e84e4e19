//! What comes in: the instruction logs of the cores that ran one task.

use argus_abi::Member;
use argus_chip::Chip;
use argus_tile::CoreLog;

/// The instructions of one task, core by core.
#[derive(Clone, Debug)]
pub struct TaskLog {
    pub name: String,
    pub chip: &'static Chip,
    pub cores: Vec<CoreLog>,
    /// The buffers in global memory that the task was given. Addresses in files count from these, so that two
    /// runs of one task give the same files; memory outside them is numbered in the order of its first use.
    pub buffers: Vec<GlobalBuffer>,
    /// The logs end before the task did: there were more instructions than a log may hold. What waits for something
    /// behind that point is left out of the timeline instead of being a deadlock.
    pub cut: bool,
}

/// A range of global memory with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalBuffer {
    pub name: String,
    pub addr: u64,
    pub bytes: u64,
}

/// The core's name in every file, such as `core0.veccore1`.
pub(crate) fn core_name(core: &CoreLog) -> String {
    match core.member {
        Member::Aic => format!("core{}.cubecore0", core.block),
        Member::Aiv0 => format!("core{}.veccore0", core.block),
        Member::Aiv1 => format!("core{}.veccore1", core.block),
    }
}
