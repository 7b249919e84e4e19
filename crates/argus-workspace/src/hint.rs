//! What would help someone whose workspace was refused or could not be recorded.
//!
//! A hint says what to change. How that is typed belongs to the code that talks to the user.

use crate::collect::CollectError;
use crate::error::WorkspaceError;
use crate::request::{Backend, Setting};
use crate::symbols::SymbolError;

/// A way out of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Give the source of the kernel.
    GiveSource,
    /// Put the source into a folder that says on which core it runs.
    SortSource,
    /// Describe all arguments instead of taking the captured ones.
    DescribeArguments,
    /// Describe arguments that need less memory.
    DescribeSmaller,
    /// Let another backend make the host part.
    UseBackend(Backend),
    /// Say which function of the source is launched.
    NameFunction,
    /// A source with one function needs no name.
    LeaveOneFunction,
    /// Say which exported symbol is the kernel.
    NameSymbol,
    /// Give another value.
    Change(Setting),
    /// Choose another directory, or have the workspace in it replaced.
    ReplaceWorkspace,
    /// Only a workspace is ever replaced: remove what is there.
    RemoveByHand,
}

impl WorkspaceError {
    /// What would help, where that is known.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            WorkspaceError::NoKernel => Some(Hint::GiveSource),
            WorkspaceError::UnknownCore { .. } => Some(Hint::SortSource),
            WorkspaceError::SlotsNotCovered { .. } => Some(Hint::DescribeArguments),
            WorkspaceError::TooLarge { .. } => Some(Hint::DescribeSmaller),
            WorkspaceError::NoGlobal { .. }
            | WorkspaceError::ScalarParameters { .. }
            | WorkspaceError::MixForPtoas { .. } => Some(Hint::UseBackend(Backend::Simpler)),
            WorkspaceError::SeveralGlobals { .. } => Some(Hint::NameFunction),
            WorkspaceError::UnknownGlobal { .. } => Some(Hint::LeaveOneFunction),
            WorkspaceError::Refused { setting, .. } => Some(Hint::Change(*setting)),
            WorkspaceError::Exists { .. } => Some(Hint::ReplaceWorkspace),
            WorkspaceError::NotAWorkspace { .. } => Some(Hint::RemoveByHand),
            _ => None,
        }
    }
}

impl CollectError {
    /// What would help, where that is known.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            CollectError::Symbol { source: SymbolError::Ambiguous { .. }, .. } => Some(Hint::NameSymbol),
            _ => None,
        }
    }
}
