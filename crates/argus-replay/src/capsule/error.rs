//! Why a capsule cannot be written or read.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::VERSION;

/// Why a capsule cannot be written or read.
#[derive(Debug, Error)]
pub enum CapsuleError {
    #[error("{}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is not a capsule: it does not begin as capsules do", path.display())]
    NotACapsule { path: PathBuf },
    #[error("{} is a capsule of version {found}; this program reads version {VERSION}", path.display())]
    Version { path: PathBuf, found: u32 },
    #[error("{} is damaged", path.display())]
    Damaged { path: PathBuf, source: CapsuleDamage },
    #[error("slot {slot} cannot go into a capsule: {why}")]
    Incomplete { slot: usize, why: String },
}

/// What is wrong with a capsule that begins as one.
#[derive(Debug, Error)]
pub enum CapsuleDamage {
    #[error("it has {bytes} bytes, its head says otherwise; it may have been cut")]
    Length { bytes: usize },
    #[error("a header of {bytes} bytes is too large")]
    LargeHeader { bytes: u64 },
    #[error("its checksum is wrong")]
    Checksum,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("there is no place '{place}' in a cluster")]
    NoPlace { place: String },
    #[error("two kernels at the place '{place}'")]
    PlaceTwice { place: String },
    #[error("slot {slot} is out of range or out of order")]
    SlotOrder { slot: usize },
    #[error("slot {slot}")]
    Slot { slot: usize, source: SlotDamage },
    #[error("there is no abi '{abi}'")]
    Abi { abi: String },
    #[error(transparent)]
    Number(#[from] NotHexadecimal),
}

/// What is wrong with one argument in a capsule.
#[derive(Debug, Error)]
pub enum SlotDamage {
    #[error("dtype {dtype}")]
    DType { dtype: String },
    #[error("{shape} dimensions and {strides} strides")]
    Dimensions { shape: usize, strides: usize },
    #[error("there is no role '{role}'")]
    Role { role: String },
    #[error("a payload of {size} bytes for a view of {view:?}")]
    PayloadSize { size: u64, view: Option<u64> },
    #[error("a payload of {size} bytes at {offset} is not in the file")]
    PayloadPlace { offset: u64, size: u64 },
    #[error(transparent)]
    Number(#[from] NotHexadecimal),
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{text}' is not a hexadecimal number")]
pub struct NotHexadecimal {
    pub text: String,
}
