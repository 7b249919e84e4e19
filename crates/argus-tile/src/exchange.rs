//! TPUSH, TPOP and TFREE: tiles through the pipes of a cluster.

use core::panic::Location;

use argus_abi::{CoreType, Member};
use bytemuck::Pod;

use crate::core::Core;
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::log::LogEntry;
use crate::memory::{Memory, by_width};
use crate::opcode::{Opcode, Pipe};
use crate::pipe::{Part, Split, TPipe, Way};
use crate::space::Space;
use crate::tile::{Region, Tile};

impl Core {
    /// Hands a tile to the other side, waiting for a free slot.
    ///
    /// From the matrix core: the valid region, or each half of the storage for its vector core. From a
    /// vector core: the whole storage, zero outside the valid region, as the slot or as its half of it;
    /// unsplit, only the first vector core pushes.
    #[track_caller]
    pub fn tpush(&mut self, pipe: &TPipe, src: &Tile, split: Split) -> KernelResult {
        let caller = Location::caller();
        let opcode = Opcode::Tpush;
        self.issue(
            opcode,
            caller,
            |core| {
                core.memory.check("src", src, &[Space::Acc, Space::Mat, Space::Vec])?;
                match core.core_type() {
                    CoreType::Aic => core.push_to_vector(pipe, src, split),
                    CoreType::Aiv => core.push_to_matrix(pipe, src, split),
                }
            },
            |core| {
                let moved = core.takes_part(split) as usize * src.region().elements() * src.dtype.size();
                LogEntry::new(opcode, opcode.pipe(None, Some(src.space)), caller)
                    .reads("src", src)
                    .fifo(pipe, split)
                    .bytes(moved as u64)
            },
        )
    }

    /// Waits for the next tile from the other side and copies it over the valid region. The second vector
    /// core gets zeros from an unsplit pipe, and does not wait.
    #[track_caller]
    pub fn tpop(&mut self, pipe: &TPipe, dst: &Tile, split: Split) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tpop,
            caller,
            |core| {
                core.memory.check("dst", dst, &[Space::Mat, Space::Vec])?;
                core.pop(pipe, dst, split)
            },
            |core| {
                let moved = core.takes_part(split) as usize * dst.region().elements() * dst.dtype.size();
                LogEntry::new(Opcode::Tpop, Pipe::Mte2, caller)
                    .writes("dst", dst)
                    .fifo(pipe, split)
                    .bytes(moved as u64)
            },
        )
    }

    /// Gives back the oldest slot that this core popped.
    #[track_caller]
    pub fn tfree(&mut self, pipe: &TPipe, split: Split) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tfree,
            caller,
            |core| {
                let way = core.incoming(pipe)?;
                if !core.takes_part(split) {
                    return Ok(());
                }
                core.pipes.free(pipe, way, core.lane())
            },
            |_| LogEntry::new(Opcode::Tfree, Pipe::S, caller).fifo(pipe, split),
        )
    }

    fn lane(&self) -> usize {
        usize::from(self.member == Member::Aiv1)
    }

    /// The second vector core has no share in what is not split.
    fn takes_part(&self, split: Split) -> bool {
        split != Split::NoSplit || self.member != Member::Aiv1
    }

    fn incoming(&self, pipe: &TPipe) -> Result<Way, Fault> {
        let way = match self.core_type() {
            CoreType::Aic => Way::ToMatrix,
            CoreType::Aiv => Way::ToVector,
        };
        check_way(pipe, way, "receives nothing")
    }

    fn push_to_vector(&mut self, pipe: &TPipe, src: &Tile, split: Split) -> KernelResult {
        check_way(pipe, Way::ToVector, "sends nothing")?;
        let size = src.dtype.size();
        let half = match split {
            Split::NoSplit => src.region(),
            Split::UpDown => Region { rows: src.rows as usize / 2, cols: src.cols as usize },
            Split::LeftRight => Region { rows: src.rows as usize, cols: src.cols as usize / 2 },
        };
        check_fits(pipe, half.elements() * size)?;
        let origins = match split {
            Split::NoSplit => [Some((0, 0)), None],
            Split::UpDown => [Some((0, 0)), Some((half.rows, 0))],
            Split::LeftRight => [Some((0, 0)), Some((0, half.cols))],
        };
        let memory = &mut self.memory;
        self.pipes.push_to_vector(pipe, split, &self.status, |parts| {
            for (part, origin) in parts.iter_mut().zip(origins) {
                part.bytes.clear();
                part.pitch = half.cols * size;
                if let Some(origin) = origin {
                    by_width!(src.dtype, T => {
                        let rows = memory.unpack_from::<T>(0, src, origin, half, half.cols);
                        part.bytes.extend_from_slice(bytemuck::cast_slice(rows));
                    });
                }
            }
        })
    }

    fn push_to_matrix(&mut self, pipe: &TPipe, src: &Tile, split: Split) -> KernelResult {
        check_way(pipe, Way::ToMatrix, "sends nothing")?;
        let (rows, width) = (src.rows as usize, src.cols as usize * src.dtype.size());
        let halves = if split == Split::NoSplit { 1 } else { 2 };
        check_fits(pipe, rows * width * halves)?;
        if !self.takes_part(split) {
            return Ok(());
        }
        let (lane, memory) = (self.lane(), &mut self.memory);
        let (start, pitch) = match split {
            Split::NoSplit => (0, width),
            Split::UpDown => (lane * rows * width, width),
            Split::LeftRight => (lane * width, 2 * width),
        };
        self.pipes.push_to_matrix(pipe, split, lane, &self.status, |part| {
            part.pitch = pitch;
            part.bytes.resize(rows * width * halves, 0);
            by_width!(src.dtype, T => {
                let region = src.region();
                let from = memory.unpack::<T>(0, src, region);
                for row in 0..rows {
                    let line = &mut part.bytes[start + row * pitch..][..width];
                    line.fill(0);
                    if row < region.rows {
                        let values: &[u8] = bytemuck::cast_slice(&from[row * region.cols..][..region.cols]);
                        line[..values.len()].copy_from_slice(values);
                    }
                }
            });
        })
    }

    fn pop(&mut self, pipe: &TPipe, dst: &Tile, split: Split) -> KernelResult {
        let way = self.incoming(pipe)?;
        if !self.takes_part(split) {
            by_width!(dst.dtype, T => self.memory.tile_mut::<T>(dst).fill(0));
            return Ok(());
        }
        let (lane, memory) = (self.lane(), &mut self.memory);
        self.pipes.pop(
            pipe,
            way,
            split,
            lane,
            &self.status,
            |part| by_width!(dst.dtype, T => memory.receive::<T>(dst, part)),
        )
    }
}

