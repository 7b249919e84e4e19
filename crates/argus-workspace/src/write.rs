//! A rendered workspace becomes a directory, whole or not at all.
//!
//! Files are written to a temporary directory beside the target, which is then renamed. Directories are open
//! to their owner alone, because msprof refuses others. What exists is never overwritten without being asked
//! to, and never at all unless it is a workspace.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::config::CONFIG_FILE;
use crate::error::WorkspaceError;
use crate::render::{Project, ProjectFile};

/// Writes the workspace to `target`. With `force`, a workspace that is there already is replaced.
pub fn write(project: &Project<'_>, target: &Path, force: bool) -> Result<(), WorkspaceError> {
    let failed = |path: &Path, source| WorkspaceError::Write { path: path.to_owned(), source };
    let occupied = is_occupied(target).map_err(|error| failed(target, error))?;
    if occupied && !force {
        return Err(WorkspaceError::Exists { path: target.to_owned() });
    }
    if occupied && !target.join(CONFIG_FILE).is_file() {
        return Err(WorkspaceError::NotAWorkspace { path: target.to_owned() });
    }
    let above = match target.parent() {
        Some(above) if above != Path::new("") => above.to_owned(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&above).map_err(|error| failed(&above, error))?;
    let stage = argus_files::Stage::inside(&above).map_err(|error| failed(&above, error))?;
    let fresh = stage.path().join("new");
    make_folder(&fresh).map_err(|error| failed(&fresh, error))?;
    for file in &project.files {
        write_file(&fresh, file).map_err(|error| failed(&target.join(&file.path), error))?;
    }
    // The old one goes away with the stage. Without one, a rename replaces nothing but an empty directory, whichever process
    // made it meanwhile.
    let placed = if occupied { stage.exchange("new", target) } else { stage.publish("new", target) };
    placed.map_err(|error| failed(target, error))
}

/// Whether something would be overwritten; an empty directory is nothing.
fn is_occupied(target: &Path) -> io::Result<bool> {
    match fs::read_dir(target) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        // Nothing there, or a file; and below a file there is nothing.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(fs::symlink_metadata(target).is_ok())
        }
        Err(error) => Err(error),
    }
}

fn write_file(workspace: &Path, file: &ProjectFile<'_>) -> io::Result<()> {
    let path = workspace.join(&file.path);
    make_folder(path.parent().unwrap_or(workspace))?;
    let mode = if file.executable { 0o700 } else { 0o600 };
    let mut output = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    output.write_all(&file.bytes)
}

fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
