//! How a run fails, in words for its author.

use std::error::Error as Cause;
use std::time::Duration;

use argus_abi::{CoreType, FatalCode, TaskId};
use argus_child::{Cause as CrashCause, Crash, Frame, Place};
use argus_facts::Stall;
use argus_gm::MemoryError;
use argus_tile::Fault;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::inject::InjectionError;

/// The reason an orchestration stops. Latched: once a run is fatal, every builder call returns it again.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("fatal {code}: {message}")]
pub struct Fatal {
    pub code: FatalCode,
    pub message: String,
}

impl Fatal {
    pub fn new(code: FatalCode, message: impl Into<String>) -> Fatal {
        Fatal { code, message: message.into() }
    }

    pub fn invalid(message: impl Into<String>) -> Fatal {
        Fatal::new(FatalCode::InvalidArgs, message)
    }
}

/// Where a kernel was running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSite {
    pub task: TaskId,
    pub kernel: String,
    pub core: u32,
    pub core_type: CoreType,
    pub block: u32,
}

impl std::fmt::Display for KernelSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let KernelSite { task, kernel, core, core_type, block } = self;
        write!(f, "kernel '{kernel}' of task {task}, block {block}, on {core_type} core {core}")
    }
}

/// A configuration that no run can have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    #[error("block-dim must be at least 1")]
    NoBlocks,
    #[error("block-dim {asked} is more than the {available} clusters of {chip}")]
    TooManyBlocks { asked: u32, available: u32, chip: &'static str },
    #[error("at least one control thread is needed")]
    NoControlThreads,
    #[error("{asked} control threads are more than the {available} of {chip}")]
    TooManyControlThreads { asked: u32, available: u32, chip: &'static str },
    #[error("ring {ring}: a task window must be a power of 2 and at least 4, not {window}")]
    Window { ring: usize, window: u32 },
    #[error("ring {ring}: a heap must be at least 1024 bytes, not {heap}")]
    Heap { ring: usize, heap: u64 },
    #[error("ring {ring}: a pool of dependency edges must be at least 4, not {pool}")]
    DepPool { ring: usize, pool: u32 },
    #[error("{what} must be longer than zero")]
    ZeroTime { what: &'static str },
    #[error("argument '{name}' holds {got} bytes, its shape needs {expected}")]
    ArgumentSize { name: String, got: u64, expected: u64 },
    #[error("this device was given up after a kernel that never ended; create a new one")]
    Abandoned,
}

/// Code that Rust did not check ended its process, or would have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crashed {
    /// The kernel that did it, if it was one.
    pub site: Option<KernelSite>,
    pub crash: Crash,
    /// How far the kernel was.
    pub at: String,
    /// The functions that were active, the innermost first; empty until they are looked up.
    pub frames: Vec<Frame>,
}

impl Crashed {
    /// The innermost line that is known.
    pub fn source(&self) -> Option<(&str, u32)> {
        innermost(&self.frames)
    }
}

/// The innermost line of a stack that is known.
pub fn innermost(frames: &[Frame]) -> Option<(&str, u32)> {
    frames.iter().find_map(|frame| frame.source.as_ref()).map(|(file, line)| (&file[..], *line))
}

impl std::fmt::Display for Crashed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.site, self.crash.place) {
            (Some(site), _) => write!(f, "{site}")?,
            (None, Place::Orchestration) => f.write_str("the orchestration")?,
            (None, _) => f.write_str("the process of the run")?,
        }
        match self.crash.cause {
            CrashCause::Exit { code } => write!(f, " called exit({code})")?,
            cause @ CrashCause::Signal { .. } => write!(f, " crashed: {cause}")?,
        }
        if let Some((file, line)) = self.source() {
            write!(f, " in {file}:{line}")?;
        }
        f.write_str(&self.at)
    }
}

const GIVEN_UP: &str = "; it reached no tile instruction either, so its thread and this device were given up";

