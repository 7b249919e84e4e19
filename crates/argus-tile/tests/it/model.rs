//! The naive model: a copy of all memories, its own element addressing, one element at a time.

use argus_abi::DType;
use argus_tile::{BlockOrder, InnerOrder, Space, Tile};
use half::{bf16, f16};

/// A value with its type.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    F32(f32),
    F16(f16),
    Bf16(bf16),
    I32(i32),
    I16(i16),
    I8(i8),
    U32(u32),
    U16(u16),
    U8(u8),
}

pub fn decode(dtype: DType, bits: u64) -> Value {
    match dtype {
        DType::F32 => Value::F32(f32::from_bits(bits as u32)),
        DType::F16 => Value::F16(f16::from_bits(bits as u16)),
        DType::Bf16 => Value::Bf16(bf16::from_bits(bits as u16)),
        DType::I32 => Value::I32(bits as i32),
        DType::I16 => Value::I16(bits as i16),
        DType::I8 => Value::I8(bits as i8),
        DType::U32 => Value::U32(bits as u32),
        DType::U16 => Value::U16(bits as u16),
        DType::U8 => Value::U8(bits as u8),
        other => panic!("the model has no {other}"),
    }
}

impl Value {
    pub fn bits(self) -> u64 {
        match self {
            Value::F32(x) => x.to_bits().into(),
            Value::F16(x) => x.to_bits().into(),
            Value::Bf16(x) => x.to_bits().into(),
            Value::I32(x) => x as u32 as u64,
            Value::I16(x) => x as u16 as u64,
            Value::I8(x) => x as u8 as u64,
            Value::U32(x) => x.into(),
            Value::U16(x) => x.into(),
            Value::U8(x) => x.into(),
        }
    }

    pub fn is_nan(self) -> bool {
        self.real().is_some_and(f64::is_nan)
    }

    /// The value of a float.
    pub fn real(self) -> Option<f64> {
        match self {
            Value::F32(x) => Some(x.into()),
            Value::F16(x) => Some(x.to_f64_const()),
            Value::Bf16(x) => Some(x.to_f64_const()),
            _ => None,
        }
    }

    /// The value of an integer.
    pub fn whole(self) -> i64 {
        match self {
            Value::I32(x) => x.into(),
            Value::I16(x) => x.into(),
            Value::I8(x) => x.into(),
            Value::U32(x) => x.into(),
            Value::U16(x) => x.into(),
            Value::U8(x) => x.into(),
            other => panic!("{other:?} is not an integer"),
        }
    }

    /// A real number rounded to this value's type.
    pub fn round(self, x: f64) -> Value {
        match self {
            Value::F32(_) => Value::F32(x as f32),
            Value::F16(_) => {
                Value::F16(f16::from_bits(nearest(x, 65520.0, |bits| f16::from_bits(bits).to_f64_const())))
            }
            Value::Bf16(_) => Value::Bf16(bf16::from_bits(nearest(x, 3.3961775292304957e38, |bits| {
                bf16::from_bits(bits).to_f64_const()
            }))),
            other => panic!("{other:?} is not a float"),
        }
    }

    /// An integer wrapped to this value's type.
    pub fn wrap(self, x: i64) -> Value {
        match self {
            Value::I32(_) => Value::I32(x as i32),
            Value::I16(_) => Value::I16(x as i16),
            Value::I8(_) => Value::I8(x as i8),
            Value::U32(_) => Value::U32(x as u32),
            Value::U16(_) => Value::U16(x as u16),
            Value::U8(_) => Value::U8(x as u8),
            other => panic!("{other:?} is not an integer"),
        }
    }

    pub fn less(self, other: Value) -> bool {
        match (self.real(), other.real()) {
            (Some(a), Some(b)) => a < b,
            _ => self.whole() < other.whole(),
        }
    }

    /// One arithmetic operation of the type. In double precision: wide enough that the second rounding of
    /// a sum, product, quotient or root of f32 values changes nothing.
    pub fn arith(self, op: char, other: Value) -> Value {
        if let (Some(a), Some(b)) = (self.real(), other.real()) {
            return self.round(match op {
                '+' => a + b,
                '-' => a - b,
                '*' => a * b,
                '/' => a / b,
                '>' => return if self.less(other) { other } else { self },
                '<' => return if other.less(self) { other } else { self },
                _ => panic!("no operation {op}"),
            });
        }
        let (a, b) = (self.whole(), other.whole());
        self.wrap(match op {
            '+' => a + b,
            '-' => a - b,
            // The product of two 32-bit numbers without a sign takes all 64 bits.
            '*' => a.wrapping_mul(b),
            '/' => a / b,
            '>' => a.max(b),
            '<' => a.min(b),
            _ => panic!("no operation {op}"),
        })
    }
}

