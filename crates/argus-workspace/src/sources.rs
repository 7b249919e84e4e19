//! The kernel's own files: each source and what it includes from beside itself.
//!
//! In: paths of kernel sources. Out: their texts, and where each goes in the workspace, in one tree below
//! `kernel/` that keeps their places to each other, so that relative includes still work and a header that two
//! kernels share stays one file. Includes that are not beside the including file come from the include path of
//! the build; they are listed, not copied. Links are followed, absolute includes refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::error::WorkspaceError;
use crate::scan::scan;

/// Local files that one kernel may pull in.
const MOST_FILES: usize = 1000;

/// Everything that is copied.
#[derive(Clone, Debug, Default)]
pub struct SourceTree {
    /// Text of each file by its real path.
    texts: BTreeMap<PathBuf, String>,
    /// Includes that the build must find, without the C++ library's: those in quotes or with a folder.
    pub external: BTreeSet<String>,
}

impl SourceTree {
    /// Adds a kernel source and its local includes; its real path.
    pub fn add(&mut self, source: &Path) -> Result<PathBuf, WorkspaceError> {
        let read_error = |error| WorkspaceError::ReadSource { path: source.to_owned(), source: error };
        let root = source.canonicalize().map_err(read_error)?;
        let mut waiting = vec![root.clone()];
        while let Some(path) = waiting.pop() {
            if self.texts.contains_key(&path) {
                continue;
            }
            if self.texts.len() == MOST_FILES {
                return Err(WorkspaceError::TooManyFiles { path: source.to_owned(), limit: MOST_FILES });
            }
            let bytes = argus_files::read(&path, argus_files::LARGEST_TEXT)
                .map_err(|error| WorkspaceError::ReadSource { path: path.clone(), source: error })?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            self.follow(&path, &text, &mut waiting)?;
            self.texts.insert(path, text);
        }
        Ok(root)
    }

    /// The text of a file that was added.
    pub fn text(&self, path: &Path) -> &str {
        self.texts.get(path).map_or("", String::as_str)
    }

    /// Each file with its place in the workspace.
    pub fn placed(&self) -> Result<BTreeMap<&Path, String>, WorkspaceError> {
        let above = self.common_folder();
        let placed = self.texts.keys().map(|path| {
            let inside = path.strip_prefix(&above).unwrap_or(path);
            let odd = || WorkspaceError::OddPath { path: inside.to_owned() };
            let text = inside.to_str().ok_or_else(odd)?;
            if text.contains(['"', '\\']) || text.chars().any(char::is_control) {
                return Err(odd());
            }
            Ok((path.as_path(), format!("kernel/{text}")))
        });
        placed.collect()
    }

    fn follow(&mut self, path: &Path, text: &str, waiting: &mut Vec<PathBuf>) -> Result<(), WorkspaceError> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        for include in scan(text).includes {
            let name = include.name;
            if Path::new(name).is_absolute() {
                let (path, line, name) = (path.to_owned(), include.line, name.to_owned());
                return Err(WorkspaceError::AbsoluteInclude { path, line, name });
            }
            match folder.join(name).canonicalize() {
                Ok(beside) if include.quoted && beside.is_file() => waiting.push(beside),
                _ if include.quoted || name.contains('/') => {
                    self.external.insert(name.to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The deepest folder that holds every file.
    fn common_folder(&self) -> PathBuf {
        let mut folders = self.texts.keys().filter_map(|path| path.parent());
        let Some(first) = folders.next() else { return PathBuf::new() };
        let mut common: Vec<Component<'_>> = first.components().collect();
        for folder in folders {
            let same = common.iter().zip(folder.components()).take_while(|(a, b)| **a == *b).count();
            common.truncate(same);
        }
        common.iter().collect()
    }
}
