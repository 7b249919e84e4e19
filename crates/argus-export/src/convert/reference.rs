//! To the reference's layouts, in the text that its own collector writes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use argus_abi::{DType, Kind, Role, Stage};
use argus_dump::origin_file::SCENE_DIRECTORY;
use argus_dump::read::{Ending, Record, Scalar};

use super::Work;
use crate::content::scalar_bits;
use crate::error::ExportError;
use crate::percent_g::put_percent_g;
use crate::row::dtype_name;

pub(super) use Layout::{August, June};

/// Which of the reference's layouts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    June,
    August,
}

impl Layout {
    fn run_dir(self) -> &'static str {
        if self == June { "tensor_dump" } else { "args_dump" }
    }

    fn manifest(self) -> &'static str {
        if self == June { "tensor_dump.json" } else { "args_dump.json" }
    }

    fn payload(self) -> &'static str {
        if self == June { "tensor_dump.bin" } else { "args.bin" }
    }

    /// The word for arguments in the keys of the head.
    fn noun(self) -> &'static str {
        if self == June { "tensors" } else { "args" }
    }
}

pub(super) fn write(work: &mut Work<'_>, directory: &Path, layout: Layout) -> Result<(), ExportError> {
    let bin_path = directory.join(layout.payload());
    let mut bin = create(&bin_path)?;
    let mut offset = 0;
    let mut ranges = Vec::with_capacity(work.dump.len());
    let mut left_out = false;
    for record in work.dump.records() {
        if !has_place(&record) {
            let reason = "left out: its task had not completed, and the layout has no mark for that";
            work.remarks.add(record.index, reason);
            work.progress.add(&record);
            continue;
        }
        let mut range = (0, 0);
        if record.kind == Kind::Tensor {
            match work.dump.payload(&record) {
                Ok([]) => {}
                Ok(bytes) => {
                    bin.write_all(bytes).map_err(ExportError::write(&bin_path))?;
                    range = (offset, bytes.len() as u64);
                    offset += range.1;
                }
                Err(error) => {
                    left_out |= !record.overwritten;
                    work.without.without(record.index, &error.into());
                }
            }
        }
        ranges.push(range);
        remark(work, layout, &record);
        work.progress.add(&record);
    }
    bin.into_inner().map_err(|error| ExportError::write(&bin_path)(error.into_error()))?;
    // August without a single byte has no payload file, and says so.
    let bare = layout == August && left_out && offset == 0;
    if bare {
        std::fs::remove_file(&bin_path).map_err(ExportError::write(&bin_path))?;
    }
    general_remarks(work, layout);
    let path = directory.join(layout.manifest());
    let mut file = create(&path)?;
    let mut text = head(work, layout, left_out, bare);
    let written = work.dump.records().filter(has_place).zip(ranges);
    for (number, (record, range)) in written.enumerate() {
        text.push_str(if number == 0 { "\n    " } else { ",\n    " });
        put_entry(&mut text, layout, &record, range);
        file.write_all(text.as_bytes()).map_err(ExportError::write(&path))?;
        text.clear();
    }
    text.push_str("\n  ]\n}\n");
    file.write_all(text.as_bytes())
        .and_then(|()| file.into_inner().map_err(std::io::IntoInnerError::into_error))
        .map(drop)
        .map_err(ExportError::write(&path))
}

/// Whether the layout can hold a record. What a task had written so far would be taken for what it left.
fn has_place(record: &Record) -> bool {
    !record.partial
}

