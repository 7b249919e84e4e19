//! Reads a journal: of a finished run, of one that is still active, or of one that was killed.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use thiserror::Error;
use zerocopy::{FromBytes, IntoBytes};

use super::layout::RawEntry;
use super::{
    ArgumentRecord, ENTRY_BYTES, EdgesRecord, EndRecord, HEADER_BYTES, Header, KernelRecord, LossRecord,
    MAGIC, OLDEST_VERSION, SkipRecord, TaskRecord, VERSION, kind, version_1,
};
use crate::map::Bytes;

/// Entries that one thread checks at a time.
const STEP: usize = 4096;
/// Entries after which pages are let go of.
const LET_GO_EVERY: usize = 1 << 16;

/// Why a file cannot be read as a journal at all.
#[derive(Debug, Error)]
pub enum JournalError {
    #[error("cannot open {}", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("{} bytes are too few for a journal's header", .0)]
    Short(usize),
    #[error("this is not a journal: the first bytes are not ARGUSJNL")]
    Magic,
    #[error("the journal has version {0}; this program reads versions {OLDEST_VERSION} to {VERSION}")]
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
    /// After its last whole entry: the run is still active, or was killed.
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
    #[error("it is empty, and others follow it")]
    Empty,
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
        let bytes =
            Bytes::open(path).map_err(|source| JournalError::Open { path: path.to_path_buf(), source })?;
        Journal::check(bytes)
    }

    /// A journal that is in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Journal, JournalError> {
        Journal::check(Bytes::Owned(bytes))
    }

    /// Checks every entry of `bytes`.
    pub(crate) fn check(bytes: Bytes) -> Result<Journal, JournalError> {
        let header = read_header(&bytes)?;
        let (entries, tail) = scan(&bytes);
        Ok(Journal { bytes, header, entries, tail })
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

    /// Bytes behind the end entry, where nothing belongs; 0 if there is no end.
    pub fn behind_end(&self) -> u64 {
        match self.tail {
            Tail::Ended => self.bytes.len() as u64 - position(self.entries),
            _ => 0,
        }
    }

    /// Entry `number`, if it can be believed.
    pub fn get(&self, number: usize) -> Option<Entry> {
        if number >= self.entries {
            return None;
        }
        // Every way through the entries comes by here now and then, so none of them keeps all pages in memory.
        if number % LET_GO_EVERY == LET_GO_EVERY - 1 {
            self.bytes.let_go_of_all();
        }
        let rest = self.bytes.get(HEADER_BYTES + number * ENTRY_BYTES..)?;
        decode(&RawEntry::read_from_prefix(rest).ok()?.0, self.header.version)
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

/// Finds how many entries can be believed, and what ends them.
fn scan(bytes: &Bytes) -> (usize, Tail) {
    let room = bytes.len().saturating_sub(HEADER_BYTES);
    let whole = room / ENTRY_BYTES;
    let stop = (0..whole.div_ceil(STEP)).into_par_iter().find_map_first(|step| {
        let entries = step * STEP..whole.min((step + 1) * STEP);
        let stop = first_stop(bytes, entries.clone());
        bytes.let_go(position(entries.start) as usize..position(entries.end) as usize);
        stop
    });
    stop.unwrap_or_else(|| match room % ENTRY_BYTES {
        0 => (whole, Tail::Open),
        _ => (whole, Tail::Torn { at: position(whole) }),
    })
}

/// The first of `entries` behind which nothing is to be read.
fn first_stop(bytes: &[u8], entries: Range<usize>) -> Option<(usize, Tail)> {
    for number in entries {
        let at = position(number);
        // Copied out first: the file may belong to a run that is still active.
        let (entry, _) = RawEntry::read_from_prefix(bytes.get(at as usize..)?).ok()?;
        let damaged = |why| Some((number, Tail::Damaged { at, why }));
        if is_zero(entry.as_bytes()) {
            // A run that is still active may have filled it meanwhile; then it is the end of what can be read now.
            let rest = bytes.get(at as usize..)?;
            return match is_zero(rest) || !is_zero(&rest[..ENTRY_BYTES]) {
                true => Some((number, Tail::Open)),
                false => damaged(Damage::Empty),
            };
        }
        if crc32fast::hash(&entry.as_bytes()[4..]) != entry.head.crc {
            return damaged(Damage::Checksum);
        }
        if entry.head.number != number as u64 {
            return damaged(Damage::Number);
        }
        if !(kind::KERNEL..=kind::END).contains(&entry.head.kind) {
            return damaged(Damage::Kind);
        }
        if entry.head.kind == kind::END {
            return Some((number + 1, Tail::Ended));
        }
    }
    None
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// Where entry `number` starts.
fn position(number: usize) -> u64 {
    (HEADER_BYTES + number * ENTRY_BYTES) as u64
}

fn read_header(bytes: &[u8]) -> Result<Header, JournalError> {
    if bytes.len() >= MAGIC.len() && bytes[..MAGIC.len()] != MAGIC {
        return Err(JournalError::Magic);
    }
    let (header, _) = Header::read_from_prefix(bytes).map_err(|_| JournalError::Short(bytes.len()))?;
    if !(OLDEST_VERSION..=VERSION).contains(&header.version) {
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

fn decode(entry: &RawEntry, version: u32) -> Option<Entry> {
    let body = &entry.body;
    match entry.head.kind {
        kind::KERNEL => KernelRecord::read_from_bytes(body).ok().map(Entry::Kernel),
        kind::TASK if version == 1 => Some(Entry::Task(version_1::task(body))),
        kind::TASK => TaskRecord::read_from_bytes(body).ok().map(Entry::Task),
        kind::EDGES => EdgesRecord::read_from_bytes(body).ok().map(Entry::Edges),
        kind::ARGUMENT => ArgumentRecord::read_from_bytes(body).ok().map(Entry::Argument),
        kind::SKIP => SkipRecord::read_from_bytes(body).ok().map(Entry::Skip),
        kind::LOSS => LossRecord::read_from_bytes(body).ok().map(Entry::Loss),
        kind::END => EndRecord::read_from_bytes(body).ok().map(Entry::End),
        _ => None,
    }
}
