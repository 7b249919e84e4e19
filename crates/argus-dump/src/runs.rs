//! The runs in a directory: what each takes, how it ended, and whether it is ours to remove.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::origin_file::{self, SCENE_DIRECTORY};
use crate::read::{Dump, Ending, OpenError, dumps_in};
use crate::verdict_file::{LastVerdict, VERDICT_FILE};
use crate::{
    DUMP_DIRECTORY, GRAPH_FILE, JOURNAL_FILE, LAYOUT_FILE, MANIFEST_FILE, PAYLOAD_FILE, RUN_FILE,
    TIMELINE_FILE,
};

/// The files that a dump of ours consists of.
const FILES: [&str; 6] = [JOURNAL_FILE, PAYLOAD_FILE, MANIFEST_FILE, GRAPH_FILE, RUN_FILE, TIMELINE_FILE];

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    pub path: PathBuf,
    /// Its dumps: one, or one for each round.
    pub dumps: Vec<PathBuf>,
    /// Bytes of all its files.
    pub bytes: u64,
    /// When a file of it was last written.
    pub written: SystemTime,
    /// Records of all dumps that can be read.
    pub records: u64,
    /// How the run ended, of several rounds the last: `complete`, `failed`, `unfinished`, `unknown` or `unreadable`.
    pub ended: &'static str,
    /// What a command last said of it.
    pub verdict: Option<LastVerdict>,
}

/// The runs in a directory, the newest first.
pub fn runs(outputs: &Path) -> Result<Vec<Run>, OpenError> {
    let mut runs = Vec::new();
    for (path, dumps) in dumps_in(outputs)? {
        let mut run = Run {
            dumps,
            bytes: 0,
            written: SystemTime::UNIX_EPOCH,
            records: 0,
            ended: "unknown",
            verdict: None,
            path,
        };
        add_files(&run.path.clone(), &mut run);
        for dump in &run.dumps {
            match Dump::open(dump) {
                Ok(dump) => {
                    run.records += dump.len() as u64;
                    run.ended = ended(dump.ending());
                }
                Err(_) => run.ended = "unreadable",
            }
        }
        run.verdict = run.dumps.last().and_then(|dump| LastVerdict::read(dump));
        runs.push(run);
    }
    runs.sort_by(|a, b| (b.written, &b.path).cmp(&(a.written, &a.path)));
    Ok(runs)
}

fn ended(ending: &Ending) -> &'static str {
    match ending {
        Ending::Complete => "complete",
        Ending::Failed { .. } => "failed",
        Ending::Unfinished { .. } => "unfinished",
        Ending::Unknown => "unknown",
    }
}

/// Adds size and time of the files below a directory. What cannot be read is left out: this is a listing.
fn add_files(directory: &Path, run: &mut Run) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(about) = entry.metadata() else { continue };
        if about.is_dir() {
            add_files(&entry.path(), run);
        } else {
            run.bytes += about.len();
            run.written = run.written.max(about.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        }
    }
}

/// Why a run is not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    #[error("{} does not belong to a run", .path.display())]
    Stranger { path: PathBuf },
    #[error("{} does not hold a dump that this project wrote", .path.display())]
    NotOurs { path: PathBuf },
    #[error("cannot remove {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Removes a run that this project wrote, and nothing else: each file and directory in it must be one that a run
/// has, otherwise nothing is removed at all.
pub fn remove(run: &Path) -> Result<(), RemoveError> {
    let (mut files, mut directories, mut ours) = (Vec::new(), Vec::new(), 0);
    look(run, &mut files, &mut directories, &mut ours)?;
    if ours == 0 {
        return Err(RemoveError::NotOurs { path: run.to_path_buf() });
    }
    for file in files {
        fs::remove_file(&file).map_err(|source| RemoveError::Io { path: file, source })?;
    }
    // Inner directories come first. One that is not empty meanwhile stays, and is an error.
    for directory in directories {
        fs::remove_dir(&directory).map_err(|source| RemoveError::Io { path: directory, source })?;
    }
    Ok(())
}

/// Lists what is to be removed in a run or a round.
fn look(
    place: &Path,
    files: &mut Vec<PathBuf>,
    directories: &mut Vec<PathBuf>,
    ours: &mut usize,
) -> Result<(), RemoveError> {
    for (path, name, is_dir) in entries(place)? {
        if is_dir && name == DUMP_DIRECTORY {
            for (inner, name, is_dir) in entries(&path)? {
                if is_dir && name == SCENE_DIRECTORY {
                    let sources = origin_file::paths(&path)
                        .map_err(|_| RemoveError::Stranger { path: inner.clone() })?;
                    look_at_sources(&inner, &sources, files, directories)?;
                } else if is_dir || !FILES.contains(&name.as_str()) {
                    return Err(RemoveError::Stranger { path: inner });
                } else {
                    files.push(inner);
                }
            }
            *ours += usize::from(is_ours(&path));
            directories.push(path);
        } else if is_dir && is_round(&name) {
            look(&path, files, directories, ours)?;
        } else if !is_dir && (name == VERDICT_FILE || name == LAYOUT_FILE || is_artefact(&name)) {
            files.push(path);
        } else {
            return Err(RemoveError::Stranger { path });
        }
    }
    directories.push(place.to_path_buf());
    Ok(())
}

