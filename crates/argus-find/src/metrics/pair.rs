//! Two payloads that can be compared element by element.

use std::fmt;

use argus_abi::DType;
use argus_facts::number::{Number, number};
use serde::{Serialize, Serializer};
use thiserror::Error;

/// Why two payloads cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PairError {
    #[error("{elements} elements of {dtype} do not fit into memory; the record's shape is damaged")]
    TooLarge { dtype: DType, elements: u64 },
    #[error(
        "the {side} side has {found} bytes, {elements} elements of {dtype} take {needed}; \
         compare payloads that are whole"
    )]
    Length { side: &'static str, dtype: DType, elements: u64, needed: u64, found: u64 },
    #[error("the shape {shape:?} does not have {elements} elements")]
    Shape { shape: Vec<u32>, elements: u64 },
}

/// Two payloads of one dtype and shape: logical order, contiguous, little-endian.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    dtype: DType,
    elements: usize,
    shape: Vec<u32>,
    actual: &'a [u8],
    expected: &'a [u8],
}

impl<'a> Pair<'a> {
    /// A pair of one dimension; [`Pair::shaped`] gives it more.
    pub fn new(
        dtype: DType,
        elements: u64,
        actual: &'a [u8],
        expected: &'a [u8],
    ) -> Result<Pair<'a>, PairError> {
        let too_large = || PairError::TooLarge { dtype, elements };
        let needed = dtype.packed_bytes(elements).ok_or_else(too_large)?;
        for (side, bytes) in [("actual", actual), ("expected", expected)] {
            let found = bytes.len() as u64;
            if found != needed {
                return Err(PairError::Length { side, dtype, elements, needed, found });
            }
        }
        let count = usize::try_from(elements).map_err(|_| too_large())?;
        let shape = u32::try_from(elements).map_or_else(|_| Vec::new(), |elements| vec![elements]);
        Ok(Pair { dtype, elements: count, shape, actual, expected })
    }

    /// The same payloads with a shape, by which elements are named.
    pub fn shaped(mut self, shape: &[u32]) -> Result<Pair<'a>, PairError> {
        let product = shape.iter().try_fold(1u64, |product, &side| product.checked_mul(u64::from(side)));
        if product != Some(self.elements as u64) {
            return Err(PairError::Shape { shape: shape.to_vec(), elements: self.elements as u64 });
        }
        self.shape = shape.to_vec();
        Ok(self)
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub fn elements(&self) -> u64 {
        self.elements as u64
    }

    pub fn shape(&self) -> &[u32] {
        &self.shape
    }

    pub fn actual(&self) -> &'a [u8] {
        self.actual
    }

    pub fn expected(&self) -> &'a [u8] {
        self.expected
    }

    /// The element with this flat index, or `None` behind the end.
    pub fn element(&self, index: u64) -> Option<Element> {
        let flat = usize::try_from(index).ok().filter(|&flat| flat < self.elements)?;
        let value = |bytes| number(self.dtype, raw_bits(self.dtype, bytes, flat));
        Some(Element {
            index,
            at: self.coordinates(index),
            actual: value(self.actual),
            expected: value(self.expected),
        })
    }

    /// Whether all elements in this range of bytes have the same bits on both sides. The half byte behind an
    /// odd number of FP4 belongs to no element.
    pub(super) fn same_bits(&self, from: usize, to: usize) -> bool {
        let (actual, expected) = (&self.actual[from..to], &self.expected[from..to]);
        let padded = self.dtype.bits() == 4 && self.elements % 2 == 1 && to == self.actual.len();
        match (padded, actual.split_last(), expected.split_last()) {
            (true, Some((last, actual)), Some((wanted, expected))) => {
                actual == expected && last & 15 == wanted & 15
            }
            _ => actual == expected,
        }
    }

    /// The flat index by shape.
    pub fn coordinates(&self, index: u64) -> Vec<u64> {
        if self.shape.is_empty() {
            // A scalar has no coordinates; a vector too long for a shape has its index.
            return if self.elements == 1 { Vec::new() } else { vec![index] };
        }
        let mut rest = index;
        let mut at: Vec<u64> = self
            .shape
            .iter()
            .rev()
            .map(|&side| {
                let side = u64::from(side.max(1));
                let here = rest % side;
                rest /= side;
                here
            })
            .collect();
        at.reverse();
        at
    }
}

/// The bits of one element. The caller has checked that the element is there.
pub(crate) fn raw_bits(dtype: DType, bytes: &[u8], index: usize) -> u64 {
    match dtype.bits() {
        4 => u64::from(bytes[index / 2] >> (index % 2 * 4) & 15),
        8 => u64::from(bytes[index]),
        16 => u64::from(u16::from_le_bytes(word(bytes, index))),
        32 => u64::from(u32::from_le_bytes(word(bytes, index))),
        _ => u64::from_le_bytes(word(bytes, index)),
    }
}

