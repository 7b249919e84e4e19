//! What happened, in words.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::inside::Place;
use crate::stack::{Frame, resolve};

/// How a process got into trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// `code` is what the system says of the signal, `address` where a bad access went.
    Signal { signal: i32, code: i32, address: u64 },
    /// `exit` was called.
    Exit { code: i32 },
}

/// A crash, as its handler saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    pub cause: Cause,
    /// What the thread was doing.
    pub place: Place,
    /// Addresses of code, the innermost first.
    pub stack: Vec<u64>,
}

impl Crash {
    /// The stack as functions and lines: from the code that crashed up to the program that called it.
    pub fn frames(&self) -> Vec<Frame> {
        resolve(&self.stack)
    }
}

impl Cause {
    /// The name of the signal, such as `SIGSEGV`.
    pub fn signal_name(self) -> Option<&'static str> {
        match self {
            Cause::Signal { signal, .. } => Some(signal_words(signal).0),
            Cause::Exit { .. } => None,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Cause::Exit { code } => write!(f, "it called exit({code})"),
            Cause::Signal { signal, code, address } => {
                let (name, words) = signal_words(signal);
                write!(f, "{words} ({name})")?;
                // A code above 0 means that the machine raised it, and not a call of raise or abort.
                if code > 0 && matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
                    write!(f, " at address {address:#x}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

/// The name of a signal, and what people call it.
pub(crate) fn signal_words(signal: i32) -> (&'static str, &'static str) {
    match signal {
        libc::SIGSEGV => ("SIGSEGV", "segmentation fault"),
        libc::SIGBUS => ("SIGBUS", "bus error"),
        libc::SIGFPE => ("SIGFPE", "arithmetic exception"),
        libc::SIGILL => ("SIGILL", "illegal instruction"),
        libc::SIGABRT => ("SIGABRT", "abort"),
        libc::SIGTRAP => ("SIGTRAP", "trap"),
        libc::SIGSYS => ("SIGSYS", "bad system call"),
        libc::SIGKILL => ("SIGKILL", "killed"),
        libc::SIGTERM => ("SIGTERM", "terminated"),
        libc::SIGXCPU => ("SIGXCPU", "limit of processor time"),
        libc::SIGXFSZ => ("SIGXFSZ", "limit of file size"),
        _ => ("another signal", "ended by a signal"),
    }
}
