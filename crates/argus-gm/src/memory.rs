//! Allocations of a device, and checked access to them.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use thiserror::Error;

use crate::raw;
use crate::region::Region;

/// What fresh memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// 0xFF in every byte.
    Poison,
    /// 0x00 in every byte.
    Zero,
    /// Whatever the operating system gives (zeros): for memory that is poisoned piece by piece later.
    Untouched,
}

impl Fill {
    /// The byte that fresh memory carries.
    pub fn byte(self) -> u8 {
        match self {
            Fill::Poison => 0xFF,
            Fill::Zero | Fill::Untouched => 0,
        }
    }
}

/// Why global memory cannot be had or touched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    #[error("cannot allocate {bytes} bytes of memory: {reason}")]
    Allocation { bytes: u64, reason: String },
    #[error("the {len} bytes at device address {addr:#x} belong to no allocation of this device")]
    NoSuchAddress { addr: u64, len: u64 },
    #[error("{len} bytes at device address {addr:#x} leave the allowed range {start:#x}..{end:#x}")]
    OutOfRange { addr: u64, len: u64, start: u64, end: u64 },
}

/// One allocation. Its bytes stay where they are until the last owner lets go.
#[derive(Debug)]
struct Allocation {
    base: u64,
    len: u64,
    /// Held for its lifetime only; access goes through `raw`.
    _region: Region,
    /// Held by the code that reads, changes and writes back.
    updates: Mutex<()>,
    /// No look-up finds it any more. A hint for those who remember it, so nothing is ordered by it.
    freed: AtomicBool,
}

/// A live allocation of a [`GlobalMemory`]. Freed with the memory it came from, not before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    pub addr: u64,
    pub len: u64,
}

/// A range of device addresses that was checked to lie in one live allocation.
///
/// Holding the window keeps that allocation alive, so access through it needs no further look-up.
#[derive(Clone, Debug)]
pub struct Window {
    start: u64,
    end: u64,
    allocation: Arc<Allocation>,
}

/// The global memory of one device. Cheap to share; all methods take `&self`.
#[derive(Debug, Default)]
pub struct GlobalMemory {
    /// Sorted by base address.
    allocations: RwLock<Vec<Arc<Allocation>>>,
}

impl GlobalMemory {
    pub fn new() -> GlobalMemory {
        GlobalMemory::default()
    }

    /// Allocates `len` bytes, aligned to a page. A length of zero still gets an address of its own.
    pub fn allocate(&self, len: u64, fill: Fill) -> Result<Buffer, MemoryError> {
        let mut region = Region::fresh(len)?;
        if fill == Fill::Poison {
            region.fill(Fill::Poison.byte());
        }
        let base = region.base().as_ptr() as usize as u64;
        let allocation =
            Allocation { base, len, _region: region, updates: Mutex::new(()), freed: AtomicBool::new(false) };
        let buffer = Buffer { addr: allocation.base, len };
        let mut allocations = self.allocations.write().expect("no holder of this lock panics");
        let at = allocations.partition_point(|other| other.base < buffer.addr);
        allocations.insert(at, Arc::new(allocation));
        Ok(buffer)
    }

