//! `host_phase_records.jsonl`: what the host did while it built a graph.

use serde::Deserialize;

use crate::ArtefactError;
use crate::json;

/// One pass of one process.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HostPass {
    pub pid: u64,
    /// Number of the run in its process; the spans of the run log count the same way.
    pub inv: u64,
    /// Name of the clock.
    pub clock: String,
    pub dropped: u64,
    pub records: Vec<HostPhase>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HostPhase {
    pub phase: String,
    pub start_ns: u64,
    pub end_ns: u64,
    /// A task id for submissions, bytes for uploads.
    pub detail: u64,
    pub tid: u64,
}

/// Reads the passes of a file.
pub fn parse(text: &[u8]) -> Result<Vec<HostPass>, ArtefactError> {
    let mut passes = Vec::new();
    for (line, text) in json::lines(text) {
        let pass: HostPass =
            serde_json::from_slice(text).map_err(|source| ArtefactError::JsonLine { line, source })?;
        if let Some(phase) = pass.records.iter().find(|phase| phase.end_ns < phase.start_ns) {
            let found = format!("{}, before its start at {}", phase.end_ns, phase.start_ns);
            return Err(ArtefactError::value("line", line, "end_ns", found, "its start or later"));
        }
        passes.push(pass);
    }
    if passes.is_empty() { Err(ArtefactError::Empty) } else { Ok(passes) }
}
