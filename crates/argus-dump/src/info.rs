//! What the caller tells about a run, and what it is told.

use std::path::PathBuf;
use std::sync::Arc;

use argus_abi::{DType, Kind};
use argus_facts::{KernelInfo, Ledger, RunTimes, SceneOrigin};
use serde_json::{Map, Value};

/// How a dump is written.
#[derive(Clone, Copy, Debug)]
pub struct DumpOptions {
    /// Equal payloads are stored once.
    pub dedupe: bool,
    pub stats: StatsMode,
    /// `finish` returns when the disk has everything, not only the operating system.
    pub sync: bool,
    /// Large writes go around the page cache where the file system allows it.
    pub direct: bool,
}

impl Default for DumpOptions {
    fn default() -> DumpOptions {
        DumpOptions { dedupe: true, stats: StatsMode::Off, sync: false, direct: true }
    }
}

/// Whether statistics of payloads are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatsMode {
    /// Only for arguments that ask for it themselves.
    #[default]
    Off,
    Beside,
    /// Payloads are looked at and not stored.
    Instead,
}

impl StatsMode {
    pub const fn name(self) -> &'static str {
        match self {
            StatsMode::Off => "off",
            StatsMode::Beside => "beside",
            StatsMode::Instead => "instead",
        }
    }
}

/// An argument of the orchestration function itself.
#[derive(Clone, Debug)]
pub struct OrchestrationArg {
    pub name: String,
    pub kind: Kind,
    pub dtype: DType,
    /// Empty for a scalar.
    pub shape: Vec<u64>,
    /// Device address of a tensor; 0 for a scalar.
    pub address: u64,
    /// Raw bits of a scalar; 0 for a tensor.
    pub bits: u64,
}

/// What a dump says about its run.
#[derive(Clone, Debug, Default)]
pub struct DumpInfo {
    pub scene: String,
    pub case: String,
    pub platform: String,
    pub runtime: String,
    /// How much is captured, in the tool's own word for it.
    pub level: String,
    /// See [`new_run_id`].
    pub run_id: u128,
    pub kernels: Vec<KernelInfo>,
    /// Settings of the run, free in form.
    pub config: Map<String, Value>,
    /// Programs and libraries by name.
    pub versions: Map<String, Value>,
    pub orchestration_args: Vec<OrchestrationArg>,
    /// The sources of the program, if they are known.
    pub origin: Option<SceneOrigin>,
}

/// A number that no other run has.
pub fn new_run_id() -> u128 {
    uuid::Uuid::new_v4().as_u128()
}

/// How the run itself ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunStatus {
    #[default]
    Complete,
    Failed,
    /// The run was killed, or was still active: for a copy of the dump of such a run.
    Unfinished,
    /// It is not known how it ended: for a copy of a dump that does not tell.
    Unknown,
}

impl RunStatus {
    pub const fn name(self) -> &'static str {
        match self {
            RunStatus::Complete => "complete",
            RunStatus::Failed => "failed",
            RunStatus::Unfinished => "unfinished",
            RunStatus::Unknown => "unknown",
        }
    }
}

/// What is known when the run is over.
#[derive(Clone, Debug, Default)]
pub struct RunEnd {
    pub status: RunStatus,
    pub error: Option<String>,
    pub ledger: Ledger,
    /// Faults that were made on purpose, free in form.
    pub injections: Vec<Value>,
    /// When what ran where; empty if unknown.
    pub times: Arc<RunTimes>,
}

/// What a finished dump holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpSummary {
    pub directory: PathBuf,
    /// Tensors and scalars. None at all is no error here, but hardly what was wanted.
    pub records: u64,
    pub tensors: u64,
    pub scalars: u64,
    pub before_dispatch: u64,
    pub after_completion: u64,
    /// Records of arguments whose task had not completed.
    pub partial: u64,
    pub tasks: u64,
    pub edges: u64,
    /// Bytes of payload that came, equal ones counted each time.
    pub payload_bytes: u64,
    /// Bytes in the payload file.
    pub stored_bytes: u64,
    /// Records that share the payload of another.
    pub shared: u64,
    /// Arguments and tasks that could not be captured, each with a reason in the manifest.
    pub skipped: u64,
    pub lost_entries: u64,
    pub lost_bytes: u64,
}
