//! What a caller may ask of a capture.

use argus_dump::StatsMode;
use argus_facts::{Level, Selection, Selector};
use argus_runtime::Collect;

use crate::problem::RecordProblem;

/// What to capture and how to keep it.
#[derive(Clone, Debug)]
pub struct RecordRequest {
    /// None: no arguments of tasks, only the graph and what else is asked for.
    pub level: Option<Level>,
    /// Selectors as typed; of several one must match.
    pub selectors: Vec<String>,
    pub stats: StatsMode,
    /// Equal payloads are stored once.
    pub dedupe: bool,
    pub collect: Collect,
    /// The orchestration's own arguments go into the manifest.
    pub orchestration_args: bool,
}

impl Default for RecordRequest {
    fn default() -> RecordRequest {
        RecordRequest {
            level: Some(Level::Full),
            selectors: Vec::new(),
            stats: StatsMode::Off,
            dedupe: true,
            collect: Collect::default(),
            orchestration_args: false,
        }
    }
}

impl RecordRequest {
    pub(crate) fn selection(&self) -> Result<Selection, RecordProblem> {
        let selectors = self.selectors.iter().map(|text| Selector::parse(text)).collect::<Result<_, _>>()?;
        Ok(Selection { level: self.level, selectors })
    }

    pub(crate) fn level_name(&self) -> &'static str {
        self.level.map_or("off", Level::name)
    }

    pub(crate) fn collect_name(&self) -> &'static str {
        match self.collect {
            Collect::Streaming { .. } => "streaming",
            Collect::AfterSync { .. } => "after-sync",
        }
    }
}
