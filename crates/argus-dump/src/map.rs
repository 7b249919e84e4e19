//! Files mapped for reading: the only unsafe code of this crate.
#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file as long as it was when it was opened.
pub(crate) struct MappedFile(Option<Mmap>);

impl MappedFile {
    pub(crate) fn open(path: &Path) -> io::Result<MappedFile> {
        // Before it is opened: a pipe would make that wait for a writer.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        MappedFile::of(&File::open(path)?)
    }

    /// The file that is open already.
    pub(crate) fn of(file: &File) -> io::Result<MappedFile> {
        if file.metadata()?.len() == 0 {
            return Ok(MappedFile(None));
        }
        // SAFETY: bytes behind a slice must not change, and a map of a file cannot see to that itself: a process that
        // may write the file can change or cut it. What is relied on is that nothing does so to what readers look
        // at. Our writer only appends, and never touches an entry or a payload again once an entry speaks of it;
        // of a run that is still active, the bytes behind the last whole entry may still change, so readers copy an
        // entry out and believe the copy only if its checksum is right. A dump that another process overwrites while it
        // is read gives wrong values; one that is cut ends this process with SIGBUS at the first access behind
        // the new end. Nothing here prevents either.
        let map = unsafe { Mmap::map(file)? };
        Ok(MappedFile(Some(map)))
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
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
