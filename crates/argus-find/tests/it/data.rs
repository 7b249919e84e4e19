//! Payloads for tests: random bits with a taste for what goes wrong.

use argus_abi::DType;

/// Random numbers that are the same each time.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 32)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    /// Between -1 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// The bits that come closest to a value, for dtypes in which tests think in values.
pub fn bits_of(dtype: DType, value: f64) -> u64 {
    match dtype {
        DType::F32 => u64::from((value as f32).to_bits()),
        DType::F16 => u64::from(half::f16::from_f64(value).to_bits()),
        DType::Bf16 => u64::from(half::bf16::from_f64(value).to_bits()),
        DType::Fp8E4M3Fn | DType::Fp4E2M1 | DType::Fp8E8M0 => {
            let all = 0..1u64 << dtype.bits();
            let distance = |&bits: &u64| (argus_facts::number::number(dtype, bits).as_f64() - value).abs();
            all.filter(|bits| !distance(bits).is_nan())
                .min_by(|one, other| distance(one).total_cmp(&distance(other)))
                .unwrap()
        }
        _ => value as i64 as u64 & (u64::MAX >> (64 - dtype.bits())),
    }
}

pub fn pack(dtype: DType, bits: &[u64]) -> Vec<u8> {
    if dtype.bits() == 4 {
        return bits.chunks(2).map(|two| (two[0] | two.get(1).unwrap_or(&0) << 4) as u8).collect();
    }
    bits.iter().flat_map(|bits| bits.to_le_bytes()[..dtype.size()].to_vec()).collect()
}

/// Bits with more zeros, limits, NaN and infinities than chance would give.
pub fn odd_bits(dtype: DType, dice: &mut Dice) -> u64 {
    let mask = u64::MAX >> (64 - dtype.bits());
    let sign = 1u64 << (dtype.bits() - 1);
    let special: &[u64] = match dtype {
        DType::F32 => &[0, 1, 0x7f_ffff, 0x7f80_0000, 0x7fc0_0000, 0x7f80_0001, 0x7f7f_ffff],
        DType::F16 => &[0, 1, 0x3ff, 0x7c00, 0x7e00, 0x7c01, 0x7bff],
        DType::Bf16 => &[0, 1, 0x7f, 0x7f80, 0x7fc0, 0x7f81, 0x7f7f],
        _ => &[0, 1, 0x7f, 0xff, u64::MAX >> 1],
    };
    match dice.below(8) {
        0 => (special[dice.below(special.len() as u64) as usize] | (dice.roll() & sign)) & mask,
        1 => dice.roll() & mask,
        _ => bits_of(dtype, dice.unit() * 8.0),
    }
}
