//! What one record says in one line.

use argus_abi::{DType, Kind};
use argus_dump::read::{Dump, PayloadError, Record, Scalar};
use argus_dump::summary::Summary;
use argus_facts::number::{Number, number};
use argus_text::UNWRITTEN;
use argus_text::object::summary;
use argus_text::record::{dtype, remarks, scalar, shape, stage};

use crate::long_table::Row;
use crate::marks::printable;

pub const COLUMNS: [&str; 10] =
    ["INDEX", "TASK", "KERNEL", "STAGE", "ROLE", "ARG", "DTYPE", "SHAPE", "BYTES", "VALUES"];
/// Columns that are numbers, and lean to the right.
pub const RIGHT: [bool; 10] = [true, false, false, false, false, true, false, false, true, false];

/// The columns of a record. It is alarming if it holds NaN or infinities.
pub fn row(dump: &Dump, record: &Record) -> Row<{ COLUMNS.len() }> {
    let glance = Glance::new(dump, record);
    let cells = [
        record.index.to_string(),
        record.task_id.to_string() + &record.subtask.map_or(String::new(), |s| format!("/{s}")),
        printable(&dump.kernel_names(record)).into_owned(),
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

/// A record's values at one glance.
struct Glance {
    text: String,
    alarming: bool,
}

impl Glance {
    fn new(dump: &Dump, record: &Record) -> Glance {
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
            for (name, count) in [("NaN", statistics.nan), ("Inf", statistics.inf)] {
                if count > 0 {
                    text += &format!(" {name} {count}");
                }
            }
        }
        let unreadable = match dump.payload(record) {
            Err(PayloadError::Missing { .. }) => Some("payload file cannot be read"),
            Err(PayloadError::PastEnd { .. }) => Some("past the end of the payload file"),
            Err(PayloadError::Damaged { .. }) => Some("payload damaged"),
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

/// `-1.5 … 2.`, what was never written and what is not finite.
fn extremes(dtype: Option<DType>, summary: &Summary) -> String {
    let mut text = match (summary.min, summary.max) {
        (Some(min), Some(max)) if min == max => format!("all {}", shown(dtype, min)),
        (Some(min), Some(max)) => format!("{} … {}", shown(dtype, min), shown(dtype, max)),
        _ => String::new(),
    };
    let special = [(UNWRITTEN, summary.unwritten), ("NaN", summary.written_nan()), ("Inf", summary.inf())];
    for (name, count) in special {
        if count > 0 {
            text += &format!("{}{name} {count}", if text.is_empty() { "" } else { " " });
        }
    }
    text
}

fn shown(dtype: Option<DType>, value: Number) -> String {
    argus_text::number(dtype.unwrap_or(DType::F32), value)
}
