//! Elementwise instructions: two tiles, a tile and a scalar, one tile.

use core::panic::Location;

use half::{bf16, f16};

use crate::core::{Caller, Core};
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::lines::{Source, split, strips};
use crate::log::{LogEntry, repeats};
use crate::loops;
use crate::memory::{Memory, by_dtype, check_region, check_type};
use crate::number::{Element, Float};
use crate::opcode::Opcode;
use crate::scalar::ScalarValue;
use crate::space::Space;
use crate::tile::{Region, Tile};

/// Operations on two elements.
#[derive(Clone, Copy)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
}

/// Operations on one element.
#[derive(Clone, Copy)]
enum Unary {
    Neg,
    Abs,
}

/// Operations on one float.
#[derive(Clone, Copy)]
enum Function {
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Recip,
}

/// Runs `$body` with `$f` as the function of a [`Binary`]; each choice compiles a loop of its own.
macro_rules! by_binary {
    ($op:expr, $T:ty, $f:ident => $body:expr) => {
        match $op {
            Binary::Add => {
                let $f = <$T as crate::number::Element>::add;
                $body
            }
            Binary::Sub => {
                let $f = <$T as crate::number::Element>::sub;
                $body
            }
            Binary::Mul => {
                let $f = <$T as crate::number::Element>::mul;
                $body
            }
            Binary::Div => {
                let $f = <$T as crate::number::Element>::div;
                $body
            }
            Binary::Max => {
                let $f = <$T as crate::number::Element>::larger;
                $body
            }
            Binary::Min => {
                let $f = <$T as crate::number::Element>::smaller;
                $body
            }
        }
    };
}

pub(crate) use by_binary;

macro_rules! instructions {
    (binary: $($(#[$doc:meta])* $name:ident = $opcode:ident $op:ident;)*) => {
        impl Core {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&mut self, dst: &Tile, src0: &Tile, src1: &Tile) -> KernelResult {
                self.binary(Opcode::$opcode, Binary::$op, dst, src0, src1, Location::caller())
            }
        )*}
    };
    (scalar: $($(#[$doc:meta])* $name:ident = $opcode:ident $op:ident;)*) => {
        impl Core {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&mut self, dst: &Tile, src: &Tile, scalar: impl Into<ScalarValue>) -> KernelResult {
                self.scalar(Opcode::$opcode, Binary::$op, dst, src, scalar.into(), Location::caller())
            }
        )*}
    };
    (unary: $($(#[$doc:meta])* $name:ident = $opcode:ident $op:expr;)*) => {
        impl Core {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&mut self, dst: &Tile, src: &Tile) -> KernelResult {
                self.unary(Opcode::$opcode, dst, src, Location::caller(), |memory| memory.apply(dst, src, $op))
            }
        )*}
    };
}

instructions! { binary:
    /// `dst = src0 + src1`.
    tadd = Tadd Add;
    /// `dst = src0 - src1`.
    tsub = Tsub Sub;
    /// `dst = src0 * src1`.
    tmul = Tmul Mul;
    /// `dst = src0 / src1`; an integer divided by zero is a fault.
    tdiv = Tdiv Div;
    /// `dst = src0 < src1 ? src1 : src0`, so a NaN in `src1` is dropped.
    tmax = Tmax Max;
    /// `dst = src1 < src0 ? src1 : src0`, so a NaN in `src1` is dropped.
    tmin = Tmin Min;
}

instructions! { scalar:
    /// `dst = src + scalar`.
    tadds = Tadds Add;
    /// `dst = src - scalar`.
    tsubs = Tsubs Sub;
    /// `dst = src * scalar`.
    tmuls = Tmuls Mul;
    /// `dst = src / scalar`; an integer divided by zero is a fault.
    tdivs = Tdivs Div;
    /// `dst = src < scalar ? scalar : src`.
    tmaxs = Tmaxs Max;
    /// `dst = scalar < src ? scalar : src`.
    tmins = Tmins Min;
}

