//! The words for a record: its stage, type, shape and value, and what must be known about it.

use argus_abi::{DType, Kind, Stage};
use argus_dump::read::{Record, Scalar};
use argus_facts::number;

use crate::number::{float, number};

/// Scalars that are floats passed as raw bits are recognised if they are of ordinary size.
const ORDINARY: std::ops::Range<f64> = 1e-6..1e7;

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
        Some(Scalar::Rounded(value)) => format!("{} (rounded by the dump)", float(value, 6)),
        Some(Scalar::Bits(bits)) => {
            record.dtype.map_or_else(|| format!("0x{bits:x}"), |dtype| scalar_bits(dtype, bits))
        }
    }
}

/// The bits of a scalar as its type has them, and as a float where that looks meant.
pub fn scalar_bits(dtype: DType, bits: u64) -> String {
    let plain = number(dtype, number::number(dtype, bits));
    let as_float = f64::from(f32::from_bits(bits as u32));
    let meant = dtype == DType::U64 && bits >> 32 == 0 && ORDINARY.contains(&as_float.abs());
    if meant { format!("{plain} (as f32 {})", float(as_float, 6)) } else { plain }
}
