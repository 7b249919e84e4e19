//! The content of a tensor from a `.npy` file.

use std::io;
use std::path::Path;

use argus_abi::DType;
use argus_arrays::Elements;
use thiserror::Error;

use crate::task::TensorArgument;

/// Why an array cannot be the content of a tensor.
#[derive(Debug, Error)]
pub enum NpyError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("its shape is {found:?}, the view's is {view:?}")]
    Shape { found: Vec<u64>, view: Vec<u64> },
    #[error("its elements are {found}, {dtype} is written as {}", allowed.join(" or "))]
    Elements { found: String, dtype: DType, allowed: &'static [&'static str] },
    #[error(transparent)]
    File(#[from] argus_arrays::npy::NpyError),
    #[error("its size cannot be counted")]
    Uncountable,
}

/// The elements of an array, whose type and shape must be those of the view.
pub(super) fn read(path: &Path, tensor: &TensorArgument) -> Result<Vec<u8>, NpyError> {
    const LARGEST_HEADER: u64 = 64 << 10;
    let bytes = tensor.logical_bytes().ok_or(NpyError::Uncountable)?;
    let file = argus_files::read(path, bytes.saturating_mul(8).saturating_add(LARGEST_HEADER))?;
    let array = argus_arrays::npy::parse(&file)?;
    let expected: Vec<u64> = tensor.shape.iter().map(|&extent| extent.into()).collect();
    if array.shape != expected {
        return Err(NpyError::Shape { found: array.shape, view: expected });
    }
    let allowed = npy_types(tensor.dtype);
    let found = spelled(array.elements);
    if !allowed.contains(&found.as_str()) {
        return Err(NpyError::Elements { found, dtype: tensor.dtype, allowed });
    }
    Ok(array.bytes)
}

/// An element type as numpy spells it.
fn spelled(elements: Elements) -> String {
    match elements {
        Elements::F64 => "<f8".into(),
        Elements::Raw(bytes) => format!("|V{bytes}"),
        Elements::Known(dtype) => npy_types(dtype)[0].into(),
    }
}

/// How numpy spells an element type; those it does not know are kept as raw bits.
fn npy_types(dtype: DType) -> &'static [&'static str] {
    match dtype {
        DType::F32 => &["<f4"],
        DType::F16 => &["<f2"],
        DType::Bf16 => &["<u2", "<V2", "|V2"],
        DType::I8 => &["|i1"],
        DType::I16 => &["<i2"],
        DType::I32 => &["<i4"],
        DType::I64 => &["<i8"],
        DType::U16 => &["<u2"],
        DType::U32 => &["<u4"],
        DType::U64 => &["<u8"],
        DType::Bool => &["|b1", "|u1"],
        DType::U8 => &["|u1"],
        DType::Fp8E4M3Fn | DType::Fp8E8M0 => &["|u1", "|V1"],
        DType::Fp4E2M1 => &["(two elements share a byte: give raw bits)"],
    }
}
