//! Where a run's files go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::DumpError;
use crate::{DUMP_DIRECTORY, JOURNAL_FILE, MANIFEST_FILE, PAYLOAD_FILE};

/// The directory of one run.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Creates `<outputs>/<Scene>_<case>_<YYYYMMDD_HHMMSS>`, in local time. The second run of a second gets
    /// `_2` behind it, the third `_3`: creating a directory succeeds for exactly one of several processes.
    pub fn create(outputs: &Path, scene: &str, case: &str) -> Result<RunDirectory, DumpError> {
        let time = jiff::Zoned::now().strftime("%Y%m%d_%H%M%S");
        RunDirectory::create_named(outputs, &format!("{}_{}_{time}", plain(scene), plain(case)))
    }

    fn create_named(outputs: &Path, name: &str) -> Result<RunDirectory, DumpError> {
        argus_files::make_directory(outputs)
            .map_err(|source| DumpError::Create { path: outputs.to_path_buf(), source })?;
        let mut path = outputs.join(name);
        let mut count = 1u32;
        loop {
            match fs::create_dir(&path) {
                Ok(()) => return Ok(RunDirectory { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    count += 1;
                    path = outputs.join(format!("{name}_{count}"));
                }
                Err(source) => return Err(DumpError::Create { path, source }),
            }
        }
    }

    /// Uses `path` itself, creating it if need be. It must not hold a dump.
    pub fn at(path: &Path) -> Result<RunDirectory, DumpError> {
        argus_files::make_directory(path)
            .map_err(|source| DumpError::Create { path: path.to_path_buf(), source })?;
        let directory = RunDirectory { path: path.to_path_buf() };
        let first_round = directory.round_path(1).join(DUMP_DIRECTORY);
        for place in [path.to_path_buf(), path.join(DUMP_DIRECTORY), first_round] {
            if holds_dump(&place) {
                return Err(DumpError::Occupied { path: place });
            }
        }
        Ok(directory)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates `tensor_dump/`, for a run of one round.
    pub fn dump(&self) -> Result<PathBuf, DumpError> {
        create_dump(self.path.join(DUMP_DIRECTORY))
    }

    /// Creates `round_0001/tensor_dump/` and so on; rounds count from 1.
    pub fn round(&self, round: u32) -> Result<PathBuf, DumpError> {
        create_dump(self.round_path(round).join(DUMP_DIRECTORY))
    }

    fn round_path(&self, round: u32) -> PathBuf {
        self.path.join(format!("round_{round:04}"))
    }
}

fn create_dump(path: PathBuf) -> Result<PathBuf, DumpError> {
    argus_files::make_directory(&path).map_err(|source| DumpError::Create { path: path.clone(), source })?;
    if holds_dump(&path) { Err(DumpError::Occupied { path }) } else { Ok(path) }
}

/// Whether any file of a dump is there.
pub(crate) fn holds_dump(path: &Path) -> bool {
    [JOURNAL_FILE, PAYLOAD_FILE, MANIFEST_FILE].iter().any(|name| path.join(name).symlink_metadata().is_ok())
}

/// A name that needs no quoting anywhere: other characters than letters, digits, `.`, `_` and `-` become `_`.
fn plain(name: &str) -> String {
    let keep = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    name.chars().map(|letter| if keep(letter) { letter } else { '_' }).collect()
}

/// Removes the directories of a dump that came to nothing: upwards from its own, as far as they are empty. What cannot be
/// removed stays.
pub fn remove_empty(dump: &Path) {
    for path in dump.ancestors().take(3) {
        if fs::remove_dir(path).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_need_no_quoting() {
        assert_eq!(plain("Paged attention/Größe.1-a_b"), "Paged_attention_Gr__e.1-a_b");
    }

    #[test]
    fn equal_names_get_numbers() {
        let outputs = tempfile::tempdir().unwrap();
        let names: Vec<_> = (0..3)
            .map(|_| RunDirectory::create_named(outputs.path(), "S_c_20260101_000000").unwrap())
            .map(|directory| directory.path().file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["S_c_20260101_000000", "S_c_20260101_000000_2", "S_c_20260101_000000_3"]);
    }
}
