//! Kernels and orchestrations from shared objects.
//!
//! What comes in: the path of an object that a C++ compiler made from a source and from our headers (`include/` at
//! the root of the repository). What goes out: a [`LoadedKernel`], which is an [`argus_tile::Kernel`] like any other,
//! or a [`LoadedOrchestration`], which becomes an [`argus_runtime::Orchestration`].
//!
//! # What holds
//!
//! - An object is checked before anything of it is used: that it is one, that it exports what it must, and that its
//!   ABI number is ours. Each refusal is an error of its own ([`LoadError`]).
//! - Objects are never unloaded: threads may still hold addresses of their code and texts.
//! - No panic leaves towards C++, no exception arrives from there.
//! - What an object says in a descriptor is checked before it becomes a value of the engine. What its own code does
//!   to this process's memory cannot be.
//!
//! | module | subject |
//! |---|---|
//! | `object` | opening an object, finding its symbols |
//! | `kernel` | binding a kernel object and running it on a core |
//! | `kernel::abi` | the C types of `include/argus/kernel_abi.h` |
//! | `kernel::decode` | from descriptors to the engine's types |
//! | `kernel::issue` | from opcodes to the engine's instructions |
//! | `orchestration` | binding an orchestration object and calling it with a builder |
//! | `orchestration::abi` | the C types of `include/argus/orchestration_abi.h` |
//! | `orchestration::decode` | from what its code passes to the builders' values |
//! | `orchestration::bridge` | the functions it calls |
//! | `orchestration::observe` | what it asked for, told to a listener |

mod kernel;
mod object;
mod orchestration;

pub use crate::kernel::LoadedKernel;
pub use crate::object::LoadError;
pub use crate::orchestration::{
    DEFAULT_CONFIG, DEFAULT_ENTRY, Level, LoadedOrchestration, Log, Observer, ScopeEdge, Submission,
    Submitted,
};
