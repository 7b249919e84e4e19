//! Why a file is not a scene, or its program cannot be made.

use std::io;
use std::path::PathBuf;

use argus_abi::{DType, FuncId, MAX_DIMS};
use argus_arrays::ArrayError;
use argus_compile::CompileError;
use argus_loaded::LoadError;
use argus_runtime::kernel_table::KernelTableError;
use argus_scene::{PrepareError, SceneError};
use thiserror::Error;

use crate::shipped::SCENE_FILE;

#[derive(Debug, Error)]
pub enum SceneFileError {
    #[error("the directory has no {SCENE_FILE}")]
    NoSceneFile,
    #[error("cannot read {path}", path = path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{path} is not UTF-8 text", path = path.display())]
    NotText { path: PathBuf },
    /// The parser shows line and place itself.
    #[error("{path}: {text}", path = path.display())]
    Syntax { path: PathBuf, text: String },
    #[error("{what} is '{found}'; it must be {known}")]
    Word { what: String, found: String, known: &'static str },
    #[error("the scene has no kernel")]
    NoKernels,
    #[error("{0} appears twice")]
    Twice(String),
    #[error("case '{case}' replaces {what} '{name}', which the scene does not have")]
    NothingToReplace { case: String, what: &'static str, name: String },
    #[error("case '{case}' has no parameter '{name}', which {user} names")]
    NoParameter { case: String, user: String, name: String },
    #[error("tensor '{tensor}': {value} is not an extent")]
    Extent { tensor: String, value: f64 },
    #[error("tensor '{tensor}' has {extents} extents; at most {MAX_DIMS} are possible")]
    Rank { tensor: String, extents: usize },
    #[error("tensor '{tensor}' is too large: at most 64 GiB are possible")]
    TooLarge { tensor: String },
    #[error("tensor '{tensor}': say one of fill, uniform, normal, count, below and file")]
    Input { tensor: String },
    #[error("tensor '{tensor}': {value} is not a value of {dtype}")]
    DoesNotFit { tensor: String, value: f64, dtype: DType },
    #[error("scalar '{scalar}': {value} is not a value of {dtype}")]
    ScalarDoesNotFit { scalar: String, value: f64, dtype: DType },
    #[error("tensor '{tensor}': cannot use {path}", path = path.display())]
    Array { tensor: String, path: PathBuf, source: ArrayError },
    #[error("tensor '{tensor}' is {wanted}; {path} holds {found}", path = path.display())]
    ArrayDiffers { tensor: String, path: PathBuf, wanted: String, found: String },
    #[error("tensor '{tensor}' is an input, so nothing can be expected of it")]
    ExpectedInput { tensor: String },
    #[error("the scene's twin cannot be used")]
    Twin(#[source] SceneError),
    #[error("the scene shares the arguments of its twin '{twin}', so {what} cannot be said here")]
    OwnArguments { twin: String, what: &'static str },
    #[error("the arguments of the scene's twin cannot be made")]
    TwinArguments(#[source] PrepareError),
    #[error("case '{case}' names a case of a twin, and the scene has none")]
    NoTwin { case: String },
    #[error("cannot put the scene's files below {path}", path = path.display())]
    Place { path: PathBuf, source: io::Error },
    #[error("the tolerance is not usable")]
    Tolerance(#[source] argus_scene::compare::ToleranceError),
    #[error(transparent)]
    Compile(#[from] CompileError),
    #[error("kernel '{kernel}' ({func_id}) cannot be loaded")]
    Kernel { kernel: String, func_id: FuncId, source: LoadError },
    #[error("the orchestration {path} cannot be loaded", path = path.display())]
    Orchestration { path: PathBuf, source: LoadError },
    #[error("the kernels cannot be used together")]
    Kernels(#[from] KernelTableError),
}
