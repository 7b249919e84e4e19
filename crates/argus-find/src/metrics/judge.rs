//! The pass over every pair: equal, within, or beyond, and where.
//!
//! A payload is cut into chunks for the threads and each chunk into blocks that fit the first-level cache.
//! Equal blocks are skipped, clear ones take the fastest loops of `screen`, others are counted; only blocks
//! with the first or a new worst element, or with NaN or infinities, are looked at element by element. Cuts depend on the length alone, and results are joined in order, so the answer does not depend on
//! who computed what.

use argus_facts::number::Number;
use rayon::prelude::*;
use serde::Serialize;

use super::format::{Compared, Format, Limits, with_format};
use super::pair::{Pair, number_or_name};
use super::screen;
use super::tolerance::Tolerance;

/// Bytes of one side that a thread takes at a time.
pub(super) const CHUNK: usize = 1 << 20;
/// Bytes of one side in a block; both sides fit the first-level cache.
const BLOCK: usize = 1 << 13;

/// Elements whose bits are unpacked at a time.
pub(super) const BATCH: usize = 512;

/// What became of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every bit is the same.
    BitEqual,
    /// Not the same, but nothing that the tolerance does not allow.
    Within,
    /// More than the tolerance allows.
    Beyond,
}

/// Elements in which a NaN or an infinity meets something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NonFinite {
    /// NaN that should be something else, an infinity included.
    pub nan_actual: u64,
    /// Something else that should be NaN.
    pub nan_expected: u64,
    /// An infinity that should be finite.
    pub inf_actual: u64,
    /// A finite value that should be an infinity.
    pub inf_expected: u64,
    /// An infinity of the wrong sign.
    pub inf_opposite: u64,
    /// NaN on both sides, counted if the tolerance does not take that for agreement.
    pub nan_both: u64,
}

impl NonFinite {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.nan_actual
            + self.nan_expected
            + self.inf_actual
            + self.inf_expected
            + self.inf_opposite
            + self.nan_both
    }

    fn join(&mut self, later: &NonFinite) {
        self.nan_actual += later.nan_actual;
        self.nan_expected += later.nan_expected;
        self.inf_actual += later.inf_actual;
        self.inf_expected += later.inf_expected;
        self.inf_opposite += later.inf_opposite;
        self.nan_both += later.nan_both;
    }
}

/// What the judging pass found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    pub verdict: Verdict,
    pub elements: u64,
    /// Elements that do not agree, those of `non_finite` included unless the tolerance ignores them.
    pub beyond: u64,
    pub non_finite: NonFinite,
    /// The largest distance of two finite elements.
    #[serde(serialize_with = "number_or_name")]
    pub max_abs: Number,
    /// Flat index of the first element that does not agree.
    pub first: Option<u64>,
    /// Flat index of the worst one: the first with NaN or infinity against something else, otherwise the first
    /// of those with the largest distance.
    pub worst: Option<u64>,
}

/// Judges a pair. Small pairs stay on the calling thread.
pub fn judge(pair: &Pair<'_>, tolerance: &Tolerance) -> Judgement {
    with_format!(pair.dtype(), format => judge_as(pair, tolerance, format))
}

fn judge_as<F: Format>(pair: &Pair<'_>, tolerance: &Tolerance, format: F) -> Judgement {
    let judge = Judge::new(pair, tolerance, format);
    let tally = in_chunks(pair, &|from, to| judge.chunk(from, to)).into_iter().fold(
        Tally::new(),
        |mut all, later| {
            all.join(&later);
            all
        },
    );
    tally.finish::<F>(pair, tolerance)
}

/// One bit for each element, set if it does not agree; the first element is the lowest bit of the first word.
pub(crate) fn wrong_elements(pair: &Pair<'_>, tolerance: &Tolerance) -> Vec<u64> {
    with_format!(pair.dtype(), format => {
        let judge = Judge::new(pair, tolerance, format);
        in_chunks(pair, &|from, to| judge.wrong(from, to)).concat()
    })
}

/// Runs `work` over all chunks, given as ranges of bytes, and returns what it gave in their order.
///
/// One call per chunk is dynamic, so that the threading is compiled once and not for each element type.
pub(super) fn in_chunks<T: Send>(pair: &Pair<'_>, work: &(dyn Fn(usize, usize) -> T + Sync)) -> Vec<T> {
    let bytes = pair.actual().len();
    if bytes <= CHUNK {
        return vec![work(0, bytes)];
    }
    (0..bytes.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| work(chunk * CHUNK, bytes.min((chunk + 1) * CHUNK)))
        .collect()
}

/// The elements in a range of bytes that begins with a whole element.
fn elements_of(pair: &Pair<'_>, from: usize, to: usize) -> std::ops::Range<usize> {
    let bits = pair.dtype().bits() as usize;
    // Multiplied after the division: eight times a length may not fit.
    let at = |byte: usize| if bits < 8 { byte * (8 / bits) } else { byte / (bits / 8) };
    at(from)..at(to).min(pair.elements() as usize)
}

