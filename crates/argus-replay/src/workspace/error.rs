//! Why a workspace cannot be generated. Each message says what was wrong, where, and what to do.

use std::io;
use std::path::PathBuf;

use argus_abi::args::SLOTS;

/// One way in which generating a workspace fails. Nothing has been written when one is returned.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("unknown backend `{name}`: there are simpler and ptoas")]
    UnknownBackend { name: String },
    #[error("the task has no kernel: name one, or give its source with --kernel-source")]
    NoKernel,
    #[error(
        "{files} kernel sources for {kernels} kernels ({members}): give one for all, or one each in the order aic, \
         aiv0, aiv1"
    )]
    SourceCount { files: usize, kernels: usize, members: String },
    #[error("kernel {name} is one of several and nobody says on which core it runs")]
    NoPlace { name: String },
    #[error("two kernels for {place}: a cluster has one aic, one aiv0 and one aiv1")]
    PlaceTwice { place: &'static str },
    #[error(
        "cannot classify the core type of {}: no core type is given, and the file is not below kernels/aic, kernels/aiv \
         or kernels/mix",
        path.display()
    )]
    UnknownCore { path: PathBuf },
    #[error("{} does not look like kernel_entry(int64_t *args): {missing}", path.display())]
    NotAKernel { path: PathBuf, missing: &'static str },
    #[error(
        "the arguments do not cover what {} reads: args {} have no value; describe all arguments with --arg-spec \
         FILE",
        path.display(), list(slots)
    )]
    SlotsNotCovered { path: PathBuf, slots: Vec<usize> },
    #[error("{} reads args[{slot}], but a kernel has {SLOTS} slots", path.display())]
    SlotBeyondEnd { path: PathBuf, slot: usize },
    #[error("argument `{name}`: slot {slot} exceeds max slots ({SLOTS}); slots are numbered from 0")]
    SlotTooLarge { name: String, slot: usize },
    #[error(
        "argument `{name}`: slot {slot} is reserved for a context; slots 48 and 49 are filled in by the launch"
    )]
    SlotReserved { name: String, slot: usize },
    #[error("slot {slot} is given twice: by `{first}` and by `{second}`")]
    SlotTwice { slot: usize, first: String, second: String },
    #[error("tensor `{name}` in slot {slot}: {reason}")]
    View { name: String, slot: usize, reason: String },
    #[error(
        "the buffers of the task take {size} bytes with the argument in slot {slot}, and a workspace holds at most \
         {most}; describe smaller ones with --arg-spec FILE"
    )]
    TooLarge { slot: usize, size: u64, most: u64 },
    #[error(
        "blocks {first} to {first}+{count} of {total}: at least one block must be launched, inside the task's blocks, of \
         which there may be {most}"
    )]
    Blocks { first: u32, count: u32, total: u32, most: u32 },
    #[error("{option} is {value}, but must be {wanted}")]
    Option { option: &'static str, value: String, wanted: &'static str },
    #[error("cannot read the kernel source {}: {source}", path.display())]
    ReadSource { path: PathBuf, source: io::Error },
    #[error("{}:{line}: includes `{name}` by an absolute path, so the workspace could not be moved; include it relatively", path.display())]
    AbsoluteInclude { path: PathBuf, line: usize, name: String },
    #[error("the kernel source {} includes more than {limit} local files", path.display())]
    TooManyFiles { path: PathBuf, limit: usize },
    #[error("the path {} cannot be written into an include line: rename what has quotes, backslashes or control characters", path.display())]
    OddPath { path: PathBuf },
    #[error("cannot read the template {}: {source}", path.display())]
    ReadTemplate { path: PathBuf, source: io::Error },
    #[error("{} overrides no template; the templates are {known}", path.display())]
    UnknownTemplate { path: PathBuf, known: String },
    #[error("the template {name} is wrong: {reason}")]
    Template { name: String, reason: String },
    #[error("{} has no function marked __global__, which the ptoas backend launches; for kernel_entry(args) use --backend simpler", path.display())]
    NoGlobal { path: PathBuf },
    #[error("{} has several functions marked __global__ ({names}): name one with --kernel", path.display())]
    SeveralGlobals { path: PathBuf, names: String },
    #[error("{} has no function `{name}` marked __global__; it has {names}", path.display())]
    UnknownGlobal { path: PathBuf, name: String, names: String },
    #[error("{function} takes {pointers} pointers, but the task has {tensors} tensors")]
    TensorCount { function: String, pointers: usize, tensors: usize },
    #[error(
        "{function} takes scalars ({names}), which the test case generator of PTOAS chooses by itself: their captured \
         values would be lost; use --backend simpler"
    )]
    ScalarParameters { function: String, names: String },
    #[error(
        "the ptoas backend replays one kernel, but the task is a mix of {kernels}; use --backend simpler"
    )]
    MixForPtoas { kernels: usize },
    #[error("{} exists and is not empty: choose another directory, or replace the workspace with --force", path.display())]
    Exists { path: PathBuf },
    #[error("{} is not a workspace, so it is not replaced even with --force: remove it by hand", path.display())]
    NotAWorkspace { path: PathBuf },
    #[error(transparent)]
    Memory(#[from] argus_gm::MemoryError),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

fn list(slots: &[usize]) -> String {
    slots.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
