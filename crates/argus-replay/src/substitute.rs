//! Values for arguments that were not captured, or that are to be different.
//!
//! What goes in: `SLOT=WHAT` as typed, where WHAT is a number, `random`, `random:SEED`, `zero` or the name of a
//! `.npy` file. What goes out: the bytes of the slot's view. The same text gives the same bytes everywhere.

mod npy;

use std::path::PathBuf;

use argus_abi::{DType, Role};
use half::{bf16, f16};
use thiserror::Error;

pub use self::npy::NpyError;
use crate::error::ReplayError;
use crate::task::{Argument, CapturedTask, Content, TensorArgument, What};

/// A value for one slot.
#[derive(Clone, Debug, PartialEq)]
pub struct Substitute {
    pub slot: usize,
    pub value: Value,
}

/// What a slot is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A scalar, or every element of a tensor. `0x...` gives raw bits.
    Number(String),
    /// Floats in -1..1, integers in -8..8, unsigned ones in 0..16.
    Random {
        seed: u64,
    },
    Zero,
    /// An array of the view's shape and element type.
    Npy(PathBuf),
}

/// Why a slot cannot be given a value.
#[derive(Debug, Error)]
pub enum SubstituteError {
    #[error(
        "'{text}' is not SLOT=VALUE; write 3=1.5, 3=0x3fc00000 (raw bits), 3=random, 3=random:7, 3=zero or \
         3=file.npy"
    )]
    Form { text: String },
    #[error("slot {slot} is given twice")]
    Twice { slot: usize },
    #[error("slot {slot}: '{text}' is not a value of {dtype}")]
    NotANumber { slot: usize, text: String, dtype: DType },
    #[error("slot {slot}: '{text}' is not a value of {dtype}: out of range")]
    OutOfRange { slot: usize, text: String, dtype: DType },
    #[error("slot {slot}: '{text}' is not a value of {dtype}: too many bits")]
    TooManyBits { slot: usize, text: String, dtype: DType },
    #[error("slot {slot}: '{text}' is not a value of {dtype}: give its raw bits as 0x..")]
    RawBitsOnly { slot: usize, text: String, dtype: DType },
    #[error("slot {slot} is a scalar; {what} is for tensors")]
    Scalar { slot: usize, what: &'static str },
    #[error("slot {slot}: {}", path.display())]
    Npy { slot: usize, path: PathBuf, source: NpyError },
    #[error("slot {slot} has too many elements")]
    TooLarge { slot: usize },
}

impl Substitute {
    /// Parses `SLOT=WHAT`.
    pub fn parse(text: &str) -> Result<Substitute, SubstituteError> {
        let form = || SubstituteError::Form { text: text.into() };
        let (slot, value) = text.split_once('=').ok_or_else(form)?;
        let slot = slot.trim().parse().map_err(|_| form())?;
        let value = Value::parse(value.trim()).ok_or_else(form)?;
        Ok(Substitute { slot, value })
    }

    /// Parses several, each for a slot of its own.
    pub fn parse_all<'a>(
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Substitute>, SubstituteError> {
        let mut all: Vec<Substitute> = Vec::new();
        for text in texts {
            let next = Substitute::parse(text)?;
            if all.iter().any(|other| other.slot == next.slot) {
                return Err(SubstituteError::Twice { slot: next.slot });
            }
            all.push(next);
        }
        Ok(all)
    }
}