impl Memory {
    /// Copies a consumer's part of a slot over a tile's valid region.
    fn receive<T: Pod>(&mut self, dst: &Tile, part: &Part) -> KernelResult {
        let (region, width) = (dst.region(), dst.cols as usize * size_of::<T>());
        if region.elements() == 0 {
            return Ok(());
        }
        let needed = (region.rows - 1) * part.pitch + region.cols * size_of::<T>();
        if needed > part.bytes.len() || (region.rows > 1 && width != part.pitch) {
            let text = format!(
                "the tile takes {} rows of {width} bytes, the slot holds {} bytes in rows of {}",
                region.rows,
                part.bytes.len(),
                part.pitch
            );
            return Err(Fault::new(FaultKind::WrongShape, text).operand("dst"));
        }
        let rows = self.scratch[0].take::<T>(region.elements());
        for (row, line) in rows.chunks_exact_mut(region.cols).enumerate() {
            let line: &mut [u8] = bytemuck::cast_slice_mut(line);
            line.copy_from_slice(&part.bytes[row * part.pitch..][..line.len()]);
        }
        self.pack::<T>(0, dst, region);
        Ok(())
    }
}

fn check_way(pipe: &TPipe, way: Way, text: &str) -> Result<Way, Fault> {
    if pipe.carries(way) {
        return Ok(way);
    }
    let text = format!("this core {text} through a {:?} pipe", pipe.dir);
    Err(Fault::new(FaultKind::Protocol, text).operand("pipe"))
}

fn check_fits(pipe: &TPipe, bytes: usize) -> KernelResult {
    if bytes <= pipe.slot_size as usize {
        return Ok(());
    }
    let text = format!("{bytes} bytes do not fit a slot of {}", pipe.slot_size);
    Err(Fault::new(FaultKind::OutOfRange, text).operand("src"))
}
