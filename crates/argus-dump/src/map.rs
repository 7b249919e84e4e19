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
        // Before it is opened: a pipe would make that wait for somebody to write.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(MappedFile(None));
        }
        // SAFETY: the map is read-only and private to this value. A dump's files only ever grow, and whole
        // entries never change; bytes behind the last whole entry may change under the map, which is why
        // readers copy an entry out and check its checksum on the copy.
        let map = unsafe { Mmap::map(&file)? };
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
