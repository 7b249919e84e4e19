//! A small set of numbers that many threads mark and clear.

use crate::order::order;
use crate::primitives::atomic::{AtomicU64, Ordering::Relaxed};

/// A set of the numbers below `64 * WORDS`. A hint, never the truth: what is marked is worth a look, and
/// the thread that looks clears the mark first.
#[derive(Debug)]
pub struct Bits<const WORDS: usize> {
    words: [AtomicU64; WORDS],
}

impl<const WORDS: usize> Default for Bits<WORDS> {
    fn default() -> Bits<WORDS> {
        Bits { words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

impl<const WORDS: usize> Bits<WORDS> {
    #[inline]
    pub fn mark(&self, number: usize) {
        // SYNC POINT: the thread that clears the mark sees what was done before it was set.
        self.words[number / 64].fetch_or(1 << (number % 64), order!("bits.mark", Release));
    }

    #[inline]
    pub fn clear(&self, number: usize) {
        // SYNC POINT: pairs with the release in `mark`, also if others marked or cleared in between.
        self.words[number / 64].fetch_and(!(1 << (number % 64)), order!("bits.clear", Acquire));
    }

    /// Relaxed: who finds a mark clears it before looking, and who finds none was not told of any.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word.load(Relaxed) == 0)
    }

    /// Clears all marks and returns them.
    #[inline]
    pub fn take(&self) -> impl Iterator<Item = usize> + use<WORDS> {
        ones(std::array::from_fn::<_, WORDS, _>(|index| {
            let word = &self.words[index];
            // SYNC POINT: pairs with the release in `mark`. The look before it is a hint.
            if word.load(Relaxed) == 0 { 0 } else { word.swap(0, order!("bits.take", Acquire)) }
        }))
    }

    /// The marks as they are now. Relaxed, as in [`Bits::is_empty`].
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<WORDS> {
        ones(std::array::from_fn::<_, WORDS, _>(|index| self.words[index].load(Relaxed)))
    }
}

#[inline]
fn ones<const WORDS: usize>(words: [u64; WORDS]) -> impl Iterator<Item = usize> {
    words.into_iter().enumerate().flat_map(|(index, mut word)| {
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(index * 64 + bit)
        })
    })
}
