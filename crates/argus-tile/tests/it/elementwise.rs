use argus_abi::DType;
use argus_tile::{Core, KernelResult, Layout, ScalarValue, Tile};

use crate::model::{Value, decode};
use crate::rig::{COMPUTE, FLOATS, LAYOUTS, Rig, vec_tile};

type Two = fn(&mut Core, &Tile, &Tile, &Tile) -> KernelResult;
type One = fn(&mut Core, &Tile, &Tile) -> KernelResult;

const BINARY: [(char, Two); 6] = [
    ('+', Core::tadd),
    ('-', Core::tsub),
    ('*', Core::tmul),
    ('/', Core::tdiv),
    ('>', Core::tmax),
    ('<', Core::tmin),
];

/// Valid regions to try on 32 x 64 tiles.
const REGIONS: [(u32, u32); 5] = [(32, 64), (17, 64), (32, 5), (1, 1), (0, 7)];

fn no_zero(rig: &mut Rig, tile: &Tile) {
    let dtype = tile.dtype;
    if !dtype.is_float() {
        rig.fill_with(tile, |rng, _, _| rng.element(dtype) | 1);
    }
}

#[test]
fn two_tiles() {
    for (seed, dtype) in COMPUTE.into_iter().enumerate() {
        let mut rig = Rig::aiv(seed as u64 + 1);
        for layout in LAYOUTS {
            for (vr, vc) in REGIONS {
                for (op, instruction) in BINARY {
                    let tile = |addr| vec_tile(dtype, layout, 32, 64, addr);
                    let (dst, a, b) = (tile(0x8000).valid(vr, vc), tile(0), tile(0x4000));
                    for tile in [&dst, &a, &b] {
                        rig.fill(tile);
                    }
                    if op == '/' {
                        no_zero(&mut rig, &b);
                    }
                    instruction(&mut rig.core, &dst, &a, &b).unwrap();
                    rig.model.compute(&dst, vr as usize, vc as usize, |m, r, c| {
                        m.get(&a, r, c).arith(op, m.get(&b, r, c)).bits()
                    });
                    rig.compare(&dst, &format!("{op} {dtype} {layout} {vr}x{vc}"));
                }
            }
        }
    }
}

#[test]
fn two_tiles_of_different_layouts_and_widths() {
    let mut rig = Rig::aiv(77);
    for dtype in COMPUTE {
        for (i, la) in LAYOUTS.into_iter().enumerate() {
            let (lb, ld) = (LAYOUTS[(i + 1) % 6], LAYOUTS[(i + 3) % 6]);
            let dst = vec_tile(dtype, ld, 32, 64, 0x10000).valid(19, 33);
            let a = vec_tile(dtype, la, 64, 64, 0);
            let b = vec_tile(dtype, lb, 32, 96, 0x8000);
            for tile in [&dst, &a, &b] {
                rig.fill(tile);
            }
            rig.core.tadd(&dst, &a, &b).unwrap();
            rig.model.compute(&dst, 19, 33, |m, r, c| m.get(&a, r, c).arith('+', m.get(&b, r, c)).bits());
            rig.compare(&dst, &format!("{dtype} {la} {lb} {ld}"));
        }
    }
}

fn scalar(dtype: DType, value: ScalarValue) -> Value {
    let x = match value {
        ScalarValue::F32(x) => f64::from(x),
        ScalarValue::I32(x) => f64::from(x),
    };
    match decode(dtype, 0) {
        zero if dtype.is_float() => zero.round(x),
        zero => zero.wrap(x.trunc() as i64),
    }
}

