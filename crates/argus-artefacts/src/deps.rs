//! `deps.json`: the graph of a capture, of every age.
//!
//! | file | subject |
//! |---|---|
//! | this one | the types |
//! | `read` | from text to values |
//! | `write` | from values to the text of today |
//! | `graph` | the graph that the rest of this project works with |

mod graph;
mod read;
mod write;

use argus_abi::{DType, RuntimeKind, TaskId, TensorArgType};

pub use graph::{Producer, producer};

/// A graph as the reference wrote it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deps {
    /// Said since September only.
    pub runtime: Option<RuntimeKind>,
    /// In the order of submission; the first form of the file has none.
    pub tasks: Vec<DepsTask>,
    pub tensors: Vec<DepsTensor>,
    /// In the order of the file. The same two tasks may have several.
    pub edges: Vec<DepsEdge>,
}

/// A task. Allocations are not among them, and neither are tasks inside a Graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepsTask {
    pub id: TaskId,
    /// Edges come from the orchestration alone.
    pub manual_scope: bool,
    pub early_dispatch: Option<bool>,
    /// The kernel of each member of a cluster, -1 for none. `None`: the file is older than that.
    pub kernel_ids: Option<[i32; 3]>,
    pub block_num: Option<u32>,
    /// Its tensors; scalars are not in the file.
    pub args: Vec<DepsArg>,
}

impl DepsTask {
    /// Whether it is known to run no kernel: a barrier, or a Graph whose tasks are elsewhere.
    pub fn runs_nothing(&self) -> bool {
        self.kernel_ids.is_some_and(|ids| ids.iter().all(|&id| id < 0))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepsArg {
    pub index: u32,
    pub kind: TensorArgType,
    /// `None` for memory that did not exist yet at submission.
    pub view: Option<View>,
}

impl DepsArg {
    /// How the reference spells its kind.
    pub fn type_name(&self) -> &'static str {
        read::arg_type_name(self.kind)
    }
}

/// A region of a tensor. Offsets and strides count elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub tensor_id: Option<u64>,
    pub dtype: Option<DType>,
    pub shape: Vec<u64>,
    /// `None`: an early form of the file, which has an offset for each dimension.
    pub start_offset: Option<u64>,
    pub strides: Vec<u64>,
}

/// A piece of memory that tasks use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepsTensor {
    pub id: u64,
    pub address: u64,
    pub version: u32,
    pub dtype: Option<DType>,
    /// Elements of the whole storage.
    pub elements: Option<u64>,
}

/// Why a task waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeSource {
    /// The orchestration says so.
    Explicit,
    /// It uses a tensor that the other made.
    Creator,
    /// It uses bytes that the other wrote.
    Tensormap,
    /// The first form of the file does not say.
    Unknown,
}

impl EdgeSource {
    pub const fn name(self) -> &'static str {
        match self {
            EdgeSource::Explicit => "explicit",
            EdgeSource::Creator => "creator",
            EdgeSource::Tensormap => "tensormap",
            EdgeSource::Unknown => "unknown",
        }
    }

    fn from_name(name: &str) -> Option<EdgeSource> {
        let all = [EdgeSource::Explicit, EdgeSource::Creator, EdgeSource::Tensormap];
        all.into_iter().find(|source| source.name() == name)
    }
}

/// What an edge is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The order of the two tasks.
    pub wait: bool,
    /// Memory that is kept alive.
    pub retain: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepsEdge {
    pub pred: TaskId,
    pub succ: TaskId,
    /// The consumer's slot; `None` for an edge that belongs to none.
    pub arg: Option<u32>,
    pub source: EdgeSource,
    pub flags: Option<Flags>,
    /// Whether the producer's region contains the consumer's.
    pub covered: Option<bool>,
    /// The region that the consumer sees.
    pub consumer: Option<View>,
    /// The region that the producer wrote.
    pub producer: Option<View>,
}

impl DepsEdge {
    /// An edge without regions.
    pub fn new(pred: TaskId, succ: TaskId, source: EdgeSource) -> DepsEdge {
        DepsEdge { pred, succ, arg: None, source, flags: None, covered: None, consumer: None, producer: None }
    }
}

/// The number of a tensor: FNV-1a over the bytes of its address and its version.
pub fn tensor_id(address: u64, version: u32) -> u64 {
    let bytes = address.to_le_bytes().into_iter().chain(version.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