/// A pair and how to judge it.
pub(super) struct Judge<'a, F> {
    pair: &'a Pair<'a>,
    format: F,
    limits: Limits,
    tolerance: &'a Tolerance,
}

impl<'a, F: Format> Judge<'a, F> {
    pub(super) fn new(pair: &'a Pair<'a>, tolerance: &'a Tolerance, format: F) -> Judge<'a, F> {
        Judge { pair, format, limits: Limits::from_tolerance(tolerance), tolerance }
    }

    fn chunk(&self, from: usize, to: usize) -> Tally<F::Distance> {
        let mut tally = Tally::new();
        for start in (from..to).step_by(BLOCK) {
            let end = to.min(start + BLOCK);
            let (actual, expected) = (&self.pair.actual()[start..end], &self.pair.expected()[start..end]);
            let equal = self.pair.same_bits(start, end);
            tally.bits_differ |= !equal;
            // NaN equals NaN unless asked otherwise; then equal bytes say nothing.
            if equal && self.tolerance.equal_nan() {
                continue;
            }
            match self.format.screen(actual, expected, &self.limits, tally.max) {
                Some(max) => tally.see(max),
                None => for_batches(self.pair, self.format, start, end, |base, actual, expected| {
                    self.look(base, actual, expected, &mut tally);
                }),
            }
        }
        tally
    }

    /// Counts the elements of a batch and finds those that must be named. Whether all are finite.
    pub(super) fn look(
        &self,
        base: usize,
        actual: &[u64],
        expected: &[u64],
        tally: &mut Tally<F::Distance>,
    ) -> bool {
        let counted = screen::count(self.format, actual, expected, &self.limits);
        let new_worst = tally.worst.is_none_or(|(worst, _)| Badness::Apart(counted.worst) > worst);
        let named = counted.beyond > 0 && (tally.first.is_none() || new_worst);
        if named || !counted.finite {
            self.look_at_each(base, actual, expected, tally);
        } else {
            tally.see(counted.largest);
            tally.beyond += counted.beyond;
        }
        counted.finite
    }

    fn wrong(&self, from: usize, to: usize) -> Vec<u64> {
        // A chunk and a batch hold whole words of elements of any dtype.
        let mut words = Vec::new();
        for_batches(self.pair, self.format, from, to, |_, actual, expected| {
            for (actual, expected) in actual.chunks(64).zip(expected.chunks(64)) {
                let pairs = actual.iter().zip(expected).enumerate();
                words.push(pairs.fold(0, |word, (bit, (&actual, &expected))| {
                    let wrong = match self.format.compare(actual, expected) {
                        Compared::Apart(distance) => self.format.beyond(distance, expected, &self.limits),
                        other => NonFinite::default().count(&other, self.tolerance),
                    };
                    word | u64::from(wrong) << bit
                }));
            }
        });
        words
    }

    fn look_at_each(&self, base: usize, actual: &[u64], expected: &[u64], tally: &mut Tally<F::Distance>) {
        for (index, (&actual, &expected)) in (base..).zip(actual.iter().zip(expected)) {
            let compared = self.format.compare(actual, expected);
            if let Compared::Apart(distance) = compared {
                tally.see(distance);
                if self.format.beyond(distance, expected, &self.limits) {
                    tally.offend(index, Badness::Apart(distance));
                }
            } else if tally.non_finite.count(&compared, self.tolerance) {
                tally.offend(index, Badness::NonFinite);
            }
        }
    }
}

/// Calls `each` with the first index and both sides' bits, for all elements in a range of bytes that begins
/// with a whole one.
pub(super) fn for_batches<F: Format>(
    pair: &Pair<'_>,
    format: F,
    from: usize,
    to: usize,
    mut each: impl FnMut(usize, &[u64], &[u64]),
) {
    let elements = elements_of(pair, from, to);
    let (mut actual, mut expected) = ([0; BATCH], [0; BATCH]);
    let batch_bytes = BATCH * pair.dtype().bits() as usize / 8;
    for (batch, start) in elements.clone().step_by(BATCH).enumerate() {
        let count = BATCH.min(elements.end - start);
        let (actual, expected) = (&mut actual[..count], &mut expected[..count]);
        let byte = from + batch * batch_bytes;
        screen::unpack(format, &pair.actual()[byte..to], actual);
        screen::unpack(format, &pair.expected()[byte..to], expected);
        each(start, actual, expected);
    }
}

impl NonFinite {
    /// Counts an element that is not finite on both sides. Whether it does not agree.
    fn count<D>(&mut self, compared: &Compared<D>, tolerance: &Tolerance) -> bool {
        let counter = match compared {
            Compared::Apart(_) | Compared::InfBoth => return false,
            Compared::NanBoth if tolerance.equal_nan() => return false,
            Compared::NanBoth => &mut self.nan_both,
            Compared::NanActual => &mut self.nan_actual,
            Compared::NanExpected => &mut self.nan_expected,
            Compared::InfActual => &mut self.inf_actual,
            Compared::InfExpected => &mut self.inf_expected,
            Compared::InfOpposite => &mut self.inf_opposite,
        };
        *counter += 1;
        !tolerance.ignores_non_finite()
    }
}

/// How bad an element is: nothing is worse than a NaN or an infinity in the wrong place.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Badness<D> {
    Apart(D),
    NonFinite,
}

