//! One row per record with metadata and statistics; the payload, if it is wanted, as a column of bytes.
//!
//! Rows are written in groups of bounded size, so that neither writing nor reading needs the whole dump in
//! memory. Minimum and maximum are doubles here, which round integers beyond 2^53; `csv` has all digits.

use std::fmt::Display;
use std::sync::Arc;

use argus_abi::Kind;
use argus_facts::number::Number;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int32Builder, LargeBinaryBuilder, ListBuilder, StringBuilder,
    UInt8Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use super::Job;
use crate::error::ExportError;
use crate::output::{Output, finish};
use crate::report::{Remarks, Report, weight};
use crate::row::{Row, dtype_name};

/// Name of the file.
pub const FILE: &str = "records.parquet";
const PAYLOAD: &str = "payload";
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
    // An export without records has its columns, too.
    let columns = batch(job, &[], &mut remarks).map_err(|error| failed(&error))?.schema();
    let mut writer =
        ArrowWriter::try_new(draft.file, columns, Some(properties())).map_err(|error| failed(&error))?;
    for group in groups(job) {
        let rows: Vec<Row> = group
            .par_iter()
            .map(|&index| {
                let row = Row::with_statistics(job.dump, index);
                job.progress.add(&row.record);
                row
            })
            .collect();
        let batch = batch(job, &rows, &mut remarks).map_err(|error| failed(&error))?;
        writer.write(&batch).and_then(|()| writer.flush()).map_err(|error| failed(&error))?;
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
        .set_column_statistics_enabled(
            ColumnPath::from(PAYLOAD),
            parquet::file::properties::EnabledStatistics::None,
        )
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

/// The columns of some rows, in the order of the file.
fn batch(
    job: &Job<'_>,
    rows: &[Row],
    remarks: &mut Remarks,
) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    let mut add = |name: &'static str, array: ArrayRef| columns.push((name, array));
    add("index", u64s(rows, |row| Some(row.record.index as u64)));
    add("task_id", u64s(rows, |row| Some(row.record.task_id.raw())));
    add("task_id_hex", texts(rows, |row| Some(row.record.task_id.to_string())));
    add("kernel", texts(rows, |row| Some(row.kernel.clone())));
    add("func_ids", {
        let mut lists = ListBuilder::new(Int32Builder::new());
        for row in rows {
            lists.append_value(row.record.func_ids.iter().map(|&id| Some(id)));
        }
        Arc::new(lists.finish())
    });
    add("subtask_id", {
        let mut members = UInt8Builder::new();
        rows.iter().for_each(|row| members.append_option(row.record.subtask));
        Arc::new(members.finish())
    });
    add("stage", texts(rows, |row| Some(row.record.stage.name().to_owned())));
    add("role", texts(rows, |row| Some(row.record.role.name().to_owned())));
    add("arg_index", {
        let mut places = UInt32Builder::new();
        rows.iter().for_each(|row| places.append_value(row.record.arg_index));
        Arc::new(places.finish())
    });
    add("kind", texts(rows, |row| Some(row.record.kind.name().to_owned())));
    add("dtype", texts(rows, |row| Some(dtype_name(&row.record).to_owned())));
    add("shape", lists(rows, |row| row.record.shape()));
    add("strides", lists(rows, |row| row.record.strides()));
    add("start_offset", u64s(rows, |row| Some(row.record.start_offset)));
    add("numel", u64s(rows, |row| row.record.numel()));
    add("logical_bytes", u64s(rows, |row| row.record.logical_bytes));
    add("payload_bytes", u64s(rows, |row| Some(row.record.bin_size)));
    add("flags", texts(rows, |row| Some(row.flags())));
    add("contiguous", {
        let mut truths = BooleanBuilder::new();
        rows.iter().for_each(|row| truths.append_value(row.record.contiguous));
        Arc::new(truths.finish())
    });
    add("address", u64s(rows, |row| row.record.address));
    add("time_ns", u64s(rows, |row| row.record.time_ns));
    add("checksum", texts(rows, |row| row.record.checksum.map(|checksum| format!("{checksum:032x}"))));
    add("scalar_value", f64s(rows, |row| row.scalar_number().map(Number::as_f64)));
    add("scalar_bits", u64s(rows, Row::scalar_bits));
    add("count", u64s(rows, |row| row.figures.count));
    add("min", f64s(rows, |row| row.figures.min.map(Number::as_f64)));
    add("max", f64s(rows, |row| row.figures.max.map(Number::as_f64)));
    add("abs_max", f64s(rows, |row| row.figures.abs_max.map(Number::as_f64)));
    add("mean", f64s(rows, |row| row.figures.mean));
    add("std", f64s(rows, |row| row.figures.std));
    add("zero", u64s(rows, |row| row.figures.zero));
    add("nan", u64s(rows, |row| row.figures.nan));
    add("inf", u64s(rows, |row| row.figures.inf));
    add("positive_inf", u64s(rows, |row| row.figures.positive_inf));
    add("negative_inf", u64s(rows, |row| row.figures.negative_inf));
    add("subnormal", u64s(rows, |row| row.figures.subnormal));
    add("distinct", texts(rows, |row| row.figures.distinct.clone()));
    add("missing", texts(rows, |row| row.missing.clone()));
    if job.options.payload {
        add(PAYLOAD, payloads(job, rows, remarks));
    }
    // Columns that are never empty in one group may be in another: all can be null.
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
}

/// Payloads as they are in the dump: packed and in logical order.
fn payloads(job: &Job<'_>, rows: &[Row], remarks: &mut Remarks) -> ArrayRef {
    let mut builder = LargeBinaryBuilder::new();
    for row in rows {
        let payload = (row.record.kind == Kind::Tensor).then(|| job.dump.payload(&row.record).ok()).flatten();
        match payload {
            Some(bytes) if bytes.len() as u64 > LARGEST_VALUE => {
                remarks.add(row.record.index, "its payload is left out: Parquet holds no value above 2 GiB");
                builder.append_null();
            }
            Some(bytes) => builder.append_value(bytes),
            None => builder.append_null(),
        }
    }
    Arc::new(builder.finish())
}

fn u64s(rows: &[Row], value: impl Fn(&Row) -> Option<u64>) -> ArrayRef {
    let mut builder = UInt64Builder::with_capacity(rows.len());
    rows.iter().for_each(|row| builder.append_option(value(row)));
    Arc::new(builder.finish())
}

fn f64s(rows: &[Row], value: impl Fn(&Row) -> Option<f64>) -> ArrayRef {
    let mut builder = Float64Builder::with_capacity(rows.len());
    rows.iter().for_each(|row| builder.append_option(value(row)));
    Arc::new(builder.finish())
}

fn texts(rows: &[Row], value: impl Fn(&Row) -> Option<String>) -> ArrayRef {
    let mut builder = StringBuilder::new();
    rows.iter().for_each(|row| builder.append_option(value(row)));
    Arc::new(builder.finish())
}

fn lists<'a>(rows: &'a [Row], value: impl Fn(&'a Row) -> &'a [u64]) -> ArrayRef {
    let mut builder = ListBuilder::new(UInt64Builder::new());
    for row in rows {
        builder.append_value(value(row).iter().map(|&item| Some(item)));
    }
    Arc::new(builder.finish())
}
