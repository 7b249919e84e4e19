//! What the values of an entry mean together: a view, a scalar, statistics of a type.

use argus_abi::{DType, Kind, MAX_DIMS};

use super::{Counted, Draft};
use crate::read::json::{Token, Wrong};
use crate::read::record::Scalar;
use crate::read::row::{Extra, ListName, NO_EXTRA, NO_SUBTASK, Row, flag};
use crate::read::statistics::infinity;

impl Draft<'_> {
    /// The entry; or the field that is missing or does not fit the others, and why.
    pub(super) fn meaning(&self, list: ListName) -> Result<(Row, Extra), (&'static str, Wrong)> {
        let row = self.row(list)?;
        let extra = self.extra(row.dtype)?;
        Ok((row, extra))
    }

    fn row(&self, list: ListName) -> Result<Row, (&'static str, Wrong)> {
        let missing = |field, allowed| (field, Wrong::new("nothing", allowed));
        let kind = self.kind.unwrap_or(Kind::Tensor);
        let (shape, ndims) = self.shape.ok_or_else(|| missing("shape", "a list of extents"))?;
        let (strides, start_offset) = self.layout(ndims)?;
        let dtype = self.dtype.ok_or_else(|| missing("dtype", "a dtype's name"))?;
        let mut flags = self.flags;
        let row_major = is_row_major(&shape[..ndims], &strides[..ndims]);
        flags |= if row_major { flag::CONTIGUOUS } else { 0 };
        let numel = shape[..ndims].iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
        if self.numel.is_some() && self.numel != numel {
            flags |= flag::NUMEL_WRONG;
        }
        // Of a view without elements either can be said.
        if numel != Some(0) && self.contiguous.is_some_and(|claimed| claimed != row_major) {
            flags |= flag::CONTIGUOUS_WRONG;
        }
        if self.raw_shape.is_some() {
            flags |= flag::RAW_SHAPE;
        }
        let mut scalar = 0;
        if kind == Kind::Scalar {
            match self.scalar(list, DType::from_raw(dtype)).map_err(|wrong| ("value", wrong))? {
                Some(Scalar::Bits(bits)) => (scalar, flags) = (bits, flags | flag::BITS),
                Some(Scalar::Rounded(value)) => (scalar, flags) = (value.to_bits(), flags | flag::ROUNDED),
                None => {}
            }
        }
        let func_ids = self.funcs.unwrap_or([-1; 3]).into_iter().collect();
        Ok(Row {
            task_id: self.task_id.ok_or_else(|| missing("task_id", "a task's id"))?,
            start_offset,
            bin_offset: self.bin_offset.ok_or_else(|| missing("bin_offset", "a number of bytes"))?,
            bin_size: self.bin_size.ok_or_else(|| missing("bin_size", "a number of bytes"))?,
            scalar,
            shape,
            strides,
            func_ids,
            arg_index: self.arg_index.ok_or_else(|| missing("arg_index", "an argument's number"))?,
            extra: NO_EXTRA,
            flags,
            subtask: self.subtask.unwrap_or(NO_SUBTASK),
            stage: self.stage.ok_or_else(|| missing("stage", "before_dispatch or after_completion"))?,
            role: self.role.ok_or_else(|| missing("role", "input, output or inout"))?,
            kind,
            dtype,
            ndims: ndims as u8,
        })
    }

    /// Strides and start, given as such or by the raw shape that the view is cut from.
    fn layout(&self, ndims: usize) -> Result<([u64; MAX_DIMS], u64), (&'static str, Wrong)> {
        let as_many = |field, (dims, len): Counted| match len == ndims {
            true => Ok(dims),
            false => Err((field, Wrong::new(format!("a list of {len}"), "as many numbers as shape has"))),
        };
        if let Some(strides) = self.strides {
            return Ok((as_many("strides", strides)?, self.start_offset.unwrap_or(0)));
        }
        let (Some(raw_shape), Some(offsets)) = (self.raw_shape, self.offsets) else {
            let allowed = "strides and start_offset, or raw_shape and offsets";
            return Err(("strides", Wrong::new("nothing", allowed)));
        };
        let (raw_shape, offsets) = (as_many("raw_shape", raw_shape)?, as_many("offsets", offsets)?);
        row_major_view(&raw_shape[..ndims], &offsets[..ndims]).ok_or_else(|| {
            (
                "raw_shape",
                Wrong::new("more elements than there are addresses", "a shape that fits into memory"),
            )
        })
    }

    fn scalar(&self, list: ListName, dtype: Option<DType>) -> Result<Option<Scalar>, Wrong> {
        if let Some(bits) = self.value_bits {
            return Ok(Some(Scalar::Bits(bits)));
        }
        let Some(value) = &self.value else { return Ok(None) };
        let refuse = |allowed| Err(Wrong::new(value.shown(), allowed));
        let float = dtype.is_none_or(DType::is_float);
        let bits = match value {
            Token::Float(value) if float => return Ok(Some(Scalar::Rounded(*value))),
            Token::Null if float => return Ok(Some(Scalar::Rounded(f64::NAN))),
            // August types this one dtype among the floats; June gives the bits of each.
            Token::Unsigned(value) if list == ListName::Args && dtype == Some(DType::F32) => {
                return Ok(Some(Scalar::Rounded(*value as f64)));
            }
            Token::Signed(value) if list == ListName::Args && dtype == Some(DType::F32) => {
                return Ok(Some(Scalar::Rounded(*value as f64)));
            }
            Token::Unsigned(value) => *value,
            Token::Signed(value) => match narrow(*value, dtype) {
                Some(bits) => bits,
                None => return refuse("a number that the dtype can hold"),
            },
            Token::Bool(value) => u64::from(*value),
            Token::Text(text) => match (infinity(text), text.parse::<u64>(), text.parse::<i64>()) {
                (Some(value), ..) if float => return Ok(Some(Scalar::Rounded(value))),
                (_, Ok(value), _) => value,
                (_, _, Ok(value)) => value as u64,
                _ => return refuse("a number, \"$Inf\", \"-$Inf\", or null for NaN"),
            },
            _ => return refuse("a number, true, false, \"$Inf\", \"-$Inf\", or null for NaN"),
        };
        Ok(Some(Scalar::Bits(bits)))
    }

    fn extra(&self, dtype: u8) -> Result<Extra, (&'static str, Wrong)> {
        let statistics = match &self.statistics {
            Some(raw) => Some(raw.typed(DType::from_raw(dtype)).map_err(|wrong| ("statistics", wrong))?),
            None => None,
        };
        Ok(Extra { statistics, ..self.extra })
    }
}

