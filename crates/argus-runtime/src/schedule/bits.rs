//! A small set of core numbers that many threads mark and clear.

use std::sync::atomic::{AtomicU64, Ordering};

/// Enough for the 108 cores of the largest chip.
const WORDS: usize = 2;

/// A hint, never the truth: a marked core is worth a look, and whoever looks clears the mark first.
#[derive(Debug, Default)]
pub struct CoreBits {
    words: [AtomicU64; WORDS],
}

impl CoreBits {
    pub fn mark(&self, core: usize) {
        // SYNC POINT: whoever clears the mark sees what was done before it was set.
        self.words[core / 64].fetch_or(1 << (core % 64), Ordering::AcqRel);
    }

    pub fn clear(&self, core: usize) {
        self.words[core / 64].fetch_and(!(1 << (core % 64)), Ordering::AcqRel);
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word.load(Ordering::Acquire) == 0)
    }

    /// Clears all marks and returns them.
    pub fn take(&self) -> impl Iterator<Item = usize> + use<> {
        ones(std::array::from_fn(|index| {
            let word = &self.words[index];
            if word.load(Ordering::Acquire) == 0 { 0 } else { word.swap(0, Ordering::AcqRel) }
        }))
    }

    /// The marks as they are now.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        ones(std::array::from_fn(|index| self.words[index].load(Ordering::Acquire)))
    }
}

fn ones(words: [u64; WORDS]) -> impl Iterator<Item = usize> {
    words.into_iter().enumerate().flat_map(|(index, mut word)| {
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(index * 64 + bit)
        })
    })
}
