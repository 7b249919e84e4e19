//! The three runtimes: how a program's graph is built.

use core::fmt;

/// A graph builder, as scenes and users name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuntimeKind {
    Hbg,
    Abg,
    Trb,
}

impl RuntimeKind {
    pub const ALL: [RuntimeKind; 3] = [RuntimeKind::Hbg, RuntimeKind::Abg, RuntimeKind::Trb];

    pub const fn name(self) -> &'static str {
        match self {
            RuntimeKind::Hbg => "host_build_graph",
            RuntimeKind::Abg => "aicpu_build_graph",
            RuntimeKind::Trb => "tensormap_and_ringbuffer",
        }
    }

    pub const fn short(self) -> &'static str {
        match self {
            RuntimeKind::Hbg => "hbg",
            RuntimeKind::Abg => "abg",
            RuntimeKind::Trb => "trb",
        }
    }

    /// The runtime with this name, long or short.
    pub fn by_name(name: &str) -> Option<RuntimeKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name || kind.short() == name)
    }
}

impl fmt::Display for RuntimeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.short())
    }
}
