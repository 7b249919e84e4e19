//! Arrays out of files that other people wrote.
//!
//! A file is read once it is known to be a regular one, and no size it states is believed: memory is taken by the bytes
//! that are there.
//!
//! ```
//! use argus_arrays::{Elements, read};
//! use argus_abi::DType;
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("two.npy");
//! let mut file = b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }".to_vec();
//! file.resize(10 + 0x46 - 1, b' ');
//! file.extend(b"\n\0\0\x80\x3f\0\0\0\x40");
//! std::fs::write(&path, file)?;
//!
//! let array = read(&path, None)?;
//! assert_eq!((array.elements, &array.shape[..]), (Elements::Known(DType::F32), &[2][..]));
//! assert_eq!(array.bytes, [1f32, 2.0].map(f32::to_le_bytes).concat());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`npy`] | NumPy's file of one array |
//! | this one | from a path to an array |
#![forbid(unsafe_code)]

pub mod npy;

use std::io;
use std::path::Path;

use argus_abi::DType;
use safetensors::{Dtype, SafeTensors};
use thiserror::Error;

use crate::npy::NpyError;

/// An array as it lies in a file, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub elements: Elements,
    pub shape: Vec<u64>,
    /// As many as elements and shape say.
    pub bytes: Vec<u8>,
}

/// What a file says of the elements of its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    Known(DType),
    F64,
    /// Bits without a meaning of their own, so many bytes each.
    Raw(u64),
}

impl Elements {
    /// What safetensors calls them; `None` for types that are not known here.
    pub fn from_safetensors(dtype: Dtype) -> Option<Elements> {
        Some(Elements::Known(match dtype {
            Dtype::F64 => return Some(Elements::F64),
            Dtype::F32 => DType::F32,
            Dtype::F16 => DType::F16,
            Dtype::BF16 => DType::Bf16,
            Dtype::F8_E4M3 => DType::Fp8E4M3Fn,
            Dtype::F8_E8M0 => DType::Fp8E8M0,
            Dtype::F4 => DType::Fp4E2M1,
            Dtype::I8 => DType::I8,
            Dtype::I16 => DType::I16,
            Dtype::I32 => DType::I32,
            Dtype::I64 => DType::I64,
            Dtype::U8 => DType::U8,
            Dtype::U16 => DType::U16,
            Dtype::U32 => DType::U32,
            Dtype::U64 => DType::U64,
            Dtype::BOOL => DType::Bool,
            _ => return None,
        }))
    }
}

/// Why a file gives no array.
#[derive(Debug, Error)]
pub enum ArrayError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("its name ends neither in .npy nor in .safetensors")]
    Format,
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// The library says its own causes.
    #[error("{0}")]
    Safetensors(safetensors::SafeTensorError),
    #[error("it holds {known}; the name of one of them is needed")]
    NoKey { known: String },
    #[error("it holds no array '{key}', only {known}")]
    Key { key: String, known: String },
    #[error("a .npy file holds one array without a name, not '{key}'")]
    KeyInNpy { key: String },
    #[error("elements of type {0:?} are not known here")]
    Type(Dtype),
}

/// The array in a file. Of a file that holds several, `key` names one.
pub fn read(path: &Path, key: Option<&str>) -> Result<Array, ArrayError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match (extension, key) {
        ("npy", Some(key)) => Err(ArrayError::KeyInNpy { key: key.into() }),
        ("npy", None) => Ok(npy::parse(&content(path)?)?),
        ("safetensors", key) => from_safetensors(&content(path)?, key),
        _ => Err(ArrayError::Format),
    }
}

/// The bytes of a regular file of any length: an array may be as large as memory.
fn content(path: &Path) -> Result<Vec<u8>, ArrayError> {
    Ok(argus_files::read(path, u64::MAX)?)
}

fn from_safetensors(file: &[u8], key: Option<&str>) -> Result<Array, ArrayError> {
    let tensors = SafeTensors::deserialize(file).map_err(ArrayError::Safetensors)?;
    let known = || {
        let mut names = tensors.names();
        names.sort_unstable();
        names.join(", ")
    };
    let key = match (key, &tensors.names()[..]) {
        (Some(key), _) => key,
        (None, [only]) => only,
        (None, _) => return Err(ArrayError::NoKey { known: known() }),
    };
    let tensor = tensors.tensor(key).map_err(|_| ArrayError::Key { key: key.into(), known: known() })?;
    let elements = Elements::from_safetensors(tensor.dtype()).ok_or(ArrayError::Type(tensor.dtype()))?;
    let shape = tensor.shape().iter().map(|&extent| extent as u64).collect();
    Ok(Array { elements, shape, bytes: tensor.data().to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_file_or_not_an_array_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let text = |name: &str, key| read(&directory.path().join(name), key).unwrap_err().to_string();
        std::fs::create_dir(directory.path().join("dir.npy")).unwrap();
        std::fs::write(directory.path().join("x.txt"), "1").unwrap();
        std::fs::write(directory.path().join("x.safetensors"), "not one").unwrap();
        assert_eq!(text("dir.npy", None), "it is not a regular file");
        assert_eq!(text("x.txt", None), "its name ends neither in .npy nor in .safetensors");
        assert!(text("none.npy", None).starts_with("No such file"));
        assert!(!text("x.safetensors", None).is_empty());
        assert_eq!(text("dir.npy", Some("a")), "a .npy file holds one array without a name, not 'a'");
    }

    #[test]
    fn one_of_several_arrays_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("two.safetensors");
        let header = r#"{"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]}}"#;
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        file.extend([7, 0, 0, 0, 0x80, 0x3f, 0, 0x40]);
        std::fs::write(&path, file).unwrap();
        let b = read(&path, Some("b")).unwrap();
        assert_eq!(
            b,
            Array {
                elements: Elements::Known(DType::Bf16),
                shape: vec![2],
                bytes: vec![0x80, 0x3f, 0, 0x40]
            }
        );
        assert_eq!(
            read(&path, None).unwrap_err().to_string(),
            "it holds a, b; the name of one of them is needed"
        );
        assert_eq!(read(&path, Some("c")).unwrap_err().to_string(), "it holds no array 'c', only a, b");
    }
}
