//! Records as JSON, one per line, so that a million of them need no memory.

use std::io::{self, Write};

use anyhow::{Context, bail};
use argus_abi::Kind;
use argus_dump::read::{Dump, Record};
use argus_facts::number::{Number, is_unwritten};
use argus_text::object::{Values, object, plain};
use argus_text::{Array, Part, UNWRITTEN};
use rayon::prelude::*;
use serde_json::{Value, json};

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
    let mut fields = object(dump, record, Values::Summarised);
    if let (Some(slice), Kind::Tensor) = (values, record.kind) {
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
    fields.into()
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

/// An element: one that no instruction has written is not a number.
fn element(array: &Array<'_>, value: Number) -> Value {
    if is_unwritten(array.dtype, value) { UNWRITTEN.into() } else { plain(value) }
}
