//! A rule that a file breaks, and where.
//!
//! There are about two hundred rules, and a caller does the same about each of them: they are words. What can be told
//! apart is the place, and whether the file could be read as what it claims to be.

use std::fmt;
use std::io;
use std::str::Utf8Error;
use std::string::FromUtf8Error;

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("{0}")]
    Rule(String),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Text(#[from] Utf8Error),
    /// The same at a place inside the file.
    #[error("{place}")]
    At { place: FilePlace, source: Box<Broken> },
}

/// A place inside a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// A block of `visualize_data.bin` by its first byte.
    Block { byte: u64 },
    /// A table of it by its name.
    Table(&'static str),
    /// A block of details by its type.
    Details(u8),
    /// An event of a trace, counted from 1.
    Event(u64),
    /// A packet of a native trace, counted from 0.
    Packet(u64),
    /// A line of a table of text, counted from 1.
    Line(usize),
    /// The row of an instruction.
    Address(u64),
    /// A line of a source.
    Source { path: String, line: u64 },
}

impl Broken {
    pub(super) fn at(self, place: FilePlace) -> Broken {
        Broken::At { place, source: Box::new(self) }
    }
}

impl From<&str> for Broken {
    fn from(rule: &str) -> Broken {
        Broken::Rule(rule.to_owned())
    }
}

impl From<FromUtf8Error> for Broken {
    fn from(error: FromUtf8Error) -> Broken {
        Broken::Text(error.utf8_error())
    }
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePlace::Block { byte } => write!(f, "block at byte {byte}"),
            FilePlace::Table(name) => f.write_str(name),
            FilePlace::Details(kind) => write!(f, "block {kind}"),
            FilePlace::Event(number) => write!(f, "event {number}"),
            FilePlace::Packet(number) => write!(f, "packet {number}"),
            FilePlace::Line(number) => write!(f, "line {number}"),
            FilePlace::Address(address) => write!(f, "address {address:#x}"),
            FilePlace::Source { path, line } => write!(f, "{path}:{line}"),
        }
    }
}

/// A broken rule in words, written as for `format!`.
macro_rules! rule {
    ($($words:tt)*) => { $crate::check::Broken::Rule(format!($($words)*)) };
}

pub(super) use rule;
