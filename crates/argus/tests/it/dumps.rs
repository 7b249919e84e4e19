//! The commands that read dumps, as processes: what they print and write is compared with the manifest and the
//! bytes of the payload file, which are read here without the tool's reader.
//!
//! | module | subject |
//! |---|---|
//! | `view` | tables, values, slices, JSON, CSV, pipes |
//! | `filters` | each filter alone, several together, and those that match nothing |
//! | `summaries` | `argus stats` and `argus verify` |
//! | `copies` | `argus export` and `argus convert` |
//! | `damage` | what is wrong with a dump is said in one message, and nothing is written |
//! | `samples` | the same over real dumps of the reference |

mod copies;
mod damage;
mod filters;
mod python;
mod raw;
mod samples;
mod summaries;
mod view;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::tool::{Ended, argus_in};

/// Dumps that were written by hand, one of each age.
const APRIL: &str = "april/tensor_dump_20260415_093000";
const JUNE: &str = "june/tensor_dump";
const AUGUST: &str = "august/args_dump";

/// A directory with copies of the hand-written dumps, and of one of ours in `ours`.
struct Home(tempfile::TempDir);

impl Home {
    /// Only the dumps of the reference.
    fn foreign() -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../argus-dump/tests/it/data");
        for dump in [APRIL, JUNE, AUGUST] {
            copy(&data.join(dump), &home.path(dump));
        }
        home
    }

    /// All of them.
    fn new() -> Home {
        let home = Home::foreign();
        let ended = home.argus("run paged_attention --case CaseSmall1 --dump-tensor -o ours");
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Calls the tool here.
    fn argus(&self, line: &str) -> Ended {
        argus_in(self.0.path(), line)
    }

    /// Calls the tool here; it must succeed.
    fn good(&self, line: &str) -> String {
        let ended = self.argus(line);
        assert_eq!(ended.code, 0, "argus {line}: {}{}", ended.stdout, ended.stderr);
        ended.stdout
    }

    /// Calls the tool here; it must succeed with one JSON object, and say nothing else.
    fn json(&self, line: &str) -> Value {
        let ended = self.argus(&format!("{line} --json"));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "argus {line}: {}", ended.stdout);
        serde_json::from_str(&ended.stdout).unwrap()
    }

    /// Calls the tool here; it must fail with an exit code, print nothing, and say why.
    fn bad(&self, line: &str, code: i32) -> String {
        let ended = self.argus(line);
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "argus {line}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error: "), "argus {line}: {}", ended.stderr);
        assert_eq!(ended.stderr.matches("error: ").count(), 1, "argus {line}: {}", ended.stderr);
        ended.stderr
    }

    /// What lies in the directory, sorted.
    fn listing(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Copies the files of a directory.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
