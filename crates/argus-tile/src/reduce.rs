//! Row reductions: TROWSUM and TROWMAX.
//!
//! Each row is reduced strictly from left to right. Several rows are reduced side by side, which keeps the
//! order of every single one and still gives the machine independent additions to overlap.

use core::panic::Location;

use half::{bf16, f16};
use multiversion::multiversion;

use crate::core::{Caller, Core};
use crate::kernel::KernelResult;
use crate::log::{LogEntry, repeats};
use crate::memory::{Memory, by_dtype, check_region, check_type};
use crate::number::{Element, Float};
use crate::opcode::{Opcode, Pipe};
use crate::space::Space;
use crate::tile::{Region, Tile};

/// Rows that are reduced side by side.
const SIDE_BY_SIDE: usize = 8;

impl Core {
    /// `dst(r, 0) = src(r, 0) + src(r, 1) + ...` for every valid row of the source, from zero. 16-bit floats
    /// are summed in f32. `tmp` is what a real chip needs; it is checked and left alone.
    #[track_caller]
    pub fn trowsum(&mut self, dst: &Tile, src: &Tile, tmp: &Tile) -> KernelResult {
        self.reduce(Opcode::Trowsum, dst, src, tmp, Location::caller())
    }

    /// `dst(r, 0)` = the largest of row r of the source. It starts with column 0, so a NaN there stays and
    /// a later one is ignored. `tmp` is checked and left alone.
    #[track_caller]
    pub fn trowmax(&mut self, dst: &Tile, src: &Tile, tmp: &Tile) -> KernelResult {
        self.reduce(Opcode::Trowmax, dst, src, tmp, Location::caller())
    }

    fn reduce(&mut self, opcode: Opcode, dst: &Tile, src: &Tile, tmp: &Tile, caller: Caller) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                let memory = &mut core.memory;
                for (name, tile) in [("dst", dst), ("src", src)] {
                    memory.check(name, tile, &[Space::Vec])?;
                }
                memory.check_scratch("tmp", tmp)?;
                check_type("src", src, dst.dtype)?;
                check_region("dst", dst, src.valid_rows as usize, 1)?;
                if opcode == Opcode::Trowmax {
                    return by_dtype!(dst.dtype, T => {
                        memory.reduce_rows::<T>(dst, src, |rows, pitch, len, out| {
                            fold_rows(rows, pitch, len, out, None, |x| x, |x| x, Element::larger)
                        });
                        Ok(())
                    });
                }
                by_dtype!(dst.dtype, T => {
                    memory.reduce_rows::<T>(dst, src, |rows, pitch, len, out| {
                        T::sum_rows(rows, pitch, len, out);
                    });
                    Ok(())
                })
            },
            |_| {
                LogEntry::new(opcode, Pipe::V, caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .scratch("tmp", tmp)
                    .work(repeats(src, src.region(), src.dtype.size()))
            },
        )
    }
}

impl Memory {
    /// Reduces the source's valid rows with `reduce(rows, pitch, length, results)` and writes the results to
    /// the destination's first column.
    fn reduce_rows<T: Element>(
        &mut self,
        dst: &Tile,
        src: &Tile,
        reduce: impl FnOnce(&[T], usize, usize, &mut [T]),
    ) {
        let region = src.region();
        if region.rows == 0 {
            return;
        }
        // A maximum over no columns still looks at column 0, which every tile has.
        let width = Region { cols: region.cols.max(1), ..region };
        let stride = src.walk().line_stride();
        if stride.is_none() {
            self.unpack::<T>(0, src, width);
        }
        let mut slot = core::mem::take(&mut self.scratch[1]);
        let results = slot.take::<T>(region.rows);
        match stride {
            Some(stride) => reduce(self.tile(src), stride, region.cols, results),
            None => reduce(self.scratch[0].take(width.elements()), width.cols, region.cols, results),
        }
        self.scratch[1] = slot;
        self.pack::<T>(1, dst, Region { rows: region.rows, cols: 1 });
    }
}

/// How the rows of a type are summed.
trait SumRows: Element {
    fn sum_rows(rows: &[Self], pitch: usize, len: usize, out: &mut [Self]);
}

macro_rules! sum_rows {
    (plain $($type:ty),*; f32 $($small:ty),*) => {
        $(impl SumRows for $type {
            fn sum_rows(rows: &[$type], pitch: usize, len: usize, out: &mut [$type]) {
                fold_rows(rows, pitch, len, out, Some(0 as $type), |x| x, |x| x, Element::add);
            }
        })*
        $(impl SumRows for $small {
            fn sum_rows(rows: &[$small], pitch: usize, len: usize, out: &mut [$small]) {
                fold_rows(rows, pitch, len, out, Some(0f32), Float::widen, Float::narrow, Element::add);
            }
        })*
    };
}

sum_rows!(plain f32, i32, i16, i8, u32, u16, u8; f32 f16, bf16);

/// Folds each row into one value, starting with `start` or, without one, with the row's first element.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
#[allow(clippy::too_many_arguments)]
fn fold_rows<T: Copy, A: Copy, W: Fn(T) -> A, N: Fn(A) -> T, F: Fn(A, A) -> A>(
    rows: &[T],
    pitch: usize,
    len: usize,
    out: &mut [T],
    start: Option<A>,
    widen: W,
    narrow: N,
    fold: F,
) {
    for (block, out) in out.chunks_mut(SIDE_BY_SIDE).enumerate() {
        let rows = &rows[block * SIDE_BY_SIDE * pitch..];
        let first = |row: usize| start.unwrap_or_else(|| widen(rows[row * pitch]));
        if out.len() == SIDE_BY_SIDE {
            let mut sums: [A; SIDE_BY_SIDE] = core::array::from_fn(first);
            let lines: [&[T]; SIDE_BY_SIDE] = core::array::from_fn(|row| &rows[row * pitch..][..len]);
            for at in 0..len {
                for (sum, line) in sums.iter_mut().zip(&lines) {
                    *sum = fold(*sum, widen(line[at]));
                }
            }
            for (out, &sum) in out.iter_mut().zip(&sums) {
                *out = narrow(sum);
            }
            continue;
        }
        for (row, out) in out.iter_mut().enumerate() {
            let line = &rows[row * pitch..][..len];
            *out = narrow(line.iter().fold(first(row), |sum, &value| fold(sum, widen(value))));
        }
    }
}
