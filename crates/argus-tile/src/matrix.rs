//! Matrix products: TMATMUL and TMATMUL_ACC.

use core::panic::Location;

use argus_abi::DType;
use half::{bf16, f16};
use multiversion::multiversion;

use crate::core::{Caller, Core};
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::log::{LogEntry, Work};
use crate::memory::{Memory, check_region, check_type};
use crate::number::{Element, widen_bf16, widen_f16};
use crate::opcode::{Opcode, Pipe};
use crate::space::Space;
use crate::tile::{Region, Tile};

/// The matrix unit counts to this in each direction.
const LIMIT: usize = 4095;
/// Columns that are summed at once; rows of the right operand are padded to a multiple.
const LANES: usize = 16;
/// Rows that are summed at once.
const ROWS: usize = 4;

impl Core {
    /// `dst = left * right`. Each product is added unrounded, in ascending order of k, from zero.
    #[track_caller]
    pub fn tmatmul(&mut self, dst: &Tile, left: &Tile, right: &Tile) -> KernelResult {
        self.product(Opcode::Tmatmul, dst, None, left, right, Location::caller())
    }

    /// `dst = acc + left * right`: the product is summed up first, then added.
    #[track_caller]
    pub fn tmatmul_acc(&mut self, dst: &Tile, acc: &Tile, left: &Tile, right: &Tile) -> KernelResult {
        self.product(Opcode::TmatmulAcc, dst, Some(acc), left, right, Location::caller())
    }

    fn product(
        &mut self,
        opcode: Opcode,
        dst: &Tile,
        acc: Option<&Tile>,
        left: &Tile,
        right: &Tile,
        caller: Caller,
    ) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                core.memory.check_product(dst, acc, left, right)?;
                match left.dtype {
                    DType::F32 => core.memory.multiply::<f32, f32>(dst, acc, left, right, |x| x),
                    DType::F16 => core.memory.multiply::<f16, f32>(dst, acc, left, right, widen_f16),
                    DType::Bf16 => core.memory.multiply::<bf16, f32>(dst, acc, left, right, widen_bf16),
                    _ => core.memory.multiply::<i8, i32>(dst, acc, left, right, i32::from),
                }
                Ok(())
            },
            |_| {
                let entry = LogEntry::new(opcode, Pipe::M, caller).writes("dst", dst);
                let entry = match acc {
                    Some(acc) => entry.reads("acc", acc),
                    None => entry,
                };
                let (m, k, n) = (left.valid_rows, left.valid_cols, right.valid_cols);
                entry.reads("left", left).reads("right", right).work(Work::Product { m, k, n })
            },
        )
    }
}

impl Memory {
    fn check_product(&mut self, dst: &Tile, acc: Option<&Tile>, left: &Tile, right: &Tile) -> KernelResult {
        self.check("dst", dst, &[Space::Acc])?;
        self.check("left", left, &[Space::Left])?;
        self.check("right", right, &[Space::Right])?;
        let sum = match left.dtype {
            DType::F32 | DType::F16 | DType::Bf16 => DType::F32,
            DType::I8 => DType::I32,
            other => {
                let text = format!("matrices of {other} cannot be multiplied");
                return Err(Fault::new(FaultKind::WrongType, text).operand("left"));
            }
        };
        check_type("right", right, left.dtype)?;
        check_type("dst", dst, sum)?;
        let (m, k, n) = sizes(left, right);
        for (name, size) in [("left", m), ("left", k), ("right", n)] {
            if size > LIMIT {
                let text = format!("a size of {size} exceeds the {LIMIT} of the matrix unit");
                return Err(Fault::new(FaultKind::WrongShape, text).operand(name));
            }
        }
        check_region("right", right, k, n)?;
        check_region("dst", dst, m, n)?;
        if let Some(acc) = acc {
            self.check("acc", acc, &[Space::Acc])?;
            check_type("acc", acc, sum)?;
            check_region("acc", acc, m, n)?;
        }
        Ok(())
    }

