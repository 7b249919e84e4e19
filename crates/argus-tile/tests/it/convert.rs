use argus_abi::DType;
use argus_tile::{Layout, RoundMode, Saturation};

use crate::model::{Value, decode};
use crate::rig::{LAYOUTS, Rig, SIGNED, vec_tile};

const MODES: [RoundMode; 7] = [
    RoundMode::None,
    RoundMode::Rint,
    RoundMode::Round,
    RoundMode::Floor,
    RoundMode::Ceil,
    RoundMode::Trunc,
    RoundMode::Odd,
];

fn limits(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F32 => (f64::from(f32::MIN), f64::from(f32::MAX)),
        DType::F16 => (-65504.0, 65504.0),
        DType::Bf16 => (-half::bf16::MAX.to_f64_const(), half::bf16::MAX.to_f64_const()),
        DType::I32 => (-2147483648.0, 2147483647.0),
        DType::I16 => (-32768.0, 32767.0),
        _ => (-128.0, 127.0),
    }
}

/// The reference's conversion, one value at a time, in double precision.
pub fn convert(value: Value, from: DType, to: DType, mode: RoundMode, saturation: Saturation) -> u64 {
    let target = decode(to, 0);
    let ((a, b), (c, d)) = (limits(from), limits(to));
    let (low, high) = (a.max(c), b.min(d));
    let Some(mut x) = value.real() else {
        let mut x = value.whole();
        if saturation == Saturation::On {
            x = x.clamp(low as i64, high as i64);
        }
        return if to.is_float() { target.round(x as f64).bits() } else { target.wrap(x).bits() };
    };
    if saturation == Saturation::On {
        let (low, high) = (value.round(low).real().unwrap(), value.round(high).real().unwrap());
        x = if x < high { x } else { high };
        x = if x > low { x } else { low };
    } else if from == to {
        return value.bits();
    }
    if to.is_float() {
        return target.round(x).bits();
    }
    let rounded = match mode {
        RoundMode::None | RoundMode::Trunc => x.trunc(),
        RoundMode::Rint => x.round_ties_even(),
        RoundMode::Round => x.round(),
        RoundMode::Floor => x.floor(),
        RoundMode::Ceil => x.ceil(),
        RoundMode::Odd if (x - x.trunc()).abs() == 0.5 => {
            if x.floor() % 2.0 == 0.0 {
                x.ceil()
            } else {
                x.floor()
            }
        }
        RoundMode::Odd => x.round(),
    };
    let fits = (-2147483648.0..2147483648.0).contains(&rounded);
    target.wrap(if fits { rounded as i64 } else { -2147483648 }).bits()
}

#[test]
fn every_pair_mode_and_saturation() {
    let mut rig = Rig::aiv(200);
    for from in SIGNED {
        for to in SIGNED {
            for mode in MODES {
                for saturation in [Saturation::On, Saturation::Off] {
                    let src = vec_tile(from, Layout::Nd, 16, 64, 0).valid(13, 50);
                    let dst = vec_tile(to, Layout::Nd, 16, 64, 0x4000);
                    rig.fill(&dst);
                    rig.fill(&src);
                    rig.core.tcvt(&dst, &src, mode, saturation).unwrap();
                    rig.model.compute(&dst, 13, 50, |m, r, c| {
                        convert(m.get(&src, r, c), from, to, mode, saturation)
                    });
                    rig.compare(&dst, &format!("{from} to {to} {mode:?} {saturation:?}"));
                }
            }
        }
    }
}

#[test]
fn every_layout() {
    let mut rig = Rig::aiv(210);
    let (mode, off) = (RoundMode::Rint, Saturation::Off);
    for (from, to) in [(DType::F32, DType::Bf16), (DType::I8, DType::F16), (DType::F32, DType::I32)] {
        for a in LAYOUTS {
            for b in LAYOUTS {
                let src = vec_tile(from, a, 32, 64, 0).valid(29, 41);
                let dst = vec_tile(to, b, 64, 64, 0x8000);
                rig.fill(&dst);
                rig.fill(&src);
                rig.core.tcvt(&dst, &src, mode, off).unwrap();
                rig.model.compute(&dst, 29, 41, |m, r, c| convert(m.get(&src, r, c), from, to, mode, off));
                rig.compare(&dst, &format!("{from} {a} to {to} {b}"));
            }
        }
    }
}

#[test]
fn values_that_the_reference_is_known_to_give() {
    let mut rig = Rig::aiv(220);
    let mut one = |from: DType, bits: u64, to: DType, mode, saturation| {
        let src = vec_tile(from, Layout::Nd, 1, 32, 0).valid(1, 1);
        let dst = vec_tile(to, Layout::Nd, 1, 32, 0x100);
        rig.fill_with(&src, |_, _, _| bits);
        rig.core.tcvt(&dst, &src, mode, saturation).unwrap();
        let mut bytes = [0; 8];
        bytes[..to.size()].copy_from_slice(rig.core.peek(dst.space, 0x100..0x100 + to.size()).unwrap());
        u64::from_le_bytes(bytes)
    };
    let f32_bits = |x: f32| u64::from(x.to_bits());
    let f16_bits = |x: f32| u64::from(half::f16::from_f32_const(x).to_bits());
    let (trunc, off, on) = (RoundMode::Trunc, Saturation::Off, Saturation::On);
    for x in [3e9, -3e9, f32::NAN, f32::INFINITY] {
        assert_eq!(one(DType::F32, f32_bits(x), DType::I32, trunc, off), 0x8000_0000);
    }
    assert_eq!(one(DType::F32, f32_bits(3e9), DType::I32, trunc, on), 0x8000_0000);
    assert_eq!(one(DType::F16, f16_bits(300.0), DType::I8, trunc, off), 44);
    assert_eq!(one(DType::F16, f16_bits(-129.0), DType::I8, trunc, off), 127);
    assert_eq!(one(DType::F32, f32_bits(1e6), DType::F16, trunc, on), f16_bits(65504.0));
    assert_eq!(one(DType::F32, f32_bits(1e6), DType::F16, trunc, off), 0x7C00);
    // CAST_ROUND to bf16 is still ties to even.
    assert_eq!(one(DType::F32, 0x3F80_8000, DType::Bf16, RoundMode::Round, off), 0x3F80);
}