    /// Frees an allocation by its base address. Windows into it keep it alive until they are gone.
    pub fn free(&self, addr: u64) -> Result<(), MemoryError> {
        let mut allocations = self.allocations.write().expect("no holder of this lock panics");
        match allocations.binary_search_by_key(&addr, |allocation| allocation.base) {
            Ok(at) => {
                allocations.remove(at).freed.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(_) => Err(MemoryError::NoSuchAddress { addr, len: 0 }),
        }
    }

    /// The window `addr..addr + len`, if it lies in one allocation.
    pub fn window(&self, addr: u64, len: u64) -> Result<Window, MemoryError> {
        let missing = MemoryError::NoSuchAddress { addr, len };
        let allocation = self.find(addr).ok_or(missing.clone())?;
        let end = addr.checked_add(len).ok_or(missing.clone())?;
        if end > allocation.base + allocation.len {
            return Err(missing);
        }
        Ok(Window { start: addr, end, allocation })
    }

    /// The whole allocation that `addr` lies in.
    pub fn window_around(&self, addr: u64) -> Result<Window, MemoryError> {
        let allocation = self.find(addr).ok_or(MemoryError::NoSuchAddress { addr, len: 0 })?;
        Ok(Window { start: allocation.base, end: allocation.base + allocation.len, allocation })
    }

    /// A window that holds nothing, for an address that may be given and never followed: each access through it is to no
    /// allocation.
    pub fn no_window(&self) -> Result<Window, MemoryError> {
        let region = Region::fresh(0)?;
        let base = region.base().as_ptr() as usize as u64;
        let (updates, freed) = (Mutex::new(()), AtomicBool::new(true));
        let allocation = Allocation { base, len: 0, _region: region, updates, freed };
        Ok(Window { start: base, end: base, allocation: Arc::new(allocation) })
    }

    /// Base and length of the allocation that holds `addr`.
    pub fn allocation_of(&self, addr: u64) -> Option<Buffer> {
        self.find(addr).map(|allocation| Buffer { addr: allocation.base, len: allocation.len })
    }

    /// Copies device bytes out.
    pub fn read(&self, addr: u64, dst: &mut [u8]) -> Result<(), MemoryError> {
        self.window(addr, dst.len() as u64)?.read(addr, dst)
    }

    /// Copies bytes in.
    pub fn write(&self, addr: u64, src: &[u8]) -> Result<(), MemoryError> {
        self.window(addr, src.len() as u64)?.write(addr, src)
    }

    fn find(&self, addr: u64) -> Option<Arc<Allocation>> {
        let allocations = self.allocations.read().expect("no holder of this lock panics");
        let at = allocations.partition_point(|allocation| allocation.base <= addr);
        let allocation = allocations.get(at.checked_sub(1)?)?;
        let inside = addr - allocation.base <= allocation.len;
        inside.then(|| Arc::clone(allocation))
    }
}

/// The allocations that one thread asked for last, so that it asks for them once.
///
/// A look-up takes a lock and a count that all threads share; most of what a thread touches lies in a few allocations.
#[derive(Debug, Default)]
pub struct RecentWindows {
    /// Whole allocations, the latest first.
    recent: [Option<Window>; 4],
}

impl RecentWindows {
    /// The allocation of `memory`, always the same one, that `addr..addr + len` lies in.
    pub fn window(&mut self, memory: &GlobalMemory, addr: u64, len: u64) -> Result<&Window, MemoryError> {
        let holds = |window: &Window| {
            window.check(addr, len).is_ok() && !window.allocation.freed.load(Ordering::Relaxed)
        };
        let at = match self.recent.iter().position(|recent| recent.as_ref().is_some_and(holds)) {
            Some(at) => at,
            None => {
                memory.window(addr, len)?;
                let last = self.recent.len() - 1;
                self.recent[last] = Some(memory.window_around(addr)?);
                last
            }
        };
        self.recent[..=at].rotate_right(1);
        self.recent[0].as_ref().ok_or(MemoryError::NoSuchAddress { addr, len })
    }
}

impl Window {
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Whether an address lies inside.
    pub fn holds(&self, addr: u64) -> bool {
        (self.start..self.end).contains(&addr)
    }

    pub fn end(&self) -> u64 {
        self.end
    }

    /// Lets adding stores to one allocation take turns: while the guard lives, no other holder changes a
    /// value between reading it and writing it back. Plain writes do not take turns.
    pub fn take_turn(&self) -> MutexGuard<'_, ()> {
        self.allocation.updates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies device bytes out.
    pub fn read(&self, addr: u64, dst: &mut [u8]) -> Result<(), MemoryError> {
        self.check(addr, dst.len() as u64)?;
        // SAFETY: `check` put the range inside this window, which lies in an allocation it keeps alive; the
        // memory of an allocation is whole words.
        unsafe { raw::load(addr, dst) };
        Ok(())
    }

    /// Copies bytes in.
    pub fn write(&self, addr: u64, src: &[u8]) -> Result<(), MemoryError> {
        self.check(addr, src.len() as u64)?;
        // SAFETY: `check` put the range inside this window, which lies in an allocation it keeps alive; the
        // memory of an allocation is whole words.
        unsafe { raw::store(addr, src) };
        Ok(())
    }

    /// Writes one byte value over a range.
    pub fn fill(&self, addr: u64, len: u64, value: u8) -> Result<(), MemoryError> {
        self.check(addr, len)?;
        // SAFETY: `check` put the range inside this window, which lies in an allocation it keeps alive; the
        // memory of an allocation is whole words.
        unsafe { raw::fill(addr, len as usize, value) };
        Ok(())
    }

