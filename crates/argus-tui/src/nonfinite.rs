//! The next NaN or infinity, anywhere in a dump.
//!
//! Places and elements go up; behind the end the search continues from the start until it is back where it began.
//! The code that waits sees how far it is, and may stop it at any time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use argus_abi::{DType, Kind};
use argus_dump::read::{Record, Scalar};
use argus_facts::number::{Number, element, number};

use crate::index::Index;
use crate::source::Source;

/// Bytes between two looks at the flag.
const PIECE: usize = 1 << 20;

/// An element of the record at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    pub place: usize,
    /// 0 for a scalar.
    pub element: u64,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hunted {
    Found {
        spot: Spot,
        /// It lies before the start.
        wrapped: bool,
    },
    Nothing {
        /// Tensors that may have some: their payload is not there, and they were not counted.
        unseen: u64,
    },
    Stopped,
}

/// How far a search is, and whether it is still wanted.
#[derive(Debug, Default)]
pub struct Hunt {
    pub looked_at: AtomicU64,
    unseen: AtomicU64,
    pub stop: AtomicBool,
}

/// Looks for the first NaN or infinity at `from` or behind it.
pub fn next(source: &dyn Source, index: &Index, from: Spot, hunt: &Hunt) -> Hunted {
    let places = index.places();
    if places == 0 {
        return Hunted::Nothing { unseen: 0 };
    }
    // The place of the start comes twice: first with its end, last with all of it.
    for turn in 0..=places {
        if hunt.stop.load(Ordering::Relaxed) {
            return Hunted::Stopped;
        }
        let place = (from.place + turn) % places;
        let first = if turn == 0 { from.element } else { 0 };
        // What cannot be seen is counted when all of the place is looked at, so once.
        if turn > 0 && is_unseen(source, &source.record(index.record(place))) {
            hunt.unseen.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(element) = first_in(source, &source.record(index.record(place)), first, hunt) {
            return Hunted::Found { spot: Spot { place, element }, wrapped: turn > 0 && place <= from.place };
        }
        hunt.looked_at.fetch_add(1, Ordering::Relaxed);
    }
    match hunt.stop.load(Ordering::Relaxed) {
        true => Hunted::Stopped,
        false => Hunted::Nothing { unseen: hunt.unseen.load(Ordering::Relaxed) },
    }
}

/// Whether a record may hold a NaN that cannot be found.
fn is_unseen(source: &dyn Source, record: &Record) -> bool {
    let may = record.dtype.is_none_or(DType::is_float) && record.kind == Kind::Tensor;
    may && record.statistics.is_none() && (record.dtype.is_none() || source.payload(record).is_err())
}

/// The first element from `from` on that is not finite.
fn first_in(source: &dyn Source, record: &Record, from: u64, hunt: &Hunt) -> Option<u64> {
    let dtype = record.dtype.filter(|dtype| dtype.is_float())?;
    if record.kind == Kind::Scalar {
        let value = match record.scalar? {
            Scalar::Bits(bits) => number(dtype, bits).as_f64(),
            Scalar::Rounded(value) => value,
        };
        return (from == 0 && !value.is_finite()).then_some(0);
    }
    if record.statistics.is_some_and(|statistics| statistics.nan == 0 && statistics.inf == 0) {
        return None;
    }
    let elements = record.numel()?;
    let Ok(payload) = source.payload(record) else {
        // Statistics without a payload say that there are some, not where.
        return (from == 0 && record.statistics.is_some()).then_some(0);
    };
    let width = dtype.size();
    let mut at = usize::try_from(from).ok()?.checked_mul(width)?;
    while let Some(rest) = payload.get(at..).filter(|rest| !rest.is_empty()) {
        if hunt.stop.load(Ordering::Relaxed) {
            return None;
        }
        let piece = &rest[..rest.len().min(PIECE)];
        if any(dtype, piece) {
            let first = (at / width) as u64;
            let count = (piece.len() / width) as u64;
            let found = (first..first + count).find(|&index| {
                index < elements
                    && matches!(element(dtype, payload, index), Some(Number::Float(value)) if !value.is_finite())
            });
            if found.is_some() {
                return found;
            }
        }
        at += piece.len();
    }
    None
}

/// Whether there is a NaN or an infinity. By bits, because the compiler then takes many elements at once.
pub fn any(dtype: DType, bytes: &[u8]) -> bool {
    let wide = |mask: u16| bytes.as_chunks::<2>().0.iter().any(|raw| u16::from_le_bytes(*raw) & mask == mask);
    match dtype {
        DType::F32 => {
            // Blocks, because a loop that may end at any element is taken one by one.
            let hit = |raw: &[u8; 4]| u32::from_le_bytes(*raw) & 0x7f80_0000 == 0x7f80_0000;
            let mut blocks = bytes.as_chunks::<4>().0.chunks(1024);
            blocks.any(|block| block.iter().fold(false, |any, raw| any | hit(raw)))
        }
        DType::F16 => wide(0x7c00),
        DType::Bf16 => wide(0x7f80),
        DType::Fp8E4M3Fn => bytes.iter().any(|byte| byte & 0x7f == 0x7f),
        DType::Fp8E8M0 => bytes.contains(&0xff),
        _ => false,
    }
}
