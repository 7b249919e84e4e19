//! Sets of cores.

use core::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Cores that a chip may have. Entries and journals hold sets of this size: another number is another version
/// of both.
pub const MAX_CORES: usize = 256;

/// Words of a set with a bit per core.
pub const CORE_WORDS: usize = MAX_CORES / u64::BITS as usize;

/// Which cores of a chip are meant, by number.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct CoreSet {
    words: [u64; CORE_WORDS],
}

impl CoreSet {
    pub const EMPTY: CoreSet = CoreSet { words: [0; CORE_WORDS] };

    /// A set by its bits: core 0 is the lowest bit of the first word.
    pub const fn from_words(words: [u64; CORE_WORDS]) -> CoreSet {
        CoreSet { words }
    }

    /// Adds a core; false if no chip can have one with this number.
    pub fn insert(&mut self, core: usize) -> bool {
        match self.words.get_mut(core / 64) {
            Some(word) => {
                *word |= 1 << (core % 64);
                true
            }
            None => false,
        }
    }

    pub fn contains(&self, core: usize) -> bool {
        self.words.get(core / 64).is_some_and(|word| word >> (core % 64) & 1 == 1)
    }

    pub fn is_empty(&self) -> bool {
        *self == CoreSet::EMPTY
    }

    /// The cores, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        self.words.into_iter().enumerate().flat_map(|(index, mut word)| {
            core::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

impl fmt::Debug for CoreSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Numbers that no chip has are left out.
impl FromIterator<usize> for CoreSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cores: I) -> CoreSet {
        let mut set = CoreSet::EMPTY;
        for core in cores {
            set.insert(core);
        }
        set
    }
}

const _: () = assert!(MAX_CORES.is_multiple_of(u64::BITS as usize));
