//! What there is of a record to export: an array, or a reason why there is none.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use argus_abi::{DType, Kind};
use argus_dump::read::{Dump, PayloadError, Record, Scalar};
use thiserror::Error;

/// Elements of a record in logical order.
pub(crate) struct Array<'a> {
    /// `None`: the bytes themselves.
    pub(crate) dtype: Option<DType>,
    pub(crate) shape: Vec<u64>,
    /// Packed: two FP4 share a byte.
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Why it is not exactly what was captured.
    pub(crate) remark: Option<String>,
}

/// Why there is nothing of a record to export. The words are the same for all records, so that they can be counted
/// together.
#[derive(Debug, Error)]
pub(crate) enum NoArray {
    #[error("the dump does not tell the scalar's value")]
    NoValue,
    #[error("it is a scalar and has no payload")]
    Scalar,
    #[error("captured without its payload")]
    NotKept,
    #[error("overwritten on the device before it was collected")]
    Overwritten,
    #[error("its payload is in {}, which cannot be read", path.display())]
    Unreadable { path: PathBuf, source: Arc<io::Error> },
    #[error("its payload reaches past the end of {}", path.display())]
    PastEnd { path: PathBuf },
    #[error("its payload, bytes {start}..{end} of {}, is damaged", path.display())]
    Damaged { path: PathBuf, start: u64, end: u64 },
    #[error("its shape is too large")]
    TooLarge,
}

impl From<PayloadError> for NoArray {
    fn from(error: PayloadError) -> NoArray {
        match error {
            PayloadError::Scalar { .. } => NoArray::Scalar,
            PayloadError::NotKept { .. } => NoArray::NotKept,
            PayloadError::Overwritten { .. } => NoArray::Overwritten,
            PayloadError::Missing { path, source, .. } => NoArray::Unreadable { path, source },
            PayloadError::PastEnd { path, .. } => NoArray::PastEnd { path },
            PayloadError::Damaged { path, offset, size, .. } => {
                NoArray::Damaged { path, start: offset, end: offset.saturating_add(size) }
            }
        }
    }
}

/// The elements of a record, or why there are none.
pub(crate) fn array<'a>(dump: &'a Dump, record: &Record) -> Result<Array<'a>, NoArray> {
    match record.kind {
        Kind::Scalar => scalar(record),
        Kind::Tensor => Ok(tensor(record, dump.payload(record)?)),
    }
}

fn scalar(record: &Record) -> Result<Array<'static>, NoArray> {
    let dtype = record.dtype.unwrap_or(DType::U64);
    let (bits, remark) = scalar_bits(record).ok_or(NoArray::NoValue)?;
    let mut bytes = bits.to_le_bytes()[..dtype.size()].to_vec();
    if dtype == DType::Fp4E2M1 {
        bytes[0] &= 15;
    }
    Ok(Array { dtype: Some(dtype), shape: Vec::new(), bytes: Cow::Owned(bytes), remark })
}

/// The bits of a scalar, and why they may be others than those captured.
pub(crate) fn scalar_bits(record: &Record) -> Option<(u64, Option<String>)> {
    match record.scalar? {
        Scalar::Bits(bits) => Some((bits, None)),
        Scalar::Rounded(value) => {
            // Only FLOAT32 is written rounded.
            let remark = (value != 0.0 && value.is_finite()).then(|| {
                "the dump has this scalar in six digits only; its bits are those of the nearest number"
                    .to_owned()
            });
            Some((u64::from((value as f32).to_bits()), remark))
        }
    }
}

fn tensor<'a>(record: &Record, bytes: &'a [u8]) -> Array<'a> {
    let whole = |bytes| Array {
        dtype: record.dtype,
        shape: record.shape().to_vec(),
        bytes: Cow::Borrowed(bytes),
        remark: None,
    };
    let Some(dtype) = record.dtype else {
        let remark = Some("its element type is unknown: exported as bytes".to_owned());
        return Array { dtype: None, shape: vec![bytes.len() as u64], bytes: Cow::Borrowed(bytes), remark };
    };
    let len = bytes.len() as u64;
    match record.logical_bytes {
        Some(logical) if logical == len => whole(bytes),
        Some(logical) if logical < len => {
            let remark = format!("its payload has {len} bytes, its view {logical}: the rest is left out");
            Array { remark: Some(remark), ..whole(&bytes[..logical as usize]) }
        }
        _ => {
            let elements = len * 8 / u64::from(dtype.bits());
            let used = &bytes[..(elements * u64::from(dtype.bits()) / 8) as usize];
            let cause =
                if record.truncated { "it was truncated" } else { "its payload is shorter than its view" };
            let remark = Some(format!("{cause}: exported as a flat array of what is there"));
            Array { dtype: Some(dtype), shape: vec![elements], bytes: Cow::Borrowed(used), remark }
        }
    }
}

impl Array<'_> {
    /// Number of elements.
    pub(crate) fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// One element per byte where two share one.
    pub(crate) fn unpacked(&self) -> Cow<'_, [u8]> {
        if self.dtype != Some(DType::Fp4E2M1) {
            return Cow::Borrowed(&self.bytes);
        }
        let halves = self.bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]);
        Cow::Owned(halves.take(usize::try_from(self.elements()).unwrap_or(usize::MAX)).collect())
    }

    /// How NumPy stores the elements.
    pub(crate) fn storage(&self) -> &'static str {
        match self.dtype {
            Some(DType::F32) => "<f4",
            Some(DType::F16) => "<f2",
            Some(DType::I32) => "<i4",
            Some(DType::I16) => "<i2",
            Some(DType::I8) => "|i1",
            Some(DType::I64) => "<i8",
            Some(DType::U64) => "<u8",
            Some(DType::U16 | DType::Bf16) => "<u2",
            Some(DType::U32) => "<u4",
            // NumPy believes that a bool is 0 or 1.
            Some(DType::Bool) if self.bytes.iter().all(|&byte| byte <= 1) => "|b1",
            Some(DType::U8 | DType::Bool | DType::Fp8E4M3Fn | DType::Fp8E8M0 | DType::Fp4E2M1) | None => {
                "|u1"
            }
        }
    }
}

/// What NumPy and ml_dtypes call a type.
pub(crate) fn true_dtype(dtype: Option<DType>) -> &'static str {
    match dtype {
        Some(DType::F32) => "float32",
        Some(DType::F16) => "float16",
        Some(DType::I32) => "int32",
        Some(DType::I16) => "int16",
        Some(DType::I8) => "int8",
        Some(DType::U8) => "uint8",
        Some(DType::Bf16) => "bfloat16",
        Some(DType::I64) => "int64",
        Some(DType::U64) => "uint64",
        Some(DType::U16) => "uint16",
        Some(DType::U32) => "uint32",
        Some(DType::Bool) => "bool",
        Some(DType::Fp8E4M3Fn) => "float8_e4m3fn",
        Some(DType::Fp8E8M0) => "float8_e8m0fnu",
        Some(DType::Fp4E2M1) => "float4_e2m1fn",
        None => "unknown",
    }
}