fn create(path: &Path) -> Result<BufWriter<File>, ExportError> {
    let file = File::create_new(path).map_err(ExportError::create(path))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

/// What the layout cannot say about a record.
fn remark(work: &mut Work<'_>, layout: Layout, record: &Record) {
    let index = record.index;
    let mut add = |reason: &str| work.remarks.add(index, reason);
    let young =
        matches!(record.dtype, Some(DType::Bool | DType::Fp8E4M3Fn | DType::Fp8E8M0 | DType::Fp4E2M1));
    if layout == June && record.kind == Kind::Scalar {
        if record.dtype != Some(DType::U64) {
            add("June has the bits of a scalar as UINT64: its element type is lost");
        }
    } else if layout == June && young {
        add("its element type is younger than June");
    }
    if layout == June && record.ambiguous_index {
        add("its argument may be another one: June has no mark for that");
    }
    if record.subtask.is_some_and(|member| member > 0) {
        add("it belongs to a member of its task: the layout does not tell members apart");
    }
    if record.kind == Kind::Scalar {
        match record.scalar {
            None => add("the dump does not tell the scalar's value, and neither does the copy"),
            Some(Scalar::Rounded(_)) if layout == June => {
                if let Some((_, Some(reason))) = scalar_bits(record) {
                    add(&reason);
                }
            }
            Some(Scalar::Bits(bits)) if layout == August => {
                if let Some(reason) = lost_in_august(record.dtype, bits) {
                    add(reason);
                }
            }
            _ => {}
        }
    }
}

/// What the layout cannot say about any record.
fn general_remarks(work: &mut Work<'_>, layout: Layout) {
    let dump = work.dump;
    let any = |has: &dyn Fn(&Record) -> bool| dump.records().any(|record| has(&record));
    let mut lost = Vec::new();
    for (present, name) in [
        (dump.graph().is_some(), "the graph"),
        (layout == June && any(&|record| !record.func_ids.is_empty()), "kernels"),
        (any(&|record| record.address.is_some()), "addresses"),
        (any(&|record| record.time_ns.is_some()), "times"),
        (any(&|record| record.checksum.is_some()), "checksums"),
        (any(&|record| record.statistics.is_some()), "recorded statistics"),
        (!dump.losses().skipped.is_empty(), "the list of what was not captured"),
        (dump.directory().join(SCENE_DIRECTORY).is_dir(), "the sources of the scene"),
        (
            matches!(dump.ending(), Ending::Failed { .. } | Ending::Unfinished { .. }),
            "the fact that the run did not come to its end",
        ),
    ] {
        if present {
            lost.push(name);
        }
    }
    if !lost.is_empty() {
        work.remarks.general(format!("the layout has no place for {}", lost.join(", ")));
    }
}

fn head(work: &Work<'_>, layout: Layout, left_out: bool, bare: bool) -> String {
    let dump = work.dump;
    let count = |matching: &dyn Fn(&Record) -> bool| {
        dump.records().filter(|record| has_place(record) && matching(record)).count()
    };
    let noun = layout.noun();
    let mut out = String::new();
    let mut line = |key: &str, value: &dyn std::fmt::Display| {
        // Writing into a string cannot fail.
        let _ = writeln!(out, "  \"{key}\": {value},");
    };
    line("run_dir", &format_args!("\"{}\"", layout.run_dir()));
    line(
        "bin_format",
        &"{\n    \"type\": \"logical_contiguous\",\n    \"byte_order\": \"little_endian\"\n  }",
    );
    if layout == August {
        line("dump_args_level", &if left_out { 3 } else { 2 });
    }
    line(&format!("total_{noun}"), &count(&|_| true));
    line("before_dispatch", &count(&|record| record.stage == Stage::BeforeDispatch));
    line("after_completion", &count(&|record| record.stage == Stage::AfterCompletion));
    line(&format!("input_{noun}"), &count(&|record| record.role == Role::Input));
    line(&format!("output_{noun}"), &count(&|record| record.role == Role::Output));
    line(&format!("inout_{noun}"), &count(&|record| record.role == Role::Inout));
    line(&format!("truncated_{noun}"), &count(&|record| record.truncated));
    line("dropped_records", &dump.losses().dropped_records);
    line("dropped_overwrite", &dump.losses().overwritten);
    match bare {
        true => line("bin_file", &"null"),
        false => line("bin_file", &format_args!("\"{}\"", layout.payload())),
    }
    format!("{{\n{out}  \"{noun}\": [")
}

fn put_entry(out: &mut String, layout: Layout, record: &Record, (offset, size): (u64, u64)) {
    let scalar = record.kind == Kind::Scalar;
    // Writing into a string cannot fail.
    let mut put = |text: std::fmt::Arguments<'_>| {
        let _ = out.write_fmt(text);
    };
    put(format_args!("{{\"task_id\": \"{}\"", record.task_id));
    if layout == August {
        let ids = if record.func_ids.is_empty() { &[-1][..] } else { &record.func_ids[..] };
        put(format_args!(", \"func_id\": {}", list(ids)));
    }
    put(format_args!(
        ", \"arg_index\": {}, \"role\": \"{}\", \"stage\": \"{}\", \"kind\": \"{}\", \"dtype\": \"{}\"",
        record.arg_index,
        record.role,
        record.stage,
        record.kind,
        if scalar && layout == June { DType::U64.name() } else { dtype_name(record) }
    ));
    if layout == August
        && let Some(value) = august_value(record)
    {
        put(format_args!(", \"value\": {value}"));
    }
    let (shape, strides, offset_in_buffer): (&[u64], &[u64], u64) =
        if scalar { (&[], &[], 0) } else { (record.shape(), record.strides(), record.start_offset) };
    put(format_args!(
        ", \"is_contiguous\": {}, \"shape\": {}, \"strides\": {}, \"start_offset\": {}, \"numel\": {}",
        scalar || record.contiguous,
        list(shape),
        list(strides),
        offset_in_buffer,
        if scalar { 1 } else { record.numel().unwrap_or(u64::MAX) }
    ));
    if layout == June
        && let Some((bits, _)) = scalar_bits(record)
    {
        put(format_args!(", \"value\": {bits}"));
    }
    if layout == August && record.ambiguous_index {
        put(format_args!(", \"arg_index_ambiguous\": true"));
    }
    put(format_args!(
        ", \"bin_offset\": {offset}, \"bin_size\": {size}, \"truncated\": {}, \"overwritten\": {}}}",
        record.truncated, record.overwritten
    ));
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    format!("[{}]", items.iter().map(T::to_string).collect::<Vec<_>>().join(", "))
}