#[test]
fn a_tile_and_a_scalar() {
    type Instruction = fn(&mut Core, &Tile, &Tile, ScalarValue) -> KernelResult;
    let instructions: [(char, Instruction); 6] = [
        ('+', |core, d, s, v| core.tadds(d, s, v)),
        ('-', |core, d, s, v| core.tsubs(d, s, v)),
        ('*', |core, d, s, v| core.tmuls(d, s, v)),
        ('/', |core, d, s, v| core.tdivs(d, s, v)),
        ('>', |core, d, s, v| core.tmaxs(d, s, v)),
        ('<', |core, d, s, v| core.tmins(d, s, v)),
    ];
    let scalars = [
        ScalarValue::F32(1.5),
        ScalarValue::F32(-0.3),
        ScalarValue::F32(f32::NAN),
        ScalarValue::I32(7),
        ScalarValue::I32((1 << 30) + (1 << 22) + 1),
    ];
    let mut rig = Rig::aiv(5);
    for dtype in COMPUTE {
        for layout in [Layout::Nd, Layout::Dn, Layout::Nz] {
            for (op, instruction) in instructions {
                for s in scalars {
                    let value = scalar(dtype, s);
                    if !dtype.is_float()
                        && (value.whole() == 0 || matches!(s, ScalarValue::F32(x) if x.is_nan()))
                    {
                        continue;
                    }
                    let dst = vec_tile(dtype, layout, 32, 64, 0x8000).valid(9, 40);
                    let src = vec_tile(dtype, layout, 32, 64, 0);
                    rig.fill(&dst);
                    rig.fill(&src);
                    instruction(&mut rig.core, &dst, &src, s).unwrap();
                    rig.model.compute(&dst, 9, 40, |m, r, c| m.get(&src, r, c).arith(op, value).bits());
                    rig.compare(&dst, &format!("{op} {dtype} {layout} {s:?}"));
                }
            }
        }
    }
}

#[test]
fn expanded_scalars() {
    let mut rig = Rig::aiv(6);
    for dtype in COMPUTE {
        for layout in LAYOUTS {
            let dst = vec_tile(dtype, layout, 32, 64, 0x40).valid(13, 27);
            rig.fill_with(&dst, |rng, _, _| rng.next());
            rig.core.texpands(&dst, 3.0f32).unwrap();
            rig.model.compute(&dst, 13, 27, |_, _, _| scalar(dtype, ScalarValue::F32(3.0)).bits());
            rig.compare(&dst, &format!("{dtype} {layout}"));
        }
    }
}

fn one_tile(instruction: One, dtypes: &[DType], f: impl Fn(Value) -> Value) {
    for (seed, &dtype) in dtypes.iter().enumerate() {
        let mut rig = Rig::aiv(seed as u64 + 40);
        for layout in LAYOUTS {
            for (vr, vc) in REGIONS {
                for in_place in [false, true] {
                    let src = vec_tile(dtype, layout, 32, 64, 0);
                    let at = if in_place { 0 } else { 0x4000 };
                    let dst = vec_tile(dtype, layout, 32, 64, at).valid(vr, vc);
                    rig.fill(&dst);
                    rig.fill(&src);
                    instruction(&mut rig.core, &dst, &src).unwrap();
                    rig.model.compute(&dst, vr as usize, vc as usize, |m, r, c| f(m.get(&src, r, c)).bits());
                    rig.compare(&dst, &format!("{dtype} {layout} {vr}x{vc} in place {in_place}"));
                }
            }
        }
    }
}

fn real(f: impl Fn(f64) -> f64) -> impl Fn(Value) -> Value {
    move |v| v.round(f(v.real().unwrap()))
}

#[test]
fn exponential() {
    one_tile(Core::texp, &FLOATS, real(f64::exp));
}

#[test]
fn logarithm() {
    one_tile(Core::tlog, &FLOATS, real(f64::ln));
}

#[test]
fn square_root() {
    one_tile(Core::tsqrt, &FLOATS, real(f64::sqrt));
}

#[test]
fn reciprocal_square_root() {
    one_tile(Core::trsqrt, &FLOATS, real(|x| 1.0 / x.sqrt()));
}

#[test]
fn reciprocal() {
    one_tile(Core::trecip, &FLOATS, real(|x| 1.0 / x));
}

#[test]
fn negation() {
    one_tile(Core::tneg, &COMPUTE, |v| match v.real() {
        Some(x) => v.round(-x),
        None => v.wrap(-v.whole()),
    });
}

#[test]
fn magnitude() {
    one_tile(Core::tabs, &COMPUTE, |v| match v.real() {
        Some(x) if x < 0.0 => v.round(-x),
        Some(_) => v,
        None => v.wrap(v.whole().abs()),
    });
}
