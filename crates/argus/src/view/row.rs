//! What one record says in one line.

use argus_abi::{DType, Kind, Stage};
use argus_dump::numbers::{Number, number};
use argus_dump::read::{Dump, PayloadError, Record, Scalar};
use argus_dump::summary::{Summary, summarise};

use crate::array::text;

/// Scalars that are floats passed as raw bits are recognised if they are of ordinary size.
const ORDINARY: std::ops::Range<f64> = 1e-6..1e7;

/// The columns of a record.
pub struct Row {
    pub cells: [String; COLUMNS.len()],
    /// Holds NaN or infinities.
    pub alarming: bool,
}

pub const COLUMNS: [&str; 10] =
    ["INDEX", "TASK", "KERNEL", "STAGE", "ROLE", "ARG", "DTYPE", "SHAPE", "BYTES", "VALUES"];
/// Columns that are numbers, and lean to the right.
pub const RIGHT: [bool; 10] = [true, false, false, false, false, true, false, false, true, false];

impl Row {
    pub fn of(dump: &Dump, record: &Record) -> Row {
        let glance = Glance::of(dump, record);
        let cells = [
            record.index.to_string(),
            format!("0x{:016x}", record.task_id) + &record.subtask.map_or(String::new(), |s| format!("/{s}")),
            dump.kernel_names(record),
            stage(record.stage).to_owned(),
            record.role.name().to_owned(),
            format!("{}{}", record.arg_index, if record.ambiguous_index { "?" } else { "" }),
            dtype(record).to_owned(),
            shape(record),
            record
                .bin_size
                .max(record.logical_bytes.filter(|_| record.kind == Kind::Tensor).unwrap_or(0))
                .to_string(),
            glance.text,
        ];
        Row { cells, alarming: glance.alarming }
    }
}

/// `before` or `after`
pub fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::BeforeDispatch => "before",
        Stage::AfterCompletion => "after",
    }
}

pub fn dtype(record: &Record) -> &'static str {
    record.dtype.map_or("UNKNOWN", DType::name)
}

/// `[16, 16]`; a scalar has none.
pub fn shape(record: &Record) -> String {
    match record.kind {
        Kind::Tensor => format!("{:?}", record.shape()),
        Kind::Scalar => "scalar".to_owned(),
    }
}

/// A record's values at one glance.
struct Glance {
    text: String,
    alarming: bool,
}

impl Glance {
    fn of(dump: &Dump, record: &Record) -> Glance {
        if record.kind == Kind::Scalar {
            let value = match record.scalar {
                Some(Scalar::Bits(bits)) => record.dtype.map(|dtype| number(dtype, bits).as_f64()),
                Some(Scalar::Rounded(value)) => Some(value),
                None => None,
            };
            return Glance { text: scalar(record), alarming: value.is_some_and(|value| !value.is_finite()) };
        }
        let mut text = String::new();
        let mut alarming = false;
        if let Some(summary) = summary(dump, record) {
            alarming = summary.nan + summary.inf() > 0;
            text = extremes(record.dtype, &summary);
        } else if let Some(statistics) = record.statistics {
            alarming = statistics.nan + statistics.inf > 0;
            let number =
                |value: Option<Number>| value.map_or("none".to_owned(), |value| shown(record.dtype, value));
            text = format!("{} … {}", number(statistics.min), number(statistics.max));
            if alarming {
                text += &format!(" NaN {} Inf {}", statistics.nan, statistics.inf);
            }
        }
        let unreadable = match dump.payload(record) {
            Err(PayloadError::Missing { .. }) => Some("payload file cannot be read"),
            Err(PayloadError::PastEnd { .. }) => Some("past the end of the payload file"),
            Ok(_) if record.dtype.is_none() => Some("dtype unknown"),
            _ => None,
        };
        for remark in remarks(record).chain(unreadable) {
            if !text.is_empty() {
                text += ", ";
            }
            text += remark;
        }
        Glance { text, alarming }
    }
}

/// Statistics of a payload that is there.
pub fn summary(dump: &Dump, record: &Record) -> Option<Summary> {
    let payload = dump.payload(record).ok().filter(|_| record.has_payload())?;
    Some(summarise(record.dtype?, record.numel()?, payload))
}

/// `-1.5 … 2.`, and what is not finite.
pub fn extremes(dtype: Option<DType>, summary: &Summary) -> String {
    let mut text = match (summary.min, summary.max) {
        (Some(min), Some(max)) if min == max => format!("all {}", shown(dtype, min)),
        (Some(min), Some(max)) => format!("{} … {}", shown(dtype, min), shown(dtype, max)),
        _ => String::new(),
    };
    for (name, count) in [("NaN", summary.nan), ("Inf", summary.inf())] {
        if count > 0 {
            text += &format!("{}{name} {count}", if text.is_empty() { "" } else { " " });
        }
    }
    text
}

fn shown(dtype: Option<DType>, value: Number) -> String {
    text::number(dtype.unwrap_or(DType::F32), value)
}

/// What must be known before the payload is believed.
pub fn remarks(record: &Record) -> impl Iterator<Item = &'static str> {
    let missing = record.kind == Kind::Tensor && record.bin_size == 0 && record.logical_bytes != Some(0);
    [
        (record.partial, "partial"),
        (record.truncated, "truncated"),
        (record.overwritten, "overwritten"),
        (missing && !record.overwritten && record.statistics.is_none(), "no payload"),
        (missing && record.statistics.is_some(), "statistics only"),
    ]
    .into_iter()
    .filter_map(|(holds, remark)| holds.then_some(remark))
}

/// A scalar's value, and what it would be as a float where that looks meant.
pub fn scalar(record: &Record) -> String {
    match record.scalar {
        None => "unknown".to_owned(),
        Some(Scalar::Rounded(value)) => format!("{} (rounded by the dump)", text::float(value, 6)),
        Some(Scalar::Bits(bits)) => {
            let plain = record
                .dtype
                .map_or_else(|| format!("0x{bits:x}"), |dtype| text::number(dtype, number(dtype, bits)));
            let float = f64::from(f32::from_bits(bits as u32));
            let meant =
                record.dtype == Some(DType::U64) && bits >> 32 == 0 && ORDINARY.contains(&float.abs());
            if meant { format!("{plain} (as f32 {})", text::float(float, 6)) } else { plain }
        }
    }
}
