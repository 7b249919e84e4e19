//! Products of 8-bit floats with scales: TMATMUL_MX.

use core::panic::Location;

use crate::core::Core;
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::log::{LogEntry, Work};
use crate::matrix::sizes;
use crate::memory::{Memory, check_region, check_type};
use crate::opcode::{Opcode, Pipe};
use crate::space::Space;
use crate::tile::{Region, Tile};

/// Values of k that share a scale.
const GROUP: usize = 32;

/// The 8-bit floats that the matrix unit multiplies. Neither has a NaN or an infinity here: every pattern is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Float8 {
    /// Four bits of exponent, three of mantissa.
    E4M3 = 0,
    /// Five bits of exponent, two of mantissa.
    E5M2 = 1,
}

impl Float8 {
    fn widen(self, bits: u8) -> f64 {
        let (exponent_bits, mantissa_bits) = match self {
            Float8::E4M3 => (4, 3),
            Float8::E5M2 => (5, 2),
        };
        let bias = (1 << (exponent_bits - 1)) - 1;
        let exponent = i32::from(bits >> mantissa_bits & ((1 << exponent_bits) - 1));
        let mantissa = i32::from(bits & ((1 << mantissa_bits) - 1));
        let (significand, power) = match exponent {
            0 => (mantissa, 1 - bias - mantissa_bits),
            _ => (mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits),
        };
        let magnitude = libm::ldexp(f64::from(significand), power);
        if bits & 0x80 == 0 { magnitude } else { -magnitude }
    }
}

/// A scale is a power of two.
fn scale(bits: u8) -> f64 {
    libm::ldexp(1.0, i32::from(bits) - 127)
}

/// An operand with its scales.
#[derive(Clone, Copy, Debug)]
pub struct Scaled<'a> {
    pub values: &'a Tile,
    pub kind: Float8,
    pub scales: &'a Tile,
}

impl Core {
    /// `dst = left * right`, where each 32 values of k share a scale on either side. Products are taken in double
    /// precision; each sum is rounded to f32.
    #[track_caller]
    pub fn tmatmul_mx(&mut self, dst: &Tile, left: Scaled<'_>, right: Scaled<'_>) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::TmatmulMx,
            caller,
            |core| {
                core.memory.check_scaled(dst, left, right)?;
                core.memory.multiply_scaled(dst, left, right);
                Ok(())
            },
            |_| {
                let (m, k, n) = sizes(left.values, right.values);
                LogEntry::new(Opcode::TmatmulMx, Pipe::M, caller)
                    .writes("dst", dst)
                    .reads("left", left.values)
                    .reads("left_scale", left.scales)
                    .reads("right", right.values)
                    .reads("right_scale", right.scales)
                    .work(Work::Product { m: m as u32, k: k as u32, n: n as u32 })
            },
        )
    }
}

impl Memory {
    fn check_scaled(&mut self, dst: &Tile, left: Scaled<'_>, right: Scaled<'_>) -> KernelResult {
        self.check("dst", dst, &[Space::Acc])?;
        check_type("dst", dst, argus_abi::DType::F32)?;
        let (m, k, n) = sizes(left.values, right.values);
        let groups = k.div_ceil(GROUP);
        for (name, tile, space, rows, cols) in [
            ("left", left.values, Space::Left, m, k),
            ("left_scale", left.scales, Space::ScaleLeft, m, groups),
            ("right", right.values, Space::Right, k, n),
            ("right_scale", right.scales, Space::ScaleRight, groups, n),
        ] {
            self.check(name, tile, &[space])?;
            if tile.dtype.size() != 1 {
                let text = format!("the tile holds {} where bytes are needed", tile.dtype);
                return Err(Fault::new(FaultKind::WrongType, text).operand(name));
            }
            check_region(name, tile, rows, cols)?;
        }
        check_region("dst", dst, m, n)
    }

    fn multiply_scaled(&mut self, dst: &Tile, left: Scaled<'_>, right: Scaled<'_>) {
        let (m, k, n) = sizes(left.values, right.values);
        let walks = [left.values, left.scales, right.values, right.scales].map(Tile::walk);
        let mut sums = core::mem::take(&mut self.scratch[0]);
        let result = sums.take::<f32>(m * n);
        let [a, a_scale, b, b_scale] =
            [left.values, left.scales, right.values, right.scales].map(|tile| self.tile::<u8>(tile));
        for (at, sum) in result.iter_mut().enumerate() {
            let (i, j) = (at / n, at % n);
            *sum = (0..k).fold(0f32, |sum, at| {
                let x = left.kind.widen(a[walks[0].offset(i, at)])
                    * scale(a_scale[walks[1].offset(i, at / GROUP)]);
                let y = right.kind.widen(b[walks[2].offset(at, j)])
                    * scale(b_scale[walks[3].offset(at / GROUP, j)]);
                (f64::from(sum) + x * y) as f32
            });
        }
        self.scratch[0] = sums;
        self.pack::<f32>(0, dst, Region { rows: m, cols: n });
    }
}
