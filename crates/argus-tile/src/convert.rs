//! Conversions between element types: TCVT, and the casts of TSTORE and TMOV.

use core::panic::Location;

use argus_abi::DType;
use bytemuck::Pod;
use half::{bf16, f16};
use multiversion::multiversion;

use crate::core::Core;
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::log::{LogEntry, repeats};
use crate::memory::{Memory, check_region};
use crate::number::{cast_i32, narrow_bf16, narrow_f16, narrow_f64_odd, widen_bf16, widen_f16};
use crate::opcode::{Opcode, Pipe};
use crate::scalar::ScalarValue;
use crate::space::Space;
use crate::store::Scratch;
use crate::tile::Tile;

/// How a float becomes an integer. Conversions between floats always round to nearest, ties to even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RoundMode {
    /// Truncation.
    None = 0,
    /// Nearest, ties to even.
    Rint = 1,
    /// Nearest, ties away from zero.
    Round = 2,
    Floor = 3,
    Ceil = 4,
    Trunc = 5,
    /// Nearest, ties to odd.
    Odd = 6,
}

/// What happens to values that the destination type cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Saturation {
    /// They become the nearest limit, computed in the source type; NaN becomes the upper limit.
    On = 0,
    /// They are cast as the reference machine casts them: integers keep their low bits.
    Off = 1,
}

impl Core {
    /// Converts the source's valid region to the destination's type.
    #[track_caller]
    pub fn tcvt(&mut self, dst: &Tile, src: &Tile, mode: RoundMode, saturation: Saturation) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tcvt,
            caller,
            |core| {
                core.memory.check("dst", dst, &[Space::Vec])?;
                core.memory.check("src", src, &[Space::Vec])?;
                core.memory.convert(dst, src, mode, saturation)
            },
            |_| {
                let widest = dst.dtype.size().max(src.dtype.size());
                LogEntry::new(Opcode::Tcvt, Pipe::V, caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .scalar(ScalarValue::I32(mode as i32))
                    .scalar(ScalarValue::I32(saturation as i32))
                    .work(repeats(src, src.region(), widest))
            },
        )
    }
}

impl Memory {
    /// Converts the source's valid region between two checked tiles of any layout.
    pub fn convert(
        &mut self,
        dst: &Tile,
        src: &Tile,
        mode: RoundMode,
        saturation: Saturation,
    ) -> KernelResult {
        let region = src.region();
        check_region("dst", dst, region.rows, region.cols)?;
        crate::memory::by_width!(src.dtype, T => { self.unpack::<T>(0, src, region); });
        let [from, to, ..] = &mut self.scratch;
        convert_dense(from, src.dtype, to, dst.dtype, region.elements(), mode, saturation)?;
        crate::memory::by_width!(dst.dtype, T => self.pack::<T>(1, dst, region));
        Ok(())
    }
}

/// Converts the first `len` elements of one scratch slot into another.
pub(crate) fn convert_dense(
    from: &mut Scratch,
    from_type: DType,
    to: &mut Scratch,
    to_type: DType,
    len: usize,
    mode: RoundMode,
    saturation: Saturation,
) -> KernelResult {
    if is_bit_copy(from_type, to_type) && (saturation == Saturation::Off || !from_type.is_float()) {
        let bytes = len * from_type.size();
        to.take::<u8>(bytes).copy_from_slice(from.take(bytes));
        return Ok(());
    }
    macro_rules! pair {
        ($($from:ident: $S:ty => [$($to:ident: $D:ty),*];)*) => {
            match (from_type, to_type) {
                $($((DType::$from, DType::$to) => {
                    convert_slice::<$S, $D>(from.take(len), to.take(len), mode, saturation);
                    Ok(())
                })*)*
                _ => {
                    let text = format!("{from_type} cannot be converted to {to_type}");
                    Err(Fault::new(FaultKind::WrongType, text).operand("dst"))
                }
            }
        };
    }
    pair! {
        F32: f32 => [F32: f32, F16: f16, Bf16: bf16, I32: i32, I16: i16, I8: i8, U8: u8];
        F16: f16 => [F32: f32, F16: f16, Bf16: bf16, I32: i32, I16: i16, I8: i8, U8: u8];
        Bf16: bf16 => [F32: f32, F16: f16, Bf16: bf16, I32: i32, I16: i16, I8: i8];
        I32: i32 => [F32: f32, F16: f16, Bf16: bf16, I16: i16, I8: i8];
        I16: i16 => [F32: f32, F16: f16, Bf16: bf16, I32: i32, I8: i8];
        I8: i8 => [F32: f32, F16: f16, Bf16: bf16, I32: i32, I16: i16];
        U8: u8 => [F32: f32, F16: f16, Bf16: bf16, I32: i32, I16: i16];
    }
}