/// Whether the sources that a dump carries are those that were written with it, and nothing else is among them.
pub fn check_sources(dump: &Path) -> Result<(), RemoveError> {
    let place = dump.join(SCENE_DIRECTORY);
    let sources = origin_file::paths(dump).map_err(|_| RemoveError::Stranger { path: place.clone() })?;
    look_at_sources(&place, &sources, &mut Vec::new(), &mut Vec::new())
}

/// Lists the sources that a dump carries; each must be one of those that were written with it.
fn look_at_sources(
    place: &Path,
    sources: &[PathBuf],
    files: &mut Vec<PathBuf>,
    directories: &mut Vec<PathBuf>,
) -> Result<(), RemoveError> {
    for (path, _, is_dir) in entries(place)? {
        if is_dir {
            look_at_sources(&path, sources, files, directories)?;
        } else if sources.contains(&path) {
            files.push(path);
        } else {
            return Err(RemoveError::Stranger { path });
        }
    }
    directories.push(place.to_path_buf());
    Ok(())
}

/// The entries of a directory that is none behind a link.
fn entries(directory: &Path) -> Result<Vec<(PathBuf, String, bool)>, RemoveError> {
    let io = |source| RemoveError::Io { path: directory.to_path_buf(), source };
    if !fs::symlink_metadata(directory).map_err(io)?.is_dir() {
        return Err(RemoveError::Stranger { path: directory.to_path_buf() });
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory).map_err(io)? {
        let entry = entry.map_err(io)?;
        let kind = entry.file_type().map_err(io)?;
        if !kind.is_dir() && !kind.is_file() {
            return Err(RemoveError::Stranger { path: entry.path() });
        }
        entries.push((entry.path(), entry.file_name().to_string_lossy().into_owned(), kind.is_dir()));
    }
    Ok(entries)
}

/// Files in the reference's layout that may be written beside a dump.
fn is_artefact(name: &str) -> bool {
    let named = name.starts_with("name_map_") && name.ends_with(".json");
    named || ["deps.json", "chip_swimlane_records.json"].contains(&name)
}

fn is_round(name: &str) -> bool {
    let digits = name.strip_prefix("round_");
    digits.is_some_and(|digits| digits.len() >= 4 && digits.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Whether run.json says that this project wrote the dump.
fn is_ours(dump: &Path) -> bool {
    let text = argus_files::read(&dump.join(RUN_FILE), argus_files::LARGEST_TEXT).unwrap_or_default();
    let run: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    run["schema"].as_str().is_some_and(|schema| schema.starts_with("argus-run-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(outputs: &Path, name: &str) -> PathBuf {
        let dump = outputs.join(name).join(DUMP_DIRECTORY);
        fs::create_dir_all(&dump).unwrap();
        fs::write(dump.join(RUN_FILE), r#"{"schema":"argus-run-1"}"#).unwrap();
        fs::write(dump.join(JOURNAL_FILE), "").unwrap();
        outputs.join(name)
    }

    #[test]
    fn only_what_a_run_consists_of_is_removed() {
        let outputs = tempfile::tempdir().unwrap();
        let rounds = run(outputs.path(), "rounds/round_0001");
        fs::write(rounds.join(VERDICT_FILE), "{}").unwrap();
        remove(&outputs.path().join("rounds")).unwrap();
        assert!(!outputs.path().join("rounds").exists());

        let kept = run(outputs.path(), "kept");
        fs::write(kept.join("notes.txt"), "mine").unwrap();
        let said = remove(&kept).unwrap_err().to_string();
        assert!(said.ends_with("kept/notes.txt does not belong to a run"), "{said}");
        assert!(kept.join(DUMP_DIRECTORY).join(RUN_FILE).exists(), "nothing of it is gone");
        fs::remove_file(kept.join("notes.txt")).unwrap();
        fs::write(kept.join(DUMP_DIRECTORY).join("more.bin"), "").unwrap();
        assert!(matches!(remove(&kept), Err(RemoveError::Stranger { .. })));
        fs::remove_file(kept.join(DUMP_DIRECTORY).join("more.bin")).unwrap();
        fs::write(kept.join(DUMP_DIRECTORY).join(RUN_FILE), "{}").unwrap();
        assert!(matches!(remove(&kept), Err(RemoveError::NotOurs { .. })));
    }

    #[test]
    #[cfg(unix)]
    fn links_are_never_followed() {
        let outputs = tempfile::tempdir().unwrap();
        let target = run(outputs.path(), "target");
        let link = outputs.path().join("link");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(matches!(remove(&link), Err(RemoveError::Stranger { .. })));
        let holder = outputs.path().join("holder");
        fs::create_dir(&holder).unwrap();
        std::os::unix::fs::symlink(target.join(DUMP_DIRECTORY), holder.join(DUMP_DIRECTORY)).unwrap();
        assert!(matches!(remove(&holder), Err(RemoveError::Stranger { .. })));
        assert!(target.join(DUMP_DIRECTORY).join(RUN_FILE).exists());
    }
}