instructions! { unary:
    /// `dst = exp(src)`.
    texp = Texp Operation::Function(Function::Exp);
    /// `dst = ln(src)`.
    tlog = Tlog Operation::Function(Function::Log);
    /// `dst = sqrt(src)`.
    tsqrt = Tsqrt Operation::Function(Function::Sqrt);
    /// `dst = 1 / sqrt(src)`.
    trsqrt = Trsqrt Operation::Function(Function::Rsqrt);
    /// `dst = 1 / src`.
    trecip = Trecip Operation::Function(Function::Recip);
    /// `dst = -src`.
    tneg = Tneg Operation::Unary(Unary::Neg);
    /// `dst = src < 0 ? -src : src`.
    tabs = Tabs Operation::Unary(Unary::Abs);
}

#[derive(Clone, Copy)]
enum Operation {
    Unary(Unary),
    Function(Function),
}

impl Core {
    fn binary(
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
                memory.check_source("src0", src0, dst)?;
                memory.check_source("src1", src1, dst)?;
                by_dtype!(dst.dtype, T => {
                    if matches!(op, Binary::Div) {
                        memory.check_divisors::<T>("src1", src1, dst.region())?;
                    }
                    by_binary!(op, T, f => memory.zip::<T>(dst, src0, src1, f));
                    Ok(())
                })
            },
            |_| {
                LogEntry::new(opcode, opcode.pipe(Some(dst.space), Some(src0.space)), caller)
                    .writes("dst", dst)
                    .reads("src0", src0)
                    .reads("src1", src1)
                    .work(repeats(dst, dst.region(), dst.dtype.size()))
            },
        )
    }

    fn scalar(
        &mut self,
        opcode: Opcode,
        op: Binary,
        dst: &Tile,
        src: &Tile,
        scalar: ScalarValue,
        caller: Caller,
    ) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, &[Space::Vec])?;
                memory.check_source("src", src, dst)?;
                by_dtype!(dst.dtype, T => {
                    let s = T::from_scalar(scalar);
                    if matches!(op, Binary::Div) && s.is_zero_divisor() {
                        return Err(divided_by_zero("scalar"));
                    }
                    by_binary!(op, T, f => memory.map::<T>(dst, src, |v| f(v, s)));
                    Ok(())
                })
            },
            |_| {
                LogEntry::new(opcode, opcode.pipe(Some(dst.space), Some(src.space)), caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .scalar(scalar)
                    .work(repeats(dst, dst.region(), dst.dtype.size()))
            },
        )
    }

    fn unary(
        &mut self,
        opcode: Opcode,
        dst: &Tile,
        src: &Tile,
        caller: Caller,
        run: impl FnOnce(&mut Memory) -> KernelResult,
    ) -> KernelResult {
        self.issue(
            opcode,
            caller,
            |core| {
                core.memory.check("dst", dst, &[Space::Vec])?;
                core.memory.check_source("src", src, dst)?;
                run(&mut core.memory)
            },
            |_| {
                LogEntry::new(opcode, opcode.pipe(Some(dst.space), Some(src.space)), caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .work(repeats(dst, dst.region(), dst.dtype.size()))
            },
        )
    }

    /// Fills the valid region with a scalar.
    #[track_caller]
    pub fn texpands(&mut self, dst: &Tile, scalar: impl Into<ScalarValue>) -> KernelResult {
        let (caller, scalar) = (Location::caller(), scalar.into());
        let opcode = Opcode::Texpands;
        self.issue(
            opcode,
            caller,
            |core| {
                core.memory.check("dst", dst, &[Space::Vec, Space::Mat])?;
                by_dtype!(dst.dtype, T => {
                    let (value, region) = (T::from_scalar(scalar), dst.region());
                    core.memory.scratch[0].take::<T>(region.elements()).fill(value);
                    core.memory.pack::<T>(0, dst, region);
                    Ok(())
                })
            },
            |_| {
                LogEntry::new(opcode, opcode.pipe(Some(dst.space), None), caller)
                    .writes("dst", dst)
                    .scalar(scalar)
                    .work(repeats(dst, dst.region(), dst.dtype.size()))
            },
        )
    }
}

#[cold]
pub(crate) fn divided_by_zero(name: &'static str) -> Fault {
    Fault::new(FaultKind::DivisionByZero, "an integer is divided by zero").operand(name)
}

impl Memory {
    /// Checks a source that is read over the destination's valid region and shares its type.
    pub fn check_source(&mut self, name: &'static str, src: &Tile, dst: &Tile) -> KernelResult {
        self.check(name, src, &[Space::Vec])?;
        check_type(name, src, dst.dtype)?;
        check_region(name, src, dst.valid_rows as usize, dst.valid_cols as usize)
    }

