//! Text files as the reference's viewer writes them, in the layout of the dump's own format version.
//!
//! A dump of ours is laid out as June, with two differences that June's viewer would show as less: a scalar has
//! its `# value:` line, and the integer types that came after June are printed as numbers. FP8 and FP4 are bytes
//! in hexadecimal at every version.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};

use argus_abi::{DType, Kind};
use argus_dump::read::{FormatVersion, Record, Scalar};
use argus_facts::number::{Number, element, number};
use rayon::prelude::*;

use super::Job;
use crate::april;
use crate::content::{NoArray, array};
use crate::digits::put_number;
use crate::error::ExportError;
use crate::output::{Output, finish};
use crate::percent_g::{put_percent_g, put_python_float};
use crate::report::{Remarks, Report};
use crate::row::dtype_name;

pub(crate) fn export(job: &Job<'_>, output: Output) -> Result<Report, ExportError> {
    output.check_free(job.file_names("txt"))?;
    let version = job.dump.format_version();
    let april = if version == FormatVersion::April { april::views(job.dump.directory()) } else { Vec::new() };
    let file_system = output.file_system_time(job.records.len())?;
    let told: Vec<_> = job
        .records
        .par_iter()
        .map_init(Default::default, |(text, chunk): &mut (Vec<u8>, Chunk), &index| {
            let record = job.dump.record(index);
            let mut head = String::new();
            put_header(&mut head, version, &record, april.get(index));
            let mut missing = None;
            let elements = if record.overwritten {
                head.push_str("# DATA OVERWRITTEN (host too slow)\n");
                missing = job.dump.payload(&record).err().map(NoArray::from);
                None
            } else {
                if record.truncated {
                    head.push_str("# DATA TRUNCATED (tensor too large for arena)\n");
                }
                payload(job, version, &record, &mut head, &mut missing)
            };
            let name = format!("{}.txt", job.names.stem(&record));
            match elements.map(|bytes| Elements::new(version, &record, bytes)) {
                // Small files are put together and written at once.
                Some(elements) if elements.count > CHUNK => output.create(&name)?.fill(|file| {
                    file.write_all(head.as_bytes())?;
                    elements.write(chunk, file)
                })?,
                elements => {
                    text.clear();
                    text.extend_from_slice(head.as_bytes());
                    if let Some(elements) = elements {
                        elements.write(chunk, text).map_err(ExportError::write(name.as_ref()))?;
                    }
                    output.write(&name, text)?;
                }
            }
            job.progress.add(&record);
            Ok(match missing {
                Some(why) => Some((index, Err(why))),
                None => remark(job, version, &record).map(|remark| (index, Ok(remark))),
            })
        })
        .collect::<Result<_, ExportError>>()?;
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    for (index, told) in told.into_iter().flatten() {
        match told {
            Err(why) => without.without(index, &why),
            Ok(remark) => remarks.add(index, remark),
        }
    }
    let report = finish(output, job.records.len(), without.groups(), remarks.groups())?;
    Ok(Report { file_system, ..report })
}

/// What the layout does not show.
fn remark(job: &Job<'_>, version: FormatVersion, record: &Record) -> Option<Cow<'static, str>> {
    if record.kind == Kind::Scalar {
        let older = matches!(version, FormatVersion::April | FormatVersion::June);
        return older
            .then_some("the text files of this format version do not show the value of a scalar".into());
    }
    let array = array(job.dump, record).ok()?;
    let shown = Elements::new(version, record, &array.bytes);
    match array.remark {
        Some(text) => Some(text.into()),
        None if shown.hexadecimal() && shown.count < array.bytes.len() as u64 => {
            Some("the text files of this format version show only some bytes of its element type".into())
        }
        None => None,
    }
}

/// The bytes to show, or lines that say why there are none.
fn payload<'a>(
    job: &Job<'a>,
    version: FormatVersion,
    record: &Record,
    head: &mut String,
    missing: &mut Option<NoArray>,
) -> Option<&'a [u8]> {
    if record.kind == Kind::Scalar {
        match value(version, record) {
            Some(value) => {
                let _ = writeln!(head, "# value: {value}");
            }
            None => head.push_str("# (no data)\n"),
        }
        return None;
    }
    match job.dump.payload(record) {
        Ok(bytes) if !bytes.is_empty() => Some(bytes),
        Ok(_) => {
            head.push_str("# (no data)\n");
            None
        }
        Err(error) => {
            head.push_str("# (no data)\n");
            *missing = Some(error.into());
            None
        }
    }
}

