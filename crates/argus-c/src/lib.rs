//! The C API: programs from C++ sources, captured runs, dumps and their records.
//!
//! `include/argus.h` is generated from this crate, and `include/argus.hpp` puts classes and exceptions around it. What
//! comes in: paths, numbers and memory of a C or C++ program. What goes out: a status, and the words for it.
//!
//! Nothing that a caller passes is believed where it can be checked: null pointers, numbers without a meaning, texts
//! that are not UTF-8, tensors whose size does not fit their shape. No panic leaves towards C.
//!
//! ```
//! use std::ffi::CStr;
//!
//! assert_eq!(argus_c::argus_api_version(), argus_c::ARGUS_API_VERSION);
//! // SAFETY: null is refused, not followed.
//! let status = unsafe { argus_c::argus_dump_open(std::ptr::null(), std::ptr::null_mut()) };
//! assert_eq!(status, argus_c::ARGUS_ERROR_USAGE);
//! // SAFETY: the text stays until the next call of this thread.
//! let said = unsafe { CStr::from_ptr(argus_c::argus_last_error()) };
//! assert_eq!(said.to_str()?, "argus_dump_open: path is null");
//! # Ok::<(), std::str::Utf8Error>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | `status` | how a call ends, and its words |
//! | `numbers` | element types, directions and kinds of core as C has them |
//! | `memory` | texts, arrays and structures out of the caller's memory |
//! | `program` | an orchestration and its kernels |
//! | `device` | a simulated chip, and runs on it |
//! | `dump` | a dump and its records |
#![allow(unsafe_code, reason = "every function takes pointers from C; each says what it needs of them")]

mod device;
mod dump;
mod memory;
mod numbers;
mod program;
mod status;

pub use device::{
    ARGUS_DUMP_FULL, ARGUS_DUMP_HYBRID, ARGUS_DUMP_OFF, ARGUS_DUMP_PARTIAL, Device, RunOptions, RunReport,
    Tensor, argus_device_create, argus_device_free, argus_device_interrupt, argus_device_run,
};
pub use dump::{
    ARGUS_MAX_DIMS, ARGUS_STAGE_AFTER, ARGUS_STAGE_BEFORE, Dump, Record, argus_dump_free, argus_dump_open,
    argus_dump_payload, argus_dump_record, argus_dump_records,
};
pub use numbers::{
    ARGUS_BF16, ARGUS_BOOL, ARGUS_CORE_AIC, ARGUS_CORE_AIV, ARGUS_F16, ARGUS_F32, ARGUS_FP4_E2M1,
    ARGUS_FP8_E4M3FN, ARGUS_FP8_E8M0, ARGUS_I8, ARGUS_I16, ARGUS_I32, ARGUS_I64, ARGUS_IN, ARGUS_INOUT,
    ARGUS_OUT, ARGUS_SCALAR, ARGUS_U8, ARGUS_U16, ARGUS_U32, ARGUS_U64,
};
pub use program::{
    KernelSource, OrchestrationSource, Program, argus_program_add_kernel, argus_program_create,
    argus_program_free, argus_program_load, argus_program_set_orchestration,
};
pub use status::{
    ARGUS_ERROR_CAPTURE, ARGUS_ERROR_COMPILE, ARGUS_ERROR_DUMP, ARGUS_ERROR_INTERNAL, ARGUS_ERROR_LOAD,
    ARGUS_ERROR_RUN, ARGUS_ERROR_USAGE, ARGUS_OK, argus_last_error,
};

/// The version of this interface. A library of another version has functions that behave differently.
pub const ARGUS_API_VERSION: u32 = 1;

/// The version of the library, to be compared with ARGUS_API_VERSION of the header.
#[unsafe(no_mangle)]
pub extern "C" fn argus_api_version() -> u32 {
    ARGUS_API_VERSION
}
