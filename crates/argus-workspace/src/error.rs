//! Why a workspace cannot be generated. Each message says what was wrong and where; [`crate::Hint`] says what would
//! help. A cause is not part of the message: it is the error's source.

use std::io;
use std::path::PathBuf;

use argus_abi::args::SLOTS;
use argus_abi::{DType, MAX_DIMS};

use crate::config::CONFIG_FILE;
use crate::request::Setting;

/// One way in which generating a workspace fails. Nothing has been written when one is returned.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("unknown backend `{name}`: there are simpler and ptoas")]
    UnknownBackend { name: String },
    #[error("the task has no kernel")]
    NoKernel,
    #[error(
        "{files} kernel sources for {} kernels ({}): give one for all, or one each in the order aic, aiv0, aiv1",
        kernels.len(), kernels.join(", ")
    )]
    SourceCount { files: usize, kernels: Vec<String> },
    #[error("kernel {name} is one of several, and nothing says on which core it runs")]
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
        "the arguments do not cover what {} reads: args {} have no value",
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
    #[error("tensor `{name}` in slot {slot}")]
    View { name: String, slot: usize, source: LayoutError },
    #[error(
        "the buffers of the task take {size} bytes with the argument in slot {slot}, and a workspace holds at most \
         {most}"
    )]
    TooLarge { slot: usize, size: u64, most: u64 },
    #[error(
        "blocks {first} to {first}+{count} of {total}: at least one block must be launched, inside the task's blocks, of \
         which there may be {most}"
    )]
    Blocks { first: u32, count: u32, total: u32, most: u32 },
    #[error("{setting} is {value}, but must be {wanted}")]
    Refused { setting: Setting, value: String, wanted: &'static str },
    #[error("cannot read the kernel source {}", path.display())]
    ReadSource { path: PathBuf, source: io::Error },
    #[error("{}:{line}: includes `{name}` by an absolute path, so the workspace could not be moved; include it relatively", path.display())]
    AbsoluteInclude { path: PathBuf, line: usize, name: String },
    #[error("the kernel source {} includes more than {limit} local files", path.display())]
    TooManyFiles { path: PathBuf, limit: usize },
    #[error("the path {} cannot be written into an include line: rename what has quotes, backslashes or control characters", path.display())]
    OddPath { path: PathBuf },
    #[error("cannot read the template {}", path.display())]
    ReadTemplate { path: PathBuf, source: io::Error },
    #[error("{} overrides no template; the templates are {}", path.display(), known.join(", "))]
    UnknownTemplate { path: PathBuf, known: Vec<&'static str> },
    #[error("the template {name} is wrong: {reason}")]
    Template { name: String, reason: String },
    #[error("cannot put {CONFIG_FILE} into words")]
    Record(#[source] serde_json::Error),
    #[error("{} has no function marked __global__, which the ptoas backend launches", path.display())]
    NoGlobal { path: PathBuf },
    #[error("{} has several functions marked __global__ ({})", path.display(), names.join(", "))]
    SeveralGlobals { path: PathBuf, names: Vec<String> },
    #[error("{} has no function `{name}` marked __global__; it has {}", path.display(), names.join(", "))]
    UnknownGlobal { path: PathBuf, name: String, names: Vec<String> },
    #[error("{function} takes {pointers} pointers, but the task has {tensors} tensors")]
    TensorCount { function: String, pointers: usize, tensors: usize },
    #[error(
        "{function} takes scalars ({}), which the test case generator of PTOAS chooses by itself: their captured values \
         would be lost",
        names.join(", ")
    )]
    ScalarParameters { function: String, names: Vec<String> },
    #[error("the ptoas backend replays one kernel, but the task is a mix of {kernels}")]
    MixForPtoas { kernels: usize },
    #[error("{} exists and is not empty", path.display())]
    Exists { path: PathBuf },
    #[error("{} is not a workspace, so it is not replaced", path.display())]
    NotAWorkspace { path: PathBuf },
    #[error(transparent)]
    Memory(#[from] argus_gm::MemoryError),
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Why a view cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    #[error("it has {rank} dimensions, not 1 to {MAX_DIMS}")]
    Dimensions { rank: usize },
    #[error("it has {rank} dimensions but {strides} strides")]
    Strides { rank: usize, strides: usize },
    #[error("its buffer {buffer} does not exist: the task has {buffers}")]
    NoBuffer { buffer: usize, buffers: usize },
    #[error("its extent does not fit 64 bits")]
    Extent,
    #[error(
        "base {base}, offset {offset}, shape {shape:?} and strides {strides:?} of {dtype} reach beyond its buffer of \
         {size} bytes"
    )]
    Beyond { base: u64, offset: u64, shape: Vec<u32>, strides: Vec<u32>, dtype: DType, size: u64 },
    #[error("its elements take {size} bytes, more than {most}")]
    TooLarge { size: u64, most: u64 },
    #[error("it was not laid out")]
    Unplaced,
    #[error(transparent)]
    Descriptor(#[from] argus_abi::ViewError),
}

fn list(slots: &[usize]) -> String {
    slots.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
