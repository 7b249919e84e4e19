//! Records as JSON, one per line, so that a million of them need no memory.

use std::io::{self, Write};

use anyhow::{Context, bail};
use argus_abi::Kind;
use argus_dump::read::{Dump, Record, Scalar};
use argus_dump::summary::Summary;
use argus_facts::number::{Number, is_unwritten, number};
use argus_text::{Array, Part, UNWRITTEN, record};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::row;
use crate::input::Unreadable;
use crate::schema;

/// Records made at a time.
const PIECE: usize = 4096;
/// Values of one tensor; more belong into a file, see `argus export`.
const MOST_VALUES: u64 = 1 << 20;

/// What the object says beside its records.
pub struct About<'a> {
    /// Records that the filters let through.
    pub matching: usize,
    pub unreadable: Option<&'a Unreadable>,
    /// What files beside the dump know of the tasks, with `--show`.
    pub pages: Vec<Value>,
}

/// Writes the whole object. `values`: with the values of tensors, of a part of them if a slice is given.
pub fn write(
    out: &mut dyn Write,
    dump: &Dump,
    about: &About<'_>,
    shown: &[usize],
    values: Option<Option<&str>>,
) -> io::Result<()> {
    let head = json!({
        "schema": schema::VIEW,
        "dump": dump.directory().display().to_string(),
        "format_version": dump.format_version().name(),
        "total": dump.len(),
        "matching": about.matching,
        "shown": shown.len(),
        "notes": dump.notes(),
        "unreadable": about.unreadable.map(Unreadable::object),
        "task_pages": about.pages,
    });
    let head = head.to_string();
    write!(out, "{},\n\"records\": [", head.strip_suffix('}').unwrap_or(&head))?;
    let mut first = true;
    for piece in shown.chunks(PIECE) {
        let texts: Vec<String> =
            piece.par_iter().map(|&index| record(dump, &dump.record(index), values).to_string()).collect();
        for text in texts {
            write!(out, "{}\n{text}", if first { "" } else { "," })?;
            first = false;
        }
    }
    writeln!(out, "\n]}}")
}

fn record(dump: &Dump, record: &Record, values: Option<Option<&str>>) -> Value {
    let mut object = json!({
        "index": record.index,
        "task_id": record.task_id.to_string(),
        "kernel": dump.kernel_names(record),
        "func_id": *record.func_ids,
        "stage": record.stage.name(),
        "role": record.role.name(),
        "arg_index": record.arg_index,
        "kind": record.kind.name(),
        "dtype": record::dtype(record),
    });
    let Value::Object(fields) = &mut object else { return object };
    if let Some(subtask) = record.subtask {
        fields.insert("subtask_id".into(), subtask.into());
    }
    for (holds, name) in [
        (record.ambiguous_index, "arg_index_ambiguous"),
        (record.truncated, "truncated"),
        (record.overwritten, "overwritten"),
        (record.partial, "partial"),
    ] {
        if holds {
            fields.insert(name.into(), true.into());
        }
    }
    match record.kind {
        Kind::Scalar => scalar(record, fields),
        Kind::Tensor => tensor(dump, record, values, fields),
    }
    object
}

fn scalar(record: &Record, fields: &mut Map<String, Value>) {
    match record.scalar {
        Some(Scalar::Bits(bits)) => {
            let value = record.dtype.map_or(Value::Null, |dtype| plain(number(dtype, bits)));
            fields.insert("value".into(), value);
            fields.insert("value_bits".into(), format!("0x{bits:016x}").into());
        }
        Some(Scalar::Rounded(value)) => {
            fields.insert("value".into(), plain(Number::Float(value)));
        }
        None => {}
    }
}

fn tensor(dump: &Dump, record: &Record, values: Option<Option<&str>>, fields: &mut Map<String, Value>) {
    let bytes = record.logical_bytes;
    let facts = json!({
        "shape": record.shape(),
        "strides": record.strides(),
        "start_offset": record.start_offset,
        "is_contiguous": record.contiguous,
        "bytes": bytes,
        "bin_offset": record.bin_offset,
        "bin_size": record.bin_size,
        "address": record.address.map(|address| format!("0x{address:x}")),
        "checksum": record.checksum.map(|checksum| format!("{checksum:032x}")),
        "statistics": row::summary(dump, record).map(|summary| statistics(&summary)),
    });
    if let Value::Object(facts) = facts {
        fields.extend(facts.into_iter().filter(|(_, value)| !value.is_null()));
    }
    let Some(slice) = values else { return };
    match self::values(dump, record, slice) {
        Ok((shape, values)) => {
            fields.insert("values_shape".into(), json!(shape));
            fields.insert("values".into(), values);
        }
        Err(error) => {
            fields.insert("values_missing".into(), format!("{error:#}").into());
        }
    }
}

/// Shape and values of a tensor or of a part of it, or why there are none.
fn values(dump: &Dump, record: &Record, slice: Option<&str>) -> anyhow::Result<(Vec<u64>, Value)> {
    let payload = dump.payload(record)?;
    let dtype = record.dtype.context("the dtype is unknown")?;
    let array = Array { dtype, payload };
    let part = match slice {
        Some(slice) => Part::parse(slice, record.shape())?,
        None => Part::whole(record.shape()),
    };
    let shape = part.shape();
    // Rows without elements are lists too, and take room like others.
    let lists = shape.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent.max(1)));
    if lists.is_none_or(|lists| lists > MOST_VALUES) {
        bail!("too many for JSON: give a slice, or use argus export");
    }
    let values = nested(&array, &part, &shape, &mut Vec::new());
    Ok((shape, values))
}

fn nested(array: &Array<'_>, part: &Part, shape: &[u64], index: &mut Vec<u64>) -> Value {
    let Some((&extent, rest)) = shape.split_first() else {
        return array.get(part.position(index)).map_or(Value::Null, |value| element(array, value));
    };
    let mut items = Vec::new();
    for at in 0..extent {
        index.push(at);
        items.push(nested(array, part, rest, index));
        index.pop();
    }
    items.into()
}

/// Statistics by name; what does not exist is null.
pub fn statistics(summary: &Summary) -> Value {
    json!({
        "count": summary.count,
        "min": summary.min.map(plain),
        "max": summary.max.map(plain),
        "abs_max": summary.abs_max.map(plain),
        "mean": summary.mean,
        "std": summary.std,
        "zero": summary.zero,
        "unwritten": summary.unwritten,
        "nan": summary.written_nan(),
        "inf": summary.inf(),
        "subnormal": summary.subnormal,
        "distinct": summary.distinct.to_string(),
    })
}

/// An element: one that no instruction has written is not a number.
fn element(array: &Array<'_>, value: Number) -> Value {
    if is_unwritten(array.dtype, value) { UNWRITTEN.into() } else { plain(value) }
}

/// JSON has no NaN, and readers round what an f64 does not hold: both become strings.
fn plain(value: Number) -> Value {
    const EXACT: u64 = 1 << 53;
    match value {
        Number::Float(value) if value.is_nan() => "NaN".into(),
        Number::Float(value) if value.is_infinite() => {
            if value > 0.0 { "Infinity" } else { "-Infinity" }.into()
        }
        Number::Float(value) => value.into(),
        Number::Signed(value) if value.unsigned_abs() > EXACT => value.to_string().into(),
        Number::Signed(value) => value.into(),
        Number::Unsigned(value) if value > EXACT => value.to_string().into(),
        Number::Unsigned(value) => value.into(),
        Number::Bool(value) => value.into(),
    }
}