    /// The product of checked tiles, in dense scratch: left in slot 0, right in slot 1, sums in slot 2.
    fn multiply<T: bytemuck::Pod, A: Element>(
        &mut self,
        dst: &Tile,
        acc: Option<&Tile>,
        left: &Tile,
        right: &Tile,
        widen: impl Fn(T) -> A + Copy,
    ) {
        let (m, k, n) = sizes(left, right);
        if m == 0 || n == 0 {
            return;
        }
        let pitch = n.next_multiple_of(LANES);
        self.unpack_wide(0, left, Region { rows: m, cols: k }, k, widen);
        self.unpack_wide(1, right, Region { rows: k, cols: n }, pitch, widen);
        let [a, b, sums, _] = &mut self.scratch;
        let (a, b) = (a.take::<A>(m * k), b.take::<A>(k * pitch));
        multiply_dense(a, b, sums.take::<A>(m * pitch), k, pitch);
        let region = Region { rows: m, cols: n };
        if let Some(acc) = acc {
            self.unpack_from::<A>(3, acc, (0, 0), region, pitch);
            let [_, _, sums, before] = &mut self.scratch;
            add_before(sums.take::<A>(m * pitch), before.take::<A>(m * pitch));
        }
        self.pack_pitched::<A>(2, dst, region, pitch);
    }

    /// Unpacks an operand into a slot and widens it to the type of the sums.
    fn unpack_wide<T: bytemuck::Pod, A: Element>(
        &mut self,
        slot: usize,
        tile: &Tile,
        region: Region,
        pitch: usize,
        widen: impl Fn(T) -> A + Copy,
    ) {
        if size_of::<T>() == size_of::<A>() {
            self.unpack_from::<A>(slot, tile, (0, 0), region, pitch);
            return;
        }
        self.unpack_from::<T>(3, tile, (0, 0), region, pitch);
        let len = region.rows * pitch;
        let [a, b, _, narrow] = &mut self.scratch;
        let wide = if slot == 0 { a } else { b };
        widen_slice(narrow.take::<T>(len), wide.take::<A>(len), widen);
    }
}

/// M, K and N of a product.
pub(crate) fn sizes(left: &Tile, right: &Tile) -> (usize, usize, usize) {
    (left.valid_rows as usize, left.valid_cols as usize, right.valid_cols as usize)
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn widen_slice<T: Copy, A, F: Fn(T) -> A>(from: &[T], to: &mut [A], widen: F) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = widen(from);
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn add_before<A: Element>(sums: &mut [A], before: &[A]) {
    for (sum, &before) in sums.iter_mut().zip(before) {
        *sum = before.add(*sum);
    }
}

/// `sums[i][j] = 0 + a[i][0] * b[0][j] + a[i][1] * b[1][j] + ...` for rows of `b` and `sums` that are
/// `pitch`, a multiple of [`LANES`], elements long. Blocks of sums stay in registers; the order of the
/// additions of each sum is that of the formula.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn multiply_dense<A: Element>(a: &[A], b: &[A], sums: &mut [A], k: usize, pitch: usize) {
    for (block, sums) in sums.chunks_mut(ROWS * pitch).enumerate() {
        let rows = sums.len() / pitch;
        let a = &a[block * ROWS * k..][..rows * k];
        for at in (0..pitch).step_by(LANES) {
            if rows == ROWS {
                multiply_block::<A, ROWS>(a, &b[at..], &mut sums[at..], k, pitch);
            } else {
                for row in 0..rows {
                    multiply_block::<A, 1>(&a[row * k..], &b[at..], &mut sums[row * pitch + at..], k, pitch);
                }
            }
        }
    }
}

#[inline(always)]
fn multiply_block<A: Element, const R: usize>(a: &[A], b: &[A], sums: &mut [A], k: usize, pitch: usize) {
    let mut block = [[A::zeroed(); LANES]; R];
    let a: [&[A]; R] = core::array::from_fn(|row| &a[row * k..][..k]);
    for step in 0..k {
        let b = &b[step * pitch..][..LANES];
        for row in 0..R {
            let left = a[row][step];
            for lane in 0..LANES {
                block[row][lane] = block[row][lane].add_product(left, b[lane]);
            }
        }
    }
    for (row, values) in block.iter().enumerate() {
        sums[row * pitch..][..LANES].copy_from_slice(values);
    }
}
