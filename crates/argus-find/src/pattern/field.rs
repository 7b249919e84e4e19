//! The wrong elements of a pair, and how likely chance is.

use argus_abi::DType;
use argus_facts::number::{Number, number};
use rayon::prelude::*;

use super::{Confidence, Finding, Pattern};
use crate::metrics::{Pair, Tolerance, raw_bits, wrong_elements};

/// Wrong elements that stand for all of them when a hypothesis is tried.
const SAMPLE: usize = 256;
/// Comparisons of unrelated elements that tell how often chance agrees.
const CONTROLS: usize = 4096;
/// Such comparisons for each element of the sample, at most.
const CONTROLS_EACH: usize = 64;
/// A pattern must explain so much of what is wrong.
pub(super) const MOST: f64 = 0.95;
/// Bits of evidence: chance would show it once in a million ...
const LIKELY_BITS: f64 = 20.0;
/// ... or once in a million millions.
const STRONG_BITS: f64 = 40.0;
/// Words of the set that a thread takes at a time.
const WORDS: usize = 1 << 12;

/// A pair seen as a matrix, with the set of its wrong elements.
pub(super) struct Field<'a> {
    pub(super) pair: &'a Pair<'a>,
    pub(super) dtype: DType,
    pub(super) tolerance: &'a Tolerance,
    pub(super) elements: usize,
    /// The product of all dimensions but the last.
    pub(super) rows: usize,
    /// The last dimension.
    pub(super) columns: usize,
    /// How many elements are wrong.
    pub(super) count: u64,
    /// Some of them, in order, from all over the payload.
    pub(super) sample: Vec<usize>,
    wrong: Vec<u64>,
}

impl<'a> Field<'a> {
    pub(super) fn new(pair: &'a Pair<'a>, tolerance: &'a Tolerance) -> Field<'a> {
        let elements = pair.elements() as usize;
        let columns = pair.shape().last().map_or(elements, |&columns| columns as usize).max(1);
        let wrong = wrong_elements(pair, tolerance);
        let count = wrong.iter().map(|word| u64::from(word.count_ones())).sum();
        let mut field = Field {
            pair,
            dtype: pair.dtype(),
            tolerance,
            elements,
            rows: elements / columns,
            columns,
            count,
            sample: Vec::new(),
            wrong,
        };
        field.sample = field.pick();
        field
    }

    /// All wrong elements, in order.
    pub(super) fn wrong(&self) -> impl Iterator<Item = usize> + '_ {
        self.wrong.iter().enumerate().flat_map(|(at, &word)| bits_of(at, word))
    }

    /// How many wrong elements `holds` for.
    pub(super) fn count_wrong(&self, holds: impl Fn(usize) -> bool + Sync) -> u64 {
        let in_words = |first: usize, words: &[u64]| -> u64 {
            let each = (first..).zip(words).flat_map(|(at, &word)| bits_of(at, word));
            each.filter(|&index| holds(index)).count() as u64
        };
        if self.wrong.len() <= WORDS {
            return in_words(0, &self.wrong);
        }
        let chunks = self.wrong.par_chunks(WORDS).enumerate();
        chunks.map(|(chunk, words)| in_words(chunk * WORDS, words)).sum()
    }

    /// Every so many wrong elements, so that they come from all over.
    fn pick(&self) -> Vec<usize> {
        let step = self.count.div_ceil(SAMPLE as u64).max(1);
        // The step varies, so that it does not fall in with the length of rows.
        let mut next = 0;
        let mut picked = Vec::new();
        for (number, index) in self.wrong().enumerate() {
            if number as u64 == next {
                picked.push(index);
                next += 1 + (scatter(number as u64) % (2 * step - 1));
            }
        }
        picked
    }

    pub(super) fn actual_bits(&self, index: usize) -> u64 {
        raw_bits(self.dtype, self.pair.actual(), index)
    }

    pub(super) fn expected_bits(&self, index: usize) -> u64 {
        raw_bits(self.dtype, self.pair.expected(), index)
    }

    pub(super) fn actual(&self, index: usize) -> f64 {
        number(self.dtype, self.actual_bits(index)).as_f64()
    }

