//! Bytes by ranges, each with a value. A range costs the same however many bytes it has, and neighbours of equal
//! value are one range.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges that do not overlap; a range begins at its key. What is in none of them has no value.
#[derive(Clone, Debug)]
pub(crate) struct Intervals<T>(BTreeMap<u64, (u64, T)>);

impl<T> Default for Intervals<T> {
    fn default() -> Intervals<T> {
        Intervals(BTreeMap::new())
    }
}

impl<T: Clone + PartialEq> Intervals<T> {
    /// Shows each range with a value that `bytes` meets, as far as they overlap.
    pub(crate) fn look(&self, bytes: Range<u64>, mut each: impl FnMut(Range<u64>, &T)) {
        if bytes.is_empty() {
            return;
        }
        let before = self.0.range(..bytes.start).next_back().filter(|(_, (end, _))| *end > bytes.start);
        for (&start, (end, value)) in before.into_iter().chain(self.0.range(bytes.clone())) {
            each(start.max(bytes.start)..(*end).min(bytes.end), value);
        }
    }

    /// Gives `bytes` another value, or none. `new` sees each part and the value that it had.
    pub(crate) fn update(
        &mut self,
        bytes: Range<u64>,
        mut new: impl FnMut(Range<u64>, Option<&T>) -> Option<T>,
    ) {
        if bytes.is_empty() {
            return;
        }
        self.cut(bytes.start);
        self.cut(bytes.end);
        let starts: Vec<u64> = self.0.range(bytes.clone()).map(|(&start, _)| start).collect();
        let mut parts: Vec<(Range<u64>, Option<T>)> = Vec::with_capacity(2 * starts.len() + 1);
        let mut at = bytes.start;
        for start in starts {
            if at < start {
                parts.push((at..start, new(at..start, None)));
            }
            let Some((end, value)) = self.0.remove(&start) else { continue };
            let value = new(start..end, Some(&value));
            parts.push((start..end, value));
            at = end;
        }
        if at < bytes.end {
            parts.push((at..bytes.end, new(at..bytes.end, None)));
        }
        for (part, value) in parts {
            if let Some(value) = value {
                self.add(part, value);
            }
        }
        self.join(bytes.end);
    }

    /// Adds a range behind which nothing of this update lies, to its neighbour if that has the same value.
    fn add(&mut self, part: Range<u64>, value: T) {
        if let Some((_, (end, before))) = self.0.range_mut(..part.start).next_back()
            && *end == part.start
            && *before == value
        {
            *end = part.end;
            return;
        }
        self.0.insert(part.start, (part.end, value));
    }

    /// Makes the ranges that meet at `at` one, if they have the same value.
    fn join(&mut self, at: u64) {
        let Some((end, value)) = self.0.get(&at).cloned() else { return };
        if let Some((_, (reach, before))) = self.0.range_mut(..at).next_back()
            && *reach == at
            && *before == value
        {
            *reach = end;
            self.0.remove(&at);
        }
    }

    fn cut(&mut self, at: u64) {
        if let Some((_, (end, value))) = self.0.range_mut(..at).next_back()
            && *end > at
        {
            let rest = (*end, value.clone());
            *end = at;
            self.0.insert(at, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against one value per byte.
        #[test]
        fn ranges_hold_what_single_bytes_would(
            writes in prop::collection::vec((0u64..64, 0u64..24, prop::option::of(0u8..3)), 0..40),
        ) {
            let mut bytes = [None; 96];
            let mut intervals = Intervals::default();
            for (start, len, value) in writes {
                let range = start..start + len;
                let mut seen = [None; 96];
                intervals.look(range.clone(), |part, &value: &u8| {
                    part.for_each(|at| seen[at as usize] = Some(value));
                });
                let mut updated = [false; 96];
                intervals.update(range.clone(), |part, old| {
                    for at in part {
                        assert_eq!(old.copied(), bytes[at as usize]);
                        assert!(!std::mem::replace(&mut updated[at as usize], true));
                    }
                    value
                });
                for at in 0..96u64 {
                    let inside = range.contains(&at);
                    assert_eq!(updated[at as usize], inside);
                    assert_eq!(seen[at as usize], bytes[at as usize].filter(|_| inside));
                    if inside {
                        bytes[at as usize] = value;
                    }
                }
                // Neighbours of equal value are one.
                let ranges: Vec<_> = intervals.0.iter().map(|(&start, &(end, value))| (start, end, value)).collect();
                for pair in ranges.windows(2) {
                    assert!(pair[0].1 < pair[1].0 || pair[0].2 != pair[1].2, "{ranges:?}");
                }
            }
        }
    }
}
