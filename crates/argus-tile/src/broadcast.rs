//! Broadcasts: one column over all columns, one row over all rows, alone or combined with another tile.

use core::panic::Location;

use argus_abi::DType;
use half::f16;

use crate::core::{Caller, Core};
use crate::elementwise::{Binary, by_binary, divided_by_zero};
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::lines::{Grid, Source, split, unjoined_rows};
use crate::log::{LogEntry, repeats};
use crate::loops;
use crate::memory::{Memory, by_dtype, by_width, check_region, check_type};
use crate::number::{Element, Float};
use crate::opcode::{Opcode, Pipe};
use crate::space::Space;
use crate::tile::{Region, Tile};

impl Core {
    /// `dst(r, c) = src(r, 0)`.
    #[track_caller]
    pub fn trowexpand(&mut self, dst: &Tile, src: &Tile) -> KernelResult {
        self.expand(Opcode::Trowexpand, dst, src, Location::caller())
    }

    /// `dst(r, c) = src(0, c)`.
    #[track_caller]
    pub fn tcolexpand(&mut self, dst: &Tile, src: &Tile) -> KernelResult {
        self.expand(Opcode::Tcolexpand, dst, src, Location::caller())
    }

    /// `dst(r, c) = src0(r, c mod src0's columns) * src1(r, c mod src1's columns)`.
    #[track_caller]
    pub fn trowexpandmul(&mut self, dst: &Tile, src0: &Tile, src1: &Tile) -> KernelResult {
        self.expand_rows(Opcode::Trowexpandmul, Binary::Mul, dst, src0, src1, Location::caller())
    }

    /// `dst(r, c) = src0(r, c mod src0's columns) - src1(r, c mod src1's columns)`.
    #[track_caller]
    pub fn trowexpandsub(&mut self, dst: &Tile, src0: &Tile, src1: &Tile) -> KernelResult {
        self.expand_rows(Opcode::Trowexpandsub, Binary::Sub, dst, src0, src1, Location::caller())
    }

    /// `dst(r, c) = src0(r, c mod src0's columns) / src1(r, c mod src1's columns)`.
    #[track_caller]
    pub fn trowexpanddiv(&mut self, dst: &Tile, src0: &Tile, src1: &Tile) -> KernelResult {
        self.expand_rows(Opcode::Trowexpanddiv, Binary::Div, dst, src0, src1, Location::caller())
    }

    /// `dst(r, c) = src0(r, c) * src1(0, c)`.
    #[track_caller]
    pub fn tcolexpandmul(&mut self, dst: &Tile, src0: &Tile, src1: &Tile) -> KernelResult {
        self.expand_columns(Opcode::Tcolexpandmul, dst, src0, src1, Location::caller(), |memory| {
            by_dtype!(dst.dtype, T => {
                memory.combine_columns::<T>(dst, src0, src1, T::mul);
                Ok(())
            })
        })
    }

    /// `dst(r, c) = src0(r, c) + src1(0, c)`.
    #[track_caller]
    pub fn tcolexpandadd(&mut self, dst: &Tile, src0: &Tile, src1: &Tile) -> KernelResult {
        self.expand_columns(Opcode::Tcolexpandadd, dst, src0, src1, Location::caller(), |memory| {
            by_dtype!(dst.dtype, T => {
                memory.combine_columns::<T>(dst, src0, src1, T::add);
                Ok(())
            })
        })
    }

    /// `dst(r, c) = exp(src0(r, c) - src1(0, c))`: the difference is rounded, then the exponential.
    #[track_caller]
    pub fn tcolexpandexpdif(&mut self, dst: &Tile, src0: &Tile, src1: &Tile) -> KernelResult {
        self.expand_columns(Opcode::Tcolexpandexpdif, dst, src0, src1, Location::caller(), |memory| {
            match dst.dtype {
                DType::F32 => memory.combine_columns::<f32>(dst, src0, src1, exp_of_difference),
                DType::F16 => memory.combine_columns::<f16>(dst, src0, src1, exp_of_difference),
                other => return Err(crate::memory::no_compute(other)),
            }
            Ok(())
        })
    }

    fn expand_columns(
        &mut self,
        opcode: Opcode,
        dst: &Tile,
        src0: &Tile,
        src1: &Tile,
        caller: Caller,
        run: impl FnOnce(&mut Memory) -> KernelResult,
    ) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, &[Space::Vec])?;
                memory.check_source("src0", src0, dst)?;
                memory.check("src1", src1, &[Space::Vec])?;
                check_type("src1", src1, dst.dtype)?;
                check_region("src1", src1, 1, dst.valid_cols as usize)?;
                run(memory)
            },
            |_| log_two(opcode, dst, src0, src1, caller),
        )
    }

    fn expand(&mut self, opcode: Opcode, dst: &Tile, src: &Tile, caller: Caller) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, &[Space::Vec])?;
                memory.check("src", src, &[Space::Vec])?;
                check_type("src", src, dst.dtype)?;
                let region = dst.region();
                let column = opcode == Opcode::Trowexpand;
                let from = if column {
                    Region { rows: region.rows, cols: 1 }
                } else {
                    Region { rows: 1, cols: region.cols }
                };
                check_region("src", src, from.rows, from.cols)?;
                by_width!(dst.dtype, T => {
                    memory.unpack::<T>(0, src, from);
                    let [from, to, ..] = &mut memory.scratch;
                    let to = to.take::<T>(region.elements());
                    if column {
                        let from = from.take::<T>(region.rows);
                        for (line, &value) in to.chunks_exact_mut(region.cols.max(1)).zip(&*from) {
                            line.fill(value);
                        }
                    } else {
                        let from = from.take::<T>(region.cols);
                        for line in to.chunks_exact_mut(region.cols.max(1)) {
                            line.copy_from_slice(from);
                        }
                    }
                    memory.pack::<T>(1, dst, region);
                });
                Ok(())
            },
            |_| {
                LogEntry::new(opcode, Pipe::V, caller).writes("dst", dst).reads("src", src).work(repeats(
                    dst,
                    dst.region(),
                    dst.dtype.size(),
                ))
            },
        )
    }

    fn expand_rows(
        &mut self,
        opcode: Opcode,
        op: Binary,
        dst: &Tile,
        src0: &Tile,
        src1: &Tile,
        caller: Caller,
    ) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, &[Space::Vec])?;
                memory.check_cyclic("src0", src0, dst)?;
                memory.check_cyclic("src1", src1, dst)?;
                by_dtype!(dst.dtype, T => {
                    by_binary!(op, T, f => memory.combine_rows::<T>(dst, src0, src1, op, f))
                })
            },
            |_| log_two(opcode, dst, src0, src1, caller),
        )
    }
}

