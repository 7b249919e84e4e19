//! The words both sides of a boundary agree on.
//!
//! Control threads, cores, kernels in C++, dump files and readers of dump files all speak of the same
//! tensors, tasks and argument slots. This crate holds those words and nothing else: fixed `#[repr(C)]`
//! layouts whose offsets are asserted at compile time, and the arithmetic that belongs to them.
//!
//! What it never does: allocate, perform I/O, start threads, touch device memory. It is `no_std`.
//!
//! ```
//! use argus_abi::{DType, Overlap, Tensor};
//!
//! let matrix = Tensor::contiguous(0x1000, DType::F32, &[4, 8])?;
//! let row = matrix.view(&[1, 8], &[2, 0])?;
//! let column = matrix.slice(1, 3, 4, 1)?;
//! assert_eq!(row.data_addr(), Some(0x1000 + 2 * 8 * 4));
//! assert_eq!((column.shape(), column.stride()), (&[4, 1][..], &[8, 1][..]));
//!
//! // The code that writes the row must wait for readers of the column, and replaces nothing but itself.
//! assert_eq!(row.overlap(&column), Overlap::Partial);
//! assert_eq!(matrix.overlap(&row), Overlap::Covers);
//! assert_eq!(row.overlap(&matrix.view(&[1, 8], &[3, 0])?), Overlap::None);
//! # Ok::<(), argus_abi::ViewError>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`dtype`] | element types 0..14 |
//! | [`tensor`] | the 128-byte tensor descriptor |
//! | [`view`] | view, reshape, transpose, permute, slice |
//! | [`overlap`] | which bytes two views share |
//! | [`runs`] | the contiguous pieces of a strided view |
//! | [`cores`] | sets of cores, and how many a chip may have |
//! | [`task`] | task ids, core types, member sets |
//! | [`args`] | the 50 argument slots of a kernel and its two contexts |
//! | [`record`] | role, stage and kind of a captured argument; states and edges of tasks |
//! | [`capture`] | the entries a device writes down while it runs |
//! | [`fatal`] | the run's error codes |
//! | [`runtime`] | the three graph builders by name |
#![no_std]

pub mod args;
pub mod capture;
pub mod cores;
pub mod dtype;
pub mod fatal;
pub mod overlap;
pub mod record;
pub mod runs;
pub mod runtime;
pub mod task;
pub mod tensor;
pub mod view;

pub use args::{
    ArgDirection, ArgLimits, DispatchPayload, GlobalContext, KernelArgs, LocalContext, TensorArgType,
};
pub use cores::{CoreSet, MAX_CORES};
pub use dtype::DType;
pub use fatal::FatalCode;
pub use overlap::Overlap;
pub use record::{EdgeReason, Kind, Role, Stage, TaskState};
pub use runtime::RuntimeKind;
pub use task::{CoreType, FuncId, Member, TaskId};
pub use tensor::{MAX_DIMS, Tensor};
pub use view::ViewError;
