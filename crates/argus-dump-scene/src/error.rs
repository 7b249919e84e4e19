//! Why there is no scene for a dump, or no task to run. Each says what was wrong; what to type is for the faces to say.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use argus_abi::TaskId;
use argus_chip::ChipError;
use argus_dump::origin_file::OriginError;
use argus_dump::read::OpenError;
use argus_record::RecordProblem;
use argus_replay::{ReplayError, SelectError};
use argus_runtime::RunError;
use argus_scene::compare::OutputMismatch;
use argus_scene::{PrepareError, Scene, SceneError};
use thiserror::Error;

use crate::fit::{Better, Span};

/// Why a scene, or a task of it, cannot be had.
#[derive(Debug, Error)]
pub enum LookupError {
    #[error(transparent)]
    Chip(#[from] ChipError),
    /// A scene that the caller named.
    #[error(transparent)]
    Scene(SceneError),
    /// A scene that the dump or the capsule names.
    #[error(transparent)]
    Recorded(SceneError),
    #[error(transparent)]
    Runtime(SceneError),
    #[error("{error}")]
    Case { scene: Arc<Scene>, error: SceneError },
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    Output(#[from] OutputMismatch),
    /// A run that was made to find something out.
    #[error(transparent)]
    Run(Box<RunError>),
    #[error(transparent)]
    Capture(Box<RecordProblem>),
    #[error(transparent)]
    Open(Box<OpenError>),
    #[error(transparent)]
    Origin(#[from] OriginError),
    #[error("cannot make a temporary directory")]
    Temporary { source: io::Error },
    #[error("scene {scene} case {case} left no tasks")]
    NoTasks { scene: String, case: String },
    #[error("scene {scene} has no such case")]
    NoCase { scene: String },
    #[error("the dump does not say whose kernels it ran")]
    UnknownCode,
    #[error("none of the tasks of the dump is one of {scene}: the dump has {dump}, the scene {own}")]
    Foreign { scene: String, dump: Span, own: Span, better: Option<Box<Better>> },
    #[error("task {task} does not fit {scene}: {how}")]
    Misfit { task: TaskId, scene: String, how: String, better: Option<Box<Better>> },
    /// No task of the dump is the one that was asked for.
    #[error("{error}")]
    Select { error: Box<SelectError>, dump: PathBuf },
    /// Arguments of the task are missing in the dump.
    #[error("{error}")]
    Incomplete { error: Box<ReplayError>, dump: PathBuf },
    /// A debugger was asked for, and there is nothing to compile for it.
    #[error("kernel '{kernel}' is part of this program, not compiled from a C++ source")]
    NotCompiled { kernel: String },
    #[error("the kernel that takes these arguments is not named")]
    KernelWanted { known: String },
    #[error("no task is named")]
    TaskWanted { known: String },
    #[error(transparent)]
    Replay(Box<ReplayError>),
}

/// Errors of other crates are boxed: they are large, and everything here returns a result.
macro_rules! boxed {
    ($($variant:ident($error:ty)),*) => { $(
        impl From<$error> for LookupError {
            fn from(error: $error) -> LookupError {
                LookupError::$variant(Box::new(error))
            }
        }
    )* };
}

boxed!(Run(RunError), Replay(ReplayError), Capture(RecordProblem), Open(OpenError));