/// Appends to a string, which cannot fail.
fn put(out: &mut String, value: impl Display) {
    let _ = write!(out, "{value}");
}

fn put_header(head: &mut String, version: FormatVersion, record: &Record, april: Option<&(String, String)>) {
    let mut line = |key: &str, value: &dyn Display| put(head, format_args!("# {key}: {value}\n"));
    let truth = |value: bool| if value { "True" } else { "False" };
    line("task_id", &record.task_id);
    if version == FormatVersion::April {
        line("subtask_id", &record.subtask.unwrap_or(0));
    }
    line("role", &record.role.name());
    line("stage", &record.stage.name());
    line("arg_index", &record.arg_index);
    if version == FormatVersion::April {
        line("func_id", &record.func_ids.first().copied().unwrap_or(-1));
    }
    line("dtype", &dtype_name(record));
    if version == FormatVersion::August {
        line("kind", &record.kind.name());
    }
    line("is_contiguous", &truth(record.contiguous));
    line("shape", &list(record.shape()));
    if let (FormatVersion::April, Some((raw_shape, offsets))) = (version, april) {
        line("raw_shape", raw_shape);
        line("offsets", offsets);
    } else {
        line("strides", &list(record.strides()));
        line("start_offset", &record.start_offset);
    }
}

fn list(items: &[u64]) -> String {
    format!("[{}]", items.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

/// A scalar's value as the viewer prints what the manifest says; `None` where it does not look at it.
fn value(version: FormatVersion, record: &Record) -> Option<String> {
    if !matches!(version, FormatVersion::August | FormatVersion::Argus) {
        return None;
    }
    let mut text = String::new();
    match record.scalar? {
        // Strings stand for infinities in the manifest, null for NaN.
        Scalar::Rounded(value) if value.is_nan() => text.push_str("None"),
        Scalar::Rounded(value) if value.is_infinite() => {
            text.push_str(if value > 0.0 { "$Inf" } else { "-$Inf" });
        }
        Scalar::Rounded(value) => put_python_float(&mut text, value),
        Scalar::Bits(bits) if record.dtype == Some(DType::Bool) => {
            text.push_str(if bits & 0xff != 0 { "true" } else { "false" });
        }
        Scalar::Bits(bits) => {
            // August knows only these as what they are.
            let typed = version == FormatVersion::Argus
                || matches!(record.dtype, Some(DType::I32 | DType::U32 | DType::I64));
            let dtype = record.dtype.filter(|_| typed);
            match dtype.map_or(Number::Unsigned(bits), |dtype| number(dtype, bits)) {
                Number::Float(value) if value.is_nan() => text.push_str("NaN"),
                Number::Float(value) if value.is_infinite() => {
                    text.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
                }
                Number::Float(_) if dtype == Some(DType::F32) => {
                    // The shortest decimal for an f32, which is what the manifest has.
                    let shortest = f32::from_bits(bits as u32).to_string();
                    put_python_float(&mut text, shortest.parse().unwrap_or(f64::NAN));
                }
                Number::Float(value) => put_python_float(&mut text, value),
                Number::Signed(value) => {
                    let _ = write!(text, "{value}");
                }
                Number::Unsigned(value) => {
                    let _ = write!(text, "{value}");
                }
                Number::Bool(value) => {
                    let _ = write!(text, "{value}");
                }
            }
        }
    }
    Some(text)
}

/// The elements of a payload as text.
struct Elements<'a> {
    /// `None`: shown byte by byte.
    dtype: Option<DType>,
    bytes: &'a [u8],
    shape: &'a [u64],
    count: u64,
}

impl<'a> Elements<'a> {
    fn new(version: FormatVersion, record: &'a Record, bytes: &'a [u8]) -> Elements<'a> {
        let dtype = record.dtype.filter(|dtype| match dtype {
            DType::Fp8E4M3Fn | DType::Fp8E8M0 | DType::Fp4E2M1 => false,
            DType::U16 | DType::U32 | DType::Bool => {
                matches!(version, FormatVersion::August | FormatVersion::Argus)
            }
            _ => true,
        });
        let here = (bytes.len() / dtype.map_or(1, DType::size)) as u64;
        let wanted = record.numel().map_or(u64::MAX, |numel| numel.max(1));
        Elements { dtype, bytes, shape: record.shape(), count: wanted.min(here) }
    }

    fn hexadecimal(&self) -> bool {
        self.dtype.is_none()
    }

    fn put(&self, out: &mut String, index: u64) {
        let Some(dtype) = self.dtype else {
            let byte = self.bytes.get(index as usize).copied().unwrap_or(0);
            put(out, format_args!("0x{byte:02x}"));
            return;
        };
        match element(dtype, self.bytes, index) {
            Some(Number::Float(value)) => {
                let digits = match dtype {
                    DType::F32 => 6,
                    DType::F16 => 4,
                    _ => 3,
                };
                put_percent_g(out, value, digits);
            }
            Some(Number::Signed(value)) => out.push_str(itoa::Buffer::new().format(value)),
            Some(Number::Unsigned(value)) => out.push_str(itoa::Buffer::new().format(value)),
            Some(Number::Bool(value)) => out.push_str(if value { "True" } else { "False" }),
            None => {}
        }
    }

    /// Elements are put into words chunk by chunk: once if there is one chunk, and else once for each of three passes, so
    /// that a large tensor does not take as much memory as its text.
    fn write(&self, chunk: &mut Chunk, file: &mut impl Write) -> io::Result<()> {
        chunk.start = None;
        let mut width = 0;
        for start in (0..self.count).step_by(CHUNK as usize) {
            chunk.fill(self, start);
            width = width.max(chunk.words().map(str::len).max().unwrap_or(0));
        }
        let row = self.shape.last().copied().unwrap_or(1).max(1);
        file.write_all(b"\n# Overview:\n")?;
        let mut column = 0;
        for start in (0..self.count).step_by(CHUNK as usize) {
            chunk.fill(self, start);
            let mut left = self.count - start;
            for word in chunk.words() {
                pad(file, width - word.len())?;
                file.write_all(word.as_bytes())?;
                (column, left) = (column + 1, left - 1);
                let last = column == row || left == 0;
                file.write_all(if last { b"\n" } else { b" " })?;
                if last {
                    column = 0;
                }
            }
        }
        file.write_all(b"\n# Detail:\n")?;
        let mut place = Place::new(self.shape);
        for start in (0..self.count).step_by(CHUNK as usize) {
            chunk.fill(self, start);
            for word in chunk.words() {
                place.write(file)?;
                file.write_all(word.as_bytes())?;
                file.write_all(b"\n")?;
                place.step();
            }
        }
        Ok(())
    }
}