impl Value {
    /// A number, `random`, `random:SEED`, `zero` or a file name that ends in `.npy`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Value> {
        Some(match text {
            "random" => Value::Random { seed: 0 },
            "zero" => Value::Zero,
            _ if text.ends_with(".npy") => Value::Npy(text.into()),
            _ => match text.strip_prefix("random:") {
                Some(seed) => Value::Random { seed: seed.parse().ok()? },
                None => {
                    bits_of(text, None).ok()?;
                    Value::Number(text.into())
                }
            },
        })
    }

    fn describe(&self) -> String {
        match self {
            Value::Number(text) => text.clone(),
            Value::Random { seed } => format!("random numbers of seed {seed}"),
            Value::Zero => "zero".into(),
            Value::Npy(path) => path.display().to_string(),
        }
    }

    /// The bytes of a view in logical order.
    pub fn fill(&self, slot: usize, tensor: &TensorArgument) -> Result<Vec<u8>, SubstituteError> {
        let too_large = || SubstituteError::TooLarge { slot };
        let bytes =
            tensor.logical_bytes().and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(too_large)?;
        let count = tensor.numel().ok_or_else(too_large)?;
        let width = tensor.dtype.size();
        match self {
            Value::Zero => Ok(vec![0; bytes]),
            Value::Number(text) => {
                let bits =
                    bits_of(text, Some(tensor.dtype)).map_err(|why| why.at_slot(slot, text, tensor.dtype))?;
                Ok(repeat(tensor.dtype, bits, bytes, width))
            }
            Value::Random { seed } => {
                let mut random = Random::new(*seed, slot);
                let mut out = Vec::with_capacity(bytes);
                for _ in 0..count {
                    out.extend_from_slice(&random.element(tensor.dtype).to_le_bytes()[..width]);
                    if tensor.dtype == DType::Fp4E2M1 && out.len() >= bytes {
                        break;
                    }
                }
                out.truncate(bytes);
                Ok(out)
            }
            Value::Npy(path) => {
                let failed = |source| SubstituteError::Npy { slot, path: path.clone(), source };
                npy::read(path, tensor).map_err(failed)
            }
        }
    }
}

impl CapturedTask {
    /// Gives slots other values. Where nothing was captured this is the only way to run the task.
    pub fn substitute(&mut self, substitutes: &[Substitute]) -> Result<(), ReplayError> {
        for Substitute { slot, value } in substitutes {
            let Some(argument) = self.arguments.iter_mut().find(|argument| argument.slot == *slot) else {
                let known: Vec<String> =
                    self.arguments.iter().map(|argument| argument.slot.to_string()).collect();
                return Err(ReplayError::NoSuchSlot { slot: *slot, known: known.join(", ") });
            };
            replace(argument, value)?;
        }
        Ok(())
    }

    /// The first slot without which the task cannot run.
    pub fn check_complete(&self) -> Result<(), ReplayError> {
        for Argument { slot, what, .. } in &self.arguments {
            match what {
                What::Missing { why } => {
                    return Err(ReplayError::MissingSlot { slot: *slot, why: why.clone() });
                }
                What::Tensor(TensorArgument { before: Content::Missing(why), .. }) => {
                    return Err(ReplayError::MissingPayload { slot: *slot, why: why.clone() });
                }
                What::Tensor(_) | What::Scalar { .. } => {}
            }
        }
        Ok(())
    }
}

fn replace(argument: &mut Argument, value: &Value) -> Result<(), SubstituteError> {
    let slot = argument.slot;
    let only_for_tensors = |what| SubstituteError::Scalar { slot, what };
    match &mut argument.what {
        What::Tensor(tensor) => {
            tensor.before = Content::Bytes(value.fill(slot, tensor)?);
            if tensor.role == Role::Output {
                argument.source = format!("an output that starts as {}", value.describe());
                return Ok(());
            }
        }
        what @ (What::Scalar { .. } | What::Missing { .. }) => {
            let dtype = match what {
                What::Scalar { dtype, .. } => Some(*dtype),
                _ => None,
            };
            let (dtype, bits) = match value {
                Value::Zero => (dtype.unwrap_or(DType::U64), 0),
                Value::Number(text) => {
                    let shown = dtype.unwrap_or_else(|| literal_type(text));
                    // Kernels take a float scalar as the bits of an f32 in a raw word; a dump has such a word as an
                    // integer. `2.0` can mean nothing else there.
                    let raw = matches!(shown, DType::U64 | DType::I64 | DType::U32 | DType::I32);
                    let read = if raw && literal_type(text) == DType::F32 { DType::F32 } else { shown };
                    (shown, bits_of(text, Some(read)).map_err(|why| why.at_slot(slot, text, shown))?)
                }
                Value::Random { .. } => return Err(only_for_tensors("random")),
                Value::Npy(_) => return Err(only_for_tensors("a .npy file")),
            };
            *what = What::Scalar { dtype, bits };
        }
    }
    argument.source = format!("set to {}", value.describe());
    Ok(())
}

/// Why a literal has no bits in an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoBits {
    NotANumber,
    OutOfRange,
    TooMany,
    RawOnly,
}

