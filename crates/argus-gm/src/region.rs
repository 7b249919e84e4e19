//! Memory that is owned, and nothing more.
//!
//! A region is owned by the code that made it. A look-up of a device address finds it only if a [`GlobalMemory`] made
//! it part of itself; any other region, such as a capture ring's, is out of reach for kernels.
//!
//! [`GlobalMemory`]: crate::GlobalMemory
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ptr::NonNull;

use memmap2::MmapMut;

use crate::memory::MemoryError;
use crate::raw::WORD;

/// Regions from this size on ask for huge pages.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// Bytes that stay where they are until the region is dropped. They begin at a word, and the memory behind them
/// reaches to the end of the last word.
#[derive(Debug)]
pub struct Region {
    base: NonNull<u8>,
    len: u64,
    /// Held for its lifetime only.
    _memory: Memory,
}

// SAFETY: a region owns its memory and has no thread of its own.
unsafe impl Send for Region {}
// SAFETY: a shared region tells its address and its length; it touches no byte.
unsafe impl Sync for Region {}

impl Region {
    /// `len` bytes of zeros from the beginning of a page, backed when they are touched: a large region costs what is used of it. A length of
    /// zero still gets an address of its own.
    pub fn fresh(len: u64) -> Result<Region, MemoryError> {
        let failed = |reason: String| MemoryError::Allocation { bytes: len, reason };
        let size = usize::try_from(len).ok().and_then(|len| len.max(1).checked_next_multiple_of(WORD));
        let size = size.ok_or_else(|| failed("there are not that many addresses".into()))?;
        let (base, memory) = Memory::zeros(size).map_err(|error| failed(error.to_string()))?;
        Ok(Region { base, len, _memory: memory })
    }

    /// As [`Region::fresh`], in memory that a child process sees at the same address: what one writes the other reads.
    pub fn shared(len: u64) -> Result<Region, MemoryError> {
        let failed = |reason: String| MemoryError::Allocation { bytes: len, reason };
        let size = len.max(1).checked_next_multiple_of(WORD as u64);
        let size = size.ok_or_else(|| failed("there are not that many addresses".into()))?;
        let map = || {
            let file = File::from(rustix::fs::memfd_create(c"argus", rustix::fs::MemfdFlags::CLOEXEC)?);
            file.set_len(size)?;
            // SAFETY: the file has no name and no other owner, so it cannot shrink. Both processes touch its bytes
            // as the owner of the region says.
            unsafe { MmapMut::map_mut(&file) }
        };
        let map = map().map_err(|error: io::Error| failed(error.to_string()))?;
        let region = Region::over(map).ok_or_else(|| failed("the map is not whole words".into()))?;
        Ok(Region { len, ..region })
    }

    /// Memory that the caller has mapped, for example to share it with another process. `None` unless it
    /// begins and ends at a whole word.
    pub fn over(mut map: MmapMut) -> Option<Region> {
        let base = NonNull::new(map.as_mut_ptr())?;
        let whole = base.cast::<u64>().is_aligned() && map.len().is_multiple_of(WORD);
        whole.then(|| Region { base, len: map.len() as u64, _memory: Memory::Map(map) })
    }

    /// The first byte.
    #[inline]
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        self.len
    }

    /// Writes one byte value over all of it.
    pub(crate) fn fill(&mut self, value: u8) {
        // SAFETY: these bytes are ours, and nothing else can touch them while the region is borrowed for writing.
        unsafe { self.base.write_bytes(value, self.len as usize) };
    }
}

#[derive(Debug)]
enum Memory {
    /// Dropping it unmaps.
    Map(#[expect(dead_code, reason = "held for its lifetime only")] MmapMut),
    #[cfg(argus_heap_memory)]
    Heap(heap::Block),
}

impl Memory {
    #[cfg(not(argus_heap_memory))]
    fn zeros(size: usize) -> std::io::Result<(NonNull<u8>, Memory)> {
        let mut map = MmapMut::map_anon(size)?;
        #[cfg(target_os = "linux")]
        if size >= LARGE {
            // Fewer, larger page faults; a kernel that refuses the advice is slower, not wrong.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        let base = NonNull::new(map.as_mut_ptr()).expect("nothing is mapped at address 0");
        Ok((base, Memory::Map(map)))
    }

    #[cfg(argus_heap_memory)]
    fn zeros(size: usize) -> std::io::Result<(NonNull<u8>, Memory)> {
        let block = heap::Block::zeros(size)?;
        Ok((block.base(), Memory::Heap(block)))
    }
}

/// For memory checkers, which know where a block of the heap ends and when it was freed, and neither of a map.
#[cfg(argus_heap_memory)]
mod heap {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::io;
    use std::ptr::NonNull;

    #[derive(Debug)]
    pub struct Block {
        base: NonNull<u8>,
        layout: Layout,
    }

    impl Block {
        pub fn zeros(size: usize) -> io::Result<Block> {
            let layout = Layout::from_size_align(size, 4096).map_err(io::Error::other)?;
            // SAFETY: no region is smaller than a word.
            let base = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(Block { base, layout })
        }

        pub fn base(&self) -> NonNull<u8> {
            self.base
        }
    }

    impl Drop for Block {
        fn drop(&mut self) {
            // SAFETY: allocated in `zeros` with this layout, and nowhere freed but here.
            unsafe { dealloc(self.base.as_ptr(), self.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GlobalMemory;

    #[test]
    fn no_device_address_leads_into_a_region() {
        let memory = GlobalMemory::new();
        let device = memory.allocate(4096, crate::Fill::Zero).unwrap();
        let region = Region::fresh(4096).unwrap();
        let addr = region.base().as_ptr() as usize as u64;
        for addr in [addr, addr + 8, addr + 4095] {
            assert_eq!(memory.window(addr, 1).unwrap_err(), MemoryError::NoSuchAddress { addr, len: 1 });
            assert!(memory.read(addr, &mut [0]).is_err());
            assert!(memory.write(addr, &[1]).is_err());
            assert!(memory.allocation_of(addr).is_none());
        }
        assert!(memory.window(device.addr, 4096).is_ok());
    }
}
