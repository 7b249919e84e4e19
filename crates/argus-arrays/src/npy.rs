//! NumPy's file of one array: a magic number, a small header in Python's notation, and the elements.
//!
//! The header is read by a strict grammar of its own: three known keys, one plain type, a flat tuple. What NumPy writes
//! for numbers passes; what could make a general parser work for hours does not.

use argus_abi::DType;
use thiserror::Error;

use crate::{Array, Elements};

/// NumPy's own limit for headers that it trusts.
const LONGEST_HEADER: usize = 10_000;

/// Why a file is not an array that can be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NpyError {
    #[error("it does not begin like a .npy file")]
    Magic,
    #[error("it is of version {0}.{1} of the format, which is not known here")]
    Version(u8, u8),
    #[error("it ends within its header")]
    ShortHeader,
    #[error("its header is {0} bytes long, more than any array of numbers needs")]
    LongHeader(usize),
    #[error("its header is not what NumPy writes: {0}")]
    Header(String),
    #[error("its elements are {0}, which are not numbers that are known here")]
    Type(String),
    #[error("its numbers are big-endian; save them little-endian")]
    BigEndian,
    #[error("its rows lie by columns (fortran_order); save np.ascontiguousarray of it")]
    Fortran,
    #[error("its shape {0:?} has more elements than can be counted")]
    Uncountable(Vec<u64>),
    #[error("it has {found} bytes of elements, its shape needs {wanted}")]
    Size { found: u64, wanted: u64 },
}

/// The array in the bytes of a file.
pub fn parse(file: &[u8]) -> Result<Array, NpyError> {
    let rest = file.strip_prefix(b"\x93NUMPY").ok_or(NpyError::Magic)?;
    let (&[major, minor], rest) = rest.split_first_chunk::<2>().ok_or(NpyError::ShortHeader)?;
    let (length, rest) = match major {
        1 => {
            let (bytes, rest) = rest.split_first_chunk::<2>().ok_or(NpyError::ShortHeader)?;
            (usize::from(u16::from_le_bytes(*bytes)), rest)
        }
        2 | 3 => {
            let (bytes, rest) = rest.split_first_chunk::<4>().ok_or(NpyError::ShortHeader)?;
            (u32::from_le_bytes(*bytes) as usize, rest)
        }
        _ => return Err(NpyError::Version(major, minor)),
    };
    if length > LONGEST_HEADER {
        return Err(NpyError::LongHeader(length));
    }
    let (header, bytes) = rest.split_at_checked(length).ok_or(NpyError::ShortHeader)?;
    let header = std::str::from_utf8(header).map_err(|_| NpyError::Header("not text".into()))?;
    let Header { descr, fortran_order, shape } = Parser { rest: header.trim_end() }.header()?;
    let (elements, width) = element_type(&descr)?;
    if fortran_order && shape.iter().filter(|&&extent| extent > 1).count() > 1 {
        return Err(NpyError::Fortran);
    }
    let count = shape.iter().try_fold(1u64, |count, &extent| count.checked_mul(extent));
    let wanted = count.and_then(|count| count.checked_mul(width));
    let wanted = wanted.ok_or_else(|| NpyError::Uncountable(shape.clone()))?;
    if bytes.len() as u64 != wanted {
        return Err(NpyError::Size { found: bytes.len() as u64, wanted });
    }
    Ok(Array { elements, shape, bytes: bytes.to_vec() })
}

/// An element type as NumPy spells it, and its width.
fn element_type(descr: &str) -> Result<(Elements, u64), NpyError> {
    let unknown = || NpyError::Type(format!("'{descr}'"));
    let mut signs = descr.chars();
    let (order, kind) = (signs.next().ok_or_else(unknown)?, signs.next().ok_or_else(unknown)?);
    let width: u64 = signs.as_str().parse().map_err(|_| unknown())?;
    match order {
        '<' | '|' => {}
        '>' if width == 1 => {}
        '>' => return Err(NpyError::BigEndian),
        _ => return Err(unknown()),
    }
    let dtype = match (kind, width) {
        ('f', 8) => return Ok((Elements::F64, 8)),
        ('V', 1..=8) => return Ok((Elements::Raw(width), width)),
        ('f', 4) => DType::F32,
        ('f', 2) => DType::F16,
        ('i', 1) => DType::I8,
        ('i', 2) => DType::I16,
        ('i', 4) => DType::I32,
        ('i', 8) => DType::I64,
        ('u', 1) => DType::U8,
        ('u', 2) => DType::U16,
        ('u', 4) => DType::U32,
        ('u', 8) => DType::U64,
        ('b', 1) => DType::Bool,
        _ => return Err(unknown()),
    };
    Ok((Elements::Known(dtype), width))
}

struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<u64>,
}

