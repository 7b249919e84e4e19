//! Page-aligned staging memory, as direct writes need it.

use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// Bytes of a block: one huge page. Direct writes of this size reach the disk's full rate, and fresh memory costs the
/// time in which it is cleared, so there should not be more of it.
pub(crate) const BLOCK_BYTES: usize = 2 << 20;

/// One block of anonymous memory, on huge pages where the system gives them.
pub(crate) struct Block(MmapMut);

impl Block {
    pub(crate) fn new() -> io::Result<Block> {
        let map = MmapMut::map_anon(BLOCK_BYTES)?;
        // Touching 1024 small pages costs more than the disk write they stage. A refusal costs only time.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Block(map))
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
