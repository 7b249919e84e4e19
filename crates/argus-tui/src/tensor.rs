//! The numbers of a record, or of the difference of two, whatever is wrong with them.
//!
//! What goes in: a record whose shape, dtype and payload need not fit each other. What goes out: elements by
//! number, `None` where the payload has none, and the planes in which they are looked at. A plane has rows and
//! columns: the last two dimensions, or a vector folded into rows.

use argus_abi::{DType, Kind};
use argus_dump::read::{PayloadError, Record};
use argus_facts::number::{Number, element};
use thiserror::Error;

use crate::source::Source;

/// Vectors up to this length are one row.
const ONE_ROW: u64 = 64;

/// What the tensor pane shows, by numbers of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    Record(usize),
    /// After minus before.
    Difference {
        before: usize,
        after: usize,
    },
}

impl Subject {
    /// The record that says what this is: of a difference the later one.
    pub fn record(self) -> usize {
        match self {
            Subject::Record(record) => record,
            Subject::Difference { after, .. } => after,
        }
    }
}

/// Why there are no numbers to show.
#[derive(Debug, Error)]
pub enum NoTensor {
    #[error("a scalar has one value and no payload")]
    Scalar,
    #[error("the shape {shape:?} has more elements than can be counted")]
    Uncountable { shape: Vec<u64> },
    #[error(transparent)]
    Payload(#[from] PayloadError),
}

/// Numbers with a shape.
pub struct Tensor<'a> {
    pub dtype: DType,
    pub shape: Vec<u64>,
    /// In logical order; may end early.
    pub payload: &'a [u8],
    /// What is subtracted; of the same dtype and shape.
    minus: Option<&'a [u8]>,
    /// Elements that the shape promises.
    pub elements: u64,
    /// The dtype is not known: these are bytes.
    pub raw: bool,
    pub plane: Plane,
}

/// How a tensor is cut into sheets of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    pub rows: u64,
    pub columns: u64,
    /// Number of planes.
    pub count: u64,
    /// Elements of a plane; the last row of a folded vector may be short.
    pub elements: u64,
}

impl<'a> Tensor<'a> {
    /// The numbers, or why there are none.
    pub fn open(source: &'a dyn Source, subject: Subject) -> Result<Tensor<'a>, NoTensor> {
        let record = source.record(subject.record());
        let payload = bytes(source, &record)?;
        let Some(dtype) = record.dtype else {
            let shape = vec![payload.len() as u64];
            return Ok(Tensor::new(DType::U8, shape, payload, None, true));
        };
        if record.numel().is_none() {
            return Err(NoTensor::Uncountable { shape: record.shape().to_vec() });
        }
        let minus = match subject {
            Subject::Record(_) => None,
            Subject::Difference { before, .. } => Some(bytes(source, &source.record(before))?),
        };
        Ok(Tensor::new(dtype, record.shape().to_vec(), payload, minus, false))
    }

    fn new(
        dtype: DType,
        shape: Vec<u64>,
        payload: &'a [u8],
        minus: Option<&'a [u8]>,
        raw: bool,
    ) -> Tensor<'a> {
        let elements = shape.iter().fold(1u64, |product, &extent| product.saturating_mul(extent));
        let plane = Plane::new(&shape);
        Tensor { dtype, shape, payload, minus, elements, raw, plane }
    }

    pub fn is_difference(&self) -> bool {
        self.minus.is_some()
    }

    /// Elements that are really there.
    pub fn present(&self) -> u64 {
        let whole = |payload: &[u8]| (payload.len() as u64).saturating_mul(8) / u64::from(self.dtype.bits());
        let least = self.minus.map_or(u64::MAX, whole).min(whole(self.payload));
        least.min(self.elements)
    }

    /// Element by its number in logical order.
    pub fn get(&self, index: u64) -> Option<Number> {
        if index >= self.elements {
            return None;
        }
        let value = element(self.dtype, self.payload, index)?;
        match self.minus {
            None => Some(value),
            Some(minus) => Some(difference(value, element(self.dtype, minus, index)?)),
        }
    }

    /// Number of the element at a row and column of a plane.
    pub fn number(&self, plane: u64, row: u64, column: u64) -> Option<u64> {
        let Plane { rows, columns, count, elements } = self.plane;
        if plane >= count || row >= rows || column >= columns {
            return None;
        }
        let within = row.checked_mul(columns)?.checked_add(column).filter(|&within| within < elements)?;
        plane.checked_mul(elements)?.checked_add(within)
    }

    /// Plane, row and column of an element.
    pub fn position(&self, index: u64) -> (u64, u64, u64) {
        let (elements, columns) = (self.plane.elements.max(1), self.plane.columns.max(1));
        (index / elements, index % elements / columns, index % elements % columns)
    }

    /// `[2, 0, 5]`
    pub fn index_text(&self, index: u64) -> String {
        let mut places = vec![0; self.shape.len()];
        let mut rest = index;
        for (place, &extent) in places.iter_mut().zip(&self.shape).rev() {
            *place = rest % extent.max(1);
            rest /= extent.max(1);
        }
        format!("{places:?}")
    }

