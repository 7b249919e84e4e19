//! One dump as it was when it was last opened, with what was made out of it since.

use std::path::Path;
use std::sync::OnceLock;

use argus_dump::LastVerdict;
use argus_dump::read::{Dump, Record};
use argus_runs::Capture;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::answer::Problem;
use crate::judged::Judging;
use crate::overview::Statistics;
use crate::pyramid::Pyramids;
use crate::session::ending;
use crate::sources::Sources;
use crate::table::TaskTable;

/// A dump and what is known of it.
pub struct Shown {
    pub capture: Capture,
    pub tasks: TaskTable,
    pub graph: OnceLock<Bytes>,
    pub timeline: OnceLock<Result<Bytes, Problem>>,
    pub statistics: Statistics,
    pub pyramids: Pyramids,
    pub judging: Judging,
    pub sources: Sources,
}

impl Shown {
    pub fn new(capture: Capture) -> Shown {
        let tasks = TaskTable::new(&capture.dump);
        Shown {
            capture,
            tasks,
            graph: OnceLock::new(),
            timeline: OnceLock::new(),
            statistics: Statistics::default(),
            pyramids: Pyramids::default(),
            judging: Judging::default(),
            sources: Sources::default(),
        }
    }

    pub fn dump(&self) -> &Dump {
        &self.capture.dump
    }

    /// The run's directory, or that of the dump if it lies in none. Captures of ranks are told apart by their ranks.
    pub fn name(&self) -> String {
        let directory = &self.capture.artefacts.directory;
        let whole = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.clone());
        let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let rank = whole.parent().and_then(last).filter(|name| name.starts_with("rank"));
        match (last(&whole), rank) {
            (Some(name), Some(rank)) => format!("{rank}/{name}"),
            (Some(name), None) => name,
            (None, _) => whole.display().to_string(),
        }
    }

    /// A record by its number.
    pub fn record(&self, index: usize) -> Result<Record, Problem> {
        match index < self.dump().len() {
            true => Ok(self.dump().record(index)),
            false => Err(Problem::nothing(format!("there is no record {index}"))),
        }
    }

    /// A task's number, if there is one.
    pub fn check_task(&self, task: usize) -> Result<usize, Problem> {
        match task < self.tasks.len() {
            true => Ok(task),
            false => Err(Problem::nothing(format!("there is no task {task}"))),
        }
    }

    pub fn facts(&self) -> Map<String, Value> {
        facts(self.dump(), &self.tasks)
    }
}

/// What a dump says of itself, and how large it is.
pub fn facts(dump: &Dump, table: &TaskTable) -> Map<String, Value> {
    let facts = dump.run();
    let said = |of: fn(&argus_dump::read::RunFacts) -> &String| {
        facts.map(of).filter(|text| !text.is_empty()).cloned()
    };
    let object = json!({
        "scene": said(|facts| &facts.scene),
        "case": said(|facts| &facts.case),
        "platform": said(|facts| &facts.platform),
        "runtime": said(|facts| &facts.runtime),
        "format_version": dump.format_version().name(),
        "ending": ending(dump.ending()),
        "tasks": table.len(),
        "records": dump.len(),
        "edges": table.edges.len(),
        "payload_bytes": table.bytes.iter().sum::<u64>(),
        "verdict": LastVerdict::read(dump.directory()).map(|verdict| verdict.to_string()),
        "notes": dump.notes(),
    });
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
