//! Does each record make sense by itself?

use argus_abi::Kind;
use argus_abi::capture::argument_flags;
use rayon::prelude::*;

use super::findings::Findings;
use crate::journal::marks;
use crate::read::{Dump, FormatVersion, Record, Records, flag};

/// Bit of the journal's options: statistics were wanted instead of payloads.
const STATISTICS_INSTEAD: u32 = 4;

pub(super) fn check(dump: &Dump) -> Findings {
    (0..dump.len())
        .into_par_iter()
        .fold(Findings::default, |mut findings, index| {
            let record = dump.record(index);
            match record.kind {
                Kind::Scalar => scalar(&record, &mut findings),
                Kind::Tensor => tensor(dump, &record, &mut findings),
            }
            claims(dump, &record, &mut findings);
            findings
        })
        .reduce(Findings::default, Findings::joined)
}

fn scalar(record: &Record, findings: &mut Findings) {
    let index = record.index;
    if record.bin_size != 0 {
        findings.defect("scalars with a payload", index, || {
            format!("a scalar has {} bytes of payload", record.bin_size)
        });
    }
    if record.ndims != 0 {
        findings
            .defect("scalars with a shape", index, || format!("a scalar has the shape {:?}", record.shape()));
    }
    if record.scalar.is_none() {
        findings.defect("scalars without a value", index, || "a scalar has no value".to_owned());
    }
}

fn tensor(dump: &Dump, record: &Record, findings: &mut Findings) {
    let index = record.index;
    if record.dtype.is_none() {
        let message = || "its dtype is none that is known, so its size cannot be checked".to_owned();
        match dump.format_version() {
            FormatVersion::Argus => findings.defect("unknown dtypes", index, message),
            // The reference writes UNKNOWN itself, and later versions have more types.
            _ => findings.warning("unknown dtypes", index, message),
        }
        return;
    }
    // The reference counts half bytes as whole ones.
    let whole =
        record.dtype.zip(record.numel()).and_then(|(dtype, count)| count.checked_mul(dtype.size() as u64));
    let unpacked = dump.format_version() != FormatVersion::Argus && whole == Some(record.bin_size);
    let Some(bytes) = (if unpacked { whole } else { record.logical_bytes }) else {
        findings.defect("impossible shapes", index, || {
            format!("the shape {:?} has more bytes than there are addresses", record.shape())
        });
        return;
    };
    if record.overwritten {
        findings.loss("payloads that were lost", index, || {
            "its payload was lost before it could be collected".to_owned()
        });
    } else if record.bin_size == 0 && bytes > 0 {
        without_payload(dump, record, findings);
    } else if record.truncated {
        findings.loss("truncated payloads", index, || {
            format!("its payload is truncated: {} of {bytes} bytes are there", record.bin_size)
        });
        if record.bin_size >= bytes {
            findings.defect("payload sizes that do not fit the view", index, || {
                format!("it is truncated, but {} of {bytes} bytes are there", record.bin_size)
            });
        }
    } else if record.bin_size != bytes {
        findings.defect("payload sizes that do not fit the view", index, || {
            let name = record.dtype.map_or("", |dtype| dtype.name());
            format!("its payload has {} bytes; {name} {:?} needs {bytes}", record.bin_size, record.shape())
        });
    }
    if dump.format_version() == FormatVersion::Argus && record.bin_size > 0 && record.checksum.is_none() {
        findings.defect("payloads without a checksum", index, || "its payload has no checksum".to_owned());
    }
}

/// A tensor whose payload is not there: is that said?
fn without_payload(dump: &Dump, record: &Record, findings: &mut Findings) {
    let index = record.index;
    let asked_for = match dump.source() {
        Records::Journal(table) => {
            let raw = table.raw(index);
            let looked_at = raw.head.has(argument_flags::STATS_ONLY)
                || table.journal().header().options & STATISTICS_INSTEAD != 0;
            raw.head.has(argument_flags::NO_PAYLOAD) || looked_at && raw.head.has(marks::CHECKSUM)
        }
        Records::Manifest { listed, .. } => {
            listed.row(index).has(flag::LEFT_OUT) || listed.head.level == Some(3)
        }
    };
    let message = || "there is no payload, and nothing says why".to_owned();
    match (asked_for, dump.format_version()) {
        (true, _) => {}
        (false, FormatVersion::Argus) => findings.defect("missing payloads", index, message),
        (false, _) => findings.loss("missing payloads", index, message),
    }
}

/// What an entry of a manifest says beside what follows from the rest of it.
fn claims(dump: &Dump, record: &Record, findings: &mut Findings) {
    let index = record.index;
    let contiguous = match dump.source() {
        Records::Manifest { listed, .. } => {
            let row = listed.row(index);
            if row.has(flag::NUMEL_WRONG) {
                findings.defect("numbers of elements that do not fit the shape", index, || {
                    format!("its numel is not that of the shape {:?}", record.shape())
                });
            }
            !row.has(flag::CONTIGUOUS_WRONG)
        }
        Records::Journal(_) => record.kind == Kind::Scalar || record.contiguous == row_major(record),
    };
    if contiguous {
        return;
    }
    let message = || {
        format!("is_contiguous is not what shape {:?} and strides {:?} say", record.shape(), record.strides())
    };
    let kind = "is_contiguous that does not fit the strides";
    match dump.format_version() {
        // Its rule is not written down anywhere.
        FormatVersion::April => findings.warning(kind, index, message),
        _ => findings.defect(kind, index, message),
    }
}

fn row_major(record: &Record) -> bool {
    crate::read::is_row_major(record.shape(), record.strides())
}
