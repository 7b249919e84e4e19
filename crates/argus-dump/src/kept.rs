//! Records as they are kept until the manifest is written: the statistics, which most records do not have, apart from the
//! rest, because what is kept is memory that has to be cleared first.

use std::io;
use std::path::Path;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::journal::{ArgumentHead, ArgumentRecord, StatisticsRecord, marks};
use crate::sorted::{Keyed, Merged, Sorted};

impl Keyed for ArgumentHead {
    type Key = (u64, u32);

    fn key(&self) -> (u64, u32) {
        (self.task_id, self.place())
    }

    /// The arguments of a task at a stage are captured in one go.
    fn belongs_before(&self, next: &ArgumentHead) -> bool {
        (self.task_id, self.stage) == (next.task_id, next.stage) && self.place() <= next.place()
    }
}

/// The statistics of a record.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Apart {
    task_id: u64,
    place: u64,
    statistics: StatisticsRecord,
}

impl Keyed for Apart {
    type Key = (u64, u64);

    fn key(&self) -> (u64, u64) {
        (self.task_id, self.place)
    }
}

/// All records, in the order of the manifest once they are sealed.
pub(crate) struct KeptRecords {
    heads: Sorted<ArgumentHead>,
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
        let ArgumentRecord { head, statistics } = record;
        self.heads.push(head)?;
        if head.has(marks::STATISTICS) {
            let place = head.place().into();
            self.statistics.push(&Apart { task_id: head.task_id, place, statistics: *statistics })?;
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
    heads: Merged<'a, ArgumentHead>,
    statistics: Merged<'a, Apart>,
}

impl Joined<'_> {
    /// The next record.
    pub(crate) fn next(&mut self) -> io::Result<Option<&ArgumentHead>> {
        self.heads.next_item()
    }

    /// The statistics of the record that [`Joined::next`] gave last, which has some.
    pub(crate) fn statistics(&mut self) -> io::Result<StatisticsRecord> {
        let apart = self.statistics.next_item()?;
        apart
            .map(|apart| apart.statistics)
            .ok_or_else(|| io::Error::other("the statistics of a record are gone"))
    }
}

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;

    /// Some records have statistics, some share their key, and none comes in order.
    #[test]
    fn records_come_back_whole_and_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let mut kept = KeptRecords::new(directory.path());
        let mut put = Vec::new();
        for number in 0..1000u64 {
            let mut record = ArgumentRecord::new_zeroed();
            record.head.task_id = number * 617 % 101;
            record.head.stage = (number % 2) as u8;
            record.head.arg_index = (number % 3) as u16;
            record.head.time_ns = number;
            if number % 7 < 3 {
                record.head.flags = marks::STATISTICS;
                record.statistics = StatisticsRecord {
                    min: number,
                    max: !number,
                    zero: number * number,
                    ..Default::default()
                };
            }
            kept.push(&record).unwrap();
            put.push(record);
        }
        kept.seal();
        assert_eq!(kept.len(), 1000);
        put.sort_by_key(|record| record.head.key());
        let (mut records, mut found) = (kept.iter(), Vec::new());
        while let Some(&head) = records.next().unwrap() {
            let statistics = head.has(marks::STATISTICS).then(|| records.statistics().unwrap());
            found.push(ArgumentRecord { head, statistics: statistics.unwrap_or_default() });
        }
        assert!(found == put);
    }
}