/// Elements that are put into words at a time.
const CHUNK: u64 = 1 << 16;

/// Some elements as text.
#[derive(Default)]
struct Chunk {
    /// The first of them, if they are there.
    start: Option<u64>,
    text: String,
    ends: Vec<usize>,
}

impl Chunk {
    fn fill(&mut self, elements: &Elements<'_>, start: u64) {
        if self.start == Some(start) {
            return;
        }
        self.start = Some(start);
        self.text.clear();
        self.ends.clear();
        for index in start..(start + CHUNK).min(elements.count) {
            elements.put(&mut self.text, index);
            self.ends.push(self.text.len());
        }
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

fn pad(file: &mut impl Write, mut blanks: usize) -> io::Result<()> {
    const BLANKS: &[u8] = &[b' '; 32];
    while blanks > 0 {
        let now = blanks.min(BLANKS.len());
        file.write_all(&BLANKS[..now])?;
        blanks -= now;
    }
    Ok(())
}

/// The indices of an element. All but the last change seldom, so their text is kept.
struct Place<'a> {
    shape: &'a [u64],
    at: Vec<u64>,
    outer: Vec<u8>,
}

impl<'a> Place<'a> {
    fn new(shape: &'a [u64]) -> Place<'a> {
        let mut place = Place { shape, at: vec![0; shape.len()], outer: Vec::new() };
        place.put_outer();
        place
    }

    fn put_outer(&mut self) {
        self.outer.clear();
        self.outer.push(b'[');
        for &at in self.at.iter().rev().skip(1).rev() {
            put_number(&mut self.outer, at);
            self.outer.extend_from_slice(b", ");
        }
    }

    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        file.write_all(&self.outer)?;
        if let Some(&last) = self.at.last() {
            file.write_all(itoa::Buffer::new().format(last).as_bytes())?;
        }
        file.write_all(b"] ")
    }

    fn step(&mut self) {
        for (axis, (at, &extent)) in self.at.iter_mut().zip(self.shape).enumerate().rev() {
            *at += 1;
            if *at < extent {
                if axis + 1 < self.shape.len() {
                    self.put_outer();
                }
                return;
            }
            *at = 0;
        }
        self.put_outer();
    }
}
