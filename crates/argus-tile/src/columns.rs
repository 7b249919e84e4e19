//! Column reductions: TCOLSUM and TCOLMAX.
//!
//! Each column is reduced strictly from top to bottom, in the type of the destination: every step rounds. That is the
//! type of the source, or f32 for one of the small floats.

use core::panic::Location;

use argus_abi::DType;
use half::{bf16, f16};

use crate::core::{Caller, Core};
use crate::kernel::KernelResult;
use crate::log::{LogEntry, repeats};
use crate::memory::{Memory, by_dtype, check_region, check_type};
use crate::number::{Element, Float};
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
                check_region("dst", dst, 1, src.valid_cols as usize)?;
                match (dst.dtype, src.dtype) {
                    (DType::F32, DType::F16) => memory.reduce(opcode, dst, src, f16::widen),
                    (DType::F32, DType::Bf16) => memory.reduce(opcode, dst, src, bf16::widen),
                    (wanted, _) => {
                        check_type("src", src, wanted)?;
                        by_dtype!(wanted, T => {
                            memory.reduce(opcode, dst, src, |value: T| value);
                            Ok(())
                        })?;
                    }
                }
                Ok(())
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
    fn reduce<S: Element, D: Element>(
        &mut self,
        opcode: Opcode,
        dst: &Tile,
        src: &Tile,
        widen: impl Fn(S) -> D,
    ) {
        match opcode {
            Opcode::Tcolsum => self.fold_columns(dst, src, true, widen, D::add),
            _ => self.fold_columns(dst, src, false, widen, D::larger),
        }
    }

    /// Folds the rows of the source's valid region onto one, from zero or from the first of them.
    fn fold_columns<S: Element, D: Element>(
        &mut self,
        dst: &Tile,
        src: &Tile,
        zero: bool,
        widen: impl Fn(S) -> D,
        fold: impl Fn(D, D) -> D,
    ) {
        let region = src.region();
        // A maximum of no rows still looks at row 0, which every tile has.
        let read = Region { rows: region.rows.max(1), cols: region.cols };
        self.unpack::<S>(0, src, read);
        let [rows, result, ..] = &mut self.scratch;
        let (rows, result) = (rows.take::<S>(read.elements()), result.take::<D>(region.cols));
        match zero {
            true => result.fill(D::zeroed()),
            false => result.iter_mut().zip(&*rows).for_each(|(result, &value)| *result = widen(value)),
        }
        for row in rows.chunks_exact(region.cols.max(1)).take(region.rows) {
            for (result, &value) in result.iter_mut().zip(row) {
                *result = fold(*result, widen(value));
            }
        }
        self.pack::<D>(1, dst, Region { rows: 1, cols: region.cols });
    }
}
