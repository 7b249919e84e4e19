//! One record as a row: its metadata and its statistics, the same in every format.

use argus_abi::DType;
use argus_dump::read::{Dump, Record};
use argus_dump::summary::{Summary, summarise};
use argus_facts::number::{Number, number};
use argus_facts::with_causes;

use crate::content::{array, scalar_bits};

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
