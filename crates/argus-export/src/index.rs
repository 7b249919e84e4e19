//! The index beside arrays: one JSON object for each record, written as it comes.
//!
//! An index may be half as large as the payloads, so an item is made in a buffer that the next one uses again. Keys are in
//! alphabetical order. Numbers that may exceed 2^53 are text.

use argus_abi::Kind;
use argus_dump::read::{Dump, Record};
use argus_facts::with_causes;

use crate::content::{NoArray, scalar_bits, true_dtype};
use crate::digits::{put_hex, put_number};
use crate::row::{dtype_name, flags};

/// Appends the item of a record that is stored under `name`, or of which nothing is stored.
pub(crate) fn put_item(
    out: &mut Vec<u8>,
    dump: &Dump,
    record: &Record,
    name: &str,
    stored: Result<&str, &NoArray>,
) {
    out.push(b'{');
    if let Some(address) = record.address {
        key(out, "address");
        put_hex_text(out, address);
    }
    number(out, "arg_index", record.arg_index.into());
    if let Some(checksum) = record.checksum {
        key(out, "checksum");
        out.extend_from_slice(b"\"xxh3_128:");
        put_hex(out, checksum, 32);
        out.push(b'"');
    }
    plain(out, "dtype", dtype_name(record));
    plain(out, "flags", &flags(record));
    key(out, "func_ids");
    list(out, record.func_ids.iter().map(|&id| i64::from(id)));
    number(out, "index", record.index as u64);
    key(out, "kernel");
    text(out, &dump.kernel_names(record));
    plain(out, "kind", record.kind.name());
    if let Err(why) = stored {
        key(out, "missing");
        text(out, &with_causes(why));
    }
    plain(out, "name", name);
    plain(out, "role", record.role.name());
    key(out, "shape");
    list(out, record.shape().iter().copied());
    plain(out, "stage", record.stage.name());
    number(out, "start_offset", record.start_offset);
    if let Ok(dtype) = stored {
        plain(out, "stored_dtype", dtype);
    }
    key(out, "strides");
    list(out, record.strides().iter().copied());
    if let Some(member) = record.subtask {
        number(out, "subtask_id", member.into());
    }
    key(out, "task_id");
    put_hex_text(out, record.task_id.raw());
    if let Some(time) = record.time_ns {
        number(out, "time_ns", time);
    }
    plain(out, "true_dtype", true_dtype(record.dtype));
    if record.kind == Kind::Scalar
        && let Some((bits, _)) = scalar_bits(record)
    {
        key(out, "value_bits");
        put_hex_text(out, bits);
    }
    out.push(b'}');
}

fn key(out: &mut Vec<u8>, key: &str) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    plain_text(out, key);
    out.push(b':');
}

fn number(out: &mut Vec<u8>, name: &str, value: u64) {
    key(out, name);
    put_number(out, value);
}

/// A text of our own, in which nothing needs to be escaped.
fn plain(out: &mut Vec<u8>, name: &str, value: &str) {
    key(out, name);
    plain_text(out, value);
}

fn plain_text(out: &mut Vec<u8>, value: &str) {
    out.push(b'"');
    out.extend_from_slice(value.as_bytes());
    out.push(b'"');
}

/// A text from a file.
fn text(out: &mut Vec<u8>, value: &str) {
    serde_json::to_writer(out, value).expect("any text is a JSON string, and memory takes it");
}

fn put_hex_text(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(b"\"0x");
    put_hex(out, value.into(), 16);
    out.push(b'"');
}

pub(crate) fn list<T: itoa::Integer>(out: &mut Vec<u8>, items: impl Iterator<Item = T>) {
    out.push(b'[');
    for (place, item) in items.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        put_number(out, item);
    }
    out.push(b']');
}