/// What was counted so far, in the order of elements.
#[derive(Clone, Copy)]
pub(super) struct Tally<D> {
    pub(super) bits_differ: bool,
    beyond: u64,
    non_finite: NonFinite,
    max: D,
    first: Option<u64>,
    worst: Option<(Badness<D>, u64)>,
}

impl<D: Copy + PartialOrd + Default> Tally<D> {
    pub(super) fn new() -> Tally<D> {
        Tally {
            bits_differ: false,
            beyond: 0,
            non_finite: NonFinite::default(),
            max: D::default(),
            first: None,
            worst: None,
        }
    }

    #[inline(always)]
    fn see(&mut self, distance: D) {
        self.max = if distance > self.max { distance } else { self.max };
    }

    fn offend(&mut self, index: usize, badness: Badness<D>) {
        self.beyond += 1;
        self.first.get_or_insert(index as u64);
        if self.worst.is_none_or(|(worst, _)| badness > worst) {
            self.worst = Some((badness, index as u64));
        }
    }

    pub(super) fn join(&mut self, later: &Tally<D>) {
        self.bits_differ |= later.bits_differ;
        self.beyond += later.beyond;
        self.non_finite.join(&later.non_finite);
        self.see(later.max);
        self.first = self.first.or(later.first);
        if let Some((badness, index)) = later.worst
            && self.worst.is_none_or(|(worst, _)| badness > worst)
        {
            self.worst = Some((badness, index));
        }
    }

    pub(super) fn finish<F: Format<Distance = D>>(self, pair: &Pair<'_>, tolerance: &Tolerance) -> Judgement {
        let never_excused = if tolerance.ignores_non_finite() { 0 } else { self.non_finite.total() };
        let outliers = self.beyond - never_excused;
        let verdict = if never_excused > 0 || outliers > tolerance.budget(pair.elements()) {
            Verdict::Beyond
        } else if self.bits_differ {
            Verdict::Within
        } else {
            Verdict::BitEqual
        };
        Judgement {
            verdict,
            elements: pair.elements(),
            beyond: self.beyond,
            non_finite: self.non_finite,
            max_abs: F::as_number(self.max),
            first: self.first,
            worst: self.worst.map(|(_, index)| index),
        }
    }
}

#[cfg(test)]
mod tests {
    use argus_abi::DType;

    use super::*;

    fn judged(actual: &[f32], expected: &[f32], tolerance: Tolerance) -> Judgement {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let (actual, expected) = (bytes(actual), bytes(expected));
        judge(&Pair::new(DType::F32, actual.len() as u64 / 4, &actual, &expected).unwrap(), &tolerance)
    }

    fn within(rtol: f64, atol: f64, actual: f32, expected: f32) -> bool {
        judged(&[actual], &[expected], Tolerance::new(rtol, atol).unwrap()).verdict != Verdict::Beyond
    }

    #[test]
    fn the_limit_itself_passes() {
        // 0.5 + 0.25 * |-8| = 2.5, all exact in binary.
        assert!(within(0.25, 0.5, -10.5, -8.0));
        assert!(!within(0.25, 0.5, (-10.5f32).next_down(), -8.0));
        // What was expected sets the scale, not what came.
        assert!(!within(0.25, 0.5, -8.0, -5.5));
    }

    #[test]
    fn f32_distances_are_taken_in_f64() {
        // In f32 the difference of these would be infinite.
        assert!(within(2.0, 0.0, f32::MAX, -f32::MAX));
        assert!(!within(1.9, 0.0, f32::MAX, -f32::MAX));
    }

    #[test]
    fn equal_bits_equal_values_and_the_rest_have_their_verdicts() {
        let verdict = |actual: f32, expected: f32| judged(&[actual], &[expected], Tolerance::EXACT).verdict;
        assert_eq!(verdict(1.0, 1.0), Verdict::BitEqual);
        assert_eq!(verdict(-0.0, 0.0), Verdict::Within);
        assert_eq!(verdict(1.0, 1.5), Verdict::Beyond);
        assert_eq!(judged(&[], &[], Tolerance::EXACT).verdict, Verdict::BitEqual);
    }

