//! What processes that were killed left behind.
//!
//! A name that is not final holds the number of the process that made it. The next process that writes beside
//! it removes it if that process is gone.

use std::fs;
use std::path::Path;

/// What names that are not final begin with, after `before`.
pub(crate) fn prefix(before: &str) -> String {
    format!("{before}.argus-{}-", std::process::id())
}

/// Removes what processes that are gone left in `directory` under names that begin like those of [`prefix`].
pub(crate) fn sweep(directory: &Path, before: &str) {
    // Without it no process can be looked for.
    if !Path::new("/proc/self").exists() {
        return;
    }
    let start = format!("{before}.argus-");
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(&start)?.split_once('-'))
            .map(|(number, _)| number);
        let Some(process) = number.and_then(|number| number.parse::<u32>().ok()) else { continue };
        if Path::new(&format!("/proc/{process}")).exists() {
            continue;
        }
        // Best effort: what cannot be removed stays, and does no harm.
        let path = entry.path();
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(path),
            _ => fs::remove_file(path),
        };
    }
}