/// A negative number as the low bits of its type.
fn narrow(value: i64, dtype: Option<DType>) -> Option<u64> {
    match dtype {
        Some(DType::I8) => i8::try_from(value).ok().map(|value| u64::from(value as u8)),
        Some(DType::I16) => i16::try_from(value).ok().map(|value| u64::from(value as u16)),
        Some(DType::I32) => i32::try_from(value).ok().map(|value| u64::from(value as u32)),
        Some(DType::I64) | None => Some(value as u64),
        _ => None,
    }
}

/// Whether the elements lie next to each other in logical order; an empty view counts.
pub(crate) fn is_row_major(shape: &[u64], strides: &[u64]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = Some(1u64);
    for (&extent, &stride) in shape.iter().zip(strides).rev() {
        if expected != Some(stride) {
            return false;
        }
        expected = stride.checked_mul(extent);
    }
    true
}

/// Strides of a row-major buffer, and where in it the view starts.
fn row_major_view(raw_shape: &[u64], offsets: &[u64]) -> Option<([u64; MAX_DIMS], u64)> {
    let mut strides = [0; MAX_DIMS];
    let mut start = 0u64;
    let mut stride = 1u64;
    for dim in (0..raw_shape.len()).rev() {
        strides[dim] = stride;
        start = start.checked_add(offsets[dim].checked_mul(stride)?)?;
        // The outermost extent is no stride of anything.
        if dim > 0 {
            stride = stride.checked_mul(raw_shape[dim])?;
        }
    }
    Some((strides, start))
}
