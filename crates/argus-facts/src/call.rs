//! One task as a reference sees it: its arguments as they were before it ran, and what its outputs must hold.

use argus_abi::{DType, Role, TaskId};
use thiserror::Error;

/// An argument as it was before its task ran.
#[derive(Clone, Debug)]
pub struct Argument<'a> {
    pub slot: u32,
    pub role: Role,
    pub dtype: DType,
    pub shape: Vec<u64>,
    /// The elements in logical order; `None` if they were not captured, as those of outputs are not.
    pub before: Option<&'a [u8]>,
    /// Of a scalar: its raw bits.
    pub scalar_bits: Option<u64>,
}

/// One task.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub task: TaskId,
    pub func_ids: &'a [i32],
    /// Names of the kernels, in the order of `func_ids`.
    pub kernels: &'a [&'a str],
    pub blocks: u32,
    pub arguments: &'a [Argument<'a>],
}

/// What one output must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub slot: u32,
    /// The elements in logical order.
    pub bytes: Vec<u8>,
    /// Per element: true where the task leaves what was there before, and that is not known.
    pub unchecked: Option<Vec<bool>>,
    /// How many terms are added up for each element, where that is more than two.
    pub reduction: Option<u64>,
    /// A right task leaves these values and no others: nothing in them depends on how it was computed.
    pub exact: bool,
}

/// Kernels as they should be: what a task's outputs follow from its inputs.
pub trait References: Sync {
    /// The outputs that this call should have, in the order of their slots, or why they are unknown.
    fn expected(&self, call: &Call<'_>) -> Result<Vec<Expected>, NoReference>;
}

/// Why there is nothing to compare with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoReference {
    #[error("the names of its kernels are not known")]
    Unnamed,
    #[error("scene '{scene}' has no reference for a task of the kernels {kernels}")]
    Kernels { scene: String, kernels: String },
    #[error("the golden says nothing of a task of the kernels {kernels}")]
    Golden { kernels: String },
    #[error("kernel '{kernel}' does not end, so it has no result")]
    Endless { kernel: String },
    #[error("no argument was captured for '{what}'")]
    Missing { what: &'static str },
    #[error("argument {slot} ({what}) has no captured bytes")]
    NotCaptured { slot: u32, what: &'static str },
    #[error("argument {slot} ({what}) is {found}, not {wanted}")]
    Type { slot: u32, what: &'static str, found: DType, wanted: DType },
    #[error("argument {slot} ({what}): {bytes} bytes do not make up a tensor of shape {shape:?}")]
    Size { slot: u32, what: &'static str, bytes: usize, shape: Vec<u64> },
    /// The task is another one than the scene's, and how.
    #[error("it does not fit {scene}: {how}")]
    Unfit { scene: String, how: String },
    #[error("{0}")]
    Shape(String),
}
