//! One file being filled from its start, block by block.

use std::io;
use std::sync::Arc;

use crate::block::{BLOCK_BYTES, Block};
use crate::map::Bytes;
use crate::spool::{Failure, Spool, Target};

/// The end of a file that grows: what is in the current block, and how much of it is handed over.
pub(crate) struct Stream {
    target: Arc<Target>,
    /// Where the current block lies in the file; a multiple of its size.
    base: u64,
    block: Option<Block>,
    /// Bytes of the current block that the writing thread has got already. They need not be in `block`.
    handed: usize,
    filled: usize,
}

impl Stream {
    pub(crate) fn new(target: Arc<Target>) -> Stream {
        Stream { target, base: 0, block: None, handed: 0, filled: 0 }
    }

    /// Length of the file once everything is written.
    pub(crate) fn position(&self) -> u64 {
        self.base + self.filled as u64
    }

    /// What the file holds of it.
    pub(crate) fn content(&self) -> io::Result<Bytes> {
        self.target.content()
    }

    /// Whether everything is handed over.
    pub(crate) fn clean(&self) -> bool {
        self.handed == self.filled
    }

    /// Bytes that fit before a block is full and goes out by itself.
    pub(crate) fn room(&self) -> usize {
        BLOCK_BYTES - self.filled
    }

    pub(crate) fn write(&mut self, spool: &mut Spool, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() {
            let block = match &mut self.block {
                Some(block) => block,
                empty => empty.insert(spool.take()?),
            };
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK_BYTES - self.filled));
            block[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
            if self.filled == BLOCK_BYTES {
                self.hand_over(spool)?;
                self.base += BLOCK_BYTES as u64;
                self.filled = 0;
                self.handed = 0;
            }
        }
        Ok(())
    }

    /// Writes `N` bytes that `fill` makes where they will lie, if the current block has room for more than that.
    pub(crate) fn write_in_place<const N: usize>(
        &mut self,
        spool: &mut Spool,
        fill: impl FnOnce(&mut [u8; N]),
    ) -> Result<(), Failure> {
        if self.room() > N
            && let Some(block) = &mut self.block
            && let Some(room) = block[self.filled..].first_chunk_mut()
        {
            fill(room);
            self.filled += N;
            return Ok(());
        }
        let mut bytes = [0; N];
        fill(&mut bytes);
        self.write(spool, &bytes)
    }

    /// Hands over what the current block holds. The rest of the block follows in other memory.
    pub(crate) fn hand_over(&mut self, spool: &mut Spool) -> Result<(), Failure> {
        if self.clean() {
            return Ok(());
        }
        if let Some(block) = self.block.take() {
            spool.write(&self.target, block, self.base, self.handed, self.filled)?;
            self.handed = self.filled;
        }
        Ok(())
    }

    /// Hands over the rest and makes the file exactly as long as what was written, on disk if `sync` asks
    /// for it. More may follow.
    pub(crate) fn seal(&mut self, spool: &mut Spool, sync: bool) -> Result<(), Failure> {
        self.hand_over(spool)?;
        spool.seal(&self.target, self.position(), sync)
    }

    /// Takes back everything from `position` on; the next bytes go there.
    ///
    /// Bytes that are handed over stay in the file until others replace them or the file is sealed.
    pub(crate) fn rewind(&mut self, position: u64) {
        if position >= self.base {
            self.filled = self.filled.min((position - self.base) as usize);
            self.handed = self.handed.min(self.filled);
        } else {
            self.filled = (position % BLOCK_BYTES as u64) as usize;
            self.handed = self.filled;
            self.base = position - self.filled as u64;
        }
    }
}