/// Rounds the difference to the type, and the exponential of it once more.
fn exp_of_difference<T: Float>(a: T, b: T) -> T {
    T::narrow_f64(libm::exp(a.sub(b).widen().into()))
}

fn log_two(opcode: Opcode, dst: &Tile, src0: &Tile, src1: &Tile, caller: Caller) -> LogEntry {
    LogEntry::new(opcode, Pipe::V, caller)
        .writes("dst", dst)
        .reads("src0", src0)
        .reads("src1", src1)
        .work(repeats(dst, dst.region(), dst.dtype.size()))
}

impl Memory {
    /// Checks a source whose valid columns repeat over the destination.
    fn check_cyclic(&mut self, name: &'static str, src: &Tile, dst: &Tile) -> KernelResult {
        self.check(name, src, &[Space::Vec])?;
        check_type(name, src, dst.dtype)?;
        if dst.region().elements() == 0 {
            return Ok(());
        }
        check_region(name, src, dst.valid_rows as usize, 1)?;
        if src.valid_cols == 0 {
            let text = "there is no valid column to repeat";
            return Err(Fault::new(FaultKind::WrongShape, text).operand(name));
        }
        Ok(())
    }

    fn combine_rows<T: Element>(
        &mut self,
        dst: &Tile,
        src0: &Tile,
        src1: &Tile,
        op: Binary,
        f: impl Fn(T, T) -> T + Copy,
    ) -> KernelResult {
        let region = dst.region();
        let used = |src: &Tile| Region { rows: region.rows, cols: region.cols.min(src.valid_cols as usize) };
        let (first, second) = (used(src0), used(src1));
        let divisors = self.unpack::<T>(2, src1, second);
        if matches!(op, Binary::Div) && divisors.iter().any(|value| value.is_zero_divisor()) {
            return Err(divided_by_zero("src1"));
        }
        let whole = first.cols == region.cols && src1.valid_cols == 1;
        if let Some([d, a]) = unjoined_rows([dst, src0], region).filter(|_| whole) {
            let grid = Grid { lines: region.rows, len: region.cols };
            let mut factors = core::mem::take(&mut self.scratch[2]);
            let (space, scratch) = self.space_and_scratch::<T>(dst);
            let (target, [a]) = split(space, scratch, grid, d, [a]);
            loops::zip_lines(target, d.stride, grid, a, factors.take::<T>(region.rows), f);
            self.scratch[2] = factors;
            return Ok(());
        }
        self.unpack::<T>(0, src0, first);
        let [a, to, b, _] = &mut self.scratch;
        let (a, b) = (a.take::<T>(first.elements()), b.take::<T>(second.elements()));
        let to = to.take::<T>(region.elements());
        for (row, line) in to.chunks_exact_mut(region.cols.max(1)).enumerate() {
            let (a, b) = (&a[row * first.cols..][..first.cols], &b[row * second.cols..][..second.cols]);
            for (c, value) in line.iter_mut().enumerate() {
                *value = f(a[c % first.cols], b[c % second.cols]);
            }
        }
        self.pack::<T>(1, dst, region);
        Ok(())
    }

    fn combine_columns<T: Element>(
        &mut self,
        dst: &Tile,
        src0: &Tile,
        src1: &Tile,
        f: impl Fn(T, T) -> T + Copy,
    ) {
        let region = dst.region();
        self.unpack::<T>(2, src1, Region { rows: 1, cols: region.cols });
        let mut factors = core::mem::take(&mut self.scratch[2]);
        let row = factors.take::<T>(region.cols);
        let grid = Grid { lines: region.rows, len: region.cols };
        if let Some([d, a]) = unjoined_rows([dst, src0], region) {
            let (space, scratch) = self.space_and_scratch::<T>(dst);
            let (target, [a]) = split(space, scratch, grid, d, [a]);
            loops::zip(target, d.stride, grid, a, Source::Lines(row, 0), f);
        } else {
            let x = self.unpack::<T>(0, src0, region);
            loops::zip(x, region.cols, grid, Source::InPlace, Source::Lines(row, 0), f);
            self.pack::<T>(0, dst, region);
        }
        self.scratch[2] = factors;
    }
}
