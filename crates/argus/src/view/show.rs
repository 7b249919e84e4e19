//! `argus view --show`: one record as people like to read it.

use std::fmt::Write;

use argus_abi::Kind;
use argus_dump::read::{Dump, Record};
use argus_dump::summary::summarise;
use argus_facts::with_causes;
use argus_text::{Array, Histogram, Part, record};

use crate::failure::Failure;

/// Columns of the histogram.
const BINS: usize = 48;

/// Everything about a record: what it is, its statistics, its values or a part of them.
pub fn show(dump: &Dump, record: &Record, slice: Option<&str>) -> Result<String, Failure> {
    let mut text = head(dump, record);
    if record.kind == Kind::Scalar {
        _ = writeln!(text, "value      {}", record::scalar(record));
        return Ok(text);
    }
    let payload = match dump.payload(record) {
        Ok(payload) => payload,
        Err(error) => {
            _ = writeln!(text, "\nno values: {}", with_causes(&error));
            return Ok(text);
        }
    };
    let Some(dtype) = record.dtype else {
        _ = writeln!(text, "\nno values: the dtype is unknown; the first bytes are {}", hex(payload));
        return Ok(text);
    };
    let array = Array { dtype, payload };
    let elements = record.numel().unwrap_or(0);
    let summary = summarise(dtype, elements, payload);
    let float = |value: Option<f64>| value.map_or("none".to_owned(), |value| argus_text::float(value, 6));
    let extreme =
        |value: Option<_>| value.map_or("none".to_owned(), |value| argus_text::number(dtype, value));
    let unwritten = match summary.unwritten {
        0 => String::new(),
        count => format!("{} {count}, ", argus_text::UNWRITTEN),
    };
    _ = writeln!(
        text,
        "statistics min {}, max {}, mean {}, std {}, zeros {}, {unwritten}NaN {}, Inf {}, subnormal {}, {}",
        extreme(summary.min),
        extreme(summary.max),
        float(summary.mean),
        float(summary.std),
        summary.zero,
        summary.written_nan(),
        summary.inf(),
        summary.subnormal,
        match summary.distinct {
            argus_dump::summary::Distinct::Many => "many different values".to_owned(),
            few => few.to_string(),
        },
    );
    if let Some(histogram) =
        Histogram::new(&array, elements, BINS).filter(|histogram| histogram.min < histogram.max)
    {
        _ = writeln!(text, "histogram  {}", histogram.line());
    }
    let part = match slice {
        Some(slice) => Part::parse(slice, record.shape()).map_err(Failure::usage)?,
        None => Part::whole(record.shape()),
    };
    if let Some(slice) = slice {
        _ = writeln!(text, "slice      [{slice}], shape {:?}", part.shape());
    }
    _ = writeln!(text, "\n{}", argus_text::rows(&array, &part));
    Ok(text)
}

fn head(dump: &Dump, record: &Record) -> String {
    let mut text = String::new();
    let kernel = dump.kernel_names(record);
    let kernel = if kernel.is_empty() { String::new() } else { format!(" ({kernel})") };
    _ = writeln!(
        text,
        "record     {} of {}: task {}{kernel}, {} argument {}, {}",
        record.index,
        dump.len(),
        record.task_id,
        record.role,
        record.arg_index,
        record.stage,
    );
    if record.kind == Kind::Scalar {
        _ = writeln!(text, "type       {}", record::dtype(record));
        return text;
    }
    let layout = if record.contiguous { "contiguous" } else { "strided" };
    _ = writeln!(
        text,
        "view       {} {:?}, strides {:?}, offset {}, {layout}",
        record::dtype(record),
        record.shape(),
        record.strides(),
        record.start_offset,
    );
    let mut facts = Vec::new();
    if record.bin_size > 0 {
        facts.push(format!("{} bytes at {} of the payload file", record.bin_size, record.bin_offset));
    }
    facts.extend(record.address.map(|address| format!("device address 0x{address:x}")));
    facts.extend(record::remarks(record).map(str::to_owned));
    if !facts.is_empty() {
        _ = writeln!(text, "payload    {}", facts.join(", "));
    }
    text
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
