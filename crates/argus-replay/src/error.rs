//! Why a task cannot be replayed. [`crate::Hint`] says what would help.

use argus_abi::args::{GLOBAL_CONTEXT_SLOT, LOCAL_CONTEXT_SLOT};
use argus_abi::{TaskId, ViewError};
use argus_dump::read::PayloadError;
use argus_gm::MemoryError;
use argus_gm::view::MoveError;
use thiserror::Error;

use crate::capsule::CapsuleError;
use crate::choose::SelectError;
use crate::observe::LookError;
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
    Move(#[from] MoveError),

    #[error("argument slot {slot} of the task was not captured ({why})")]
    MissingSlot { slot: usize, why: String },

    /// A record has other bytes than were captured.
    #[error("argument slot {slot} is damaged")]
    Damaged { slot: usize, source: PayloadError },

    #[error("argument slot {slot} has no payload: {why}")]
    MissingPayload { slot: usize, why: String },

    #[error("argument slot {slot} cannot be rebuilt")]
    Argument { slot: usize, source: ArgumentError },

    #[error(
        "the arguments of task {task} cannot be rebuilt: slot {slot} is a tensor, but slot {gap} is not: tensors fill \
         the first slots"
    )]
    TensorBehindScalar { task: TaskId, slot: usize, gap: usize },

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

/// Why an argument cannot be what its record says.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArgumentError {
    #[error("slots {LOCAL_CONTEXT_SLOT} and {GLOBAL_CONTEXT_SLOT} hold the contexts")]
    Context,
    #[error("its element type is unknown")]
    UnknownType,
    #[error("the dump has no value of this scalar")]
    NoValue,
    #[error("its {what} {values:?} do not fit a tensor descriptor")]
    Wide { what: &'static str, values: Vec<u64> },
    #[error("{shape} dimensions and {strides} strides")]
    Dimensions { shape: usize, strides: usize },
    #[error(transparent)]
    View(#[from] ViewError),
    #[error("its view is too large")]
    LargeView,
    #[error("its view is too large for an address space")]
    AddressSpace,
    #[error("its view names an element twice")]
    ElementTwice,
    #[error("two elements of FP4E2M1 share a byte: only dense views at a whole byte can be rebuilt")]
    HalfByte,
    /// `view` is absent if it cannot be counted.
    #[error("its payload has {payload} bytes, its view needs {}", counted(*view))]
    PayloadSize { payload: usize, view: Option<u64> },
}

fn counted(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "an uncountable number of".to_owned(), |bytes| bytes.to_string())
}
