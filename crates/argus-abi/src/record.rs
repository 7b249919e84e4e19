//! What a captured argument was to its task and when it was looked at; how a task ended and why it waited.

use core::fmt;

/// Declares a one-byte enum whose numbers and spellings are part of the dump format.
macro_rules! spelled_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $number:literal, $text:literal;)+ }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::serde::Serialize, ::serde::Deserialize,
        )]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant = $number,)+ }

        impl $name {
            /// Every value, in the order of their numbers.
            pub const ALL: &[$name] = &[$($name::$variant,)+];

            /// The value with this number, or `None` for a number that is not assigned.
            pub const fn from_raw(raw: u8) -> Option<Self> {
                match raw { $($number => Some(Self::$variant),)+ _ => None }
            }

            /// The spelling used in dump files and filters.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value with this spelling.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.pad(self.name()) }
        }
    };
}

pub(crate) use spelled_enum;

spelled_enum! {
    /// How a task uses an argument.
    Role { Input = 0, "input"; Output = 1, "output"; Inout = 2, "inout"; }
}

spelled_enum! {
    /// The moment at which an argument is captured. A stage means time, nothing else.
    Stage {
        /// Inputs are final, the token is not yet written.
        BeforeDispatch = 0, "before_dispatch";
        /// The last sub-task has finished, no consumer has been released.
        AfterCompletion = 1, "after_completion";
    }
}

spelled_enum! {
    /// Tensor or scalar.
    Kind { Tensor = 0, "tensor"; Scalar = 1, "scalar"; }
}

spelled_enum! {
    /// Where a task stood when the run ended.
    TaskState {
        Completed = 0, "completed";
        /// It was running when the run ended.
        Running = 1, "running";
        /// It never started.
        Waiting = 2, "waiting";
        /// Its condition did not hold: it was complete without having run.
        Skipped = 3, "skipped";
    }
}

impl TaskState {
    /// Whether tasks that wait for it may run.
    pub const fn is_done(self) -> bool {
        matches!(self, TaskState::Completed | TaskState::Skipped)
    }
}

spelled_enum! {
    /// Why a task waits for another.
    EdgeReason {
        /// The orchestration says so.
        Explicit = 0, "explicit";
        /// The other created a tensor that it uses.
        Creator = 1, "creator";
        /// It reads or writes bytes that the other wrote.
        Overlap = 2, "overlap";
        /// It writes bytes that the other reads.
        WriteAfterRead = 3, "write_after_read";
    }
}

impl Role {
    /// Whether an argument of this role is captured at `stage`.
    pub const fn captured_at(self, stage: Stage) -> bool {
        match self {
            Role::Input => matches!(stage, Stage::BeforeDispatch),
            Role::Output => matches!(stage, Stage::AfterCompletion),
            Role::Inout => true,
        }
    }
}
