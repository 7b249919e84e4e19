//! Files mapped for reading: the only unsafe code of this crate.
#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use argus_signals::Mapped;
use memmap2::Mmap;

/// The bytes of a file as long as it was when it was opened.
pub(crate) struct MappedFile(Option<(Mmap, Mapped)>);

impl MappedFile {
    pub(crate) fn open(path: &Path) -> io::Result<MappedFile> {
        // Before it is opened: a pipe would make that wait for a writer.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        MappedFile::of(&File::open(path)?, path)
    }

    /// The file that is open already, called `path` in messages.
    pub(crate) fn of(file: &File, path: &Path) -> io::Result<MappedFile> {
        if file.metadata()?.len() == 0 {
            return Ok(MappedFile(None));
        }
        // SAFETY: bytes behind a slice must not change, and a map of a file cannot see to that itself: a process that
        // may write the file can change or cut it. What is relied on is that nothing does so to what readers look
        // at. Our writer only appends, and never touches an entry or a payload again once an entry speaks of it;
        // of a run that is still active, the bytes behind the last whole entry may still change, so readers copy an
        // entry out and believe the copy only if its checksum is right. A dump that another process overwrites while it
        // is read gives wrong values; one that is cut ends this process at the first access behind the new end, which `argus-signals`
        // turns into a message that names the file.
        let map = unsafe { Mmap::map(file)? };
        let mapped = Mapped::new(&map, &path.to_string_lossy());
        Ok(MappedFile(Some((map, mapped))))
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |(map, _)| map)
    }
}

/// A file's bytes, wherever they are.
pub(crate) enum Bytes {
    Mapped(MappedFile),
    Owned(Vec<u8>),
}

impl Bytes {
    pub(crate) fn open(path: &Path) -> io::Result<Bytes> {
        MappedFile::open(path).map(Bytes::Mapped)
    }

    /// A file that is read from its start to its end. One that states a length and is nearly empty would be read for
    /// hours, so it is refused; compressed file systems take less than a file's length too, but not so little.
    pub(crate) fn open_dense(path: &Path) -> io::Result<Bytes> {
        const SMALL: u64 = 64 << 20;
        let file = fs::metadata(path)?;
        if file.len() > SMALL && file.blocks().saturating_mul(512) < file.len() / 64 {
            return Err(io::Error::other(
                "it is nearly empty: its length is stated, its bytes are not there",
            ));
        }
        Bytes::open(path)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}