    pub(super) fn expected(&self, index: usize) -> f64 {
        number(self.dtype, self.expected_bits(index)).as_f64()
    }

    /// Whether what came at one place is what should be at another.
    pub(super) fn agrees(&self, actual: usize, expected: usize) -> bool {
        let of = |bits| number(self.dtype, bits);
        match (of(self.actual_bits(actual)), of(self.expected_bits(expected))) {
            (Number::Float(actual), Number::Float(expected)) => self.close(actual, expected),
            (actual, expected) if self.tolerance.rtol() == 0.0 && self.tolerance.atol() < 1.0 => {
                actual == expected
            }
            (actual, expected) => self.close(actual.as_f64(), expected.as_f64()),
        }
    }

    pub(super) fn close(&self, actual: f64, expected: f64) -> bool {
        actual == expected
            || (actual - expected).abs() <= self.tolerance.atol() + self.tolerance.rtol() * expected.abs()
                && expected.is_finite()
    }

    /// How often `holds` for a wrong element and an unrelated one; never quite zero.
    pub(super) fn chance(&self, holds: impl Fn(usize, usize) -> bool) -> f64 {
        let each = (CONTROLS / self.sample.len().max(1)).clamp(1, CONTROLS_EACH);
        let mut hits = 0u64;
        let mut trials = 0u64;
        for (number, &index) in self.sample.iter().enumerate() {
            // Few elements are all met once: meeting them again would look like more than it is.
            for control in 0..each.min(self.elements) {
                let seed = (number * CONTROLS_EACH + control) as u64;
                let other =
                    if each < self.elements { scatter(seed) as usize % self.elements } else { control };
                // An element is related to itself.
                if other != index {
                    trials += 1;
                    hits += u64::from(holds(index, other));
                }
            }
        }
        (hits + 1) as f64 / (trials + 2) as f64
    }

    /// How often `holds` for any element; never quite zero.
    pub(super) fn share(&self, holds: impl Fn(usize) -> bool) -> f64 {
        let trials = CONTROLS.min(self.elements);
        let step = self.elements / trials.max(1);
        let hits = (0..trials).filter(|&trial| holds(trial * step)).count();
        (hits + 1) as f64 / (trials + 2) as f64
    }

    /// Whether a hypothesis holds for most of the sample.
    pub(super) fn plausible(&self, holds: impl Fn(usize) -> bool) -> bool {
        let allowed = (self.sample.len() as f64 * (1.0 - MOST)) as usize;
        let mut misses = 0;
        self.sample.iter().all(|&index| {
            misses += usize::from(!holds(index));
            misses <= allowed
        })
    }
}

/// The elements of one word of a set.
fn bits_of(at: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < 64).then_some(at * 64 + bit as usize)
    })
}

/// A number that looks like chance and is the same each time.
pub(super) fn scatter(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// The evidence that `matches` of `of` elements match when each would by chance `chance`, after `tried`
/// hypotheses: the bound of Chernoff on how rarely chance does so well, in bits.
pub(super) fn evidence_bits(matches: u64, of: u64, chance: f64, tried: u64) -> f64 {
    let rate = matches as f64 / of.max(1) as f64;
    if rate <= chance {
        return 0.0;
    }
    let part = |rate: f64, chance: f64| if rate == 0.0 { 0.0 } else { rate * (rate / chance).log2() };
    of as f64 * (part(rate, chance) + part(1.0 - rate, 1.0 - chance)) - (tried.max(1) as f64).log2()
}

/// How sure so many bits of evidence are, or `None` if they are too few.
pub(super) fn confidence(bits: f64) -> Option<Confidence> {
    match bits {
        _ if bits >= STRONG_BITS => Some(Confidence::Strong),
        _ if bits >= LIKELY_BITS => Some(Confidence::Likely),
        _ => None,
    }
}

/// A finding, if its evidence is enough and it explains most of what it should.
pub(super) fn finding(
    pattern: Pattern,
    bits: f64,
    explains: u64,
    of: u64,
    evidence: impl FnOnce() -> String,
) -> Option<Finding> {
    let confidence = confidence(bits)?;
    (explains as f64 >= MOST * of as f64 && explains > 0).then(|| Finding {
        pattern,
        confidence,
        explains,
        evidence: evidence(),
    })
}
