//! What an orchestration asked for, told to a listener call by call: the raw material of graphs with slots and of
//! statistics of scopes.
#![allow(unsafe_code)]

use argus_abi::{TaskId, Tensor, TensorArgType};
use argus_runtime::{ScopeMode, ScopeUse};

use super::abi::{Kernels, Outputs, TaskArgs};
use super::decode;

/// Listens to the calls of an orchestration that were carried out. It is called on the orchestration's own thread and
/// in its order, which may be in another process than the one that made it.
pub trait Observer: Send + Sync {
    /// Whether it wants to hear anything now.
    fn is_listening(&self) -> bool;

    fn submitted(&self, submission: &Submission<'_>);

    fn scope(&self, edge: &ScopeEdge<'_>);
}

/// What was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// Kernels by place, -1 for none.
    Kernels([i32; 3]),
    /// A task that runs nothing.
    Dummy,
    /// Memory.
    Allocation,
    /// A graph within the graph, which stands for the submissions until its end.
    Graph,
}

/// A submission and what became of it.
#[derive(Clone, Debug)]
pub struct Submission<'a> {
    pub what: Submitted,
    pub task: TaskId,
    pub mode: ScopeMode,
    pub blocks: u32,
    pub early_resolve: bool,
    /// The slot whose window of time the task counts into.
    pub timing_slot: Option<u8>,
    pub dependencies: &'a [u64],
    /// Kind of every tensor, and the tensor where it existed before.
    pub tensors: Vec<(TensorArgType, Option<Tensor>)>,
    /// Tensors that the runtime made for it.
    pub outputs: &'a [Tensor],
}

/// A scope begins, or is about to end.
#[derive(Clone, Copy, Debug)]
pub struct ScopeEdge<'a> {
    pub begins: bool,
    /// File and line of its beginning, where the source says so.
    pub site: Option<(&'a str, u32)>,
    pub at: ScopeUse,
}

/// Puts a submission together.
///
/// # Safety
/// Every list of `args` must be what `orchestration_abi.h` says it is.
pub unsafe fn submission<'a>(
    what: Submitted,
    mode: ScopeMode,
    args: &'a TaskArgs,
    outputs: &Outputs,
) -> Submission<'a> {
    let count = args.tensor_count as usize;
    // SAFETY: by the caller's promise, here and below.
    let (items, kinds) =
        unsafe { (decode::list(args.tensors, count), decode::list(args.tensor_kinds, count)) };
    let tensors = items.iter().zip(kinds).filter_map(|(&item, &kind)| {
        let kind = decode::argument_kind(kind)?;
        // SAFETY: the kind says what the pointer points to.
        let tensor = unsafe { decode::tensor(item.cast()) };
        Some((kind, (kind != TensorArgType::Output).then_some(tensor.ok()).flatten()))
    });
    Submission {
        what,
        task: TaskId::from_raw(outputs.task_id),
        mode,
        blocks: u32::try_from(args.blocks).unwrap_or(1).max(1),
        early_resolve: args.early_resolve != 0,
        timing_slot: u8::try_from(args.timing_slot).ok(),
        tensors: tensors.collect(),
        // SAFETY: by the caller's promise.
        dependencies: unsafe { decode::list(args.dependencies, args.dependency_count as usize) },
        // SAFETY: outputs were made by the bridge and live as long as its call.
        outputs: unsafe { decode::list(outputs.tensors, outputs.count as usize) },
    }
}

impl From<Kernels> for Submitted {
    fn from(Kernels { aic, aiv0, aiv1 }: Kernels) -> Submitted {
        Submitted::Kernels([aic.max(-1), aiv0.max(-1), aiv1.max(-1)])
    }
}
