//! What run.json, or the head of a manifest of ours, says about the run.

use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::run_file::is_intact;

/// A description of a run is a page; more is something else.
const LARGEST: usize = 16 << 20;

/// Who ran what. What is not said is empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    pub scene: String,
    pub case: String,
    pub platform: String,
    pub runtime: String,
    /// How much was captured: `full`, `partial`, `hybrid` or `off`.
    pub level: String,
    /// Thirty-two hexadecimal digits.
    pub run_id: String,
    pub started: String,
    pub ended: String,
    /// `running`, `complete` or `failed`.
    pub status: String,
    pub error: Option<String>,
    /// Settings of the run, free in form.
    pub configuration: Map<String, Value>,
    /// Programs and libraries by name.
    pub versions: Map<String, Value>,
    /// How the dump was written: `dedupe`, `statistics`, `sync`.
    pub dump: Map<String, Value>,
    /// Arguments of the orchestration function itself, as the manifest spells them.
    pub orchestration_args: Vec<Value>,
    /// Faults that were made on purpose, free in form.
    pub injections: Vec<Value>,
    pub schema: String,
    /// What the dump holds, by name of the count; empty during the run.
    pub records: Map<String, Value>,
    /// What the capture lost and waited for.
    pub ledger: Map<String, Value>,
    /// Length and checksum of files that were written at the end, by name.
    pub files: Map<String, Value>,
    /// Whether the file's own checksum is that of its content; `None` if it has none.
    #[serde(skip)]
    pub(crate) intact: Option<bool>,
}

/// Why a description of a run cannot be understood.
#[derive(Debug, Error)]
pub(super) enum RunFileError {
    #[error("{bytes} bytes are too many for a description of a run")]
    TooLarge { bytes: usize },
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl RunFacts {
    pub(super) fn parse(text: &[u8]) -> Result<RunFacts, RunFileError> {
        if text.len() > LARGEST {
            return Err(RunFileError::TooLarge { bytes: text.len() });
        }
        let facts: RunFacts = serde_json::from_slice(text)?;
        Ok(RunFacts { intact: is_intact(text), ..facts })
    }

    /// Selectors as the user typed them; empty if everything was wanted.
    pub fn selectors(&self) -> Vec<&str> {
        let selectors = self.configuration.get("selectors").and_then(Value::as_array);
        selectors.map_or_else(Vec::new, |list| list.iter().filter_map(Value::as_str).collect())
    }

    /// `off`, `beside` or `instead` of payloads; empty if it is not said.
    pub fn statistics(&self) -> &str {
        self.dump.get("statistics").and_then(Value::as_str).unwrap_or("")
    }
}