/// A scalar as August's collector writes it; `None` if its value is not known.
fn august_value(record: &Record) -> Option<String> {
    let bits = match record.scalar? {
        Scalar::Rounded(value) => return Some(august_float(value)),
        Scalar::Bits(bits) => bits,
    };
    Some(match record.dtype {
        Some(DType::F32) => august_float(f32::from_bits(bits as u32).into()),
        Some(DType::I32) => (bits as i32).to_string(),
        Some(DType::U32) => (bits as u32).to_string(),
        Some(DType::I64) => (bits as i64).to_string(),
        Some(DType::Bool) => (bits & 0xff != 0).to_string(),
        _ => bits.to_string(),
    })
}

/// What August's text does not tell about a scalar.
fn lost_in_august(dtype: Option<DType>, bits: u64) -> Option<&'static str> {
    let kept = match dtype? {
        DType::F32 => {
            let value = f32::from_bits(bits as u32);
            let text = august_float(value.into());
            if !value.is_infinite() && text.parse::<f32>().ok().map(f32::to_bits) != Some(value.to_bits()) {
                return Some("August writes float scalars in six digits: its bits are lost");
            }
            u64::from(value.to_bits())
        }
        DType::I32 if bits as i32 as i64 as u64 == bits => bits,
        DType::I32 | DType::U32 => bits & 0xffff_ffff,
        DType::Bool => u64::from(bits != 0),
        _ => bits,
    };
    (kept != bits).then_some("August has no place for bits of a scalar beyond its element type")
}

/// Six digits, with a point or an exponent.
fn august_float(value: f64) -> String {
    if value.is_nan() {
        return "null".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "\"$Inf\"" } else { "\"-$Inf\"" }.to_owned();
    }
    let mut text = String::new();
    put_percent_g(&mut text, value, 6);
    if !text.contains(['.', 'e']) {
        text.push_str(".0");
    }
    text
}
