//! The journal: every entry of a run, in the order in which it was collected.
//!
//! # Format, version 2
//!
//! All numbers are little-endian. A header of 256 bytes ([`Header`]) is followed by entries of 192 bytes, so
//! that entry `i` starts at byte `256 + 192 * i` and every field is aligned in memory that is. Nothing else
//! is in the file.
//!
//! | header offset | size | field |
//! |---|---|---|
//! | 0 | 8 | magic `ARGUSJNL` |
//! | 8 | 4 | version: 2 |
//! | 12 | 4 | bytes of the header: 256 |
//! | 16 | 4 | bytes of an entry: 192 |
//! | 20 | 4 | CRC-32 (IEEE) of the header with this field zero |
//! | 24 | 16 | run id |
//! | 40 | 8 | start of the run, nanoseconds since 1970 UTC |
//! | 48 | 4 | options, bit 0: equal payloads are stored once; bit 1: statistics are recorded; bit 2: statistics instead of payloads |
//! | 52 | 204 | zero |
//!
//! | entry offset | size | field |
//! |---|---|---|
//! | 0 | 4 | CRC-32 (IEEE) of the other 188 bytes |
//! | 4 | 1 | kind |
//! | 5 | 3 | zero |
//! | 8 | 8 | the entry's own number, from 0 |
//! | 16 | 176 | body, by kind |
//!
//! | kind | body | meaning |
//! |---|---|---|
//! | 1 | [`KernelRecord`] | a kernel of the program; all of them come first |
//! | 2 | [`TaskRecord`] | a task that completed or will never run any further |
//! | 3 | [`EdgesRecord`] | up to ten tasks that a task waits for, each with the reason |
//! | 4 | [`ArgumentRecord`] | an argument at a stage; where its payload lies, its checksum and statistics |
//! | 5 | [`SkipRecord`] | something that should have been captured and was not, and why |
//! | 6 | [`LossRecord`] | what a lane lost and how long it made its device wait |
//! | 7 | [`EndRecord`] | the run's end; nothing follows it |
//!
//! The bodies' fields are laid out in the order of their declaration without gaps.
//!
//! An entry is appended after the payload bytes that it names. A reader that reads during the run, or after
//! it was killed, believes entries up to the first whose checksum, number or kind is wrong; a journal without
//! an end entry belongs to a run that is going on or was killed. Readers ignore zero-kind bytes at the end.
//!
//! # Version 1
//!
//! It is read as well. Its [`TaskRecord`] has 16 bytes of cores instead of 32; the fields behind them start 16
//! bytes earlier, and as many more zeros end it.

mod held;
mod layout;
mod read;
mod version_1;
mod write;

pub(crate) use held::Hold;
pub use held::is_being_written;
pub use layout::{
    ArgumentHead, ArgumentRecord, EdgesRecord, EndRecord, Header, KernelRecord, LossRecord, SkipRecord,
    StatisticsRecord, TaskRecord, kind, marks, status,
};
pub use read::{Entry, Journal, JournalError, Tail};
pub(crate) use write::JournalFile;

/// First bytes of every journal.
pub const MAGIC: [u8; 8] = *b"ARGUSJNL";
/// Changes whenever the layout of the header or of an entry does.
pub const VERSION: u32 = 2;
/// The oldest version that is still read.
pub const OLDEST_VERSION: u32 = 1;
/// Bytes of the header.
pub const HEADER_BYTES: usize = 256;
/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 192;
/// Bytes of an entry's body.
pub const BODY_BYTES: usize = 176;
