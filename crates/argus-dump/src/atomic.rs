//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where `name` is written before it is there.
pub(crate) fn temporary(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!(".{name}.tmp"))
}

/// Gives the temporary file its name.
pub(crate) fn publish(directory: &Path, name: &str) -> io::Result<()> {
    fs::rename(temporary(directory, name), directory.join(name))
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
    let published = written.and_then(|()| publish(directory, name));
    if published.is_err() {
        let _ = fs::remove_file(&path);
    }
    published
}
