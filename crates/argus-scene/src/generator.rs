//! Numbers for inputs that are the same bits on every machine.
//!
//! Only integer arithmetic and exactly rounded float operations are used: no `exp`, `ln` or `cos`, whose last
//! bit differs between maths libraries. Every argument has its own generator, so adding an argument to a
//! scene leaves the values of the others alone.

use half::bf16;

/// SplitMix64, seeded by a name.
///
/// Its 64 bits of state and two multiplications are plenty for test data, and it needs no warm-up.
#[derive(Clone, Debug)]
pub struct Generator {
    state: u64,
}

impl Generator {
    /// A generator whose values depend on `seed` alone.
    pub fn new(seed: &str) -> Self {
        Self { state: fnv1a(seed.as_bytes()) }
    }

    /// The generator of one argument of one case.
    pub fn for_argument(scene: &str, case: &str, argument: &str) -> Self {
        Self::new(&format!("{scene}/{case}/{argument}"))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform from `lo` up to `hi`; `hi` itself can appear, by rounding only.
    pub fn uniform_f32(&mut self, lo: f32, hi: f32) -> f32 {
        // 24 bits: as many as the significand of an f32 holds, so the fraction is exact.
        let fraction = (self.next_u64() >> 40) as f32 / (1u32 << 24) as f32;
        lo + fraction * (hi - lo)
    }

    /// Mean 0 and variance 1, always inside -6..6: the Irwin–Hall sum of 12 uniforms, minus 6.
    ///
    /// Each uniform is a 21-bit integer (three per draw). Their sum is exact, so the one rounding is the
    /// conversion to f32.
    pub fn normal_f32(&mut self) -> f32 {
        const BITS: u32 = 21;
        const MASK: u64 = (1 << BITS) - 1;
        // Twelve times the mean of a 21-bit integer.
        const CENTRE: i32 = 6 * MASK as i32;
        let mut sum = 0;
        for _ in 0..4 {
            let draw = self.next_u64();
            sum += (draw & MASK) + ((draw >> BITS) & MASK) + ((draw >> (2 * BITS)) & MASK);
        }
        (sum as i32 - CENTRE) as f32 / (1u32 << BITS) as f32
    }

    /// Uniform in `0..n`, without bias worth the name: the top half of a 64 x 32 bit product.
    ///
    /// # Panics
    /// If `n` is 0: no number is below it.
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "no number is below 0");
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u32
    }

    /// `count` values of [`uniform_f32`](Self::uniform_f32).
    pub fn uniform_vec_f32(&mut self, count: usize, lo: f32, hi: f32) -> Vec<f32> {
        (0..count).map(|_| self.uniform_f32(lo, hi)).collect()
    }

    /// `count` values of [`uniform_f32`](Self::uniform_f32), rounded to nearest even, as bf16 bits.
    pub fn uniform_vec_bf16(&mut self, count: usize, lo: f32, hi: f32) -> Vec<u16> {
        (0..count).map(|_| bf16::from_f32(self.uniform_f32(lo, hi)).to_bits()).collect()
    }

    /// `count` values of [`normal_f32`](Self::normal_f32), each times `scale`.
    pub fn normal_vec_f32(&mut self, count: usize, scale: f32) -> Vec<f32> {
        (0..count).map(|_| self.normal_f32() * scale).collect()
    }

    /// `count` values of [`below`](Self::below), for index tensors.
    ///
    /// # Panics
    /// If `n` is 0 or above `i32::MAX`.
    pub fn below_vec_i32(&mut self, count: usize, n: u32) -> Vec<i32> {
        assert!(i32::try_from(n).is_ok(), "indices below {n} do not all fit an i32");
        (0..count).map(|_| self.below(n) as i32).collect()
    }
}

/// FNV-1a, 64 bits: spreads names that differ in one letter over unrelated seeds.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_hashed_as_fnv1a_defines() {
        // Published test vectors.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn bits_are_those_splitmix64_defines() {
        // Published sequence for state 1234567.
        let mut generator = Generator { state: 1_234_567 };
        assert_eq!(generator.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(generator.next_u64(), 3_203_168_211_198_807_973);
        assert_eq!(generator.next_u64(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn first_values_never_change() {
        // Computed apart from this code, in arbitrary precision.
        let mut generator = Generator::for_argument("paged_attention", "CaseSmall1", "query");
        assert_eq!(generator.uniform_f32(-0.5, 0.5).to_bits(), 0x3EB3_C8EA);
        assert_eq!(generator.normal_f32().to_bits(), 0xBFDE_2E68);
        assert_eq!(generator.below(1000), 702);
        assert_eq!(generator.uniform_vec_bf16(2, -1.0, 1.0), [0xBE88, 0x3F34]);
        assert_eq!(generator.below_vec_i32(4, 3), [1, 2, 1, 1]);
    }

    #[test]
    fn every_part_of_the_name_matters() {
        let first = |scene, case, argument| Generator::for_argument(scene, case, argument).next_u64();
        let base = first("s", "c", "a");
        assert_eq!(base, first("s", "c", "a"));
        assert_ne!(base, first("t", "c", "a"));
        assert_ne!(base, first("s", "d", "a"));
        assert_ne!(base, first("s", "c", "b"));
    }

    fn mean_and_variance(values: &[f32]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / count;
        let variance = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / count;
        (mean, variance)
    }

    #[test]
    fn uniform_fills_its_range_evenly() {
        let values = Generator::new("uniform").uniform_vec_f32(100_000, -1.0, 3.0);
        assert!(values.iter().all(|&v| (-1.0..=3.0).contains(&v)));
        let (mean, variance) = mean_and_variance(&values);
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((variance - 16.0 / 12.0).abs() < 0.02, "{variance}");
    }

    #[test]
    fn normal_has_the_moments_and_shares_of_a_normal() {
        let values = Generator::new("normal").normal_vec_f32(100_000, 1.0);
        let (mean, variance) = mean_and_variance(&values);
        assert!(mean.abs() < 0.015, "{mean}");
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
        let share = |limit: f32| values.iter().filter(|v| v.abs() < limit).count() as f64 / 100_000.0;
        assert!((share(1.0) - 0.683).abs() < 0.01, "{}", share(1.0));
        assert!((share(2.0) - 0.954).abs() < 0.01, "{}", share(2.0));
        assert_eq!(share(6.0), 1.0);
    }

    #[test]
    fn below_reaches_every_value_equally_often() {
        let mut counts = [0u32; 7];
        let mut generator = Generator::new("below");
        for _ in 0..70_000 {
            counts[generator.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert!((0..100).all(|_| generator.below(1) == 0));
    }

    #[test]
    #[should_panic(expected = "no number is below 0")]
    fn nothing_is_below_zero() {
        Generator::new("x").below(0);
    }
}
