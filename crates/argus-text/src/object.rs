//! A record as JSON, with the keys that every face of the tool uses.

use argus_abi::Kind;
use argus_dump::read::{Dump, Record, Scalar};
use argus_dump::summary::{Summary, summarise};
use argus_facts::number::{Number, number};
use serde_json::{Map, Value, json};

use crate::record;

/// Whether a record's values are looked at for its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// With their statistics.
    Summarised,
    /// Only what the dump says of them.
    Untouched,
}

/// What is known of a record.
pub fn object(dump: &Dump, record: &Record, values: Values) -> Map<String, Value> {
    let mut fields = fields(json!({
        "index": record.index,
        "task_id": record.task_id.to_string(),
        "kernel": dump.kernel_names(record),
        "func_id": *record.func_ids,
        "stage": record.stage.name(),
        "role": record.role.name(),
        "arg_index": record.arg_index,
        "kind": record.kind.name(),
        "dtype": record::dtype(record),
    }));
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
        Kind::Scalar => scalar(record, &mut fields),
        Kind::Tensor => tensor(dump, record, values, &mut fields),
    }
    fields
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

fn tensor(dump: &Dump, record: &Record, values: Values, of_record: &mut Map<String, Value>) {
    let summary = match values {
        Values::Summarised => summary(dump, record),
        Values::Untouched => None,
    };
    let facts = json!({
        "shape": record.shape(),
        "strides": record.strides(),
        "start_offset": record.start_offset,
        "is_contiguous": record.contiguous,
        "bytes": record.logical_bytes,
        "bin_offset": record.bin_offset,
        "bin_size": record.bin_size,
        "address": record.address.map(|address| format!("0x{address:x}")),
        "checksum": record.checksum.map(|checksum| format!("{checksum:032x}")),
        "statistics": summary.map(|summary| statistics(&summary)),
    });
    of_record.extend(fields(facts).into_iter().filter(|(_, value)| !value.is_null()));
}

fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Statistics of a payload that is there.
pub fn summary(dump: &Dump, record: &Record) -> Option<Summary> {
    let payload = dump.payload(record).ok().filter(|_| record.has_payload())?;
    Some(summarise(record.dtype?, record.numel()?, payload))
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

/// JSON has no NaN, and readers round what an f64 does not hold: both become strings.
pub fn plain(value: Number) -> Value {
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
