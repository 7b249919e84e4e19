//! Tiles that share memory: the patterns kernels rely on, and random overlaps.

use argus_abi::DType;
use argus_tile::{Layout, Pad, RoundMode, Saturation, Tile};

use crate::convert::convert;
use crate::model::Value;
use crate::rig::{Rig, vec_tile};

#[test]
fn every_way_of_working_in_place() {
    let mut rig = Rig::aiv(700);
    for (d, a, b) in [(0, 0, 1), (1, 0, 1), (0, 0, 0), (1, 0, 0)] {
        for (vr, vc) in [(32, 64), (9, 31)] {
            let tile = |n: u32| vec_tile(DType::F32, Layout::Nd, 32, 64, n * 0x2000);
            let (dst, a, b) = (tile(d).valid(vr, vc), tile(a), tile(b));
            rig.fill(&a);
            rig.fill(&b);
            rig.core.tsub(&dst, &a, &b).unwrap();
            rig.model.compute(&dst, vr as usize, vc as usize, |m, r, c| {
                m.get(&a, r, c).arith('-', m.get(&b, r, c)).bits()
            });
            rig.compare(&dst, "in place");
        }
    }
}

#[test]
fn sources_are_read_before_anything_is_written_whatever_overlaps() {
    let mut rig = Rig::aiv(710);
    for round in 0..400 {
        let mut tile = |rows: u32| {
            let layout = if rig.rng.below(4) == 0 { Layout::Dn } else { Layout::Nd };
            let cols = 8 * (1 + rig.rng.below(4) as u32);
            vec_tile(DType::F32, layout, rows, cols, 32 * rig.rng.below(40) as u32)
        };
        let (dst, a, b) = (tile(16), tile(16), tile(24));
        let cols = dst.cols.min(a.cols).min(b.cols);
        let (vr, vc) = (1 + rig.rng.below(16) as u32, 1 + rig.rng.below(u64::from(cols)) as u32);
        let dst = dst.valid(vr, vc);
        for tile in [&dst, &a, &b] {
            rig.fill(tile);
        }
        // Filling one may have overwritten another: both sides saw the same order.
        let (rows, cols) = (vr as usize, vc as usize);
        let what = format!("round {round}: {dst:?} {a:?} {b:?}");
        rig.core.tsub(&dst, &a, &b).unwrap();
        rig.model.compute(&dst, rows, cols, |m, r, c| m.get(&a, r, c).arith('-', m.get(&b, r, c)).bits());
        rig.compare(&dst, &what);
        rig.core.tneg(&dst, &a).unwrap();
        rig.model.compute(&dst, rows, cols, |m, r, c| (m.get(&a, r, c).bits()) ^ 0x8000_0000);
        rig.compare(&dst, &what);
        let column = b.valid(b.valid_rows, 1);
        rig.core.trowexpandmul(&dst, &a, &column).unwrap();
        rig.model
            .compute(&dst, rows, cols, |m, r, c| m.get(&a, r, c).arith('*', m.get(&column, r, 0)).bits());
        rig.compare(&dst, &what);
        rig.core.tcolexpandmul(&dst, &a, &b).unwrap();
        rig.model.compute(&dst, rows, cols, |m, r, c| m.get(&a, r, c).arith('*', m.get(&b, 0, c)).bits());
        rig.compare(&dst, &what);
        rig.core.trowmax(&dst, &a.valid(vr, vc), &b).unwrap();
        rig.model.compute(&dst, rows, 1, |m, r, _| {
            let row = (0..cols).map(|c| m.get(&a, r, c));
            row.reduce(|best, x| if best.less(x) { x } else { best }).unwrap().bits()
        });
        rig.compare(&dst, &what);
        rig.core.tmov(&dst, &a.valid(vr, vc)).unwrap();
        rig.model.compute(&dst, rows, cols, |m, r, c| m.bits(&a, r, c));
        rig.compare(&dst, &what);
    }
}

#[test]
fn masking_through_a_second_tile_at_the_same_address() {
    let mut rig = Rig::aiv(720);
    let whole = vec_tile(DType::F32, Layout::Nd, 16, 64, 0x100);
    let part = whole.valid(16, 21);
    let padded = whole.pad(Pad::Min);
    rig.fill(&whole);
    rig.core.tmuls(&part, &whole, 0.5f32).unwrap();
    rig.core.tfillpad_inplace(&padded, &part).unwrap();
    rig.model.compute(&whole, 16, 64, |m, r, c| match c < 21 {
        true => m.get(&whole, r, c).arith('*', Value::F32(0.5)).bits(),
        false => 0xFF80_0000,
    });
    rig.compare(&whole, "mask");
}

#[test]
fn a_column_viewed_as_rows() {
    let mut rig = Rig::aiv(730);
    let column = vec_tile(DType::F32, Layout::Dn, 64, 1, 0x40);
    for rows in [Tile::vec(DType::F32, 8, 8).at(0x40), Tile::vec(DType::F32, 1, 64).at(0x40)] {
        rig.fill(&column);
        rig.core.tadd(&rows, &rows, &rows).unwrap();
        rig.model.compute(&column, 64, 1, |m, r, c| {
            let x = m.get(&column, r, c);
            x.arith('+', x).bits()
        });
        rig.compare(&column, "view");
    }
}

#[test]
fn conversion_in_place_between_widths() {
    let pairs = [
        (DType::F32, DType::Bf16),
        (DType::I32, DType::F16),
        (DType::F16, DType::I8),
        (DType::I32, DType::F32),
        (DType::F32, DType::I32),
        (DType::Bf16, DType::F32),
    ];
    let mut rig = Rig::aiv(740);
    for (from, to) in pairs {
        let src = vec_tile(from, Layout::Nd, 16, 64, 0x40).valid(15, 60);
        let dst = vec_tile(to, Layout::Nd, 16, 64, 0x40);
        rig.fill(&src);
        rig.core.tcvt(&dst, &src, RoundMode::Rint, Saturation::Off).unwrap();
        rig.model.compute(&dst, 15, 60, |m, r, c| {
            convert(m.get(&src, r, c), from, to, RoundMode::Rint, Saturation::Off)
        });
        rig.compare(&dst, &format!("{from} to {to}"));
    }
}

#[test]
fn a_row_window_at_an_offset_into_a_larger_tile() {
    let mut rig = Rig::aiv(750);
    let whole = vec_tile(DType::F32, Layout::Nd, 64, 64, 0);
    // The window's last row is the destination's first.
    let window = vec_tile(DType::F32, Layout::Nd, 32, 64, 16 * 256).valid(17, 64);
    let dst = vec_tile(DType::F32, Layout::Nd, 32, 64, 0).valid(17, 64);
    let factor = vec_tile(DType::F32, Layout::Dn, 64, 1, 0x8000);
    rig.fill(&whole);
    rig.fill(&factor);
    rig.core.trowexpandmul(&dst, &window, &factor).unwrap();
    rig.model.compute(&dst, 17, 64, |m, r, c| m.get(&window, r, c).arith('*', m.get(&factor, r, 0)).bits());
    rig.compare(&dst, "window");
}
