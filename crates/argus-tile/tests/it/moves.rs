use argus_abi::{CoreType, DType};
use argus_tile::{Layout, Pad, RoundMode, Saturation, Space, Tile};

use crate::convert::convert;
use crate::rig::{LAYOUTS, Rig, SIGNED, vec_tile};

const TYPES: [DType; 4] = [DType::I8, DType::Bf16, DType::F32, DType::I64];

#[test]
fn moves_from_any_layout_to_any_layout() {
    let mut rig = Rig::aic(400);
    for dtype in TYPES {
        for from in LAYOUTS {
            for to in LAYOUTS {
                for (space, vr, vc) in [(Space::Left, 64, 64), (Space::Right, 31, 45), (Space::Mat, 1, 64)] {
                    let src = Tile::new(Space::Mat, dtype, 64, 64, from, 512).at(0x1000).valid(vr, vc);
                    let dst = Tile::new(space, dtype, 64, 64, to, 512).at(0x40);
                    for tile in [&dst, &src] {
                        rig.fill_with(tile, |rng, _, _| rng.next());
                    }
                    rig.core.tmov(&dst, &src).unwrap();
                    rig.model.compute(&dst, vr as usize, vc as usize, |m, r, c| m.bits(&src, r, c));
                    rig.compare(&dst, &format!("{dtype} {from} to {space} {to} {vr}x{vc}"));
                }
            }
        }
    }
}

#[test]
fn accumulators_move_to_l1_and_convert() {
    let mut rig = Rig::aic(401);
    for to in SIGNED {
        let src = Tile::acc(DType::F32, 32, 48).at(0x40).valid(21, 37);
        let dst = Tile::mat_nz(to, 32, 64).at(0x80);
        rig.fill(&dst);
        rig.fill(&src);
        rig.core.tmov(&dst, &src).unwrap();
        rig.model.compute(&dst, 21, 37, |m, r, c| {
            convert(m.get(&src, r, c), DType::F32, to, RoundMode::None, Saturation::Off)
        });
        rig.compare(&dst, &to.to_string());
    }
}

#[test]
fn vector_moves_convert_and_stand_overlap() {
    let mut rig = Rig::aiv(402);
    for from in SIGNED {
        for to in SIGNED {
            for at in [0, 0x20, 0x4000] {
                let src = vec_tile(from, Layout::Nd, 32, 64, 0).valid(30, 60);
                let dst = vec_tile(to, Layout::Nd, 32, 64, at);
                rig.fill(&dst);
                rig.fill(&src);
                rig.core.tmov(&dst, &src).unwrap();
                rig.model.compute(&dst, 30, 60, |m, r, c| {
                    convert(m.get(&src, r, c), from, to, RoundMode::None, Saturation::Off)
                });
                rig.compare(&dst, &format!("{from} to {to} at {at:#x}"));
            }
        }
    }
}

#[test]
fn extracts_from_any_corner() {
    let mut rig = Rig::aic(410);
    for dtype in TYPES {
        for from in LAYOUTS {
            for to in LAYOUTS {
                for (row, col) in [(0, 0), (16, 32), (7, 5), (32, 64)] {
                    let src = Tile::new(Space::Mat, dtype, 64, 96, from, 512).at(0x1000).valid(1, 1);
                    let dst = Tile::new(Space::Left, dtype, 32, 32, to, 512).at(0).valid(29, 31);
                    for tile in [&dst, &src] {
                        rig.fill_with(tile, |rng, _, _| rng.next());
                    }
                    rig.core.textract(&dst, &src, row, col).unwrap();
                    rig.model.compute(&dst, 29, 31, |m, r, c| {
                        m.bits(&src, r + usize::from(row), c + usize::from(col))
                    });
                    rig.compare(&dst, &format!("{dtype} {from} to {to} from {row}, {col}"));
                }
            }
        }
    }
}

#[test]
fn transposes() {
    let mut rig = Rig::aiv(420);
    for dtype in TYPES {
        for from in LAYOUTS {
            for to in LAYOUTS {
                let src = vec_tile(dtype, from, 32, 64, 0).valid(30, 50);
                let dst = vec_tile(dtype, to, 64, 32, 0x8000);
                let tmp = vec_tile(dtype, Layout::Nd, 64, 32, 0x10000);
                for tile in [&dst, &src] {
                    rig.fill_with(tile, |rng, _, _| rng.next());
                }
                rig.core.ttrans(&dst, &src, &tmp).unwrap();
                rig.model.compute(&dst, 50, 30, |m, r, c| m.bits(&src, c, r));
                rig.compare(&dst, &format!("{dtype} {from} to {to}"));
            }
        }
    }
}

