//! The bytes behind a memory space, and scratch for instructions.

use core::ops::Range;

use argus_gm::Fill;
use bytemuck::Pod;

/// Bytes of a block. Kernels put small tiles far apart, and what lies between them stays as it is.
const BLOCK: usize = 512;

/// One memory space. It grows when a tile first reaches further, so that an idle core costs nothing.
#[derive(Debug)]
pub(crate) struct Store {
    /// Words, so that every element type is aligned at every legal tile address.
    words: Vec<u64>,
    fill: u64,
    /// Blocks that the running kernel may have written, one bit each.
    dirty: Vec<u64>,
}

impl Store {
    pub fn new(fill: Fill) -> Store {
        Store { words: Vec::new(), fill: u64::from_ne_bytes([fill.byte(); 8]), dirty: Vec::new() }
    }

    /// Makes the bytes before `end` exist.
    pub fn reach(&mut self, end: usize) {
        let words = end.div_ceil(8);
        if words > self.words.len() {
            self.words.resize(words.next_power_of_two(), self.fill);
            self.dirty.resize((self.words.len() * 8).div_ceil(BLOCK * 64), 0);
        }
    }

    /// Notes that a byte range, which was reached, is about to be written.
    pub fn mark(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let (first, last) = (range.start / BLOCK, (range.end - 1) / BLOCK);
        for at in first / 64..=last / 64 {
            let from = first.saturating_sub(at * 64);
            let to = (last - at * 64).min(63);
            self.dirty[at] |= u64::MAX << from & u64::MAX >> (63 - to);
        }
    }

    /// Writes the fill byte over whatever was written.
    pub fn reset(&mut self) {
        const WORDS: usize = BLOCK / 8;
        for (at, bits) in self.dirty.iter_mut().enumerate() {
            // Neighbours at once.
            while *bits != 0 {
                let from = bits.trailing_zeros() as usize;
                let count = (*bits >> from).trailing_ones() as usize;
                let first = (at * 64 + from) * WORDS;
                let end = (first + count * WORDS).min(self.words.len());
                self.words[first..end].fill(self.fill);
                *bits &= u64::MAX.checked_shl((from + count) as u32).unwrap_or(0);
            }
        }
    }

    /// The whole space as elements.
    pub fn elements<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.words)
    }

    pub fn elements_mut<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.words)
    }
}

/// Memory that an instruction may use while it runs. It keeps its size from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    words: Vec<u64>,
}

impl Scratch {
    /// `len` elements of any value.
    pub fn take<T: Pod>(&mut self, len: usize) -> &mut [T] {
        let words = (len * size_of::<T>()).div_ceil(8);
        if words > self.words.len() {
            self.words.resize(words.next_power_of_two(), 0);
        }
        &mut bytemuck::cast_slice_mut(&mut self.words)[..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every range of blocks around the edges of a word of bits, and bytes at the edges of blocks.
    #[test]
    fn what_was_written_is_filled_again_and_nothing_else_is_touched() {
        let size = 130 * BLOCK;
        let edges: Vec<usize> = [0, 1, 2, 62, 63, 64, 65, 127, 128, 129, 130]
            .into_iter()
            .flat_map(|block: usize| [block * BLOCK, block * BLOCK + 1, (block * BLOCK).saturating_sub(1)])
            .filter(|&byte| byte <= size)
            .collect();
        let mut store = Store::new(Fill::Poison);
        store.reach(size);
        for &start in &edges {
            for &end in edges.iter().filter(|&&end| end >= start) {
                store.mark(start..end);
                // What was not marked stays, although nothing but this test writes there.
                store.elements_mut::<u8>().fill(7);
                store.reset();
                let bytes = store.elements::<u8>();
                let blocks = start / BLOCK * BLOCK..if start < end { end.div_ceil(BLOCK) * BLOCK } else { 0 };
                for (at, &byte) in bytes.iter().enumerate() {
                    let expected = if blocks.contains(&at) { 0xFF } else { 7 };
                    assert_eq!(byte, expected, "byte {at} after {start}..{end}");
                }
            }
        }
    }
}
