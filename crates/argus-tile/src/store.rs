//! The bytes behind a memory space, and scratch for instructions.

use core::ops::Range;

use argus_gm::Fill;
use bytemuck::Pod;

/// One memory space. It grows when a tile first reaches further, so that an idle core costs nothing.
#[derive(Debug)]
pub(crate) struct Store {
    /// Words, so that every element type is aligned at every legal tile address.
    words: Vec<u64>,
    fill: u64,
    /// What the running kernel may have written.
    dirty: Range<usize>,
}

impl Store {
    pub fn new(fill: Fill) -> Store {
        Store { words: Vec::new(), fill: u64::from_ne_bytes([fill.byte(); 8]), dirty: 0..0 }
    }

    /// Makes the bytes before `end` exist.
    pub fn reach(&mut self, end: usize) {
        let words = end.div_ceil(8);
        if words > self.words.len() {
            self.words.resize(words.next_power_of_two(), self.fill);
        }
    }

    /// Notes that a byte range is about to be written.
    pub fn mark(&mut self, range: Range<usize>) {
        if self.dirty.is_empty() {
            self.dirty = range;
        } else {
            self.dirty = self.dirty.start.min(range.start)..self.dirty.end.max(range.end);
        }
    }

    /// Writes the fill byte over whatever was written.
    pub fn reset(&mut self) {
        let words = self.dirty.start / 8..self.dirty.end.div_ceil(8).min(self.words.len());
        self.words[words].fill(self.fill);
        self.dirty = 0..0;
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
