//! Files that other people wrote.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Largest text that a person or a program writes for us to read as a whole: specifications, sources, settings.
pub const LARGEST_TEXT: u64 = 64 << 20;

/// The bytes of a file of at most `limit` bytes.
///
/// What is not a regular file is refused before it is opened: a pipe would wait for a writer, and a device has no end.
/// Memory is taken by the bytes that come, not by the length that the file states.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it is longer than {limit} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_devices_directories_and_endless_files_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        fs::write(&path, b"four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        assert_eq!(read(&path, 3).unwrap_err().to_string(), "it is longer than 3 bytes");
        // A terabyte of nothing.
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read(&path, 4096).unwrap_err().to_string(), "it is longer than 4096 bytes");
        for not_a_file in [Path::new("/dev/zero"), home.path()] {
            assert_eq!(read(not_a_file, 9).unwrap_err().to_string(), "it is not a regular file");
        }
    }
}
