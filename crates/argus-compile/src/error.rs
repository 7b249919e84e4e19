//! Why there is no object.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a source did not become an object.
#[derive(Debug, Error)]
pub enum CompileError {
    #[error("no C++ compiler was found; looked for {tried}")]
    NoCompiler { tried: String },
    #[error("'{compiler}' cannot be started")]
    CannotStart { compiler: String, source: io::Error },
    #[error(
        "'{compiler}' is not a C++ compiler that is known here: it defines neither __GNUC__ nor __clang_major__"
    )]
    NotACompiler { compiler: String },
    #[error("{compiler} is version {found}; C++20 as it is used here needs {needed} or newer")]
    TooOld { compiler: String, found: u32, needed: u32 },
    #[error("cannot read the source {path}", path = path.display())]
    Source { path: PathBuf, source: io::Error },
    #[error("the source {path} is not a file", path = path.display())]
    NotAFile { path: PathBuf },
    #[error("there are no headers of the {generation} generation for {runtime} on {chip}", chip = .arch)]
    NoHeaders { generation: &'static str, runtime: &'static str, arch: &'static str },
    #[error("{path} does not compile:\n{said}\nThe command was:\n{command}", path = path.display())]
    Failed { path: PathBuf, command: String, said: String },
    #[error(
        "{path} has no kernel_entry: a kernel is a function `extern \"C\" void kernel_entry(int64_t *args)`",
        path = path.display()
    )]
    NoEntry { path: PathBuf },
    #[error("the compiler was ended by signal {signal} while it worked on {path}", path = path.display())]
    Killed { path: PathBuf, signal: i32 },
    #[error("cannot use the cache of compiled objects in {path}", path = path.display())]
    Cache { path: PathBuf, source: io::Error },
    #[error("the compiler gave no list of headers for {path}", path = path.display())]
    NoHeaderList { path: PathBuf, source: io::Error },
}

/// What would help, for the face that knows how to say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    InstallCompiler,
    NameCompiler,
    ChooseGeneration,
}

impl CompileError {
    pub fn hint(&self) -> Option<Hint> {
        match self {
            CompileError::NoCompiler { .. } => Some(Hint::InstallCompiler),
            CompileError::CannotStart { .. }
            | CompileError::NotACompiler { .. }
            | CompileError::TooOld { .. } => Some(Hint::NameCompiler),
            CompileError::NoHeaders { .. } => Some(Hint::ChooseGeneration),
            _ => None,
        }
    }
}
