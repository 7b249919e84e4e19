//! What would help someone whose task cannot be found or replayed.
//!
//! A hint says what to change. How that is typed belongs to the caller that talks to the user.

use crate::choose::SelectError;
use crate::error::ReplayError;

/// A way out of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Say which task: by its id, its kernel or its set of kernels.
    NameTask,
    /// Say which task by its id, and which kernel of which scene it ran.
    NameTaskAndKernel,
    /// Say which scene and case the kernels came from.
    NameScene,
    /// Of the tasks that fit, choose one that is there.
    SmallerNumber,
    /// Capture this slot, give it a value if it is a scalar, or describe all arguments.
    GiveArgument { slot: usize },
    /// Give the tensor in this slot its bytes.
    GivePayload { slot: usize },
}

impl SelectError {
    /// What would help, where that is known.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            SelectError::Nothing { .. } => Some(Hint::NameTask),
            SelectError::Nth { .. } => Some(Hint::SmallerNumber),
            SelectError::NoIds => Some(Hint::NameTaskAndKernel),
            _ => None,
        }
    }
}

impl ReplayError {
    /// What would help, where that is known.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            ReplayError::Select(error) => error.hint(),
            ReplayError::MissingSlot { slot, .. } => Some(Hint::GiveArgument { slot: *slot }),
            ReplayError::MissingPayload { slot, .. } => Some(Hint::GivePayload { slot: *slot }),
            ReplayError::OtherKernel { .. } | ReplayError::Places { .. } => Some(Hint::NameScene),
            _ => None,
        }
    }
}
