//! Where payloads lie that are in the file already, by what they hash to.
//!
//! A table of its own, because a look-up for each record must touch one line of memory, and because it is bounded:
//! when it is full, the older half of what it knows is forgotten. A payload that comes again after that is stored
//! again, and nothing else changes.

use zerocopy::FromZeros;

/// Places in a full table. With 32 bytes each, two tables take 64 MiB.
const MOST: usize = 1 << 20;
const FIRST: usize = 1 << 10;

/// One payload; a size of 0 is a free place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromZeros)]
#[repr(C, align(32))]
struct Place {
    hash: [u64; 2],
    offset: u64,
    size: u64,
}

/// Payloads by hash and size.
#[derive(Debug)]
pub(crate) struct Known {
    /// At most half full; a power of two.
    places: Vec<Place>,
    used: usize,
    /// What was known before the table was full.
    older: Vec<Place>,
    most: usize,
}

impl Default for Known {
    fn default() -> Known {
        Known::with_room(MOST)
    }
}

impl Known {
    fn with_room(most: usize) -> Known {
        Known { places: free(FIRST.min(most)), used: 0, older: Vec::new(), most }
    }

    /// Where an equal payload of `size` bytes lies; if there is none, one is at `offset` from now on.
    pub(crate) fn find_or_add(&mut self, hash: u128, offset: u64, size: u64) -> u64 {
        let wanted = Place { hash: [hash as u64, (hash >> 64) as u64], offset, size };
        let (at, found) = look(&self.places, &wanted);
        if let Some(found) = found {
            return found;
        }
        let older = look(&self.older, &wanted).1;
        // What is used again is young again.
        let offset = older.unwrap_or(offset);
        self.places[at] = Place { offset, ..wanted };
        self.used += 1;
        if 2 * self.used >= self.places.len() {
            self.grow();
        }
        offset
    }

    fn grow(&mut self) {
        if self.places.len() >= self.most {
            self.older = std::mem::replace(&mut self.places, free(self.most));
            self.used = 0;
            return;
        }
        let mut wider = free(2 * self.places.len());
        for place in self.places.iter().filter(|place| place.size > 0) {
            let (at, _) = look(&wider, place);
            wider[at] = *place;
        }
        self.places = wider;
    }
}

/// A table of free places, in memory that the system has cleared.
fn free(places: usize) -> Vec<Place> {
    Place::new_vec_zeroed(places).unwrap_or_else(|_| vec![Place::default(); places])
}

/// Where `wanted` lies or belongs in `places`, and the offset of what is there.
fn look(places: &[Place], wanted: &Place) -> (usize, Option<u64>) {
    if places.is_empty() {
        return (0, None);
    }
    let mask = places.len() - 1;
    let mut at = wanted.hash[0] as usize & mask;
    loop {
        let place = &places[at];
        if place.size == 0 {
            return (at, None);
        }
        if place.hash == wanted.hash && place.size == wanted.size {
            return (at, Some(place.offset));
        }
        at = (at + 1) & mask;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn equal_payloads_are_found_and_others_are_not() {
        let (mut known, mut model) = (Known::default(), HashMap::new());
        for step in 0..20_000u64 {
            // Hashes that collide in their low half, sizes that differ under one hash.
            let (hash, size) = (u128::from(step * 7 % 3001) << 64 | u128::from(step % 17), 1 + step % 3);
            let wanted = *model.entry((hash, size)).or_insert(step);
            assert_eq!(known.find_or_add(hash, step, size), wanted, "{step}");
        }
    }

    #[test]
    fn a_full_table_forgets_the_older_half_and_never_lies() {
        let mut known = Known::with_room(64);
        let mut first = HashMap::new();
        let mut shared = 0;
        for step in 0..10_000u64 {
            // One payload comes all the time, one is in reach, most are not.
            for hash in [1, 2 + step / 2, 5000 + step] {
                let at = step * 3;
                let found = known.find_or_add(hash.into(), at, 8);
                let before: &mut Vec<u64> = first.entry(hash).or_default();
                assert!(found == at || before.contains(&found), "{hash} is not at {found}");
                shared += u64::from(found != at);
                before.push(found);
            }
            assert!(known.places.len() + known.older.len() <= 128);
        }
        assert!(shared >= 14_999, "{shared}: what is used all the time stays known");
        assert_eq!(known.find_or_add(1, 1 << 40, 8), 0, "and is where it was first");
    }
}