/// Whether an unsaturated conversion keeps the bits: the same type, or integers of one width.
pub(crate) fn is_bit_copy(from: DType, to: DType) -> bool {
    from == to || (from.size() == to.size() && !from.is_float() && !to.is_float())
}

/// A type that converts: floats go through f32, integers through i32.
trait Number: Pod {
    const FLOAT: bool;
    const LOW: f64;
    const HIGH: f64;
    /// The value of a float.
    fn real(self) -> f32;
    /// The value of an integer.
    fn whole(self) -> i32;
    fn from_real(x: f32) -> Self;
    fn from_whole(x: i32) -> Self;
}

macro_rules! number {
    ($type:ty, float $high:expr, |$r:ident| $real:expr, |$x:ident| $narrow:expr, |$w:ident| $from_whole:expr) => {
        impl Number for $type {
            const FLOAT: bool = true;
            const LOW: f64 = -$high;
            const HIGH: f64 = $high;
            #[inline(always)]
            fn real(self) -> f32 {
                let $r = self;
                $real
            }
            #[inline(always)]
            fn whole(self) -> i32 {
                cast_i32(self.real())
            }
            #[inline(always)]
            fn from_real($x: f32) -> Self {
                $narrow
            }
            #[inline(always)]
            fn from_whole($w: i32) -> Self {
                $from_whole
            }
        }
    };
    ($type:ty, integer) => {
        impl Number for $type {
            const FLOAT: bool = false;
            const LOW: f64 = <$type>::MIN as f64;
            const HIGH: f64 = <$type>::MAX as f64;
            #[inline(always)]
            fn real(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn whole(self) -> i32 {
                self.into()
            }
            #[inline(always)]
            fn from_real(x: f32) -> Self {
                cast_i32(x) as $type
            }
            #[inline(always)]
            fn from_whole(x: i32) -> Self {
                x as $type
            }
        }
    };
}

number!(f32, float f32::MAX as f64, |x| x, |x| x, |w| w as f32);
number!(f16, float 65504.0, |x| widen_f16(x), |x| narrow_f16(x), |w| narrow_f16(narrow_f64_odd(w.into())));
number!(bf16, float 3.3895313892515355e38, |x| widen_bf16(x), |x| narrow_bf16(x),
    |w| narrow_bf16(narrow_f64_odd(w.into())));
number!(i32, integer);
number!(i16, integer);
number!(i8, integer);
number!(u8, integer);

fn convert_slice<S: Number, D: Number>(from: &[S], to: &mut [D], mode: RoundMode, saturation: Saturation) {
    let (low, high) = (S::LOW.max(D::LOW), S::HIGH.min(D::HIGH));
    if !S::FLOAT {
        let (low, high) = (low as i32, high as i32);
        match saturation {
            Saturation::On => map(from, to, |x| D::from_whole(x.whole().min(high).max(low))),
            Saturation::Off => map(from, to, |x| D::from_whole(x.whole())),
        }
        return;
    }
    // The limits are rounded to the source type, as the reference does: 2^31 - 1 becomes 2^31 in f32.
    let (low, high) = (S::from_real(low as f32).real(), S::from_real(high as f32).real());
    // Without saturation the clamp is the identity, NaN included.
    let on = saturation == Saturation::On;
    let clamp = move |x: f32| {
        let below = if x < high { x } else { high };
        let inside = if below > low { below } else { low };
        if on { inside } else { x }
    };
    if D::FLOAT {
        return map(from, to, |x| D::from_real(clamp(x.real())));
    }
    match mode {
        RoundMode::None | RoundMode::Trunc => map(from, to, |x| D::from_real(clamp(x.real()))),
        RoundMode::Rint => map(from, to, |x| D::from_real(clamp(x.real()).round_ties_even())),
        RoundMode::Round => map(from, to, |x| D::from_real(clamp(x.real()).round())),
        RoundMode::Floor => map(from, to, |x| D::from_real(clamp(x.real()).floor())),
        RoundMode::Ceil => map(from, to, |x| D::from_real(clamp(x.real()).ceil())),
        RoundMode::Odd => map(from, to, |x| D::from_real(round_ties_odd(clamp(x.real())))),
    }
}

#[inline(always)]
fn round_ties_odd(x: f32) -> f32 {
    let down = x.floor();
    let tie = x - down == 0.5;
    let odd = if down % 2.0 == 0.0 { down + 1.0 } else { down };
    if tie { odd } else { x.round_ties_even() }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn map<S: Copy, D, F: Fn(S) -> D>(from: &[S], to: &mut [D], f: F) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = f(from);
    }
}