fn pad_bits(pad: Pad, dtype: DType) -> u64 {
    let bits: u64 = match (pad, dtype) {
        (Pad::Null | Pad::Zero, _) => 0,
        (Pad::Custom(bits), _) => bits.into(),
        (Pad::Max, DType::F32) => f32::INFINITY.to_bits().into(),
        (Pad::Min, DType::F32) => f32::NEG_INFINITY.to_bits().into(),
        (Pad::Max, DType::F16) => half::f16::INFINITY.to_bits().into(),
        (Pad::Min, DType::F16) => half::f16::NEG_INFINITY.to_bits().into(),
        (Pad::Max, DType::Bf16) => half::bf16::INFINITY.to_bits().into(),
        (Pad::Min, DType::Bf16) => half::bf16::NEG_INFINITY.to_bits().into(),
        (Pad::Max, DType::I32) => i32::MAX as u64,
        (Pad::Min, DType::I32) => i32::MIN as u32 as u64,
        (Pad::Max, DType::I16) => i16::MAX as u64,
        (Pad::Min, DType::I16) => i16::MIN as u16 as u64,
        (Pad::Max, DType::I8) => i8::MAX as u64,
        (Pad::Min, DType::I8) => i8::MIN as u8 as u64,
        (Pad::Max, DType::U8) => u8::MAX.into(),
        (Pad::Max, DType::U16) => u16::MAX.into(),
        (Pad::Max, DType::U32) => u32::MAX.into(),
        _ => 0,
    };
    bits
}

#[test]
fn pads_fill_the_whole_storage() {
    let types = SIGNED.into_iter().chain([DType::U8, DType::U16, DType::U32, DType::I64]);
    for (seed, dtype) in types.enumerate() {
        for core_type in [CoreType::Aiv, CoreType::Aic] {
            let mut rig = Rig::new(core_type, seed as u64 + 430);
            let space = if core_type == CoreType::Aiv { Space::Vec } else { Space::Mat };
            for layout in LAYOUTS {
                for pad in [Pad::Zero, Pad::Max, Pad::Min, Pad::Custom(0x41)] {
                    for (vr, vc, at) in [(20, 37, 0), (20, 37, 0x8000), (32, 64, 0), (0, 0, 0)] {
                        let src = Tile::new(space, dtype, 32, 64, layout, 512).at(0).valid(vr, vc);
                        let dst = src.valid(32, 64).at(at).pad(pad);
                        for tile in [&dst, &src] {
                            rig.fill_with(tile, |rng, _, _| rng.next());
                        }
                        if at == 0 {
                            rig.core.tfillpad_inplace(&dst, &src).unwrap();
                        } else {
                            rig.core.tfillpad(&dst, &src).unwrap();
                        }
                        rig.model.compute(&dst, 32, 64, |m, r, c| {
                            let inside = r < vr as usize && c < vc as usize;
                            if inside { m.bits(&src, r, c) } else { pad_bits(pad, dtype) }
                        });
                        rig.compare(&dst, &format!("{dtype} {layout} {pad:?} {vr}x{vc}"));
                    }
                    let src = Tile::new(space, dtype, 32, 64, layout, 512).at(0);
                    rig.core.tfillpad(&src.valid(0, 0).pad(pad).at(0x8000), &src).unwrap();
                    rig.compare(&src, "an empty destination stays as it is");
                }
            }
        }
    }
}

#[test]
fn a_reshaped_tile_views_the_same_bytes() {
    let mut rig = Rig::aiv(440);
    let column = vec_tile(DType::F32, Layout::Dn, 16, 1, 0x40);
    let mut row = Tile::vec(DType::F32, 1, 16);
    rig.fill(&column);
    rig.core.treshape(&mut row, &column).unwrap();
    assert_eq!((row.addr, row.assigned), (0x40, true));
    rig.core.tadds(&row, &row, 1.0f32).unwrap();
    rig.model.compute(&column, 16, 1, |m, r, c| {
        m.get(&column, r, c).arith('+', crate::model::Value::F32(1.0)).bits()
    });
    rig.compare(&column, "reshape");
}