impl NoBits {
    fn at_slot(self, slot: usize, text: &str, dtype: DType) -> SubstituteError {
        let text = text.to_owned();
        match self {
            NoBits::NotANumber => SubstituteError::NotANumber { slot, text, dtype },
            NoBits::OutOfRange => SubstituteError::OutOfRange { slot, text, dtype },
            NoBits::TooMany => SubstituteError::TooManyBits { slot, text, dtype },
            NoBits::RawOnly => SubstituteError::RawBitsOnly { slot, text, dtype },
        }
    }
}

/// What a literal alone says about its type.
fn literal_type(text: &str) -> DType {
    let integer = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok() || text.starts_with("0x");
    if integer { DType::I64 } else { DType::F32 }
}

/// The bits of a literal in an element type; without one, integers are 64 bits and everything else an f32.
pub(crate) fn bits_of(text: &str, dtype: Option<DType>) -> Result<u64, NoBits> {
    let dtype = dtype.unwrap_or_else(|| literal_type(text));
    if let Some(hex) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(hex, 16).map_err(|_| NoBits::NotANumber)?;
        let width = dtype.bits();
        return if width < 64 && bits >> width != 0 { Err(NoBits::TooMany) } else { Ok(bits) };
    }
    let float = || text.parse::<f64>().map_err(|_| NoBits::NotANumber);
    let signed = |bits: u32| -> Result<u64, NoBits> {
        let value: i128 = text.parse().map_err(|_| NoBits::NotANumber)?;
        let half = 1i128 << (bits - 1);
        // An unsigned literal of the same width is welcome: raw 64-bit scalars are often written so.
        let fits = value >= -half && value < 2 * half;
        if fits { Ok(value as u64 & (u64::MAX >> (64 - bits))) } else { Err(NoBits::OutOfRange) }
    };
    let unsigned = |bits: u32| -> Result<u64, NoBits> {
        let value: i128 = text.parse().map_err(|_| NoBits::NotANumber)?;
        let fits = value >= 0 && value < 1i128 << bits;
        if fits { Ok(value as u64) } else { Err(NoBits::OutOfRange) }
    };
    match dtype {
        DType::F32 => Ok(u64::from(text.parse::<f32>().map_err(|_| NoBits::NotANumber)?.to_bits())),
        DType::F16 => Ok(u64::from(f16::from_f64(float()?).to_bits())),
        DType::Bf16 => Ok(u64::from(bf16::from_f64(float()?).to_bits())),
        DType::I8 => signed(8),
        DType::I16 => signed(16),
        DType::I32 => signed(32),
        DType::I64 => signed(64),
        DType::U8 => unsigned(8),
        DType::U16 => unsigned(16),
        DType::U32 => unsigned(32),
        DType::U64 => unsigned(64),
        DType::Bool => match text {
            "0" | "false" => Ok(0),
            "1" | "true" => Ok(1),
            _ => Err(NoBits::NotANumber),
        },
        DType::Fp8E4M3Fn | DType::Fp8E8M0 | DType::Fp4E2M1 => Err(NoBits::RawOnly),
    }
}

fn repeat(dtype: DType, bits: u64, bytes: usize, width: usize) -> Vec<u8> {
    let bits = if dtype == DType::Fp4E2M1 { bits << 4 | bits } else { bits };
    bits.to_le_bytes()[..width].iter().copied().cycle().take(bytes).collect()
}

/// Numbers that are the same everywhere: splitmix64.
struct Random(u64);