    #[test]
    fn nan_and_infinities_agree_with_themselves_only() {
        const INF: f32 = f32::INFINITY;
        const NAN: f32 = f32::NAN;
        // Another NaN is a NaN too.
        let other_nan = f32::from_bits(0xffc0_1234);
        let actual = [NAN, INF, NAN, 1.0, INF, 1.0, -INF, NAN];
        let expected = [other_nan, INF, 1.0, NAN, 1.0, INF, INF, INF];
        let wide = Tolerance::new(1.0, 1e30).unwrap().with_outliers(0.99).unwrap();
        let found = judged(&actual, &expected, wide);
        assert_eq!((found.verdict, found.beyond), (Verdict::Beyond, 6));
        let counts = NonFinite {
            nan_actual: 2,
            nan_expected: 1,
            inf_actual: 1,
            inf_expected: 1,
            inf_opposite: 1,
            nan_both: 0,
        };
        assert_eq!(found.non_finite, counts);
        assert_eq!((found.first, found.worst), (Some(2), Some(2)));
        assert_eq!(found.max_abs, Number::Float(0.0));
    }

    #[test]
    fn nan_against_nan_is_wrong_if_asked_for() {
        let both = [1.0, f32::NAN];
        let strict = Tolerance::EXACT.with_equal_nan(false);
        let found = judged(&both, &both, strict);
        assert_eq!((found.verdict, found.beyond, found.first), (Verdict::Beyond, 1, Some(1)));
        assert_eq!(found.non_finite.nan_both, 1);
        assert_eq!(judged(&[1.0], &[1.0], strict).verdict, Verdict::BitEqual);
        assert_eq!(judged(&both, &both, Tolerance::EXACT).verdict, Verdict::BitEqual);
    }

    #[test]
    fn what_is_not_finite_is_left_out_if_asked_for() {
        let ignoring = Tolerance::EXACT.with_non_finite_ignored(true);
        let found = judged(&[f32::NAN, 2.0], &[1.0, 2.0], ignoring);
        assert_eq!((found.verdict, found.beyond, found.first), (Verdict::Within, 0, None));
        assert_eq!(found.non_finite.nan_actual, 1);
    }

    #[test]
    fn the_worst_element_is_one_that_does_not_agree() {
        // 10 off at 1000 is within 2 %, 1 off at 2 is not.
        let found =
            judged(&[1010.0, 2.5, 3.0, 3.0], &[1000.0, 2.0, 2.0, 2.0], Tolerance::new(0.02, 0.0).unwrap());
        assert_eq!((found.beyond, found.first, found.worst), (3, Some(1), Some(2)));
        assert_eq!(found.max_abs, Number::Float(10.0));
    }

    #[test]
    fn a_budget_excuses_so_many_outliers_and_no_more() {
        let (mut actual, expected) = ([1.0f32; 1000], [1.0f32; 1000]);
        let budget = Tolerance::EXACT.with_outliers(0.005).unwrap();
        actual[..5].fill(2.0);
        assert_eq!(judged(&actual, &expected, budget).verdict, Verdict::Within);
        actual[500] = 2.0;
        assert_eq!(judged(&actual, &expected, budget).verdict, Verdict::Beyond);
    }

    #[test]
    fn the_empty_half_of_the_last_byte_does_not_count() {
        let verdict = |elements, actual: u8, expected: u8| {
            judge(&Pair::new(DType::Fp4E2M1, elements, &[actual], &[expected]).unwrap(), &Tolerance::EXACT)
                .verdict
        };
        assert_eq!(verdict(1, 0x02, 0xf2), Verdict::BitEqual);
        assert_eq!(verdict(1, 0x02, 0xf3), Verdict::Beyond);
        assert_eq!(verdict(2, 0x02, 0xf2), Verdict::Beyond);
    }

    #[test]
    fn large_pairs_tell_the_same_on_any_number_of_threads() {
        let elements = 3 * CHUNK / 4 + 5;
        let expected: Vec<f32> = (0..elements).map(|index| (index % 1000) as f32 * 0.5).collect();
        let mut actual = expected.clone();
        for (index, by) in [(7, 0.25), (CHUNK / 4 + 1, 3.0), (CHUNK / 2, 3.0), (elements - 1, 2.0)] {
            actual[index] += by;
        }
        let tolerance = Tolerance::new(0.0, 1.0).unwrap();
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let crowd = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
        for pool in [alone, crowd] {
            let found = pool.install(|| judged(&actual, &expected, tolerance));
            assert_eq!((found.beyond, found.max_abs), (3, Number::Float(3.0)));
            assert_eq!((found.first, found.worst), (Some(CHUNK as u64 / 4 + 1), Some(CHUNK as u64 / 4 + 1)));
        }
    }
}
