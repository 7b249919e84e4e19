//! The content of a tensor from a `.npy` file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use argus_abi::DType;
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
    #[error("it is in Fortran order; save numpy.ascontiguousarray of it")]
    Fortran,
    #[error("its size cannot be counted")]
    Uncountable,
    #[error("it ends after {found} of {wanted} bytes")]
    Short { found: usize, wanted: u64 },
}

/// The elements of an array, whose type and shape must be those of the view.
pub(super) fn read(path: &Path, tensor: &TensorArgument) -> Result<Vec<u8>, NpyError> {
    let file = File::open(path)?;
    let mut reader = BufReader::new(file);
    let header = npyz::NpyHeader::from_reader(&mut reader)?;
    let expected: Vec<u64> = tensor.shape.iter().map(|&extent| extent.into()).collect();
    if header.shape() != expected {
        return Err(NpyError::Shape { found: header.shape().to_vec(), view: expected });
    }
    let found = header.dtype().descr();
    let found = found.trim_matches('\'');
    let allowed = npy_types(tensor.dtype);
    if !allowed.contains(&found) {
        return Err(NpyError::Elements { found: found.to_owned(), dtype: tensor.dtype, allowed });
    }
    if header.order() == npyz::Order::Fortran && expected.len() > 1 {
        return Err(NpyError::Fortran);
    }
    let bytes = tensor.logical_bytes().ok_or(NpyError::Uncountable)?;
    let mut content = Vec::new();
    reader.take(bytes).read_to_end(&mut content)?;
    if content.len() as u64 != bytes {
        return Err(NpyError::Short { found: content.len(), wanted: bytes });
    }
    Ok(content)
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