    /// Refuses a divisor of zero; floats have an answer for it.
    pub fn check_divisors<T: Element>(
        &mut self,
        name: &'static str,
        tile: &Tile,
        region: Region,
    ) -> KernelResult {
        let zero = !tile.dtype.is_float()
            && self.unpack::<T>(0, tile, region).iter().any(|value| value.is_zero_divisor());
        if zero { Err(divided_by_zero(name)) } else { Ok(()) }
    }

    /// `dst = f(a, b)` over the destination's valid region.
    pub fn zip<T: Element>(&mut self, dst: &Tile, a: &Tile, b: &Tile, f: impl Fn(T, T) -> T + Copy) {
        let region = dst.region();
        if region.elements() == 0 {
            return;
        }
        if let Some((grid, [d, a, b])) = strips([dst, a, b], region) {
            let (space, scratch) = self.space_and_scratch::<T>(dst);
            let (target, [a, b]) = split(space, scratch, grid, d, [a, b]);
            loops::zip(target, d.stride, grid, a, b, f);
            return;
        }
        self.unpack::<T>(0, a, region);
        self.unpack::<T>(1, b, region);
        let [x, y, ..] = &mut self.scratch;
        let (x, y) = (x.take::<T>(region.elements()), y.take::<T>(region.elements()));
        let grid = crate::lines::Grid { lines: 1, len: region.elements() };
        loops::zip(x, 0, grid, Source::InPlace, Source::Lines(y, 0), f);
        self.pack::<T>(0, dst, region);
    }

    /// `dst = f(a)` over the destination's valid region.
    pub fn map<T: Element>(&mut self, dst: &Tile, a: &Tile, f: impl Fn(T) -> T + Copy) {
        let region = dst.region();
        if region.elements() == 0 {
            return;
        }
        if let Some((grid, [d, a])) = strips([dst, a], region) {
            let (space, scratch) = self.space_and_scratch::<T>(dst);
            let (target, [a]) = split(space, scratch, grid, d, [a]);
            loops::map(target, d.stride, grid, a, f);
            return;
        }
        let x = self.unpack::<T>(0, a, region);
        let grid = crate::lines::Grid { lines: 1, len: region.elements() };
        loops::map(x, 0, grid, Source::InPlace, f);
        self.pack::<T>(0, dst, region);
    }

    fn apply(&mut self, dst: &Tile, src: &Tile, operation: Operation) -> KernelResult {
        use argus_abi::DType;
        match operation {
            Operation::Unary(Unary::Neg) => by_dtype!(dst.dtype, T => {
                self.map::<T>(dst, src, Element::neg);
                Ok(())
            }),
            Operation::Unary(Unary::Abs) => by_dtype!(dst.dtype, T => {
                self.map::<T>(dst, src, |x| x.magnitude());
                Ok(())
            }),
            Operation::Function(function) => match dst.dtype {
                DType::F32 => {
                    self.apply_function::<f32>(dst, src, function);
                    Ok(())
                }
                DType::F16 => {
                    self.apply_function::<f16>(dst, src, function);
                    Ok(())
                }
                DType::Bf16 => {
                    self.apply_function::<bf16>(dst, src, function);
                    Ok(())
                }
                other => Err(crate::memory::no_compute(other)),
            },
        }
    }

    /// Exponential and logarithm are computed in double precision and rounded once, by code that gives the
    /// same bits on every machine.
    fn apply_function<T: Float>(&mut self, dst: &Tile, src: &Tile, function: Function) {
        match function {
            Function::Exp => self.map::<T>(dst, src, |x| T::narrow_f64(libm::exp(x.widen().into()))),
            Function::Log => self.map::<T>(dst, src, |x| T::narrow_f64(libm::log(x.widen().into()))),
            Function::Sqrt => self.map::<T>(dst, src, |x| T::narrow(x.widen().sqrt())),
            Function::Rsqrt => {
                self.map::<T>(dst, src, |x| T::narrow_f64(1.0 / f64::from(x.widen()).sqrt()));
            }
            Function::Recip => self.map::<T>(dst, src, |x| T::narrow(1.0 / x.widen())),
        }
    }
}
