//! Scalars: what a kernel passes by value.

use argus_abi::DType;
use bytemuck::Pod;
use half::{bf16, f16};

use crate::number::{cast_i32, narrow_bf16, narrow_f16, narrow_f64_odd};

/// A type that kernels read and write one element at a time.
pub trait Scalar: Pod {
    const DTYPE: DType;
}

macro_rules! scalars {
    ($($type:ty => $dtype:ident),*) => {$(
        impl Scalar for $type {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

scalars!(f32 => F32, f16 => F16, bf16 => Bf16, i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64);

/// A scalar operand: a float or an integer, converted to the tile's element type before use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarValue {
    F32(f32),
    I32(i32),
}

impl From<f32> for ScalarValue {
    fn from(value: f32) -> ScalarValue {
        ScalarValue::F32(value)
    }
}

impl From<i32> for ScalarValue {
    fn from(value: i32) -> ScalarValue {
        ScalarValue::I32(value)
    }
}

impl ScalarValue {
    pub(crate) fn to_f32(self) -> f32 {
        match self {
            ScalarValue::F32(value) => value,
            ScalarValue::I32(value) => value as f32,
        }
    }

    pub(crate) fn to_f16(self) -> f16 {
        narrow_f16(self.to_f32_odd())
    }

    pub(crate) fn to_bf16(self) -> bf16 {
        narrow_bf16(self.to_f32_odd())
    }

    /// As C++ casts a float to a 32-bit integer; narrower integers take the low bits.
    pub(crate) fn to_i32(self) -> i32 {
        match self {
            ScalarValue::F32(value) => cast_i32(value),
            ScalarValue::I32(value) => value,
        }
    }

    fn to_f32_odd(self) -> f32 {
        match self {
            ScalarValue::F32(value) => value,
            ScalarValue::I32(value) => narrow_f64_odd(f64::from(value)),
        }
    }
}
