//! A set of cores that many threads mark and clear.

use std::sync::atomic::{AtomicU64, Ordering};

use argus_abi::CoreSet;
use argus_abi::cores::CORE_WORDS;

/// A hint, never the truth: a marked core is worth a look, and whoever looks clears the mark first.
#[derive(Debug, Default)]
pub struct CoreBits {
    words: [AtomicU64; CORE_WORDS],
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
    pub fn take(&self) -> CoreSet {
        CoreSet::from_words(std::array::from_fn(|index| {
            let word = &self.words[index];
            if word.load(Ordering::Acquire) == 0 { 0 } else { word.swap(0, Ordering::AcqRel) }
        }))
    }

    /// The marks as they are now.
    pub fn marks(&self) -> CoreSet {
        CoreSet::from_words(std::array::from_fn(|index| self.words[index].load(Ordering::Acquire)))
    }
}