/// Bits of the 16-bit float nearest to a real number, ties to even: by bisection over all of them, since the
/// conversion from f64 of the `half` crate ignores the low half of the number. From `limit` on it is infinite.
fn nearest(x: f64, limit: f64, value: impl Fn(u16) -> f64) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = x.abs();
    let infinity = (0..0x8000).rev().find(|&bits| value(bits).is_infinite()).unwrap();
    if x.is_nan() {
        return sign | (infinity + 1) | 0x240;
    }
    if magnitude >= limit {
        return sign | infinity;
    }
    let (mut low, mut high) = (0, infinity);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if value(middle) <= magnitude { low = middle } else { high = middle }
    }
    if high == infinity {
        return sign | low;
    }
    let (down, up) = (magnitude - value(low), value(high) - magnitude);
    let to_high = up < down || (up == down && high % 2 == 0);
    sign | if to_high { high } else { low }
}

/// Elements from a tile's base to (r, c): one line per layout.
pub fn offset(tile: &Tile, r: usize, c: usize) -> usize {
    let (rows, cols, size) = (tile.rows as usize, tile.cols as usize, tile.dtype.size());
    let (ir, ic) = match (tile.fractal, tile.inner) {
        (_, InnerOrder::NoneBox) => (1, 1),
        (1024, _) => (16, 16),
        (512, InnerOrder::RowMajor) => (16, 32 / size),
        (512, InnerOrder::ColMajor) => (32 / size, 16),
        (32, InnerOrder::RowMajor) => (16, 2),
        (32, InnerOrder::ColMajor) => (2, 16),
        other => panic!("no box {other:?}"),
    };
    let (n, br, rr, bc, cc) = (ir * ic, r / ir, r % ir, c / ic, c % ic);
    match (tile.block, tile.inner) {
        (BlockOrder::RowMajor, InnerOrder::NoneBox) => r * cols + c,
        (BlockOrder::ColMajor, InnerOrder::NoneBox) => c * rows + r,
        (BlockOrder::ColMajor, InnerOrder::RowMajor) => bc * rows * ic + br * n + rr * ic + cc,
        (BlockOrder::RowMajor, InnerOrder::ColMajor) => br * cols * ir + bc * n + cc * ir + rr,
        (BlockOrder::RowMajor, InnerOrder::RowMajor) => br * cols * ir + bc * n + rr * ic + cc,
        (BlockOrder::ColMajor, InnerOrder::ColMajor) => bc * rows * ic + br * n + cc * ir + rr,
    }
}

/// All memories of a core.
#[derive(Clone)]
pub struct Model {
    pub spaces: Vec<Vec<u8>>,
}

impl Model {
    fn at(&self, tile: &Tile, r: usize, c: usize) -> std::ops::Range<usize> {
        let start = tile.addr as usize + offset(tile, r, c) * tile.dtype.size();
        start..start + tile.dtype.size()
    }

    pub fn bits(&self, tile: &Tile, r: usize, c: usize) -> u64 {
        let mut bytes = [0; 8];
        let range = self.at(tile, r, c);
        bytes[..range.len()].copy_from_slice(&self.spaces[tile.space as usize][range]);
        u64::from_le_bytes(bytes)
    }

    pub fn set_bits(&mut self, tile: &Tile, r: usize, c: usize, bits: u64) {
        let range = self.at(tile, r, c);
        let bytes = bits.to_le_bytes();
        self.spaces[tile.space as usize][range.clone()].copy_from_slice(&bytes[..range.len()]);
    }

    pub fn get(&self, tile: &Tile, r: usize, c: usize) -> Value {
        decode(tile.dtype, self.bits(tile, r, c))
    }

    /// Computes every element of a region from the memories as they were, then writes them.
    pub fn compute(
        &mut self,
        dst: &Tile,
        rows: usize,
        cols: usize,
        mut f: impl FnMut(&Model, usize, usize) -> u64,
    ) {
        let mut results = Vec::new();
        for r in 0..rows {
            for c in 0..cols {
                results.push((r, c, f(self, r, c)));
            }
        }
        for (r, c, bits) in results {
            self.set_bits(dst, r, c, bits);
        }
    }

    pub fn space(&self, space: Space) -> &[u8] {
        &self.spaces[space as usize]
    }
}
