//! Appends entries.

use argus_facts::KernelInfo;
use zerocopy::{Immutable, IntoBytes};

use super::layout::{EndRecord, EntryHead, KernelRecord, blank, put_text};
use super::{ENTRY_BYTES, HEADER_BYTES, Header, MAGIC, VERSION, kind, status};
use crate::info::{DumpOptions, RunEnd, RunStatus, StatsMode};
use crate::spool::{Failure, Spool};
use crate::stream::Stream;

/// The journal being written.
pub(crate) struct JournalFile {
    stream: Stream,
    entries: u64,
}

impl JournalFile {
    pub(crate) fn new(stream: Stream) -> JournalFile {
        JournalFile { stream, entries: 0 }
    }

    pub(crate) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Whether the next entry may fill a block, which then goes out by itself.
    pub(crate) fn nearly_full(&self) -> bool {
        self.stream.room() <= ENTRY_BYTES
    }

    pub(crate) fn header(
        &mut self,
        spool: &mut Spool,
        run_id: u128,
        started_unix_ns: u64,
        options: &DumpOptions,
    ) -> Result<(), Failure> {
        let statistics = match options.stats {
            StatsMode::Off => 0,
            StatsMode::Beside => 2,
            StatsMode::Instead => 2 | 4,
        };
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            header_bytes: HEADER_BYTES as u32,
            entry_bytes: ENTRY_BYTES as u32,
            crc: 0,
            run_id: run_id.to_le_bytes(),
            started_unix_ns,
            options: u32::from(options.dedupe) | statistics,
            reserved: [0; 204],
        };
        header.crc = crc32fast::hash(header.as_bytes());
        self.stream.write(spool, header.as_bytes())
    }

    pub(crate) fn append<T: IntoBytes + Immutable>(
        &mut self,
        spool: &mut Spool,
        kind: u8,
        body: &T,
    ) -> Result<(), Failure> {
        let number = self.entries;
        self.stream.write_in_place(spool, |bytes: &mut [u8; ENTRY_BYTES]| {
            let head = EntryHead { crc: 0, kind, reserved: [0; 3], number };
            bytes[..size_of::<EntryHead>()].copy_from_slice(head.as_bytes());
            bytes[size_of::<EntryHead>()..].copy_from_slice(body.as_bytes());
            let crc = crc32fast::hash(&bytes[size_of::<u32>()..]);
            bytes[..size_of::<u32>()].copy_from_slice(&crc.to_le_bytes());
        })?;
        self.entries += 1;
        Ok(())
    }

    pub(crate) fn kernel(&mut self, spool: &mut Spool, kernel: &KernelInfo) -> Result<(), Failure> {
        let mut record: KernelRecord = blank();
        record.func_id = kernel.func_id;
        record.core_type = kernel.core_type as u8;
        record.abi = kernel.abi as u8;
        record.name_len = put_text(&kernel.name, &mut record.name);
        for (place, &direction) in record.signature.iter_mut().zip(&kernel.signature) {
            *place = direction as u8;
            record.signature_len += 1;
        }
        self.append(spool, kind::KERNEL, &record)
    }

    pub(crate) fn end(
        &mut self,
        spool: &mut Spool,
        end: &RunEnd,
        counts: impl FnOnce(&mut EndRecord),
    ) -> Result<(), Failure> {
        let mut record: EndRecord = blank();
        counts(&mut record);
        let lost = end.ledger.total();
        record.lost_entries = lost.lost_entries;
        record.lost_bytes = lost.lost_bytes;
        record.status = match end.status {
            RunStatus::Complete => status::COMPLETE,
            RunStatus::Failed => status::FAILED,
            RunStatus::Unfinished => status::UNFINISHED,
            RunStatus::Unknown => status::UNKNOWN,
        };
        record.error_len = put_text(end.error.as_deref().unwrap_or(""), &mut record.error);
        self.append(spool, kind::END, &record)
    }
}
