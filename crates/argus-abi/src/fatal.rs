//! The codes with which a run ends abnormally.

use core::fmt;

use serde::{Deserialize, Serialize};

/// Why the orchestrator or the scheduler gave up. Numbers are those of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(i32)]
pub enum FatalCode {
    /// A scope holds as many tasks as its ring can hold, so none of them can ever be reclaimed.
    ScopeDeadlock = 1,
    /// The heap of a ring cannot hold what is alive.
    HeapRingDeadlock = 2,
    /// The task window of a ring is full and nothing can free a slot.
    FlowControlDeadlock = 3,
    /// The ring's pool of dependency edges is exhausted and nothing can free one.
    DepPoolOverflow = 4,
    /// An argument, an id or a combination of calls that is not allowed.
    InvalidArgs = 5,
    /// One task alone needs more dependency edges than the pool of its ring holds.
    DependencyOverflow = 6,
    /// A cohort that must start together is larger than the machine.
    RequireSyncStartInvalid = 7,
    /// `get_tensor_data` or `set_tensor_data` waited too long for a producer.
    TensorWaitTimeout = 8,
    /// The orchestration itself reported a fatal error.
    ExplicitOrchFatal = 9,
    /// A scope was given more tasks than a scope may list.
    ScopeTasksOverflow = 10,
    /// The map of written views is exhausted and nothing can free an entry.
    TensormapOverflow = 11,
    /// No task made progress: a kernel does not end, or no task can start.
    SchedulerTimeout = 100,
    /// A task was to complete with something that cannot come true.
    AsyncCompletionInvalid = 101,
    /// A task was to complete with more conditions than one task has room for.
    AsyncWaitOverflow = 102,
    /// A kernel could not register what its task was to complete with.
    AsyncRegistrationFailed = 103,
}

impl FatalCode {
    /// Every code, ascending.
    pub const ALL: [FatalCode; 15] = [
        FatalCode::ScopeDeadlock,
        FatalCode::HeapRingDeadlock,
        FatalCode::FlowControlDeadlock,
        FatalCode::DepPoolOverflow,
        FatalCode::InvalidArgs,
        FatalCode::DependencyOverflow,
        FatalCode::RequireSyncStartInvalid,
        FatalCode::TensorWaitTimeout,
        FatalCode::ExplicitOrchFatal,
        FatalCode::ScopeTasksOverflow,
        FatalCode::TensormapOverflow,
        FatalCode::SchedulerTimeout,
        FatalCode::AsyncCompletionInvalid,
        FatalCode::AsyncWaitOverflow,
        FatalCode::AsyncRegistrationFailed,
    ];

    /// The code's number.
    pub const fn raw(self) -> i32 {
        self as i32
    }

    /// The code with this number.
    pub fn from_raw(raw: i32) -> Option<FatalCode> {
        Self::ALL.into_iter().find(|code| code.raw() == raw)
    }

    /// The code's name.
    pub const fn name(self) -> &'static str {
        match self {
            FatalCode::ScopeDeadlock => "SCOPE_DEADLOCK",
            FatalCode::HeapRingDeadlock => "HEAP_RING_DEADLOCK",
            FatalCode::FlowControlDeadlock => "FLOW_CONTROL_DEADLOCK",
            FatalCode::DepPoolOverflow => "DEP_POOL_OVERFLOW",
            FatalCode::InvalidArgs => "INVALID_ARGS",
            FatalCode::DependencyOverflow => "DEPENDENCY_OVERFLOW",
            FatalCode::RequireSyncStartInvalid => "REQUIRE_SYNC_START_INVALID",
            FatalCode::TensorWaitTimeout => "TENSOR_WAIT_TIMEOUT",
            FatalCode::ExplicitOrchFatal => "EXPLICIT_ORCH_FATAL",
            FatalCode::ScopeTasksOverflow => "SCOPE_TASKS_OVERFLOW",
            FatalCode::TensormapOverflow => "TENSORMAP_OVERFLOW",
            FatalCode::SchedulerTimeout => "SCHEDULER_TIMEOUT",
            FatalCode::AsyncCompletionInvalid => "ASYNC_COMPLETION_INVALID",
            FatalCode::AsyncWaitOverflow => "ASYNC_WAIT_OVERFLOW",
            FatalCode::AsyncRegistrationFailed => "ASYNC_REGISTRATION_FAILED",
        }
    }
}

impl fmt::Display for FatalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.raw(), self.name())
    }
}
