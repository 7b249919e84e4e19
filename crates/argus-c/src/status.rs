//! How a call ends, and its words.

use std::cell::RefCell;
use std::error::Error;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use argus_chip::ChipError;
use argus_facts::with_causes;

/// The call did what it says.
pub const ARGUS_OK: i32 = 0;
/// An argument is invalid: null, an unknown number, a size that does not fit.
pub const ARGUS_ERROR_USAGE: i32 = 1;
/// There is no compiler, or it refused a source; argus_last_error() has what it printed.
pub const ARGUS_ERROR_COMPILE: i32 = 2;
/// A compiled object cannot be used: no entry, another signature, kernels that do not make up a program.
pub const ARGUS_ERROR_LOAD: i32 = 3;
/// The run failed: a kernel's fault, a fatal error of the orchestration, a run that is stuck.
pub const ARGUS_ERROR_RUN: i32 = 4;
/// The run ended well and its dump is not what was asked for: records lost, a disk that is full.
pub const ARGUS_ERROR_CAPTURE: i32 = 5;
/// A dump cannot be read, or a payload of it is damaged.
pub const ARGUS_ERROR_DUMP: i32 = 6;
/// A defect of the library.
pub const ARGUS_ERROR_INTERNAL: i32 = 7;

/// Why a call does not return [`ARGUS_OK`].
pub struct Failure {
    status: i32,
    message: String,
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure { status: ARGUS_ERROR_USAGE, message: message.into() }
    }

    pub fn text(status: i32, message: impl Into<String>) -> Failure {
        Failure { status, message: message.into() }
    }

    pub fn error(status: i32, error: &(dyn Error + 'static)) -> Failure {
        Failure { status, message: with_causes(error) }
    }
}

impl From<ChipError> for Failure {
    fn from(error: ChipError) -> Failure {
        Failure::error(ARGUS_ERROR_USAGE, &error)
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// What went wrong in the last call of this thread that failed. The text stays until the next call of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn argus_last_error() -> *const c_char {
    LAST.with_borrow(|text| text.as_ptr())
}

/// Runs the body of a function of the interface: its failure becomes the status and the text, and so does a panic.
pub fn call(function: &str, body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    let ended = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Failure::text(ARGUS_ERROR_INTERNAL, format!("a defect of the library: {said}")))
    });
    let Err(Failure { status, message }) = ended else { return ARGUS_OK };
    let text = format!("{function}: {message}").replace('\0', "\\0");
    LAST.set(CString::new(text).unwrap_or_default());
    status
}
