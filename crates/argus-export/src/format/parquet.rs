//! One row per record with metadata and statistics; the payload, if it is wanted, as a column of bytes.
//!
//! Rows are written in groups of bounded size, so that neither writing nor reading needs the whole dump in
//! memory. Minimum and maximum are doubles here, which round integers beyond 2^53; `csv` has all digits.

mod columns;

use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;

use argus_abi::Kind;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use self::columns::{COLUMNS, PAYLOAD, schema};
use super::Job;
use crate::error::ExportError;
use crate::output::{Output, finish};
use crate::report::{Remarks, Report, weight};
use crate::row::Row;

/// Name of the file.
pub const FILE: &str = "records.parquet";
/// Rows of a group.
const GROUP_ROWS: usize = 64 << 10;
/// Payload bytes of a group, unless one payload alone has more.
const GROUP_BYTES: u64 = 64 << 20;
/// A value of Parquet has a signed 32-bit length.
const LARGEST_VALUE: u64 = i32::MAX as u64;

pub(crate) fn export(job: &Job<'_>, output: Output) -> Result<Report, ExportError> {
    output.check_free([FILE.to_owned()])?;
    let draft = output.create(FILE)?;
    let path = draft.path().to_path_buf();
    let failed = |error: &dyn Display| ExportError::Format { path: path.clone(), why: error.to_string() };
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    let mut writer = schema(job.options.payload)
        .and_then(|schema| SerializedFileWriter::new(draft.file, schema, Arc::new(properties())))
        .map_err(|error| failed(&error))?;
    for group in groups(job) {
        let rows: Vec<Row> = group
            .par_iter()
            .map(|&index| {
                let row = Row::with_statistics(job.dump, index);
                job.progress.add(&row.record);
                row
            })
            .collect();
        write(job, &rows, &mut remarks, &mut writer).map_err(|error| failed(&error))?;
        for row in rows {
            remarks.take(row.record.index, row.remark);
            without.take(row.record.index, row.missing);
        }
    }
    writer.close().map_err(|error| failed(&error))?;
    finish(output, job.records.len(), without.groups(), remarks.groups())
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        // A dictionary of payloads would hold them all.
        .set_column_dictionary_enabled(ColumnPath::from(PAYLOAD), false)
        .set_column_statistics_enabled(ColumnPath::from(PAYLOAD), EnabledStatistics::None)
        .build()
}

/// Records in groups.
fn groups<'a>(job: &Job<'a>) -> Vec<&'a [usize]> {
    let mut groups = Vec::new();
    let (mut start, mut bytes) = (0, 0u64);
    for (place, &index) in job.records.iter().enumerate() {
        let more = if job.options.payload { weight(&job.dump.record(index)) } else { 0 };
        if place > start && (bytes.saturating_add(more) > GROUP_BYTES || place - start == GROUP_ROWS) {
            groups.push(&job.records[start..place]);
            (start, bytes) = (place, 0);
        }
        bytes = bytes.saturating_add(more);
    }
    if start < job.records.len() {
        groups.push(&job.records[start..]);
    }
    groups
}

/// Writes some rows as a group.
fn write<W: Write + Send>(
    job: &Job<'_>,
    rows: &[Row],
    remarks: &mut Remarks,
    writer: &mut SerializedFileWriter<W>,
) -> ParquetResult<()> {
    let mut group = writer.next_row_group()?;
    let mut place = 0;
    while let Some(mut column) = group.next_column()? {
        match COLUMNS.get(place) {
            Some((_, cells)) => cells.write(rows, &mut column)?,
            None => payloads(job, rows, remarks, &mut column)?,
        }
        column.close()?;
        place += 1;
    }
    group.close().map(drop)
}

/// Payloads as they are in the dump: packed and in logical order. One at a time, so that no more than one is in
/// memory twice.
fn payloads(
    job: &Job<'_>,
    rows: &[Row],
    remarks: &mut Remarks,
    column: &mut SerializedColumnWriter<'_>,
) -> ParquetResult<()> {
    let column = column.typed::<ByteArrayType>();
    for row in rows {
        let payload = (row.record.kind == Kind::Tensor).then(|| job.dump.payload(&row.record).ok()).flatten();
        let payload = payload.filter(|bytes| {
            let fits = bytes.len() as u64 <= LARGEST_VALUE;
            if !fits {
                remarks.add(row.record.index, "its payload is left out: Parquet holds no value above 2 GiB");
            }
            fits
        });
        match payload {
            Some(bytes) => column.write_batch(&[ByteArray::from(bytes)], Some(&[1]), None)?,
            None => column.write_batch(&[], Some(&[0]), None)?,
        };
    }
    Ok(())
}
