//! What a directory holds whose run did not finish: payload without a manifest, a log with the reason.

use std::fmt;
use std::path::{Path, PathBuf};

use argus_artefacts::Artefacts;
use argus_artefacts::directory::Kind;
use argus_artefacts::log::{RunFailure, StallReport};
use argus_dump::read::Glance;

/// The files of a capture that has no list of records.
#[derive(Debug)]
pub struct Holdings {
    pub directory: PathBuf,
    pub payload: Option<PathBuf>,
    pub payload_bytes: u64,
    pub artefacts: Artefacts,
}

impl Holdings {
    /// Looks at a directory without a manifest; `None` if nothing of a capture is there.
    pub fn read(directory: &Path) -> Option<Holdings> {
        let glance = Glance::at(directory);
        let artefacts = Artefacts::read(directory);
        let any = glance.payload.is_some() || !artefacts.is_empty();
        (any && glance.version.is_none()).then(|| Holdings {
            directory: directory.to_path_buf(),
            payload: glance.payload,
            payload_bytes: glance.payload_bytes,
            artefacts,
        })
    }

    /// What a finished run would have left and this one did not.
    pub fn lost(&self) -> Vec<&'static str> {
        let mut lost = vec!["the manifest, which lists the records"];
        for (kind, what) in
            [(Kind::Graph, "the graph"), (Kind::Times, "the times"), (Kind::Scopes, "the scope statistics")]
        {
            if self.artefacts.source(kind).is_none() {
                lost.push(what);
            }
        }
        lost
    }

    /// Whether something says that the run did not finish, and not only that it was not dumped.
    pub fn is_broken(&self) -> bool {
        self.payload.is_some() || self.stall().is_some() || self.failure().is_some()
    }

    pub fn stall(&self) -> Option<&StallReport> {
        self.artefacts.log.as_ref()?.stall.as_ref()
    }

    pub fn failure(&self) -> Option<&RunFailure> {
        self.artefacts.log.as_ref()?.failure.as_ref()
    }
}

impl fmt::Display for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The run may have been asked for no dump.
        let how = if self.is_broken() { "is of a run that did not finish" } else { "holds no dump" };
        write!(f, "{} {how}", self.directory.display())?;
        if let Some(payload) = &self.payload {
            let (bytes, name) = (self.payload_bytes, payload.display());
            write!(f, ": {name} has {bytes} bytes of payload, and no manifest says what they are")?;
        }
        if self.is_broken() {
            write!(f, "; lost: {}", self.lost().join(", "))?;
        }
        if let Some(report) = self.stall() {
            write!(f, "; its log says that it stood still ({})", report.class_name())?;
        } else if let Some(failure) = self.failure() {
            write!(f, "; its log says {}", failure.reason())?;
        }
        Ok(())
    }
}
