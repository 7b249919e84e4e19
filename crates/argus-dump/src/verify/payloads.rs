//! Are the bytes there, apart from each other, and those that were captured?

use std::sync::atomic::{AtomicU64, Ordering};

use argus_abi::{Kind, Stage};
use argus_facts::with_causes;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::Checked;
use super::findings::Findings;
use crate::read::{Dump, Ending, FormatVersion, PayloadError};
use crate::stats::Accumulator;

/// Bytes of a payload, and whose they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    offset: u64,
    size: u64,
    record: usize,
}

impl Range {
    /// Beyond the last address for a range that cannot be.
    fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    fn same(&self, other: &Range) -> bool {
        (self.offset, self.size) == (other.offset, other.size)
    }
}

pub(super) fn check(dump: &Dump, checked: &mut Checked, progress: &(impl Fn(u64, u64) + Sync)) -> Findings {
    let mut findings = Findings::default();
    let mut ranges: Vec<Range> = (dump.records())
        .filter(|record| record.kind == Kind::Tensor && record.bin_size > 0 && !record.overwritten)
        .map(|record| Range { offset: record.bin_offset, size: record.bin_size, record: record.index })
        .collect();
    let Some(first) = ranges.first() else { return findings };
    if let Err(error @ (PayloadError::Missing { .. } | PayloadError::NotKept { .. })) =
        dump.stored_payload(&dump.record(first.record))
    {
        findings.defect("missing payload files", None, || {
            let count = ranges.len();
            format!("{count} records have a payload, but the file is not there: {}", with_causes(&error))
        });
        return findings;
    }
    ranges.par_sort_unstable();
    overlaps(&ranges, &mut findings);
    unnamed(dump, &ranges, &mut findings);

    let total: u64 = (ranges.chunk_by(Range::same)).fold(0, |sum, same| sum.saturating_add(same[0].size));
    let done = AtomicU64::new(0);
    let counts = [const { AtomicU64::new(0) }; 3];
    progress(0, total);
    let found = ranges
        .par_chunk_by(Range::same)
        .fold(Findings::default, |mut findings, same| {
            let hashed = group(dump, same, &mut findings);
            if let Some(hashed) = hashed {
                counts[0].fetch_add(1, Ordering::Relaxed);
                counts[1].fetch_add(same[0].size, Ordering::Relaxed);
                counts[2].fetch_add(hashed, Ordering::Relaxed);
            }
            let before = done.fetch_add(same[0].size, Ordering::Relaxed);
            progress(before.saturating_add(same[0].size).min(total), total);
            findings
        })
        .reduce(Findings::default, Findings::joined);
    findings.add_all(found);
    let [payloads, bytes, checksums] = counts.map(AtomicU64::into_inner);
    (checked.payloads, checked.payload_bytes, checked.checksums) = (payloads, bytes, checksums);
    findings
}

/// Looks at the bytes that all records of `same` name; how many checksums were compared, `None` without bytes.
fn group(dump: &Dump, same: &[Range], findings: &mut Findings) -> Option<u64> {
    let mut hash = None;
    let mut zero = None;
    let mut statistics = None;
    let mut hashed = 0;
    let mut looked = false;
    for range in same {
        let record = dump.record(range.record);
        let bytes = match dump.stored_payload(&record) {
            Ok(bytes) => bytes,
            Err(error) => {
                findings.defect("payloads outside the file", range.record, || with_causes(&error));
                continue;
            }
        };
        looked = true;
        if let Some(expected) = record.checksum {
            hashed += 1;
            let found = *hash.get_or_insert_with(|| xxh3_128(bytes));
            if found != expected {
                findings.defect("payloads that are not those that were captured", range.record, || {
                    format!("its payload has the checksum {found:032x}, not {expected:032x}")
                });
            }
        }
        if let (Some(told), Some(dtype), Some(elements)) = (record.statistics, record.dtype, record.numel()) {
            let found = *statistics.get_or_insert_with(|| {
                let mut accumulator = Accumulator::new(dtype, elements);
                accumulator.update(bytes);
                (dtype, elements, accumulator.finish())
            });
            // Equal bytes of another type have other statistics; few records share bytes so.
            if (found.0, found.1) == (dtype, elements) && found.2 != told {
                findings.defect("statistics of other payloads", range.record, || {
                    "its statistics are not those of its payload".to_owned()
                });
            }
        }
        // Reference: outputs that never left the device arrived as zeros.
        if dump.format_version() != FormatVersion::Argus && record.stage == Stage::AfterCompletion {
            let zero = *zero.get_or_insert_with(|| bytes.iter().all(|&byte| byte == 0));
            if zero {
                findings.warning("outputs of nothing but zeros", range.record, || {
                    format!(
                        "its {} bytes are all zero, which may mean that they were never collected",
                        bytes.len()
                    )
                });
            }
        }
    }
    looked.then_some(hashed)
}

/// Payloads share all of their bytes or none.
fn overlaps(ranges: &[Range], findings: &mut Findings) {
    let Some(mut reach) = ranges.first().copied() else { return };
    for range in ranges {
        if range.offset < reach.end() && !range.same(&reach) {
            findings.defect("payloads that overlap", range.record, || {
                format!(
                    "its payload, bytes {}..{}, overlaps that of record {}, bytes {}..{}",
                    range.offset,
                    range.end(),
                    reach.record,
                    reach.offset,
                    reach.end()
                )
            });
        }
        if range.end() > reach.end() {
            reach = *range;
        }
    }
}

/// Bytes of the payload file that no record names. A run that was killed may have written some.
fn unnamed(dump: &Dump, ranges: &[Range], findings: &mut Findings) {
    let whole = matches!(dump.ending(), Ending::Complete | Ending::Unknown);
    let Some(len) = dump.payload_file_len().filter(|_| whole) else { return };
    let (mut named, mut reach) = (0u64, 0u64);
    for range in ranges {
        let end = range.end().min(len);
        let start = range.offset.max(reach);
        if end > start {
            named += end - start;
            reach = end;
        }
    }
    if named < len {
        findings.warning("payload bytes without a record", None, || {
            format!("{} of the {len} bytes in the payload file belong to no record", len - named)
        });
    }
}
