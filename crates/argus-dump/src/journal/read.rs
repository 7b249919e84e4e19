//! Reads a journal: of a finished run, of one that goes on, or of one that was killed.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use zerocopy::{FromBytes, IntoBytes};

use super::layout::RawEntry;
use super::{
    ArgumentRecord, ENTRY_BYTES, EdgesRecord, EndRecord, HEADER_BYTES, Header, KernelRecord, LossRecord,
    MAGIC, SkipRecord, TaskRecord, VERSION, kind,
};
use crate::map::MappedFile;

/// Why a file cannot be read as a journal at all.
#[derive(Debug, Error)]
pub enum JournalError {
    #[error("cannot open {}: {source}", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("{} bytes are too few for a journal's header", .0)]
    Short(usize),
    #[error("this is no journal: the first bytes are not ARGUSJNL")]
    Magic,
    #[error("the journal has version {0}; this program reads version {VERSION}")]
    Version(u32),
    #[error("the journal's header is damaged")]
    Header,
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Kernel(KernelRecord),
    Task(TaskRecord),
    Edges(EdgesRecord),
    Argument(ArgumentRecord),
    Skip(SkipRecord),
    Loss(LossRecord),
    End(EndRecord),
}

/// How a journal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// With an end entry: the run wrote everything it wanted to.
    Ended,
    /// After its last whole entry: the run goes on, or was killed.
    Open,
    /// Inside an entry that was being written, at this byte.
    Torn { at: u64 },
    /// With an entry that is not what was written, at this byte; nothing after it can be believed.
    Damaged { at: u64, why: Damage },
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Damage {
    #[error("its checksum does not fit")]
    Checksum,
    #[error("it is not the entry that belongs there")]
    Number,
    #[error("its kind is unknown")]
    Kind,
}

enum Bytes {
    Mapped(MappedFile),
    Owned(Vec<u8>),
}

/// A journal whose whole entries have been checked.
pub struct Journal {
    bytes: Bytes,
    header: Header,
    entries: usize,
    tail: Tail,
}

impl Journal {
    /// Maps the file as long as it is now and checks every entry.
    pub fn open(path: &Path) -> Result<Journal, JournalError> {
        let map = MappedFile::open(path)
            .map_err(|source| JournalError::Open { path: path.to_path_buf(), source })?;
        Journal::check(Bytes::Mapped(map))
    }

    /// A journal that is in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Journal, JournalError> {
        Journal::check(Bytes::Owned(bytes))
    }

    fn check(bytes: Bytes) -> Result<Journal, JournalError> {
        let mut journal =
            Journal { header: read_header(slice(&bytes))?, bytes, entries: 0, tail: Tail::Open };
        let (entries, tail) = journal.scan();
        journal.entries = entries;
        journal.tail = tail;
        Ok(journal)
    }

    /// Finds the first entry that cannot be believed.
    fn scan(&self) -> (usize, Tail) {
        let bytes = slice(&self.bytes);
        let mut number = 0;
        loop {
            let at = (HEADER_BYTES + number * ENTRY_BYTES) as u64;
            let rest = bytes.get(at as usize..).unwrap_or(&[]);
            if rest.is_empty() {
                return (number, Tail::Open);
            }
            let Ok((entry, _)) = RawEntry::read_from_prefix(rest) else {
                return (number, Tail::Torn { at });
            };
            if entry.kind == 0 && entry.as_bytes().iter().all(|&byte| byte == 0) {
                return (number, Tail::Open);
            }
            let damaged = |why| Tail::Damaged { at, why };
            if crc32fast::hash(&entry.as_bytes()[4..]) != entry.crc {
                return (number, damaged(Damage::Checksum));
            }
            if entry.number != number as u64 {
                return (number, damaged(Damage::Number));
            }
            if decode(&entry).is_none() {
                return (number, damaged(Damage::Kind));
            }
            number += 1;
            if entry.kind == kind::END {
                return (number, Tail::Ended);
            }
        }
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn run_id(&self) -> u128 {
        u128::from_le_bytes(self.header.run_id)
    }

    /// Number of entries that can be believed.
    pub fn len(&self) -> usize {
        self.entries
    }

    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub fn tail(&self) -> Tail {
        self.tail
    }

    /// Entry `number`, if it can be believed.
    pub fn get(&self, number: usize) -> Option<Entry> {
        if number >= self.entries {
            return None;
        }
        let rest = slice(&self.bytes).get(HEADER_BYTES + number * ENTRY_BYTES..)?;
        decode(&RawEntry::read_from_prefix(rest).ok()?.0)
    }

    /// All entries that can be believed, in their order.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.entries).filter_map(|number| self.get(number))
    }

    /// The arguments among the entries.
    pub fn arguments(&self) -> impl Iterator<Item = ArgumentRecord> + '_ {
        self.entries().filter_map(|entry| match entry {
            Entry::Argument(record) => Some(record),
            _ => None,
        })
    }
}

fn slice(bytes: &Bytes) -> &[u8] {
    match bytes {
        Bytes::Mapped(map) => map,
        Bytes::Owned(bytes) => bytes,
    }
}

fn read_header(bytes: &[u8]) -> Result<Header, JournalError> {
    if bytes.len() >= MAGIC.len() && bytes[..MAGIC.len()] != MAGIC {
        return Err(JournalError::Magic);
    }
    let (header, _) = Header::read_from_prefix(bytes).map_err(|_| JournalError::Short(bytes.len()))?;
    if header.version != VERSION {
        return Err(JournalError::Version(header.version));
    }
    let mut zeroed = header;
    zeroed.crc = 0;
    let sizes = header.header_bytes as usize == HEADER_BYTES && header.entry_bytes as usize == ENTRY_BYTES;
    if !sizes || crc32fast::hash(zeroed.as_bytes()) != header.crc {
        return Err(JournalError::Header);
    }
    Ok(header)
}

fn decode(entry: &RawEntry) -> Option<Entry> {
    let body = &entry.body;
    match entry.kind {
        kind::KERNEL => KernelRecord::read_from_bytes(body).ok().map(Entry::Kernel),
        kind::TASK => TaskRecord::read_from_bytes(body).ok().map(Entry::Task),
        kind::EDGES => EdgesRecord::read_from_bytes(body).ok().map(Entry::Edges),
        kind::ARGUMENT => ArgumentRecord::read_from_bytes(body).ok().map(Entry::Argument),
        kind::SKIP => SkipRecord::read_from_bytes(body).ok().map(Entry::Skip),
        kind::LOSS => LossRecord::read_from_bytes(body).ok().map(Entry::Loss),
        kind::END => EndRecord::read_from_bytes(body).ok().map(Entry::End),
        _ => None,
    }
}
