//! Records as they are kept until the manifest is written: the statistics, which most records do not have, apart from the
//! rest, because what is kept is memory that has to be cleared first.

use std::io;
use std::mem::offset_of;
use std::path::Path;

use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use crate::journal::{ArgumentRecord, marks};
use crate::sorted::{Keyed, Merged, Sorted};

/// Bytes of a record before its statistics, which are the rest of it.
const HEAD: usize = offset_of!(ArgumentRecord, min);
const STATISTICS: usize = size_of::<ArgumentRecord>() - HEAD;

/// Task, then stage, argument and role: the reference's order.
type Key = (u64, u32);

fn key(record: &ArgumentRecord) -> Key {
    let place = u32::from(record.stage) << 24 | u32::from(record.arg_index) << 8 | u32::from(record.role);
    (record.task_id, place)
}

/// A record without its statistics.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
struct Head([u8; HEAD]);

impl Head {
    fn record(&self) -> ArgumentRecord {
        let mut record = ArgumentRecord::new_zeroed();
        record.as_mut_bytes()[..HEAD].copy_from_slice(&self.0);
        record
    }
}

impl Keyed for Head {
    type Key = Key;

    fn key(&self) -> Key {
        key(&self.record())
    }

    /// The arguments of a task at a stage are captured in one go.
    fn belongs_before(&self, next: &Head) -> bool {
        let (this, next) = (self.record(), next.record());
        (this.task_id, this.stage) == (next.task_id, next.stage) && key(&this) <= key(&next)
    }
}

/// The statistics of a record.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Apart {
    task_id: u64,
    place: u64,
    statistics: [u8; STATISTICS],
}

impl Keyed for Apart {
    type Key = (u64, u64);

    fn key(&self) -> (u64, u64) {
        (self.task_id, self.place)
    }
}

/// All records, in the order of the manifest once they are sealed.
pub(crate) struct KeptRecords {
    heads: Sorted<Head>,
    statistics: Sorted<Apart>,
}

impl KeptRecords {
    pub(crate) fn new(directory: &Path) -> KeptRecords {
        KeptRecords { heads: Sorted::new(directory), statistics: Sorted::new(directory) }
    }

    pub(crate) fn len(&self) -> u64 {
        self.heads.len()
    }

    pub(crate) fn push(&mut self, record: &ArgumentRecord) -> io::Result<()> {
        let (head, rest) = record.as_bytes().split_at(HEAD);
        let mut kept = Head([0; HEAD]);
        kept.0.copy_from_slice(head);
        self.heads.push(kept)?;
        if record.has(marks::STATISTICS) {
            let (task_id, place) = key(record);
            let mut apart = Apart { task_id, place: place.into(), statistics: [0; STATISTICS] };
            apart.statistics.copy_from_slice(rest);
            self.statistics.push(apart)?;
        }
        Ok(())
    }

    /// Nothing more comes; to be called before [`KeptRecords::iter`].
    pub(crate) fn seal(&mut self) {
        self.heads.seal();
        self.statistics.seal();
    }

    pub(crate) fn iter(&self) -> Joined<'_> {
        Joined { heads: self.heads.iter(), statistics: self.statistics.iter() }
    }
}

/// Goes through all records. Both lists are in the same order, so each record with statistics finds its own next.
pub(crate) struct Joined<'a> {
    heads: Merged<'a, Head>,
    statistics: Merged<'a, Apart>,
}

impl Iterator for Joined<'_> {
    type Item = io::Result<ArgumentRecord>;

    fn next(&mut self) -> Option<io::Result<ArgumentRecord>> {
        let mut record = match self.heads.next()? {
            Ok(head) => head.record(),
            Err(error) => return Some(Err(error)),
        };
        if record.has(marks::STATISTICS) {
            match self.statistics.next() {
                Some(Ok(apart)) => record.as_mut_bytes()[HEAD..].copy_from_slice(&apart.statistics),
                Some(Err(error)) => return Some(Err(error)),
                None => return Some(Err(io::Error::other("the statistics of a record are gone"))),
            }
        }
        Some(Ok(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some records have statistics, some share their key, and none comes in order.
    #[test]
    fn records_come_back_whole_and_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let mut kept = KeptRecords::new(directory.path());
        let mut put = Vec::new();
        for number in 0..1000u64 {
            let mut record = ArgumentRecord::new_zeroed();
            record.task_id = number * 617 % 101;
            record.stage = (number % 2) as u8;
            record.arg_index = (number % 3) as u16;
            record.time_ns = number;
            if number % 7 < 3 {
                record.flags = marks::STATISTICS;
                (record.min, record.max, record.zero) = (number, !number, number * number);
            }
            kept.push(&record).unwrap();
            put.push(record);
        }
        kept.seal();
        assert_eq!(kept.len(), 1000);
        put.sort_by_key(key);
        let found: Vec<ArgumentRecord> = kept.iter().map(Result::unwrap).collect();
        assert!(found == put);
    }
}
