//! Element types, directions and kinds of core as C has them.
//!
//! They arrive as plain numbers: a C enumeration may hold any, a Rust one may not.

use argus_abi::{ArgDirection, CoreType, DType};

use crate::status::Failure;

/// Elements of 32 bits, IEEE floats.
pub const ARGUS_F32: i32 = 0;
pub const ARGUS_F16: i32 = 1;
pub const ARGUS_I32: i32 = 2;
pub const ARGUS_I16: i32 = 3;
pub const ARGUS_I8: i32 = 4;
pub const ARGUS_U8: i32 = 5;
pub const ARGUS_BF16: i32 = 6;
pub const ARGUS_I64: i32 = 7;
pub const ARGUS_U64: i32 = 8;
pub const ARGUS_U16: i32 = 9;
pub const ARGUS_U32: i32 = 10;
pub const ARGUS_BOOL: i32 = 11;
pub const ARGUS_FP8_E4M3FN: i32 = 12;
pub const ARGUS_FP8_E8M0: i32 = 13;
/// Elements of 4 bits: two share a byte, the even one in the low half.
pub const ARGUS_FP4_E2M1: i32 = 14;

/// A number, not a tensor.
pub const ARGUS_SCALAR: i32 = 0;
/// The kernel or the run reads it.
pub const ARGUS_IN: i32 = 1;
/// It is written.
pub const ARGUS_OUT: i32 = 2;
/// It is read and written.
pub const ARGUS_INOUT: i32 = 3;

/// The matrix core of a cluster.
pub const ARGUS_CORE_AIC: i32 = 0;
/// A vector core.
pub const ARGUS_CORE_AIV: i32 = 1;

pub fn dtype(number: i32) -> Result<DType, Failure> {
    let known = u8::try_from(number).ok().and_then(DType::from_raw);
    known.ok_or_else(|| Failure::usage(format!("dtype {number} is not one of ARGUS_F32 to ARGUS_FP4_E2M1")))
}

/// Numbers of the interface stay as they are, whatever the crates below do.
pub fn dtype_number(dtype: Option<DType>) -> i32 {
    dtype.map_or(-1, |dtype| dtype as i32)
}

pub fn direction(number: i32) -> Result<ArgDirection, Failure> {
    match number {
        ARGUS_SCALAR => Ok(ArgDirection::Scalar),
        ARGUS_IN => Ok(ArgDirection::In),
        ARGUS_OUT => Ok(ArgDirection::Out),
        ARGUS_INOUT => Ok(ArgDirection::Inout),
        _ => Err(Failure::usage(format!(
            "direction {number} is not ARGUS_SCALAR, ARGUS_IN, ARGUS_OUT or ARGUS_INOUT"
        ))),
    }
}

pub fn core_type(number: i32) -> Result<CoreType, Failure> {
    match number {
        ARGUS_CORE_AIC => Ok(CoreType::Aic),
        ARGUS_CORE_AIV => Ok(CoreType::Aiv),
        _ => Err(Failure::usage(format!("core {number} is neither ARGUS_CORE_AIC nor ARGUS_CORE_AIV"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_has_its_number_and_no_other_number_is_one() {
        for known in DType::ALL {
            assert_eq!(dtype(dtype_number(Some(known))).ok(), Some(known));
        }
        assert!(dtype(-1).is_err() && dtype(15).is_err() && dtype(256).is_err());
        assert_eq!(
            (dtype_number(Some(DType::F32)), dtype_number(Some(DType::Fp4E2M1))),
            (ARGUS_F32, ARGUS_FP4_E2M1)
        );
    }
}
