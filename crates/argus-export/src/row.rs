//! One record as a row: its metadata and its statistics, the same in every format.

use argus_abi::{DType, Kind};
use argus_dump::read::{Dump, Record};
use argus_dump::summary::{Summary, summarise};
use argus_facts::number::{Number, number};
use argus_facts::with_causes;
use serde_json::{Map, Value, json};

use crate::content::{NoArray, array, scalar_bits, true_dtype};

/// What a row says about a record's elements.
pub(crate) struct Row {
    pub(crate) record: Record,
    pub(crate) kernel: String,
    pub(crate) figures: Figures,
    /// Why there are no elements.
    pub(crate) missing: Option<String>,
    pub(crate) remark: Option<String>,
}

/// Statistics as far as they are known: all of a payload that is there, some that were recorded with one that
/// is not.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) count: Option<u64>,
    pub(crate) min: Option<Number>,
    pub(crate) max: Option<Number>,
    pub(crate) abs_max: Option<Number>,
    pub(crate) mean: Option<f64>,
    pub(crate) std: Option<f64>,
    pub(crate) zero: Option<u64>,
    pub(crate) nan: Option<u64>,
    pub(crate) inf: Option<u64>,
    pub(crate) positive_inf: Option<u64>,
    pub(crate) negative_inf: Option<u64>,
    pub(crate) subnormal: Option<u64>,
    pub(crate) distinct: Option<String>,
}

impl Row {
    /// Reads the payload once.
    pub(crate) fn with_statistics(dump: &Dump, index: usize) -> Row {
        let record = dump.record(index);
        let mut row = Row {
            kernel: dump.kernel_names(&record),
            record,
            figures: Figures::default(),
            missing: None,
            remark: None,
        };
        match array(dump, &record) {
            Ok(array) => {
                if let Some(dtype) = array.dtype {
                    row.figures = Figures::from(&summarise(dtype, array.elements(), &array.bytes));
                }
                row.remark = array.remark;
            }
            Err(why) => {
                row.missing = Some(with_causes(&why));
                if let Some(known) = &record.statistics {
                    row.figures = Figures {
                        min: known.min,
                        max: known.max,
                        mean: known.mean,
                        nan: Some(known.nan),
                        inf: Some(known.inf),
                        zero: Some(known.zero),
                        ..Figures::default()
                    };
                }
            }
        }
        row
    }

    pub(crate) fn flags(&self) -> String {
        flags(&self.record)
    }

    pub(crate) fn scalar_bits(&self) -> Option<u64> {
        scalar_bits(&self.record).map(|(bits, _)| bits)
    }

    /// What the scalar's bits mean.
    pub(crate) fn scalar_number(&self) -> Option<Number> {
        let dtype = self.record.dtype.unwrap_or(DType::U64);
        self.scalar_bits().map(|bits| number(dtype, bits))
    }
}

impl From<&Summary> for Figures {
    fn from(summary: &Summary) -> Figures {
        Figures {
            count: Some(summary.count),
            min: summary.min,
            max: summary.max,
            abs_max: summary.abs_max,
            mean: summary.mean,
            std: summary.std,
            zero: Some(summary.zero),
            nan: Some(summary.nan),
            inf: Some(summary.inf()),
            positive_inf: Some(summary.positive_inf),
            negative_inf: Some(summary.negative_inf),
            subnormal: Some(summary.subnormal),
            distinct: Some(summary.distinct.to_string()),
        }
    }
}

/// What is marked on a record, in words with spaces between.
pub(crate) fn flags(record: &Record) -> String {
    let marks = [
        (record.contiguous, "contiguous"),
        (record.truncated, "truncated"),
        (record.overwritten, "overwritten"),
        (record.partial, "partial"),
        (record.created, "created"),
        (record.shared, "shared"),
        (record.ambiguous_index, "ambiguous_index"),
    ];
    let set: Vec<_> = marks.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
    set.join(" ")
}

/// The element type as dumps spell it.
pub(crate) fn dtype_name(record: &Record) -> &'static str {
    record.dtype.map_or("UNKNOWN", DType::name)
}

/// An item of `index.json`. Numbers that may exceed 2^53 are text.
pub(crate) fn index_item(dump: &Dump, record: &Record, name: &str, stored: Result<&str, &NoArray>) -> Value {
    let hex = |value: u64| format!("0x{value:016x}");
    let mut item = Map::new();
    let mut put = |key: &str, value: Value| drop(item.insert(key.to_owned(), value));
    put("name", name.into());
    match stored {
        Ok(dtype) => put("stored_dtype", dtype.into()),
        Err(why) => put("missing", with_causes(why).into()),
    }
    put("true_dtype", true_dtype(record.dtype).into());
    put("index", record.index.into());
    put("task_id", record.task_id.to_string().into());
    put("kernel", dump.kernel_names(record).into());
    put("func_ids", json!(*record.func_ids));
    if let Some(member) = record.subtask {
        put("subtask_id", member.into());
    }
    put("stage", record.stage.name().into());
    put("role", record.role.name().into());
    put("arg_index", record.arg_index.into());
    put("kind", record.kind.name().into());
    put("dtype", dtype_name(record).into());
    put("shape", json!(record.shape()));
    put("strides", json!(record.strides()));
    put("start_offset", record.start_offset.into());
    put("flags", flags(record).into());
    if let Some(address) = record.address {
        put("address", hex(address).into());
    }
    if let Some(time) = record.time_ns {
        put("time_ns", time.into());
    }
    if let Some(checksum) = record.checksum {
        put("checksum", format!("xxh3_128:{checksum:032x}").into());
    }
    if record.kind == Kind::Scalar
        && let Some((bits, _)) = scalar_bits(record)
    {
        put("value_bits", hex(bits).into());
    }
    Value::Object(item)
}
