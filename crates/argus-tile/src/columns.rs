//! Column reductions: TCOLSUM and TCOLMAX.
//!
//! Each column is reduced strictly from top to bottom, in the type of the tiles: every step rounds.

use core::panic::Location;

use crate::core::{Caller, Core};
use crate::kernel::KernelResult;
use crate::log::{LogEntry, repeats};
use crate::memory::{Memory, by_dtype, check_region, check_type};
use crate::number::Element;
use crate::opcode::{Opcode, Pipe};
use crate::space::Space;
use crate::tile::{Region, Tile};

impl Core {
    /// `dst(0, c) = 0 + src(0, c) + src(1, c) + ...` for every valid column of the source.
    #[track_caller]
    pub fn tcolsum(&mut self, dst: &Tile, src: &Tile) -> KernelResult {
        self.reduce_columns(Opcode::Tcolsum, dst, src, Location::caller())
    }

    /// `dst(0, c)` = the largest of column c of the source. It starts with row 0, so a NaN there stays and a later
    /// one is ignored.
    #[track_caller]
    pub fn tcolmax(&mut self, dst: &Tile, src: &Tile) -> KernelResult {
        self.reduce_columns(Opcode::Tcolmax, dst, src, Location::caller())
    }

    fn reduce_columns(&mut self, opcode: Opcode, dst: &Tile, src: &Tile, caller: Caller) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, &[Space::Vec])?;
                memory.check("src", src, &[Space::Vec])?;
                check_type("src", src, dst.dtype)?;
                check_region("dst", dst, 1, src.valid_cols as usize)?;
                by_dtype!(dst.dtype, T => {
                    match opcode {
                        Opcode::Tcolsum => memory.fold_columns::<T>(dst, src, true, T::add),
                        _ => memory.fold_columns::<T>(dst, src, false, T::larger),
                    }
                    Ok(())
                })
            },
            |_| {
                LogEntry::new(opcode, Pipe::V, caller).writes("dst", dst).reads("src", src).work(repeats(
                    src,
                    src.region(),
                    src.dtype.size(),
                ))
            },
        )
    }
}

impl Memory {
    /// Folds the rows of the source's valid region onto one, from zero or from the first of them.
    fn fold_columns<T: Element>(&mut self, dst: &Tile, src: &Tile, zero: bool, fold: impl Fn(T, T) -> T) {
        let region = src.region();
        // A maximum of no rows still looks at row 0, which every tile has.
        let read = Region { rows: region.rows.max(1), cols: region.cols };
        self.unpack::<T>(0, src, read);
        let [rows, result, ..] = &mut self.scratch;
        let (rows, result) = (rows.take::<T>(read.elements()), result.take::<T>(region.cols));
        match zero {
            true => result.fill(T::zeroed()),
            false => result.copy_from_slice(&rows[..region.cols]),
        }
        for row in rows.chunks_exact(region.cols.max(1)).take(region.rows) {
            for (result, &value) in result.iter_mut().zip(row) {
                *result = fold(*result, value);
            }
        }
        self.pack::<T>(1, dst, Region { rows: 1, cols: region.cols });
    }
}