    fn check(&self, addr: u64, len: u64) -> Result<(), MemoryError> {
        match addr.checked_add(len) {
            Some(end) if addr >= self.start && end <= self.end => Ok(()),
            _ if self.allocation.len == 0 => Err(MemoryError::NoSuchAddress { addr, len }),
            _ => Err(MemoryError::OutOfRange { addr, len, start: self.start, end: self.end }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_windows_answer_as_look_ups_do() {
        let memory = GlobalMemory::new();
        let buffers: Vec<Buffer> =
            (0..6).map(|index| memory.allocate(64 + index, Fill::Zero).unwrap()).collect();
        let mut recent = RecentWindows::default();
        let mut ask = |buffer: &Buffer, at: u64, len: u64| {
            let (addr, remembered) = (buffer.addr + at, |window: &Window| (window.start(), window.end()));
            let found = recent.window(&memory, addr, len).map(remembered);
            assert_eq!(found.is_ok(), memory.window(addr, len).is_ok(), "{at} {len}");
            assert_eq!(found.clone().err(), memory.window(addr, len).err());
            if let Ok(found) = found {
                assert_eq!(found, (buffer.addr, buffer.addr + buffer.len));
            }
        };
        for round in 0..3 {
            for buffer in buffers.iter().chain(buffers.iter().rev()) {
                for (at, len) in [(0, 64), (round, 8), (60, 4), (60, 8), (buffer.len, 0), (buffer.len, 1)] {
                    ask(buffer, at, len);
                }
            }
        }
        memory.free(buffers[1].addr).unwrap();
        for buffer in &buffers {
            ask(buffer, 0, 64);
        }
    }

    #[test]
    fn every_alignment_and_length_copies_exactly() {
        let memory = GlobalMemory::new();
        let buffer = memory.allocate(128, Fill::Poison).unwrap();
        for start in 0..17 {
            for len in 0..40 {
                let source: Vec<u8> = (0..len).map(|index| (index * 7 + start) as u8).collect();
                memory.window(buffer.addr, 128).unwrap().fill(buffer.addr, 128, 0xAA).unwrap();
                memory.write(buffer.addr + start as u64, &source).unwrap();
                let mut all = [0u8; 128];
                memory.read(buffer.addr, &mut all).unwrap();
                let mut expected = [0xAAu8; 128];
                expected[start..start + len].copy_from_slice(&source);
                assert_eq!(all, expected, "start {start}, length {len}");
                let mut part = vec![0u8; len];
                memory.read(buffer.addr + start as u64, &mut part).unwrap();
                assert_eq!(part, source);
            }
        }
    }

    #[test]
    fn fresh_memory_is_poisoned_and_zero_on_request() {
        let memory = GlobalMemory::new();
        for (fill, byte) in [(Fill::Poison, 0xFF), (Fill::Zero, 0), (Fill::Untouched, 0)] {
            let buffer = memory.allocate(5000, fill).unwrap();
            let mut bytes = vec![1u8; 5000];
            memory.read(buffer.addr, &mut bytes).unwrap();
            assert!(bytes.iter().all(|&b| b == byte));
        }
    }

    #[test]
    fn access_outside_an_allocation_is_refused() {
        let memory = GlobalMemory::new();
        let buffer = memory.allocate(64, Fill::Zero).unwrap();
        let mut byte = [0u8; 1];
        assert!(memory.read(buffer.addr + 64, &mut byte).is_err());
        assert!(memory.read(buffer.addr - 1, &mut byte).is_err());
        assert!(memory.read(0, &mut byte).is_err());
        assert!(memory.read(u64::MAX, &mut byte).is_err());
        assert!(memory.write(buffer.addr + 60, &[0; 8]).is_err());
        let window = memory.window(buffer.addr + 8, 16).unwrap();
        assert!(window.write(buffer.addr + 8, &[1; 16]).is_ok());
        assert!(window.write(buffer.addr + 7, &[1]).is_err());
        assert!(window.write(buffer.addr + 23, &[1, 1]).is_err());
    }

    #[test]
    fn no_window_holds_nothing() {
        let window = GlobalMemory::new().no_window().unwrap();
        for addr in [0, 8, window.start(), u64::MAX] {
            assert!(!window.holds(addr));
            let refused = window.read(addr, &mut [0]);
            assert_eq!(refused, Err(MemoryError::NoSuchAddress { addr, len: 1 }));
        }
    }

    /// Stores of less than a word leave the bytes beside them to the code that writes those at the same time.
    #[test]
    fn neighbours_in_a_word_lose_nothing() {
        let memory = GlobalMemory::new();
        let buffer = memory.allocate(16, Fill::Zero).unwrap();
        std::thread::scope(|scope| {
            for (offset, len) in [(0, 1), (1, 2), (3, 4), (7, 3), (10, 6)] {
                let memory = &memory;
                scope.spawn(move || {
                    let addr = buffer.addr + offset;
                    for round in 0..20_000u32 {
                        let written = vec![round as u8; len];
                        memory.write(addr, &written).unwrap();
                        let mut read = vec![0; len];
                        memory.read(addr, &mut read).unwrap();
                        assert_eq!(read, written, "offset {offset}");
                    }
                });
            }
        });
    }

    #[test]
    fn a_window_outlives_the_freed_allocation() {
        let memory = GlobalMemory::new();
        let buffer = memory.allocate(64, Fill::Zero).unwrap();
        let window = memory.window(buffer.addr, 64).unwrap();
        memory.free(buffer.addr).unwrap();
        assert!(memory.window(buffer.addr, 64).is_err());
        window.write(buffer.addr, &[9; 64]).unwrap();
    }
}
