//! Who runs what: task ids, kernel numbers, core types and the members of a mix.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::record::spelled_enum;

/// A task's name: ring in the upper 32 bits, a counter of that ring in the lower.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(transparent)]
pub struct TaskId(u64);

impl TaskId {
    /// No task: the owner of a tensor that came from outside.
    pub const INVALID: TaskId = TaskId(u64::MAX);

    pub const fn new(ring: u8, local: u32) -> TaskId {
        TaskId((ring as u64) << 32 | local as u64)
    }

    pub const fn from_raw(raw: u64) -> TaskId {
        TaskId(raw)
    }

    pub const fn raw(self) -> u64 {
        self.0
    }

    pub const fn is_valid(self) -> bool {
        self.0 != u64::MAX
    }

    /// The ring; only the low 8 bits of the upper half count.
    pub const fn ring(self) -> u8 {
        (self.0 >> 32) as u8
    }

    pub const fn local(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}", self.0)
    }
}

impl fmt::LowerHex for TaskId {
    /// The shortest form, for people who type it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The number under which a kernel is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(transparent)]
pub struct FuncId(pub u32);

impl FuncId {
    /// Kernel numbers run from 0 to 1023.
    pub const LIMIT: u32 = 1024;
}

impl fmt::Display for FuncId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

spelled_enum! {
    /// The two kinds of core.
    CoreType {
        /// The matrix core of a cluster.
        Aic = 0, "aic";
        /// One of the two vector cores of a cluster.
        Aiv = 1, "aiv";
    }
}

/// A place in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Member {
    Aic = 0,
    Aiv0 = 1,
    Aiv1 = 2,
}

impl Member {
    pub const ALL: [Member; 3] = [Member::Aic, Member::Aiv0, Member::Aiv1];

    pub const fn core_type(self) -> CoreType {
        match self {
            Member::Aic => CoreType::Aic,
            Member::Aiv0 | Member::Aiv1 => CoreType::Aiv,
        }
    }

    /// What `get_sub_block_id` returns on this core: 1 for the second vector core, else 0.
    pub const fn sub_block_id(self) -> i32 {
        match self {
            Member::Aic | Member::Aiv0 => 0,
            Member::Aiv1 => 1,
        }
    }
}
