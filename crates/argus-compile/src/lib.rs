//! From C++ sources to shared objects that the tool can load.
//!
//! In go kernels and orchestrations as their authors wrote them. The machine's own compiler turns each into an object,
//! against the headers that the tool carries; an object that was compiled before is taken from a cache. Out come paths
//! of objects, what the compiler said, and the texts they were made from.
//!
//! ```no_run
//! use argus_abi::{CoreType, RuntimeKind};
//! use argus_chip::DEFAULT_CHIP;
//! use argus_compile::{Compiler, Generation, Role, Unit};
//!
//! let compiler = Compiler::find(None)?;
//! let unit = Unit {
//!     source: "kernels/aiv/add.cpp".into(),
//!     role: Role::Kernel(CoreType::Aiv),
//!     generation: Generation::June,
//!     chip: DEFAULT_CHIP,
//!     runtime: RuntimeKind::Trb,
//!     include_dirs: Vec::new(),
//!     defines: Vec::new(),
//!     root: None,
//!     debug: false,
//! };
//! for object in compiler.compile(&[unit])? {
//!     println!("{}", object.path.display());
//! }
//! # Ok::<(), argus_compile::CompileError>(())
//! ```
//!
//! # What holds
//!
//! - An object in the cache was made by the same compiler, from the same bytes of source and of every header, with the
//!   same arguments. No other object is used, and none that is half-written.
//! - A compiler is asked what it is once for each state of its files. When one of them changes, it is asked again.
//! - A hit repeats the warnings of the compilation that it stands for.
//! - A failure carries what the compiler printed and the command line, as it can be typed.
//!
//! | module | subject |
//! |---|---|
//! | [`toolchain`] | which compiler, and which version of it |
//! | `known` | what was learned of a compiler when it was asked |
//! | [`headers`] | the headers that the tool carries, as files |
//! | [`unit`](mod@unit) | one object to be made, and its command line |
//! | [`generation`] | which names a source uses |
//! | `cache` | objects that were made before |
//! | [`compiler`] | units to objects, several at a time |
#![forbid(unsafe_code)]

mod cache;
pub mod compiler;
pub mod error;
pub mod generation;
pub mod headers;
mod known;
pub mod toolchain;
pub mod unit;

pub use compiler::{Compiler, Object, SourceText};
pub use error::CompileError;
pub use generation::Generation;
pub use toolchain::Toolchain;
pub use unit::{Role, Unit};
