//! The one place where global memory is touched.
//!
//! All accesses are relaxed atomics: a word at a time where the device address is aligned to 8 bytes, a
//! byte at a time at the ragged ends. On the machines we run on each is a plain move instruction; what the
//! atomic buys is that a racing access reads some bytes of either writer instead of being undefined.
//! Two copies whose ragged ends meet may access the same word in different widths; hardware treats that as
//! the plain bytes they are.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

const WORD: usize = 8;
/// Bytes that one turn of the loading loop moves.
const BLOCK: usize = 64;

/// Splits a device range into ragged head, whole words and ragged tail.
fn split(addr: u64, len: usize) -> (usize, usize) {
    let head = (addr as usize).wrapping_neg() % WORD;
    let head = head.min(len);
    (head, (len - head) / WORD)
}

/// Copies device bytes to private memory.
///
/// # Safety
/// `addr..addr + dst.len()` must lie in one live allocation of this process.
pub(crate) unsafe fn load(addr: u64, dst: &mut [u8]) {
    let (head, words) = split(addr, dst.len());
    let (first, rest) = dst.split_at_mut(head);
    let (middle, last) = rest.split_at_mut(words * WORD);
    let middle_addr = addr + head as u64;
    for (index, byte) in first.iter_mut().enumerate() {
        // SAFETY: inside the allocation, as the caller promises; a u8 is always aligned.
        *byte = unsafe { byte_at(addr + index as u64) }.load(Relaxed);
    }
    let mut at = middle_addr;
    let mut blocks = middle.chunks_exact_mut(BLOCK);
    for block in &mut blocks {
        // Several loads before the stores: atomics are not vectorised, but they do overlap.
        let words: [u64; BLOCK / WORD] = std::array::from_fn(|index| {
            // SAFETY: inside the allocation; `split` made `middle_addr` a multiple of 8.
            unsafe { word_at(at + (index * WORD) as u64) }.load(Relaxed)
        });
        for (bytes, word) in block.chunks_exact_mut(WORD).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        at += BLOCK as u64;
    }
    for bytes in blocks.into_remainder().chunks_exact_mut(WORD) {
        // SAFETY: inside the allocation; `split` made `middle_addr` a multiple of 8.
        let value = unsafe { word_at(at) }.load(Relaxed);
        bytes.copy_from_slice(&value.to_ne_bytes());
        at += WORD as u64;
    }
    for (index, byte) in last.iter_mut().enumerate() {
        // SAFETY: inside the allocation, as the caller promises; a u8 is always aligned.
        *byte = unsafe { byte_at(middle_addr + (words * WORD + index) as u64) }.load(Relaxed);
    }
}

/// Copies private bytes to device memory.
///
/// # Safety
/// `addr..addr + src.len()` must lie in one live allocation of this process.
pub(crate) unsafe fn store(addr: u64, src: &[u8]) {
    let (head, words) = split(addr, src.len());
    let (first, rest) = src.split_at(head);
    let (middle, last) = rest.split_at(words * WORD);
    let middle_addr = addr + head as u64;
    for (index, byte) in first.iter().enumerate() {
        // SAFETY: inside the allocation, as the caller promises; a u8 is always aligned.
        unsafe { byte_at(addr + index as u64) }.store(*byte, Relaxed);
    }
    for (index, word) in middle.chunks_exact(WORD).enumerate() {
        let value = u64::from_ne_bytes(word.try_into().expect("a chunk of eight bytes"));
        // SAFETY: inside the allocation; `split` made `middle_addr` a multiple of 8.
        unsafe { word_at(middle_addr + (index * WORD) as u64) }.store(value, Relaxed);
    }
    for (index, byte) in last.iter().enumerate() {
        // SAFETY: inside the allocation, as the caller promises; a u8 is always aligned.
        unsafe { byte_at(middle_addr + (words * WORD + index) as u64) }.store(*byte, Relaxed);
    }
}

/// Writes one byte value over a device range.
///
/// # Safety
/// `addr..addr + len` must lie in one live allocation of this process.
pub(crate) unsafe fn fill(addr: u64, len: usize, value: u8) {
    let (head, words) = split(addr, len);
    let middle_addr = addr + head as u64;
    let tail = len - head - words * WORD;
    for index in 0..head {
        // SAFETY: inside the allocation, as the caller promises; a u8 is always aligned.
        unsafe { byte_at(addr + index as u64) }.store(value, Relaxed);
    }
    let word = u64::from_ne_bytes([value; WORD]);
    for index in 0..words {
        // SAFETY: inside the allocation; `split` made `middle_addr` a multiple of 8.
        unsafe { word_at(middle_addr + (index * WORD) as u64) }.store(word, Relaxed);
    }
    for index in 0..tail {
        // SAFETY: inside the allocation, as the caller promises; a u8 is always aligned.
        unsafe { byte_at(middle_addr + (words * WORD + index) as u64) }.store(value, Relaxed);
    }
}

/// # Safety
/// `addr` must lie in a live allocation that outlives the returned reference's use.
unsafe fn byte_at<'a>(addr: u64) -> &'a AtomicU8 {
    // SAFETY: live and in range by the caller's promise; shared access is what atomics are for.
    unsafe { AtomicU8::from_ptr(addr as usize as *mut u8) }
}

/// # Safety
/// `addr..addr + 8` must lie in a live allocation and be a multiple of 8.
unsafe fn word_at<'a>(addr: u64) -> &'a AtomicU64 {
    // SAFETY: live, in range and aligned by the caller's promise.
    unsafe { AtomicU64::from_ptr(addr as usize as *mut u64) }
}
