//! The one place where device memory is touched.
//!
//! Every access is one relaxed atomic load, store or exchange of an aligned word of eight bytes, never of
//! anything smaller: Rust gives no meaning to atomic accesses of different sizes that overlap and race, so
//! there are none. A range that begins or ends inside a word reads the whole word and uses its part of it, or
//! exchanges the word for one in which only that part has changed, so bytes beside the range keep what others
//! write to them at the same time. A race in a user's program is thereby a wrong value, word by word, and not
//! undefined behaviour.
//!
//! That holds for Rust code. Kernels in shared objects access the same bytes as C++ does, with whatever their
//! compiler chose; what they race with is as defined as it is between two threads of C++ on this machine.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(crate) const WORD: usize = 8;
/// Bytes that one turn of the loading loop moves.
const BLOCK: usize = 64;

/// Where a range begins in its first word, how many bytes of it lie before the first whole word, and how many
/// whole words follow.
fn split(addr: u64, len: usize) -> (usize, usize, usize) {
    let into = addr as usize % WORD;
    let head = ((WORD - into) % WORD).min(len);
    (into, head, (len - head) / WORD)
}

/// Copies device bytes to private memory.
///
/// # Safety
/// Every word that `addr..addr + dst.len()` touches must lie in one live allocation of this process.
pub(crate) unsafe fn load(addr: u64, dst: &mut [u8]) {
    let (into, head, words) = split(addr, dst.len());
    if into + dst.len() < WORD {
        if !dst.is_empty() {
            // SAFETY: the only word of the range.
            part(unsafe { word_at(addr - into as u64) }, into, dst);
        }
        return;
    }
    let (first, rest) = dst.split_at_mut(head);
    let (middle, last) = rest.split_at_mut(words * WORD);
    if !first.is_empty() {
        // SAFETY: the word that holds the first byte.
        part(unsafe { word_at(addr - into as u64) }, into, first);
    }
    let mut at = addr + head as u64;
    let mut blocks = middle.chunks_exact_mut(BLOCK);
    for block in &mut blocks {
        // Several loads before the stores: atomics are not vectorised, but they do overlap.
        let words: [u64; BLOCK / WORD] = std::array::from_fn(|index| {
            // SAFETY: inside the range; `split` made `at` a multiple of 8.
            unsafe { word_at(at + (index * WORD) as u64) }.load(Relaxed)
        });
        for (bytes, word) in block.chunks_exact_mut(WORD).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        at += BLOCK as u64;
    }
    for bytes in blocks.into_remainder().chunks_exact_mut(WORD) {
        // SAFETY: inside the range; `split` made `at` a multiple of 8.
        let value = unsafe { word_at(at) }.load(Relaxed);
        bytes.copy_from_slice(&value.to_ne_bytes());
        at += WORD as u64;
    }
    if !last.is_empty() {
        // SAFETY: the word that holds the last byte.
        part(unsafe { word_at(at) }, 0, last);
    }
}

/// Copies private bytes to device memory.
///
/// # Safety
/// Every word that `addr..addr + src.len()` touches must lie in one live allocation of this process.
pub(crate) unsafe fn store(addr: u64, src: &[u8]) {
    let (into, head, words) = split(addr, src.len());
    let (first, rest) = src.split_at(head);
    let (middle, last) = rest.split_at(words * WORD);
    if !first.is_empty() {
        // SAFETY: the word that holds the first byte.
        replace(unsafe { word_at(addr - into as u64) }, into, first);
    }
    let mut at = addr + head as u64;
    for bytes in middle.chunks_exact(WORD) {
        let value = u64::from_ne_bytes(bytes.try_into().expect("a chunk of eight bytes"));
        // SAFETY: inside the range; `split` made `at` a multiple of 8.
        unsafe { word_at(at) }.store(value, Relaxed);
        at += WORD as u64;
    }
    if !last.is_empty() {
        // SAFETY: the word that holds the last byte.
        replace(unsafe { word_at(at) }, 0, last);
    }
}

/// Writes one byte value over a device range.
///
/// # Safety
/// Every word that `addr..addr + len` touches must lie in one live allocation of this process.
pub(crate) unsafe fn fill(addr: u64, len: usize, value: u8) {
    let (into, head, words) = split(addr, len);
    let bytes = [value; WORD];
    if head > 0 {
        // SAFETY: the word that holds the first byte.
        replace(unsafe { word_at(addr - into as u64) }, into, &bytes[..head]);
    }
    let mut at = addr + head as u64;
    for _ in 0..words {
        // SAFETY: inside the range; `split` made `at` a multiple of 8.
        unsafe { word_at(at) }.store(u64::from_ne_bytes(bytes), Relaxed);
        at += WORD as u64;
    }
    let tail = len - head - words * WORD;
    if tail > 0 {
        // SAFETY: the word that holds the last byte.
        replace(unsafe { word_at(at) }, 0, &bytes[..tail]);
    }
}

/// Some bytes of a word, from byte `from` on.
#[inline]
fn part(word: &AtomicU64, from: usize, into: &mut [u8]) {
    // The first byte in memory is the lowest one here, on every machine.
    let bits = u64::from_le_bytes(word.load(Relaxed).to_ne_bytes()) >> (8 * from);
    match into.len() {
        // What elements have: one move each.
        4 => into.copy_from_slice(&(bits as u32).to_le_bytes()),
        2 => into.copy_from_slice(&(bits as u16).to_le_bytes()),
        1 => into[0] = bits as u8,
        len => into.copy_from_slice(&bits.to_le_bytes()[..len]),
    }
}

/// Changes some bytes of a word, from byte `from` on, and leaves the others as they are at that moment.
#[inline]
fn replace(word: &AtomicU64, from: usize, with: &[u8]) {
    let mut bytes = [0; WORD];
    bytes[from..from + with.len()].copy_from_slice(with);
    let mask = u64::from_ne_bytes((u64::MAX >> (8 * (WORD - with.len())) << (8 * from)).to_le_bytes());
    let value = u64::from_ne_bytes(bytes);
    let mut seen = word.load(Relaxed);
    while let Err(now) = word.compare_exchange_weak(seen, seen & !mask | value, Relaxed, Relaxed) {
        seen = now;
    }
}

/// # Safety
/// `addr` must be a multiple of 8, and `addr..addr + 8` must lie in a live allocation that outlives the use of
/// the returned reference.
#[inline]
unsafe fn word_at<'a>(addr: u64) -> &'a AtomicU64 {
    // SAFETY: live, in range and aligned by the caller's promise. Nothing makes a reference to these bytes other
    // than this one, so all accesses by Rust code are atomic and of this size.
    unsafe { AtomicU64::from_ptr(addr as usize as *mut u64) }
}
