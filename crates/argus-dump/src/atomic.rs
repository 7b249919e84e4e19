//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where `name` is written before it is there.
pub(crate) fn temporary(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!(".{name}.tmp"))
}

/// Gives the temporary file its name, and waits for the disk if asked to.
pub(crate) fn publish(directory: &Path, name: &str, sync: bool) -> io::Result<()> {
    fs::rename(temporary(directory, name), directory.join(name))?;
    if sync { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// Writes a small file.
pub(crate) fn write(directory: &Path, name: &str, bytes: &[u8], sync: bool) -> io::Result<()> {
    let path = temporary(directory, name);
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(bytes)?;
        if sync { file.sync_data() } else { Ok(()) }
    });
    let published = written.and_then(|()| publish(directory, name, sync));
    if published.is_err() {
        let _ = fs::remove_file(&path);
    }
    published
}
