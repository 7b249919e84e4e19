//! Why a task cannot be replayed. [`crate::Hint`] says what would help.

use argus_gm::MemoryError;
use argus_gm::view::ViewError;
use thiserror::Error;

use crate::capsule::CapsuleError;
use crate::observe::LookError;
use crate::select::SelectError;
use crate::spec::SpecError;
use crate::substitute::SubstituteError;

/// Why a task cannot be replayed. A task that runs and fails is not among these: that is an outcome.
#[derive(Debug, Error)]
pub enum ReplayError {
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Substitute(#[from] SubstituteError),
    #[error(transparent)]
    Capsule(#[from] CapsuleError),
    #[error(transparent)]
    Look(#[from] LookError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    View(#[from] ViewError),

    #[error("argument slot {slot} of the task was not captured ({why})")]
    MissingSlot { slot: usize, why: String },

    #[error("argument slot {slot} has no payload: {why}")]
    MissingPayload { slot: usize, why: String },

    #[error("argument slot {slot} cannot be rebuilt: {why}")]
    Argument { slot: usize, why: String },

    #[error("the arguments of task {task} cannot be rebuilt: {why}")]
    Arguments { task: String, why: String },

    #[error("slot {slot} cannot be set: the task has only slots {known}")]
    NoSuchSlot { slot: usize, known: String },

    #[error("the task runs the kernel {func_id}{named}, which is not among the kernels given: {known}")]
    NoKernel { func_id: i64, named: String, known: String },

    #[error(
        "kernel {func_id} is '{recorded}' ({recorded_core}) as captured and '{present}' ({present_core}) here"
    )]
    OtherKernel {
        func_id: u32,
        recorded: String,
        recorded_core: &'static str,
        present: String,
        present_core: &'static str,
    },

    #[error("the dump does not say on which cores the kernels {kernels} of the task ran")]
    Places { kernels: String },

    #[error("{kernels} kernels cannot share one cluster: it has one aic and two aiv cores")]
    Cluster { kernels: usize },
}
