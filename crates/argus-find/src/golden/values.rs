//! Numbers of a file in a form that compares with a tensor.

use std::io;

use argus_abi::DType;
use argus_arrays::Elements;
use argus_facts::number::{Number, element};
use thiserror::Error;
use zip::result::ZipError;

/// Why a file gives no values for a tensor.
///
/// The errors of the zip library say their own causes, so they are the end of the chain.
#[derive(Debug, Error)]
pub enum ValuesError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Zip(ZipError),
    #[error("its header has {length} bytes, the file {file}")]
    SafetensorsHeader { length: u64, file: u64 },
    #[error(transparent)]
    Npy(#[from] argus_arrays::npy::NpyError),
    #[error("its type {0:?} is unknown here")]
    SafetensorsType(safetensors::Dtype),
    /// `found` is absent if it cannot be counted.
    #[error("it has {} elements, the tensor has {wanted}", shown(*found))]
    Count { found: Option<u64>, wanted: u64 },
    #[error("it ends after {bytes} bytes")]
    Short { bytes: usize },
    #[error("it holds raw elements of {bytes} bytes, the tensor is {}", dtype.name())]
    RawWidth { bytes: u64, dtype: DType },
    #[error("its numbers are of another kind than the tensor's {}", dtype.name())]
    OtherKind { dtype: DType },
    #[error("element {index} is {value}, which {} does not hold", dtype.name())]
    DoesNotFit { index: u64, value: i128, dtype: DType },
}

fn shown(count: Option<u64>) -> String {
    count.map_or_else(|| "too many".to_owned(), |count| count.to_string())
}

/// Expected values, ready to be compared with a payload.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// In the tensor's own type.
    Own(Vec<u8>),
    /// Wider floats than the tensor's.
    F32(Vec<u8>),
}

pub(super) fn npy_values(bytes: &[u8], dtype: DType, elements: u64) -> Result<Values, ValuesError> {
    let array = argus_arrays::npy::parse(bytes)?;
    let count = array.shape.iter().try_fold(1u64, |n, &extent| n.checked_mul(extent));
    convert(&array.bytes, array.elements, count, dtype, elements)
}

/// Brings stored numbers into a form that compares with a tensor of `dtype`.
pub(super) fn convert(
    bytes: &[u8],
    stored: Elements,
    count: Option<u64>,
    dtype: DType,
    elements: u64,
) -> Result<Values, ValuesError> {
    if count != Some(elements) {
        return Err(ValuesError::Count { found: count, wanted: elements });
    }
    let width = |bytes_each: u64| elements.checked_mul(bytes_each);
    let needed = match stored {
        Elements::Known(stored) => stored.packed_bytes(elements),
        Elements::F64 => width(8),
        Elements::Raw(size) => width(size),
    };
    let bytes = needed
        .and_then(|needed| bytes.get(..usize::try_from(needed).ok()?))
        .ok_or(ValuesError::Short { bytes: bytes.len() })?;
    let unsigned = |stored| matches!(stored, DType::U8 | DType::U16 | DType::U32 | DType::U64);
    match stored {
        Elements::Known(stored) if stored == dtype => Ok(Values::Own(bytes.to_vec())),
        // Floats without a type of their own in numpy are saved as their bits.
        Elements::Known(stored) if unsigned(stored) && dtype.is_float() && dtype.bits() == stored.bits() => {
            Ok(Values::Own(bytes.to_vec()))
        }
        Elements::Known(DType::U8) if dtype == DType::Fp4E2M1 => {
            let pairs = bytes.chunks(2).map(|pair| pair[0] & 15 | pair.get(1).map_or(0, |high| high << 4));
            Ok(Values::Own(pairs.collect()))
        }
        Elements::Raw(size) if size.checked_mul(8) == Some(dtype.bits().into()) => {
            Ok(Values::Own(bytes.to_vec()))
        }
        Elements::Raw(bytes) => Err(ValuesError::RawWidth { bytes, dtype }),
        Elements::F64 if dtype.is_float() => {
            let narrowed = bytes
                .as_chunks::<8>()
                .0
                .iter()
                .flat_map(|raw| (f64::from_le_bytes(*raw) as f32).to_le_bytes());
            Ok(Values::F32(narrowed.collect()))
        }
        Elements::Known(stored) if stored.is_float() && dtype.is_float() => {
            let wide =
                |index| element(stored, bytes, index).map_or(f32::NAN, |number| number.as_f64() as f32);
            Ok(Values::F32((0..elements).flat_map(|index| wide(index).to_le_bytes()).collect()))
        }
        Elements::Known(stored) if !stored.is_float() && !dtype.is_float() => {
            integers(bytes, stored, dtype, elements)
        }
        _ => Err(ValuesError::OtherKind { dtype }),
    }
}

fn integers(bytes: &[u8], stored: DType, dtype: DType, elements: u64) -> Result<Values, ValuesError> {
    let exact = |number: Number| match number {
        Number::Signed(value) => i128::from(value),
        Number::Unsigned(value) => i128::from(value),
        Number::Bool(value) => i128::from(value),
        Number::Float(_) => 0,
    };
    let mut out = Vec::new();
    for index in 0..elements {
        let value = element(stored, bytes, index).map(exact).unwrap_or_default();
        let raw = (value as u64).to_le_bytes();
        let own = &raw[..dtype.size()];
        if element(dtype, own, 0).map(exact) != Some(value) {
            return Err(ValuesError::DoesNotFit { index, value, dtype });
        }
        out.extend_from_slice(own);
    }
    Ok(Values::Own(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_other_widths_are_brought_into_form() {
        let f64s: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let f32s: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let i64s: Vec<u8> = [7i64, -1].iter().flat_map(|v| v.to_le_bytes()).collect();
        let form =
            |bytes: &[u8], stored, dtype, count| convert(bytes, stored, Some(count), dtype, count).unwrap();
        assert_eq!(form(&f64s, Elements::F64, DType::Bf16, 2), Values::F32(f32s.clone()));
        assert_eq!(form(&f32s, Elements::Known(DType::F32), DType::F32, 2), Values::Own(f32s.clone()));
        assert_eq!(form(&i64s, Elements::Known(DType::I64), DType::I8, 2), Values::Own(vec![7, 0xff]));
        assert_eq!(
            form(&[1, 2, 3], Elements::Known(DType::U8), DType::Fp4E2M1, 3),
            Values::Own(vec![0x21, 0x03])
        );
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused_with_the_reason() {
        let refused = |bytes: &[u8], stored, count, dtype, elements| {
            convert(bytes, Elements::Known(stored), Some(count), dtype, elements).unwrap_err().to_string()
        };
        let i64s: Vec<u8> = [7i64, -1].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(refused(&i64s, DType::I64, 2, DType::U8, 2), "element 1 is -1, which UINT8 does not hold");
        assert_eq!(refused(&[0; 4], DType::F32, 1, DType::F32, 2), "it has 1 elements, the tensor has 2");
        assert_eq!(refused(&[0; 3], DType::F32, 1, DType::F32, 1), "it ends after 3 bytes");
    }
}