fn word<const WIDTH: usize>(bytes: &[u8], index: usize) -> [u8; WIDTH] {
    bytes.as_chunks::<WIDTH>().0[index]
}

/// One element of a pair, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Element {
    /// Flat, in logical order.
    pub index: u64,
    /// By shape.
    pub at: Vec<u64>,
    #[serde(serialize_with = "number_or_name")]
    pub actual: Number,
    #[serde(serialize_with = "number_or_name")]
    pub expected: Number,
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {} instead of {}", self.at, Shown(self.actual), Shown(self.expected))
    }
}

/// A number as people read it.
pub(crate) struct Shown(pub(crate) Number);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // Seven digits tell neighbours of an f32 near one apart and spare the reader the rest.
            Number::Float(value) if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) => {
                if value.is_finite() { write!(f, "{value:.6e}") } else { write!(f, "{value}") }
            }
            Number::Float(value) => write!(f, "{}", (value * 1e7).round() / 1e7),
            Number::Signed(value) => write!(f, "{value}"),
            Number::Unsigned(value) => write!(f, "{value}"),
            Number::Bool(value) => write!(f, "{value}"),
        }
    }
}

/// JSON has no NaN and no infinities; a name keeps them apart where a plain number would become null.
pub(crate) fn number_or_name<S: Serializer>(value: &Number, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        Number::Float(value) if value.is_finite() => serializer.serialize_f64(value),
        Number::Float(value) => serializer.collect_str(&value),
        Number::Signed(value) => serializer.serialize_i64(value),
        Number::Unsigned(value) => serializer.serialize_u64(value),
        Number::Bool(value) => serializer.serialize_bool(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_must_have_exactly_the_bytes_of_their_elements() {
        let error = Pair::new(DType::F32, 2, &[0; 8], &[0; 7]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the expected side has 7 bytes, 2 elements of FLOAT32 take 8; compare payloads that are whole"
        );
        assert!(Pair::new(DType::Fp4E2M1, 3, &[0; 2], &[0; 2]).is_ok());
        assert!(Pair::new(DType::Fp4E2M1, 3, &[0; 3], &[0; 3]).is_err());
        let huge = Pair::new(DType::U64, u64::MAX, &[], &[]).unwrap_err();
        assert_eq!(huge, PairError::TooLarge { dtype: DType::U64, elements: u64::MAX });
        assert!(Pair::new(DType::F32, 0, &[], &[]).is_ok());
    }

    #[test]
    fn shapes_must_fit_and_name_elements() {
        let bytes: Vec<u8> = (0..24).collect();
        let pair = Pair::new(DType::U8, 24, &bytes, &bytes).unwrap();
        assert_eq!(pair.coordinates(23), [23]);
        let pair = pair.shaped(&[2, 3, 4]).unwrap();
        assert_eq!(pair.coordinates(23), [1, 2, 3]);
        assert_eq!(pair.coordinates(5), [0, 1, 1]);
        let element = pair.element(6).unwrap();
        assert_eq!((element.at.as_slice(), element.actual), (&[0u64, 1, 2][..], Number::Unsigned(6)));
        assert_eq!(element.to_string(), "[0, 1, 2]: 6 instead of 6");
        assert!(pair.element(24).is_none());
        assert!(pair.clone().shaped(&[5, 5]).is_err());
        assert!(pair.shaped(&[u32::MAX, u32::MAX, u32::MAX]).is_err());
    }

    #[test]
    fn bits_are_those_of_the_element() {
        let bytes = [0x21, 0x43, 0x65, 0x87, 0xa9, 0xcb, 0xed, 0x0f];
        let bits = |dtype, index| raw_bits(dtype, &bytes, index);
        assert_eq!((bits(DType::Fp4E2M1, 0), bits(DType::Fp4E2M1, 1)), (1, 2));
        assert_eq!(bits(DType::Bool, 2), 0x65);
        assert_eq!(bits(DType::Bf16, 1), 0x8765);
        assert_eq!(bits(DType::I32, 1), 0x0fed_cba9);
        assert_eq!(bits(DType::U64, 0), 0x0fed_cba9_8765_4321);
    }

    #[test]
    fn numbers_are_short_for_people() {
        let shown = |value| Shown(Number::Float(value)).to_string();
        assert_eq!(shown(0.1 + 0.2), "0.3");
        assert_eq!(shown(65504.0), "65504");
        assert_eq!(shown(1e-9), "1.000000e-9");
        assert_eq!(shown(f64::NEG_INFINITY), "-inf");
        assert_eq!(shown(-0.0), "-0");
    }
}
