use argus_abi::DType;
use argus_tile::{Layout, MaskPattern};

use crate::rig::{LAYOUTS, Rig, vec_tile};

#[test]
fn gathers_by_index() {
    let mut rig = Rig::aiv(600);
    for dtype in [DType::F32, DType::F16, DType::I8] {
        for layout in LAYOUTS {
            for index_type in [DType::I32, DType::U32] {
                let src = vec_tile(dtype, layout, 32, 64, 0).valid(3, 3);
                let idx = vec_tile(index_type, Layout::Nd, 32, 32, 0x4000);
                let dst = vec_tile(dtype, layout, 32, 32, 0x8000).valid(11, 29);
                let tmp = vec_tile(index_type, Layout::Nd, 32, 32, 0xC000);
                rig.fill(&src);
                rig.fill(&dst);
                rig.fill_with(&idx, |rng, _, _| match rng.below(8) {
                    0 => rng.next() & 0xFFFF_FFFF,
                    1 => 32 * 64,
                    _ => rng.below(32 * 64),
                });
                rig.core.tgather(&dst, &src, &idx, &tmp).unwrap();
                rig.model.compute(&dst, 11, 29, |m, r, c| {
                    let index = m.bits(&idx, r, c) as usize;
                    if index < 32 * 64 { m.bits(&src, index / 64, index % 64) } else { 0 }
                });
                rig.compare(&dst, &format!("{dtype} {layout}"));
            }
        }
    }
}

#[test]
fn gathers_by_mask() {
    let patterns = [
        (MaskPattern::P0101, 2, 0),
        (MaskPattern::P1010, 2, 1),
        (MaskPattern::P0001, 4, 0),
        (MaskPattern::P0010, 4, 1),
        (MaskPattern::P0100, 4, 2),
        (MaskPattern::P1000, 4, 3),
        (MaskPattern::P1111, 1, 0),
    ];
    let mut rig = Rig::aiv(610);
    for (mask, modulus, rest) in patterns {
        for layout in LAYOUTS {
            for (vr, vc) in [(32, 64), (7, 13), (2, 1)] {
                // Index bits that travel through float storage must survive, signalling NaNs included.
                let src = vec_tile(DType::F32, layout, 32, 64, 0).valid(vr, vc);
                let dst = vec_tile(DType::I32, Layout::Nd, 64, 32, 0x4000).valid(1, 1);
                rig.fill_with(&src, |rng, _, _| rng.next());
                rig.fill_with(&dst, |rng, _, _| rng.next());
                rig.core.tgather_mask(&dst, &src, mask).unwrap();
                let mut selected = Vec::new();
                for r in 0..vr as usize {
                    for c in (0..vc as usize).filter(|c| c % modulus == rest) {
                        selected.push(rig.model.bits(&src, r, c));
                    }
                }
                for (at, bits) in selected.into_iter().enumerate() {
                    rig.model.set_bits(&dst, at / 32, at % 32, bits);
                }
                rig.compare(&dst, &format!("{mask:?} {layout} {vr}x{vc}"));
            }
        }
    }
}

#[test]
fn ramps() {
    let mut rig = Rig::aiv(620);
    for dtype in [DType::I32, DType::U32, DType::I16, DType::U16] {
        for (start, descending) in [(0, false), (5, true), (i32::MAX - 3, false), (-40000, true)] {
            let dst = vec_tile(dtype, Layout::Nd, 1, 64, 0x40).valid(1, 50);
            rig.fill(&dst);
            rig.core.tci(&dst, start, descending).unwrap();
            rig.model.compute(&dst, 1, 50, |_, _, c| {
                let step = if descending { -(c as i64) } else { c as i64 };
                (i64::from(start) + step) as u64
            });
            rig.compare(&dst, &format!("{dtype} {start} {descending}"));
        }
    }
}

#[test]
fn single_values_count_as_they_lie_in_memory() {
    let mut rig = Rig::aiv(630);
    let tile = vec_tile(DType::F32, Layout::Dn, 8, 4, 0x20).valid(1, 1);
    rig.fill(&tile);
    // Element 10 of a column-major tile of 8 rows is row 2 of column 1.
    let bits = rig.core.get_value::<f32>(&tile, 10).unwrap().to_bits();
    assert_eq!(u64::from(bits), rig.model.bits(&tile, 2, 1));
    rig.core.set_value(&tile, 10, 2.5f32).unwrap();
    rig.model.set_bits(&tile, 2, 1, u64::from(2.5f32.to_bits()));
    rig.compare(&tile, "set_value");
}
