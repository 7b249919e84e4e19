//! What a command last said of a dump, in `verdict.json` beside the dump's directory.
//!
//! A run says whether its outputs agree, a search names the task where an error begins. Listings and the browser
//! show it without doing the work again. It is a note, not a part of the dump: a file that is missing or cannot be
//! understood means that no verdict is known.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::DUMP_DIRECTORY;

/// Name of the file.
pub const VERDICT_FILE: &str = "verdict.json";

const SCHEMA: &str = "argus-verdict-1";
/// A verdict is a few lines, and a line for each task that is not clean; more is something else.
const LARGEST: u64 = 64 << 20;

/// What a command last said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastVerdict {
    pub schema: String,
    /// The command that said it: `run` or `find`.
    pub command: String,
    /// One word, as in the command's JSON.
    pub verdict: String,
    /// The first wrong task, where one was found.
    pub task_id: Option<String>,
    pub kernel: Option<String>,
    /// When it was said, in local time.
    pub at: String,
    /// What the output of the first wrong task looks like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looks_like: Option<String>,
    /// Ids of tasks by what is said of them, the clean ones left out. A run says nothing of single tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<BTreeMap<String, Vec<String>>>,
}

impl LastVerdict {
    pub fn new(command: &str, verdict: &str) -> LastVerdict {
        LastVerdict {
            schema: SCHEMA.to_owned(),
            command: command.to_owned(),
            verdict: verdict.to_owned(),
            at: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            ..LastVerdict::default()
        }
    }

    /// Where the verdict of a dump lies. Only a dump in a run's directory has a place for one.
    fn place(dump: &Path) -> Option<PathBuf> {
        let own = dump.file_name().is_some_and(|name| name == DUMP_DIRECTORY);
        own.then(|| dump.with_file_name(VERDICT_FILE))
    }

    /// The last verdict on the dump in this directory.
    pub fn read(dump: &Path) -> Option<LastVerdict> {
        let path = LastVerdict::place(dump)?;
        let about = std::fs::symlink_metadata(&path).ok()?;
        if !about.is_file() || about.len() > LARGEST {
            return None;
        }
        let verdict: LastVerdict = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
        (verdict.schema == SCHEMA).then_some(verdict)
    }

    /// Keeps this verdict instead of the one before. Says whether there is a place for it.
    pub fn write(&self, dump: &Path) -> io::Result<bool> {
        let Some(path) = LastVerdict::place(dump) else { return Ok(false) };
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        argus_files::write(&path, &text, false)?;
        Ok(true)
    }
}

impl std::fmt::Display for LastVerdict {
    /// `find: differ, first at SF 0x0000000200000001`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.command, self.verdict)?;
        if let Some(task) = &self.task_id {
            let kernel = self.kernel.as_deref().filter(|kernel| !kernel.is_empty()).unwrap_or("task");
            write!(f, ", first at {kernel} {task}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_verdict_is_the_one_that_is_read() {
        let run = tempfile::tempdir().unwrap();
        let dump = run.path().join(DUMP_DIRECTORY);
        std::fs::create_dir(&dump).unwrap();
        assert_eq!(LastVerdict::read(&dump), None);
        assert!(LastVerdict::new("run", "pass").write(&dump).unwrap());
        let found = LastVerdict {
            task_id: Some("0x0000000200000001".into()),
            kernel: Some("SF".into()),
            ..LastVerdict::new("find", "differ")
        };
        assert!(found.write(&dump).unwrap());
        assert_eq!(LastVerdict::read(&dump), Some(found.clone()));
        assert_eq!(found.to_string(), "find: differ, first at SF 0x0000000200000001");
        for other in ["", "{", r#"{"schema":"argus-verdict-9","verdict":"pass"}"#] {
            std::fs::write(run.path().join(VERDICT_FILE), other).unwrap();
            assert_eq!(LastVerdict::read(&dump), None, "{other}");
        }
        assert!(!found.write(run.path()).unwrap(), "only a dump's directory has a place");
    }
}