/// Reads a header from left to right. What is left is in `rest`.
struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn header(mut self) -> Result<Header, NpyError> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.take("}") {
            let key = self.text()?;
            self.expect(":")?;
            match &key[..] {
                "descr" if descr.is_none() => descr = Some(self.text()?),
                "fortran_order" if fortran_order.is_none() => fortran_order = Some(self.truth()?),
                "shape" if shape.is_none() => shape = Some(self.tuple()?),
                _ => return Err(NpyError::Header(format!("'{key}' is not expected"))),
            }
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest.trim().is_empty() {
            return Err(NpyError::Header("something follows the closing brace".into()));
        }
        let missing = |key: &str| NpyError::Header(format!("'{key}' is missing"));
        Ok(Header {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }

    fn take(&mut self, sign: &str) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str) -> Result<(), NpyError> {
        if self.take(sign) { Ok(()) } else { Err(NpyError::Header(format!("'{sign}' is missing"))) }
    }

    /// A quoted text without escapes.
    fn text(&mut self) -> Result<String, NpyError> {
        let quote = if self.take("'") { '\'' } else { '"' };
        if quote == '"' {
            self.expect("\"")?;
        }
        let (text, rest) =
            self.rest.split_once(quote).ok_or_else(|| NpyError::Header("a quote is not closed".into()))?;
        self.rest = rest;
        Ok(text.into())
    }

    fn truth(&mut self) -> Result<bool, NpyError> {
        match (self.take("True"), self.take("False")) {
            (true, _) => Ok(true),
            (_, true) => Ok(false),
            _ => Err(NpyError::Header("fortran_order is neither True nor False".into())),
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, NpyError> {
        self.expect("(")?;
        let mut numbers = Vec::new();
        while !self.take(")") {
            let rest = self.rest.trim_start();
            let end = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
            let number =
                rest[..end].parse().map_err(|_| NpyError::Header("the shape has no number".into()))?;
            self.rest = &rest[end..];
            numbers.push(number);
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, elements: &[u8]) -> Vec<u8> {
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
    }

    fn parsed(header: &str, elements: &[u8]) -> Result<Array, NpyError> {
        parse(&file(header, elements))
    }

    #[test]
    fn what_numpy_writes_is_read() {
        let array = parsed(
            "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }  \n",
            &[1, 0, 0, 0, 2, 0, 0, 0],
        );
        let expected = Array {
            elements: Elements::Known(DType::I32),
            shape: vec![2, 1],
            bytes: vec![1, 0, 0, 0, 2, 0, 0, 0],
        };
        assert_eq!(array, Ok(expected));
        let scalar = parsed("{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n", &[0; 8]).unwrap();
        assert_eq!((scalar.elements, scalar.shape), (Elements::F64, Vec::new()));
        let raw = parsed("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }\n", &[0; 2]).unwrap();
        assert_eq!(raw.elements, Elements::Raw(2));
        // A column has one order only.
        assert!(parsed("{'descr': '|u1', 'fortran_order': True, 'shape': (3, 1), }", &[0; 3]).is_ok());
    }

    #[test]
    fn every_other_header_is_refused_with_its_reason() {
        let refused = |header: &str| parsed(header, &[]).unwrap_err().to_string();
        let with = |descr: &str, shape: &str| {
            refused(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"))
        };
        assert_eq!(with("'>f4'", "(1,)"), "its numbers are big-endian; save them little-endian");
        assert_eq!(
            with("'<c16'", "(1,)"),
            "its elements are '<c16', which are not numbers that are known here"
        );
        assert_eq!(with("[('a', '<f4')]", "(1,)"), "its header is not what NumPy writes: '\"' is missing");
        assert_eq!(
            with("'<f4'", "(1, (2,))"),
            "its header is not what NumPy writes: the shape has no number"
        );
        assert_eq!(
            with("'<f4'", "(4294967296, 4294967296)"),
            "its shape [4294967296, 4294967296] has more elements than can be counted"
        );
        assert_eq!(with("'<f4'", "(1000000000,)"), "it has 0 bytes of elements, its shape needs 4000000000");
        assert_eq!(
            refused("{'descr': '<f4', }"),
            "its header is not what NumPy writes: 'fortran_order' is missing"
        );
        assert_eq!(refused("{'x': 1}"), "its header is not what NumPy writes: 'x' is not expected");
        let fortran = refused("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }");
        assert_eq!(fortran, "its rows lie by columns (fortran_order); save np.ascontiguousarray of it");
    }

    #[test]
    fn files_cut_anywhere_are_refused() {
        let whole = file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", &[0; 4]);
        assert!(parse(&whole).is_ok());
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "{end} bytes");
        }
        let huge = [b"\x93NUMPY\x02\x00", &u32::MAX.to_le_bytes()[..]].concat();
        assert_eq!(parse(&huge), Err(NpyError::LongHeader(u32::MAX as usize)));
    }
}
