//! `0,3:5,::2`: a part of a tensor, in the grammar that numpy uses.

use std::num::IntErrorKind;

use thiserror::Error;

/// A slice that cannot be understood or lies outside.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SliceError {
    #[error("'{part}' in slice '{text}' is neither a number nor start:stop:step")]
    Grammar { text: String, part: String },
    #[error("slice '{text}' has {count} parts, the tensor has {dims} dimensions")]
    TooMany { text: String, count: usize, dims: usize },
    #[error("index {index} of slice '{text}' is outside dimension {dim}, which has {extent} elements")]
    Outside { text: String, index: i64, dim: usize, extent: u64 },
    #[error("the step of '{part}' in slice '{text}' is 0; it must go somewhere")]
    Step { text: String, part: String },
}

/// Elements along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picked {
    pub first: u64,
    pub step: i64,
    pub count: u64,
    /// A single index: the dimension disappears.
    pub single: bool,
}

impl Picked {
    pub fn at(&self, index: u64) -> u64 {
        self.first.wrapping_add_signed(self.step.wrapping_mul(index as i64))
    }

    fn all(extent: u64) -> Picked {
        Picked { first: 0, step: 1, count: extent, single: false }
    }
}

/// A part of a tensor of a given shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub dims: Vec<Picked>,
    /// Distance of neighbours in the whole tensor's logical order.
    strides: Vec<u64>,
}

impl Part {
    /// The whole tensor.
    pub fn whole(shape: &[u64]) -> Part {
        Part { dims: shape.iter().map(|&extent| Picked::all(extent)).collect(), strides: strides(shape) }
    }

    pub fn parse(text: &str, shape: &[u64]) -> Result<Part, SliceError> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if parts.len() > shape.len() {
            return Err(SliceError::TooMany { text: text.into(), count: parts.len(), dims: shape.len() });
        }
        let mut part = Part::whole(shape);
        for (dim, (piece, &extent)) in parts.iter().zip(shape).enumerate() {
            part.dims[dim] = pick(text, piece, dim, extent)?;
        }
        Ok(part)
    }

    /// Shape without the dimensions of which one index was picked.
    pub fn shape(&self) -> Vec<u64> {
        self.dims.iter().filter(|picked| !picked.single).map(|picked| picked.count).collect()
    }

    /// Position in the whole tensor of an element of the part; `index` has one number per remaining dimension.
    pub fn position(&self, index: &[u64]) -> u64 {
        let mut rest = index.iter();
        let along = self.dims.iter().zip(&self.strides).map(|(picked, stride)| {
            let at = if picked.single { 0 } else { rest.next().copied().unwrap_or(0) };
            picked.at(at).wrapping_mul(*stride)
        });
        along.fold(0, u64::wrapping_add)
    }
}

fn strides(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1u64; shape.len()];
    for dim in (0..shape.len().saturating_sub(1)).rev() {
        strides[dim] = strides[dim + 1].saturating_mul(shape[dim + 1]);
    }
    strides
}

fn pick(text: &str, part: &str, dim: usize, extent: u64) -> Result<Picked, SliceError> {
    let grammar = || SliceError::Grammar { text: text.into(), part: part.into() };
    let number = |digits: &str| match digits.trim().parse::<i64>() {
        Ok(number) => Ok(number),
        // Any whole number is a bound, as in Python; these lie beyond every end.
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Ok(i64::MAX),
        Err(error) if *error.kind() == IntErrorKind::NegOverflow => Ok(i64::MIN),
        Err(_) => Err(grammar()),
    };
    let Some((start, rest)) = part.split_once(':') else {
        let index = number(part)?;
        let from_end = if index < 0 { index.saturating_add(signed(extent)) } else { index };
        return match u64::try_from(from_end) {
            Ok(first) if first < extent => Ok(Picked { first, step: 1, count: 1, single: true }),
            _ => Err(SliceError::Outside { text: text.into(), index, dim, extent }),
        };
    };
    let (stop, step) = rest.split_once(':').unwrap_or((rest, ""));
    let optional = |digits: &str| if digits.trim().is_empty() { Ok(None) } else { number(digits).map(Some) };
    let (start, stop, step) = (optional(start)?, optional(stop)?, optional(step)?.unwrap_or(1));
    if step == 0 {
        return Err(SliceError::Step { text: text.into(), part: part.into() });
    }
    let extent = signed(extent);
    // As in Python: bounds outside are moved to the nearest end, negative ones count from the end.
    let clamp = |bound: i64| {
        let bound = if bound < 0 { bound.saturating_add(extent) } else { bound };
        if step > 0 { bound.clamp(0, extent) } else { bound.clamp(-1, extent - 1) }
    };
    let (from, to) = if step > 0 {
        (start.map_or(0, clamp), stop.map_or(extent, clamp))
    } else {
        (start.map_or(extent - 1, clamp), stop.map_or(-1, clamp))
    };
    let distance = if step > 0 { to - from } else { from - to };
    let count = if distance > 0 { (distance as u64).div_ceil(step.unsigned_abs()) } else { 0 };
    Ok(Picked { first: from.max(0) as u64, step, count, single: false })
}

/// No payload has more elements than this; a shape without any may claim to.
fn signed(extent: u64) -> i64 {
    i64::try_from(extent).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions of all elements of the part, in order.
    fn positions(text: &str, shape: &[u64]) -> Vec<u64> {
        let part = Part::parse(text, shape).unwrap();
        let shape = part.shape();
        let count: u64 = shape.iter().product();
        let index = |mut flat: u64| {
            let mut index = vec![0; shape.len()];
            for (place, extent) in index.iter_mut().zip(&shape).rev() {
                *place = flat % extent;
                flat /= extent;
            }
            index
        };
        (0..count).map(|flat| part.position(&index(flat))).collect()
    }

    #[test]
    fn parts_are_those_that_numpy_takes() {
        assert_eq!(positions("1", &[3, 4]), [4, 5, 6, 7]);
        assert_eq!(positions("-1,1:3", &[3, 4]), [9, 10]);
        assert_eq!(positions(":,::2", &[2, 5]), [0, 2, 4, 5, 7, 9]);
        assert_eq!(positions("::-1", &[4]), [3, 2, 1, 0]);
        assert_eq!(positions("-2:", &[4]), [2, 3]);
        assert_eq!(positions("3:1:-1,0", &[5, 2]), [6, 4]);
        assert_eq!(positions("2:2", &[4]), [0u64; 0]);
        assert_eq!(positions("0:100", &[2]), [0, 1]);
        assert_eq!(positions("1,2", &[2, 3]), [5]);
        assert_eq!(positions("-99999999999999999999:99999999999999999999", &[2]), [0, 1]);
        assert_eq!(positions(":,0:2", &[0, u64::MAX]), [0u64; 0]);
        assert_eq!(positions(":,-1::-2", &[0, u64::MAX]), [0u64; 0]);
    }

    #[test]
    fn bad_slices_say_what_is_wrong() {
        let message = |text: &str| Part::parse(text, &[2, 3]).unwrap_err().to_string();
        assert_eq!(message("a"), "'a' in slice 'a' is neither a number nor start:stop:step");
        assert_eq!(message("0,1,2"), "slice '0,1,2' has 3 parts, the tensor has 2 dimensions");
        assert_eq!(message("0,3"), "index 3 of slice '0,3' is outside dimension 1, which has 3 elements");
        assert_eq!(message("-3"), "index -3 of slice '-3' is outside dimension 0, which has 2 elements");
        assert_eq!(message("::0"), "the step of '::0' in slice '::0' is 0; it must go somewhere");
    }
}
