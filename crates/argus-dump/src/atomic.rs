//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::spool::{Failure, Target};
use crate::stream::Stream;

/// Where `name` is written before it is there.
fn temporary(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!(".{name}.tmp"))
}

/// A large file that is being written under another name, by the writing thread.
pub(crate) struct Draft {
    temporary: PathBuf,
    path: PathBuf,
    pub(crate) stream: Stream,
}

impl Draft {
    pub(crate) fn create(directory: &Path, name: &str, direct: bool) -> Result<Draft, Failure> {
        let temporary = temporary(directory, name);
        let target = match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Target::create(&temporary, direct),
        };
        let target = target.map_err(|error| Failure::early(&temporary, &error))?;
        Ok(Draft { temporary, path: directory.join(name), stream: Stream::new(target) })
    }

    /// Gives the file its name. It must be sealed and the writing thread must have caught up.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        fs::rename(&self.temporary, &self.path).map_err(|error| Failure::early(&self.path, &error))
    }
}

impl Drop for Draft {
    /// A draft that has its name is no longer found under the other one.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Waits until the disk has the names of the files in `directory`.
pub(crate) fn sync_names(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Writes a small file, and waits for the disk to have its content if asked to.
pub(crate) fn write(directory: &Path, name: &str, bytes: &[u8], sync: bool) -> io::Result<()> {
    let path = temporary(directory, name);
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(bytes)?;
        if sync { file.sync_data() } else { Ok(()) }
    });
    let published = written.and_then(|()| fs::rename(&path, directory.join(name)));
    if published.is_err() {
        let _ = fs::remove_file(&path);
    }
    published
}
