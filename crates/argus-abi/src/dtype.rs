//! Element types: their numbers, widths and names.

use core::fmt;

/// An element type, numbered as in tensor descriptors and dump records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DType {
    F32 = 0,
    F16 = 1,
    I32 = 2,
    I16 = 3,
    I8 = 4,
    U8 = 5,
    Bf16 = 6,
    I64 = 7,
    U64 = 8,
    U16 = 9,
    U32 = 10,
    Bool = 11,
    Fp8E4M3Fn = 12,
    Fp8E8M0 = 13,
    /// Four bits; two elements share a byte, the even index in the low nibble.
    Fp4E2M1 = 14,
}

impl DType {
    /// Every type, in the order of its number.
    pub const ALL: [DType; 15] = [
        DType::F32,
        DType::F16,
        DType::I32,
        DType::I16,
        DType::I8,
        DType::U8,
        DType::Bf16,
        DType::I64,
        DType::U64,
        DType::U16,
        DType::U32,
        DType::Bool,
        DType::Fp8E4M3Fn,
        DType::Fp8E8M0,
        DType::Fp4E2M1,
    ];

    /// The type with this number, or `None` for a number that is not assigned.
    pub const fn from_raw(raw: u8) -> Option<DType> {
        if (raw as usize) < Self::ALL.len() { Some(Self::ALL[raw as usize]) } else { None }
    }

    /// Width of one element in bits. Bits, not bytes, because FP4 packs two elements in a byte.
    pub const fn bits(self) -> u32 {
        match self {
            DType::Fp4E2M1 => 4,
            DType::I8 | DType::U8 | DType::Bool | DType::Fp8E4M3Fn | DType::Fp8E8M0 => 8,
            DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 16,
            DType::F32 | DType::I32 | DType::U32 => 32,
            DType::I64 | DType::U64 => 64,
        }
    }

    /// Bytes that `count` packed elements occupy, or `None` when that exceeds a `u64`.
    pub const fn packed_bytes(self, count: u64) -> Option<u64> {
        match count.checked_mul(self.bits() as u64) {
            Some(bits) => Some(bits.div_ceil(8)),
            None => None,
        }
    }

    /// Width of one element in whole bytes; FP4 counts as 1, as in the reference's tables.
    pub const fn size(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// The name used in dump files.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "FLOAT32",
            DType::F16 => "FLOAT16",
            DType::I32 => "INT32",
            DType::I16 => "INT16",
            DType::I8 => "INT8",
            DType::U8 => "UINT8",
            DType::Bf16 => "BFLOAT16",
            DType::I64 => "INT64",
            DType::U64 => "UINT64",
            DType::U16 => "UINT16",
            DType::U32 => "UINT32",
            DType::Bool => "BOOL",
            DType::Fp8E4M3Fn => "FP8E4M3FN",
            DType::Fp8E8M0 => "FP8E8M0",
            DType::Fp4E2M1 => "FP4E2M1",
        }
    }

    /// The type with this name, in any letter case.
    pub fn from_name(name: &str) -> Option<DType> {
        Self::ALL.into_iter().find(|dtype| dtype.name().eq_ignore_ascii_case(name))
    }

    /// The type as people type it: by its name or by a short one, such as `f32` or `bf16`, in any letter case.
    pub fn from_typed(name: &str) -> Option<DType> {
        const SHORT: [(&str, DType); 13] = [
            ("f32", DType::F32),
            ("f16", DType::F16),
            ("bf16", DType::Bf16),
            ("i8", DType::I8),
            ("i16", DType::I16),
            ("i32", DType::I32),
            ("i64", DType::I64),
            ("u8", DType::U8),
            ("u16", DType::U16),
            ("u32", DType::U32),
            ("u64", DType::U64),
            ("fp8", DType::Fp8E4M3Fn),
            ("fp4", DType::Fp4E2M1),
        ];
        let short = SHORT.into_iter().find(|(short, _)| short.eq_ignore_ascii_case(name));
        short.map(|(_, dtype)| dtype).or_else(|| DType::from_name(name))
    }

    /// Whether the type holds floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            DType::F32 | DType::F16 | DType::Bf16 | DType::Fp8E4M3Fn | DType::Fp8E8M0 | DType::Fp4E2M1
        )
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
