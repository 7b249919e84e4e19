//! What a scene in Rust is written with, from one crate: `use argus::prelude::*`.
//!
//! Kernels are functions over a [`Core`], the orchestration one over a [`Trb`] (or another builder), and a [`Case`] holds
//! both with inputs and expected outputs. `argus new NAME --rust` writes a project that shows all of it.

pub use argus_abi::{ArgDirection, CoreType, DType, FuncId, KernelArgs, RuntimeKind, Tensor};
pub use argus_chip::Chip;
pub use argus_runtime::{
    Abg, Arg, EntryArgs, Fatal, Hbg, HostArgs, KernelEntry, KernelTable, MixedKernels, Orchestration,
    Program, RunConfig, ScopeMode, SlotInfo, SourceFile, TaskOutputs, TensorCreateInfo, Trb, source_file,
};
pub use argus_scene::arguments::{elements, tensor};
pub use argus_scene::{Case, Expected, PrepareError, Prepared, Scene, Tolerance};
pub use argus_tile::{
    Core, Fault, Global, GlobalLayout, GlobalShape, Kernel, KernelResult, Layout, Pad, Pipe, RoundMode,
    Saturation, Space, Tile,
};
