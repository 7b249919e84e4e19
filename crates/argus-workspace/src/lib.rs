//! A task as a C++ project for people who have the vendor's toolkit.
//!
//! What comes in: a task in plain values ([`TaskSpec`]; [`task_spec`] makes them of a captured one), the C++ source
//! of its kernels, a chip. What goes out: a directory that builds the kernel, puts the captured bytes into device
//! memory, launches it, and records it with the vendor's simulator. Errors say what is wrong; a [`Hint`] says what
//! would help, and leaves it to the caller how to say that.
//!
//! ```text
//! request ──► check ──► scan, classify ──► plan ──► render ──► write     (nothing of the vendor's needed)
//!                                                                │
//!                                       workspace ──► collect ──► export, checked   (msprof needed)
//! ```
//!
//! ```no_run
//! use argus_workspace::{Request, WorkspaceError, generate};
//!
//! fn write_workspace(request: &Request) -> Result<usize, WorkspaceError> {
//!     let project = generate(request, "workspaces/qk".as_ref(), false)?;
//!     Ok(project.files.len())
//! }
//! ```
//!
//! | backend | files |
//! |---|---|
//! | `simpler` | kernel wrapper, launcher, host program, CMake file, payload of each buffer |
//! | `ptoas` | packed inputs; the test case is made by PTOAS |
//! | both | kernel source with its local includes, `run_collect.sh`, `insight_trace_config.json` |
//!
//! # What holds
//!
//! - The directory may be moved: no path in it is absolute. Toolkits and checkouts come from the environment.
//! - It is written whole or not at all, and replaces only a workspace, and only when told to.
//! - Bytes, views and scalars arrive at the kernel as they were given.
//!
//! # What it never does
//!
//! Run a program to read symbols, fetch anything, or write outside the directory.

pub mod captured;
pub mod classify;
pub mod collect;
pub mod config;
pub mod error;
pub mod export;
mod hint;
mod host;
pub mod plan;
mod ptoas;
pub mod render;
pub mod request;
pub mod scan;
mod sources;
pub mod symbols;
pub mod task;
mod templates;
pub mod write;

pub use captured::task_spec;
pub use classify::Shape;
pub use collect::{CollectError, CollectOptions, Collected, Lack, Toolkit, collect};
pub use error::{LayoutError, WorkspaceError};
pub use export::{Export, ExportError, check_export};
pub use hint::Hint;
pub use render::{Project, ProjectFile, render};
pub use request::{Backend, Launch, Request, Setting};
pub use symbols::{SymbolError, kernel_symbol};
pub use task::{Arg, Blocks, Buffer, KernelSpec, Origin, ScalarArg, TaskSpec, TensorArg, assign_sources};
pub use write::write;

use std::path::Path;

/// Renders a workspace and writes it to `target`; see [`write()`] for what `force` allows.
pub fn generate<'a>(request: &'a Request, target: &Path, force: bool) -> Result<Project<'a>, WorkspaceError> {
    let project = render(request)?;
    write(&project, target, force)?;
    Ok(project)
}