impl Random {
    fn new(seed: u64, slot: usize) -> Random {
        Random(seed ^ (slot as u64).wrapping_mul(0xA076_1D64_78BD_642F))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The bits of one element.
    fn element(&mut self, dtype: DType) -> u64 {
        let raw = self.next();
        let float = (raw >> 40) as f32 / (1u32 << 23) as f32 - 1.0;
        let small = (raw >> 60) as i64 - 8;
        match dtype {
            DType::F32 => u64::from(float.to_bits()),
            DType::F16 => u64::from(f16::from_f32(float).to_bits()),
            DType::Bf16 => u64::from(bf16::from_f32(float).to_bits()),
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => small as u64,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => raw >> 60,
            DType::Bool => raw >> 63,
            // Any bits but NaN: the sign and the exponents around one.
            DType::Fp8E4M3Fn => 0x30 | raw >> 63 << 7 | (raw >> 56 & 7),
            DType::Fp8E8M0 => 124 + (raw >> 62),
            DType::Fp4E2M1 => raw >> 56 & 0xFF,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_understood_or_refused_with_examples() {
        let parse =
            |text| Substitute::parse(text).map(|substitute| (substitute.slot, substitute.value)).unwrap();
        assert_eq!(parse("3=1.5"), (3, Value::Number("1.5".into())));
        assert_eq!(parse("0=random"), (0, Value::Random { seed: 0 }));
        assert_eq!(parse("0=random:7"), (0, Value::Random { seed: 7 }));
        assert_eq!(parse("12=zero"), (12, Value::Zero));
        assert_eq!(parse("1=a/b.npy"), (1, Value::Npy("a/b.npy".into())));
        for text in ["3", "=1", "x=1", "3=", "3=blue", "-1=2", "3=random:x"] {
            let error = Substitute::parse(text).unwrap_err();
            assert!(error.to_string().contains("3=random:7"), "{error}");
        }
        let twice = Substitute::parse_all(["1=2", "1=3"]).unwrap_err();
        assert_eq!(twice.to_string(), "slot 1 is given twice");
    }

    #[test]
    fn numbers_become_the_bits_of_their_type() {
        assert_eq!(bits_of("1.5", Some(DType::F32)), Ok(0x3fc0_0000));
        assert_eq!(bits_of("1.5", Some(DType::Bf16)), Ok(0x3fc0));
        assert_eq!(bits_of("1.5", Some(DType::F16)), Ok(0x3e00));
        assert_eq!(bits_of("-1", Some(DType::I32)), Ok(0xffff_ffff));
        assert_eq!(bits_of("-1", None), Ok(u64::MAX));
        assert_eq!(bits_of("1.0", None), Ok(0x3f80_0000));
        assert_eq!(bits_of("0x3f80", Some(DType::Bf16)), Ok(0x3f80));
        assert_eq!(bits_of("0x13f80", Some(DType::Bf16)), Err(NoBits::TooMany));
        assert_eq!(bits_of("300", Some(DType::U8)), Err(NoBits::OutOfRange));
        assert_eq!(bits_of("-1", Some(DType::U8)), Err(NoBits::OutOfRange));
        assert_eq!(bits_of("1.5", Some(DType::I32)), Err(NoBits::NotANumber));
        assert_eq!(bits_of("1.5", Some(DType::Fp8E8M0)), Err(NoBits::RawOnly));
    }

    #[test]
    fn a_float_in_a_raw_word_is_the_bits_of_an_f32() {
        let scalar = |dtype| Argument {
            slot: 4,
            name: String::new(),
            source: String::new(),
            what: What::Scalar { dtype, bits: 7 },
        };
        let set = |dtype, text: &str| {
            let mut argument = scalar(dtype);
            replace(&mut argument, &Value::parse(text).unwrap()).map(|()| match argument.what {
                What::Scalar { dtype, bits } => (dtype, bits),
                _ => unreachable!("a scalar stays one"),
            })
        };
        assert_eq!(set(DType::U64, "2.0").unwrap(), (DType::U64, 0x4000_0000));
        assert_eq!(set(DType::U64, "2").unwrap(), (DType::U64, 2));
        assert_eq!(set(DType::F32, "2").unwrap(), (DType::F32, 0x4000_0000));
        assert!(set(DType::U8, "2.0").is_err(), "a byte does not hold an f32");
    }

    #[test]
    fn random_numbers_are_the_same_everywhere_and_stay_small() {
        let tensor = |dtype| TensorArgument::contiguous(dtype, Role::Input, &[2, 3]);
        let value = Value::Random { seed: 1 };
        // Computed by hand with splitmix64 for seed 1 of slot 0: 0x910a2dec89025cc1 first.
        let bytes = value.fill(0, &tensor(DType::F32)).unwrap();
        let first = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        assert_eq!(first, (0x91_0a2d as f32) / 8_388_608.0 - 1.0);
        for dtype in [DType::F32, DType::F16, DType::Bf16] {
            let bytes = value.fill(3, &tensor(dtype)).unwrap();
            for index in 0..6 {
                let number = argus_facts::number::element(dtype, &bytes, index).unwrap().as_f64();
                assert!((-1.0..=1.0).contains(&number), "{dtype}: {number}");
            }
        }
        assert_eq!(value.fill(0, &tensor(DType::I64)).unwrap().len(), 48);
        assert_eq!(value.fill(0, &tensor(DType::Fp4E2M1)).unwrap().len(), 3);
    }
}