    /// `[2, :, :]`, the plane as an index; empty if there is only one.
    pub fn plane_text(&self, plane: u64) -> String {
        let Some(outer) = self.shape.len().checked_sub(2).filter(|&outer| outer > 0) else {
            return String::new();
        };
        let mut places = vec![0; outer];
        let mut rest = plane;
        for (place, &extent) in places.iter_mut().zip(&self.shape[..outer]).rev() {
            *place = rest % extent.max(1);
            rest /= extent.max(1);
        }
        let places: Vec<_> = places.iter().map(u64::to_string).collect();
        format!("[{}, :, :]", places.join(", "))
    }
}

impl Plane {
    fn new(shape: &[u64]) -> Plane {
        match *shape {
            [] => Plane { rows: 1, columns: 1, count: 1, elements: 1 },
            [length] => {
                let columns = if length <= ONE_ROW { length } else { fold(length) };
                let rows = length.div_ceil(columns.max(1));
                Plane { rows, columns, count: 1, elements: length }
            }
            [ref outer @ .., rows, columns] => {
                let count = outer.iter().fold(1u64, |product, &extent| product.saturating_mul(extent));
                Plane { rows, columns, count, elements: rows.saturating_mul(columns) }
            }
        }
    }
}

/// Columns into which a long vector is folded: a power of two, so that rows begin at round numbers, and about
/// as many as there will be rows.
fn fold(length: u64) -> u64 {
    1 << (length.ilog2() / 2).clamp(4, 12)
}

fn bytes<'a>(source: &'a dyn Source, record: &Record) -> Result<&'a [u8], NoTensor> {
    if record.kind == Kind::Scalar {
        return Err(NoTensor::Scalar);
    }
    Ok(source.payload(record)?)
}

/// `after - before`; equal numbers differ by 0, even two NaN and two infinities.
fn difference(after: Number, before: Number) -> Number {
    let whole = |number: Number| match number {
        Number::Signed(value) => Some(i128::from(value)),
        Number::Unsigned(value) => Some(i128::from(value)),
        Number::Bool(value) => Some(i128::from(value)),
        Number::Float(_) => None,
    };
    if let (Some(after), Some(before)) = (whole(after), whole(before)) {
        let difference = after - before;
        return i64::try_from(difference).map_or(Number::Float(difference as f64), Number::Signed);
    }
    let (after, before) = (after.as_f64(), before.as_f64());
    let equal = after == before || (after.is_nan() && before.is_nan());
    Number::Float(if equal { 0.0 } else { after - before })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[u64]) -> Tensor<'static> {
        Tensor::new(DType::U8, shape.to_vec(), &[], None, false)
    }

    #[test]
    fn planes_are_the_last_two_dimensions_or_a_folded_vector() {
        let plane = |shape: &[u64]| {
            let Plane { rows, columns, count, elements } = tensor(shape).plane;
            (rows, columns, count, elements)
        };
        assert_eq!(plane(&[]), (1, 1, 1, 1));
        assert_eq!(plane(&[5]), (1, 5, 1, 5));
        assert_eq!(plane(&[100]), (7, 16, 1, 100));
        assert_eq!(plane(&[1 << 20]), (1024, 1024, 1, 1 << 20));
        assert_eq!(plane(&[2, 3]), (2, 3, 1, 6));
        assert_eq!(plane(&[4, 5, 2, 3]), (2, 3, 20, 6));
        assert_eq!(plane(&[0, 3]), (0, 3, 1, 0));
        assert_eq!(plane(&[u64::MAX, 3, 3]), (3, 3, u64::MAX, 9));
    }

    #[test]
    fn elements_and_their_positions_belong_together() {
        let four = tensor(&[4, 5, 2, 3]);
        assert_eq!(four.number(7, 1, 2), Some(47));
        assert_eq!(four.position(47), (7, 1, 2));
        assert_eq!(four.index_text(47), "[1, 2, 1, 2]");
        assert_eq!(four.plane_text(7), "[1, 2, :, :]");
        assert_eq!(four.number(20, 0, 0), None);
        let vector = tensor(&[100]);
        assert_eq!(vector.number(0, 6, 3), Some(99));
        assert_eq!(vector.number(0, 6, 4), None);
        assert_eq!(vector.index_text(99), "[99]");
        assert_eq!(vector.plane_text(0), "");
        assert_eq!(tensor(&[0, 0]).position(3), (3, 0, 0));
    }

    #[test]
    fn differences_are_exact_and_equal_is_zero() {
        use Number::{Bool, Float, Signed, Unsigned};
        assert_eq!(difference(Unsigned(3), Unsigned(5)), Signed(-2));
        assert_eq!(difference(Unsigned(u64::MAX), Unsigned(0)), Float(u64::MAX as f64));
        assert_eq!(difference(Signed(i64::MIN), Signed(i64::MIN)), Signed(0));
        assert_eq!(difference(Bool(false), Bool(true)), Signed(-1));
        assert_eq!(difference(Float(1.5), Float(1.0)), Float(0.5));
        assert_eq!(difference(Float(f64::NAN), Float(f64::NAN)), Float(0.0));
        assert_eq!(difference(Float(f64::INFINITY), Float(f64::INFINITY)), Float(0.0));
        assert_eq!(difference(Float(f64::INFINITY), Float(1.0)), Float(f64::INFINITY));
    }
}