/// Why a run ended without its results.
#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Fatal(#[from] Fatal),
    #[error("{site} failed")]
    KernelFault {
        site: KernelSite,
        #[source]
        fault: Fault,
    },
    #[error("{site} panicked{at}: {message}")]
    KernelPanic { site: KernelSite, at: String, message: String },
    #[error("{0}")]
    Crashed(Box<Crashed>),
    #[error("the process of the run {how}{running}")]
    Died { how: String, running: String },
    #[error("the process of the run did not answer for {silence:?} and was ended{running}")]
    Silent { silence: Duration, running: String },
    #[error("cannot start a process for the run")]
    Fork {
        #[source]
        source: std::io::Error,
    },
    /// An error of the child process, in its words.
    #[error("{message}")]
    Relayed { message: String },
    #[error("capture cannot start")]
    Capture(#[source] Box<dyn Cause + Send + Sync>),
    #[error("the collector panicked, so the graph of the run is lost")]
    GraphLost,
    #[error(transparent)]
    Injection(#[from] InjectionError),
    #[error("the run was interrupted")]
    Interrupted,
    #[error("the scheduler panicked, which is a defect of the simulator: {message}")]
    SchedulerPanic { message: String },
    #[error("cannot start a thread that the run needs")]
    Thread {
        #[source]
        source: std::io::Error,
    },
    #[error("the orchestration panicked: {message}")]
    OrchestrationPanic { message: String },
    #[error(
        "fatal {code}: no task completed for {limit:?}; {site} does not end{at}{given_up}",
        code = FatalCode::SchedulerTimeout,
        given_up = if *abandoned { GIVEN_UP } else { "" }
    )]
    Stuck {
        site: KernelSite,
        at: Box<str>,
        limit: Duration,
        abandoned: bool,
        /// The functions that were active, the innermost first, if they can be known.
        frames: Box<[Frame]>,
        stall: Box<Stall>,
    },
    #[error(
        "fatal {code}: no task completed for {limit:?}; {site} has ended, but {waits}",
        code = FatalCode::SchedulerTimeout
    )]
    NotNotified { site: KernelSite, waits: Box<str>, limit: Duration, stall: Box<Stall> },
    #[error(
        "fatal {code}: deadlock: {left} of {total} tasks wait for each other and can never start",
        code = FatalCode::SchedulerTimeout
    )]
    Deadlock { left: u64, total: u64, stall: Box<Stall> },
    #[error(
        "fatal {code}: the orchestration made no progress for {limit:?} while no kernel was running",
        code = FatalCode::SchedulerTimeout
    )]
    OrchestrationStuck { limit: Duration, frames: Box<[Frame]>, stall: Box<Stall> },
}

/// The functions of a stack that its author wrote: what called them is ours.
pub(crate) fn authors(mut frames: Vec<Frame>) -> Vec<Frame> {
    let ours =
        |frame: &Frame| frame.source.as_ref().is_some_and(|(file, _)| file.contains("/argus/support/"));
    let end = frames.iter().position(ours).unwrap_or(frames.len());
    frames.truncate(end);
    frames
}

impl RunError {
    /// The functions that were active when code that Rust did not check ended badly, the innermost first.
    pub fn frames(&self) -> &[Frame] {
        match self {
            RunError::Crashed(crashed) => &crashed.frames,
            RunError::Stuck { frames, .. } | RunError::OrchestrationStuck { frames, .. } => frames,
            _ => &[],
        }
    }

    /// The same error with the functions of a crash looked up, which only a healthy process should do.
    pub(crate) fn resolved(mut self) -> RunError {
        if let RunError::Crashed(crashed) = &mut self
            && crashed.frames.is_empty()
        {
            crashed.frames = authors(crashed.crash.frames());
        }
        self
    }

    /// The class of a run that stood still, in the words of the reference, and what it rests on.
    pub fn stall(&self) -> Option<&Stall> {
        match self {
            RunError::Stuck { stall, .. }
            | RunError::NotNotified { stall, .. }
            | RunError::Deadlock { stall, .. }
            | RunError::OrchestrationStuck { stall, .. } => Some(stall),
            _ => None,
        }
    }

    /// The reference's error code, where the failure has one.
    pub fn fatal_code(&self) -> Option<FatalCode> {
        match self {
            RunError::Fatal(fatal) => Some(fatal.code),
            RunError::KernelFault { fault, .. } => fault.code,
            RunError::Stuck { .. }
            | RunError::NotNotified { .. }
            | RunError::Deadlock { .. }
            | RunError::OrchestrationStuck { .. } => Some(FatalCode::SchedulerTimeout),
            _ => None,
        }
    }
}
