//! Why a file beside a dump was not used.

use std::io;

use thiserror::Error;

/// What is wrong with one file. The path is said by the code that shows it, because most files are read as bytes.
#[derive(Debug, Error)]
pub enum ArtefactError {
    #[error("it cannot be read")]
    Io(#[from] io::Error),

    #[error("it is empty")]
    Empty,

    #[error("it is not what it should be")]
    Json(#[from] serde_json::Error),

    #[error("line {line}")]
    JsonLine { line: usize, source: serde_json::Error },

    /// Well-formed, and of another kind.
    #[error("it is not {expected}: {lack}")]
    Kind { expected: &'static str, lack: &'static str },

    /// One file of a kind is used.
    #[error("another file of its kind lies beside it and is used")]
    Second,

    #[error("several runs lie in this directory, and nothing says which of them it is of")]
    OtherRuns,

    /// Number `index` of a list, or the file as a whole.
    #[error("{what}{}: {field} is {found}; allowed is {allowed}", numbered(*index))]
    Value {
        what: &'static str,
        index: Option<usize>,
        field: &'static str,
        found: String,
        allowed: &'static str,
    },
}

impl ArtefactError {
    pub(crate) fn value(
        what: &'static str,
        index: impl Into<Option<usize>>,
        field: &'static str,
        found: impl ToString,
        allowed: &'static str,
    ) -> ArtefactError {
        ArtefactError::Value { what, index: index.into(), field, found: found.to_string(), allowed }
    }
}

fn numbered(index: Option<usize>) -> String {
    index.map_or_else(String::new, |index| format!(" {index}"))
}
