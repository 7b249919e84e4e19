//! One safetensors file: eight bytes with the length of a header, the header, the bytes of all tensors.
//!
//! The header names every tensor with its place, so records are looked at before their bytes are written; nothing but
//! their numbers is kept meanwhile. Tensors of wide elements come first: each then begins at a multiple of its
//! element's size, which readers that map the file need.

use std::io::{self, Seek, SeekFrom, Write};

use argus_abi::DType;
use argus_dump::read::Record;

use super::Job;
use crate::content::{Array, NoArray, array};
use crate::digits::put_number;
use crate::error::ExportError;
use crate::index::{list, put_item};
use crate::output::{Output, finish};
use crate::report::{Remarks, Report};

const FILE: &str = "tensors.safetensors";
/// The key of the index in the file's metadata.
const METADATA: &str = "argus_index";
/// Readers refuse a header of more bytes.
const LONGEST_HEADER: u64 = 100_000_000;
/// The header ends at a multiple of this, and so the first tensor begins at one.
const ALIGNMENT: u64 = 8;
/// Sizes of elements, in the order in which tensors are written.
const WIDTHS: [u64; 4] = [8, 4, 2, 1];

pub(crate) fn export(job: &Job<'_>, output: Output) -> Result<Report, ExportError> {
    output.check_free([FILE.to_owned()])?;
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    let draft = output.create(FILE)?;
    let path = draft.path().to_path_buf();
    let mut header = Header { file: draft.file, text: Vec::new(), written: 0 };
    let written = write(job, &mut header, &mut without, &mut remarks);
    let length = written.map_err(ExportError::write(&path))?;
    if length > LONGEST_HEADER {
        let records = job.records.len();
        let why = format!(
            "the names and places of {records} records take {length} bytes, and readers of safetensors refuse a header \
             of more than {LONGEST_HEADER}; export fewer records, or npz"
        );
        return Err(ExportError::Format { path, why });
    }
    finish(output, job.records.len(), without.groups(), remarks.groups())
}

/// Writes the file; the length of its header.
fn write<W: Write + Seek>(
    job: &Job<'_>,
    header: &mut Header<W>,
    without: &mut Remarks,
    remarks: &mut Remarks,
) -> io::Result<u64> {
    // The length is not known yet.
    header.file.write_all(&[0; 8])?;
    let mut tensors: [Vec<usize>; WIDTHS.len()] = Default::default();
    header.text.extend_from_slice(format!(r#"{{"__metadata__":{{"{METADATA}":""#).as_bytes());
    let (mut name, mut item) = (String::new(), Vec::new());
    for (place, record) in job.records().enumerate() {
        stem(job, &record, &mut name);
        item.clear();
        item.push(if place == 0 { b'[' } else { b',' });
        match tensor(job, &record) {
            Ok(mut array) => {
                put_item(&mut item, job.dump, &record, &name, Ok(dtype(&array).0));
                remarks.take(record.index, array.remark.take());
                let width = dtype(&array).1;
                tensors[WIDTHS.iter().position(|&other| other == width).unwrap_or(WIDTHS.len() - 1)]
                    .push(record.index);
            }
            Err(why) => {
                put_item(&mut item, job.dump, &record, &name, Err(&why));
                without.without(record.index, &why);
                job.progress.add(&record);
            }
        }
        header.put_escaped(&item)?;
    }
    let end: &[u8] = if job.records.is_empty() { b"[]" } else { b"]" };
    header.put_escaped(end)?;
    header.text.extend_from_slice(b"\"}");
    let mut at = 0u64;
    for &index in tensors.iter().flatten() {
        let record = job.dump.record(index);
        let Ok(array) = tensor(job, &record) else { continue };
        stem(job, &record, &mut name);
        let text = &mut header.text;
        text.extend_from_slice(b",\"");
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b"\":{\"dtype\":\"");
        text.extend_from_slice(dtype(&array).0.as_bytes());
        text.extend_from_slice(b"\",\"shape\":");
        list(text, array.shape.iter().copied());
        text.extend_from_slice(b",\"data_offsets\":[");
        put_number(text, at);
        at += len(&array);
        text.push(b',');
        put_number(text, at);
        text.extend_from_slice(b"]}");
        header.flush(false)?;
    }
    header.text.push(b'}');
    header.flush(true)?;
    let length = header.written.next_multiple_of(ALIGNMENT);
    header.file.write_all(&b"       "[..(length - header.written) as usize])?;
    if length > LONGEST_HEADER {
        return Ok(length);
    }
    for &index in tensors.iter().flatten() {
        let record = job.dump.record(index);
        let Ok(array) = tensor(job, &record) else { continue };
        header.file.write_all(&array.unpacked())?;
        job.progress.add(&record);
    }
    header.file.seek(SeekFrom::Start(0))?;
    header.file.write_all(&length.to_le_bytes())?;
    header.file.flush()?;
    Ok(length)
}

fn stem(job: &Job<'_>, record: &Record, name: &mut String) {
    let mut stem = std::mem::take(name).into_bytes();
    stem.clear();
    job.names.put_stem(&mut stem, record);
    *name = String::from_utf8(stem).unwrap_or_default();
}

/// A header on its way into the file.
struct Header<W> {
    file: W,
    text: Vec<u8>,
    /// Bytes of the header that are in the file.
    written: u64,
}

impl<W: Write> Header<W> {
    /// Appends JSON as the inside of a JSON string.
    fn put_escaped(&mut self, json: &[u8]) -> io::Result<()> {
        for &byte in json {
            // Control characters are escaped in the JSON already.
            if byte == b'"' || byte == b'\\' {
                self.text.push(b'\\');
            }
            self.text.push(byte);
        }
        self.flush(false)
    }

    /// Writes what has come together, if it is much or all.
    fn flush(&mut self, all: bool) -> io::Result<()> {
        if all || self.text.len() >= 1 << 16 {
            self.file.write_all(&self.text)?;
            self.written += self.text.len() as u64;
            self.text.clear();
        }
        Ok(())
    }
}

/// The array of a record that fits the memory of a reader.
fn tensor<'a>(job: &Job<'a>, record: &Record) -> Result<Array<'a>, NoArray> {
    let array = array(job.dump, record)?;
    let fits = array.shape.iter().all(|&extent| usize::try_from(extent).is_ok());
    if fits { Ok(array) } else { Err(NoArray::TooLarge) }
}

/// Bytes of a tensor in the file.
fn len(array: &Array<'_>) -> u64 {
    match array.dtype {
        Some(DType::Fp4E2M1) => array.elements(),
        _ => array.bytes.len() as u64,
    }
}

/// The name of an element type and its size.
fn dtype(array: &Array<'_>) -> (&'static str, u64) {
    match array.dtype {
        Some(DType::F32) => ("F32", 4),
        Some(DType::F16) => ("F16", 2),
        Some(DType::Bf16) => ("BF16", 2),
        Some(DType::I32) => ("I32", 4),
        Some(DType::I16) => ("I16", 2),
        Some(DType::I8) => ("I8", 1),
        Some(DType::I64) => ("I64", 8),
        Some(DType::U64) => ("U64", 8),
        Some(DType::U16) => ("U16", 2),
        Some(DType::U32) => ("U32", 4),
        Some(DType::Bool) if array.storage() == "|b1" => ("BOOL", 1),
        // The Python package gives NumPy none of the small floats.
        _ => ("U8", 1),
    }
}
