//! Files mapped for reading: the only unsafe code of this crate.
#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use argus_signals::Mapped;
use memmap2::{Mmap, UncheckedAdvice};

/// Files up to this size stay in memory once they were read.
const SMALL: usize = 64 << 20;
/// Bytes of a large file that are looked at in one go.
const PIECE: usize = 8 << 20;

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

    /// Lets go of the pages of a large file. They stay in the system's cache, and come back when they are looked at.
    fn let_go(&self, bytes: Range<usize>) {
        let Some((map, _)) = self.0.as_ref().filter(|(map, _)| map.len() > SMALL) else { return };
        // SAFETY: the map is of a file and only read, so the pages are the file's: an access after this finds the same bytes
        // as one before it, under the condition that `of` states for all accesses. References into the map stay valid.
        let advice = unsafe {
            map.unchecked_advise_range(UncheckedAdvice::DontNeed, bytes.start, bytes.end - bytes.start)
        };
        // Advice that is not taken costs memory and nothing else.
        _ = advice;
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
        let file = fs::metadata(path)?;
        if file.len() > SMALL as u64 && file.blocks().saturating_mul(512) < file.len() / 64 {
            return Err(io::Error::other(
                "it is nearly empty: its length is stated, its bytes are not there",
            ));
        }
        Bytes::open(path)
    }

    /// Lets go of pages that were read. A map takes memory for every page that was looked at, and commands go through
    /// files that are larger than memory: what they are through with they give back.
    pub(crate) fn let_go(&self, bytes: Range<usize>) {
        if let Bytes::Mapped(map) = self {
            map.let_go(bytes);
        }
    }

    /// The same for all of them.
    pub(crate) fn let_go_of_all(&self) {
        self.let_go(0..self.len());
    }

    /// The bytes from first to last, piece by piece; a large file takes no more memory than a piece.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks(PIECE).zip((0..).step_by(PIECE)).map(|(piece, at): (&[u8], usize)| {
            self.let_go(at.saturating_sub(PIECE)..at);
            piece
        })
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
