//! From text to values: which form it is, and what all forms must keep to.

use super::Times;
use super::cycles::Cycles;
use super::objects::Objects;
use crate::ArtefactError;
use crate::json;
use argus_abi::MAX_CORES;

/// Kinds of phases that a file may name; the reference has two dozen.
const MOST_KINDS: usize = 1024;
/// No clock of a chip is faster.
const FASTEST_HZ: u64 = 1_000_000_000_000;

/// Which list is there says which form it is.
const CYCLES: &[u8] = b"\"aicore_tasks\"";
const OBJECTS: &[u8] = b"\"tasks\"";

impl Times {
    /// Reads swimlane records of every format version.
    pub fn parse(text: &[u8]) -> Result<Times, ArtefactError> {
        // The key is searched as bytes: a look at the whole as JSON would take as long as reading it.
        let has = |key: &[u8]| text.windows(key.len()).any(|window| window == key);
        let mut times = if has(CYCLES) {
            json::parse::<Cycles>(text)?.times()?
        } else if has(OBJECTS) {
            json::parse::<Objects>(text)?.times()?
        } else {
            json::parse::<serde::de::IgnoredAny>(text)?;
            return Err(ArtefactError::Kind {
                expected: "a file of times",
                lack: "it has neither \"tasks\" nor \"aicore_tasks\"",
            });
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
