//! Why a path is no run that can be read.

use std::path::PathBuf;

use argus_dump::read::OpenError;
use thiserror::Error;

use crate::holdings::Holdings;

#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Open(#[from] OpenError),

    /// Files of a capture, and no list of its records.
    #[error("{holdings}")]
    NoRecords { path: PathBuf, holdings: Box<Holdings> },

    /// A tree where one capture is wanted.
    #[error("{} holds {} captures of several ranks: {}", path.display(), labels.len(), listed(labels))]
    Ranks { path: PathBuf, labels: Vec<String> },

    #[error(
        "{} is the output of several chips that wrote the same files: each wrote over the others, the last one won, and \
         nothing in the files says which (its name map has level 3, so it names programs of chips and not kernels)",
        path.display()
    )]
    Overwritten { path: PathBuf },

    #[error("'{text}' does not choose ranks; write 3, 0,2,5 or 4..7")]
    RankText { text: String },

    #[error("there is no rank {rank}; there are {}", listed(known))]
    NoRank { rank: u32, known: Vec<String> },
}

/// At most ten of them.
fn listed(labels: &[String]) -> String {
    let shown = labels.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
    match labels.len().saturating_sub(10) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
