//! Absolute errors counted by decade.

use serde::Serialize;

/// The smallest decade: two f32 that differ are at least 1.4e-45 apart.
const LOWEST: i32 = -45;
/// Decades up to 10^38: two f32 are at most 6.8e38 apart, two 64-bit integers less.
const DECADES: usize = 84;

/// How many errors lie in `10^exponent <= error < 10^(exponent + 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Decade {
    pub exponent: i32,
    pub count: u64,
}

/// Absolute errors of finite elements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// Elements without any error.
    pub zero: u64,
    /// Decades with at least one error, small ones first.
    pub decades: Vec<Decade>,
}

/// The histogram while it is counted: errors of zero, then the decades.
#[derive(Clone)]
pub(super) struct Counts([u64; 1 + DECADES]);

impl Counts {
    pub(super) fn new() -> Counts {
        Counts([0; 1 + DECADES])
    }

    /// Counts a finite error that is not negative.
    #[inline]
    pub(super) fn add(&mut self, error: f64) {
        self.0[place(error)] += 1;
    }

    pub(super) fn join(&mut self, later: &Counts) {
        for (sum, count) in self.0.iter_mut().zip(&later.0) {
            *sum += count;
        }
    }

    pub(super) fn finish(&self) -> Histogram {
        let [zero, decades @ ..] = &self.0;
        let filled = decades.iter().zip(LOWEST..).filter(|&(&count, _)| count > 0);
        Histogram {
            zero: *zero,
            decades: filled.map(|(&count, exponent)| Decade { exponent, count }).collect(),
        }
    }
}

/// Where an error is counted, without a branch: from one power of two to the next there is at most one bound.
#[inline]
fn place(error: f64) -> usize {
    let octave = &OCTAVES[(error.to_bits() >> 52) as usize & 0x7ff];
    usize::from(octave.place) + usize::from(error >= octave.next)
}

/// The errors between two powers of two.
#[derive(Clone, Copy)]
struct Octave {
    /// The place of the smallest of them.
    place: u8,
    /// Where the next place begins.
    next: f64,
}

/// By exponent of an f64. The lowest has zero only: errors are multiples of 2^-149.
static OCTAVES: [Octave; 2048] = {
    let mut octaves = [Octave { place: 0, next: f64::INFINITY }; 2048];
    let mut exponent = 1;
    while exponent < 2047 {
        let smallest = f64::from_bits((exponent as u64) << 52);
        let mut decade = 0;
        while decade + 1 < DECADES && POWERS[decade + 1] <= smallest {
            decade += 1;
        }
        let next = if decade + 1 < DECADES { POWERS[decade + 1] } else { f64::INFINITY };
        octaves[exponent] = Octave { place: 1 + decade as u8, next };
        exponent += 1;
    }
    octaves
};

/// The lower bound of each decade. Literals, because a computed power of ten may be off by a bit.
#[rustfmt::skip]
const POWERS: [f64; DECADES] = [
    1e-45, 1e-44, 1e-43, 1e-42, 1e-41, 1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32,
    1e-31, 1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18,
    1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4,
    1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
    1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24,
    1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_opens_its_decade_and_ends_the_one_below() {
        for (index, &power) in POWERS.iter().enumerate() {
            assert_eq!(power, format!("1e{}", LOWEST + index as i32).parse::<f64>().unwrap());
            assert_eq!(place(power), 1 + index);
            assert_eq!(place(power.next_down()), index.max(1));
            assert_eq!(place(power * 3.0), 1 + index);
        }
        assert_eq!(place(6.8e38), DECADES);
        assert_eq!(place(f64::MAX), DECADES);
        assert_eq!(place(2f64.powi(-149)), 1);
        assert_eq!(place(0.0), 0);
    }

    #[test]
    fn only_filled_decades_are_reported() {
        let mut counts = Counts::new();
        [0.0, 0.0, 0.02, 0.05, 700.0].into_iter().for_each(|error| counts.add(error));
        let histogram = counts.finish();
        assert_eq!(histogram.zero, 2);
        let decades = [Decade { exponent: -2, count: 2 }, Decade { exponent: 2, count: 1 }];
        assert_eq!(histogram.decades, decades);
    }
}
