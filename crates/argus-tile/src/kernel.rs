//! Kernels: what runs on a core.

use argus_abi::KernelArgs;

use crate::core::Core;
use crate::fault::Fault;

/// How a kernel ends.
pub type KernelResult = Result<(), Fault>;

/// A kernel. Functions and closures of the right shape are kernels.
pub trait Kernel: Send + Sync {
    fn run(&self, core: &mut Core, args: &KernelArgs<'_>) -> KernelResult;
}

impl<F> Kernel for F
where
    F: Fn(&mut Core, &KernelArgs<'_>) -> KernelResult + Send + Sync,
{
    fn run(&self, core: &mut Core, args: &KernelArgs<'_>) -> KernelResult {
        self(core, args)
    }
}
