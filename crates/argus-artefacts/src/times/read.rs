//! From text to values: which form it is, and what all forms must keep to.

use argus_abi::MAX_CORES;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Times;
use super::cycles::Cycles;
use super::objects::Objects;
use crate::ArtefactError;
use crate::json;

/// Kinds of phases that a file may name; the reference has two dozen.
const MOST_KINDS: usize = 1024;
/// No clock of a chip is faster.
const FASTEST_HZ: u64 = 1_000_000_000_000;

/// Which lists are there says which form it is.
#[derive(Deserialize)]
struct Shape {
    tasks: Option<IgnoredAny>,
    aicore_tasks: Option<IgnoredAny>,
}

impl Times {
    /// Reads swimlane records of any age.
    pub fn parse(text: &[u8]) -> Result<Times, ArtefactError> {
        let shape: Shape = json::parse(text)?;
        let mut times = match (shape.aicore_tasks.is_some(), shape.tasks.is_some()) {
            (true, _) => json::parse::<Cycles>(text)?.times()?,
            (false, true) => json::parse::<Objects>(text)?.times()?,
            (false, false) => {
                return Err(ArtefactError::Kind {
                    expected: "a file of times",
                    lack: "it has neither \"tasks\" nor \"aicore_tasks\"",
                });
            }
        };
        times.check()?;
        times.parts.sort_by_key(|part| (part.core, part.start, part.end));
        Ok(times)
    }

    fn check(&self) -> Result<(), ArtefactError> {
        let wrong = |what, index: Option<usize>, field, found: String, allowed| {
            ArtefactError::value(what, index, field, found, allowed)
        };
        if self.clock_hz == 0 || self.clock_hz > FASTEST_HZ {
            return Err(wrong(
                "metadata",
                None,
                "clock_freq_hz",
                self.clock_hz.to_string(),
                "from 1 to 10^12",
            ));
        }
        let cores = if self.core_types.is_empty() { MAX_CORES } else { self.core_types.len() };
        for (index, part) in self.parts.iter().enumerate() {
            if part.core as usize >= cores {
                return Err(wrong(
                    "kernel call",
                    index.into(),
                    "core_id",
                    part.core.to_string(),
                    "the number of a core",
                ));
            }
            if part.end < part.start {
                let found = format!("{}, before its start at {}", part.end, part.start);
                return Err(wrong("kernel call", index.into(), "end", found, "its start or later"));
            }
        }
        for (index, phase) in self.streams.iter().flat_map(|stream| &stream.phases).enumerate() {
            if phase.end < phase.start {
                let found = format!("{}, before its start at {}", phase.end, phase.start);
                return Err(wrong("scheduler record", index.into(), "end", found, "its start or later"));
            }
        }
        let host = self.host.iter().flat_map(|host| &host.submits);
        for (index, submit) in self.submits.iter().chain(host).enumerate() {
            if submit.end < submit.start {
                let found = format!("{}, before its start at {}", submit.end, submit.start);
                return Err(wrong("submission", index.into(), "end", found, "its start or later"));
            }
        }
        Ok(())
    }

    /// The number of a kind of phase.
    pub(super) fn kind_number(&mut self, name: &str) -> Result<u16, ArtefactError> {
        if let Some(known) = self.kinds.iter().position(|kind| kind == name) {
            return Ok(known as u16);
        }
        if self.kinds.len() == MOST_KINDS {
            let found = json::quoted(name);
            return Err(ArtefactError::value(
                "the file",
                None,
                "kind",
                found,
                "one of at most 1024 different words",
            ));
        }
        self.kinds.push(name.to_owned());
        Ok(self.kinds.len() as u16 - 1)
    }
}
