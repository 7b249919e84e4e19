use argus_tile::{Core, KernelResult, Layout, Tile};

use crate::model::Value;
use crate::rig::{COMPUTE, LAYOUTS, Rig, vec_tile};

const REGIONS: [(u32, u32); 5] = [(32, 64), (17, 64), (32, 5), (3, 1), (0, 7)];

/// A column as wide as its layout needs.
fn column(dtype: argus_abi::DType, layout: Layout, addr: u32) -> Tile {
    let cols = if layout == Layout::Dn { 1 } else { 32 };
    vec_tile(dtype, layout, 32, cols, addr)
}

fn reduced(
    instruction: fn(&mut Core, &Tile, &Tile, &Tile) -> KernelResult,
    f: impl Fn(Vec<Value>, Value) -> Value,
) {
    for (seed, dtype) in COMPUTE.into_iter().enumerate() {
        let mut rig = Rig::aiv(seed as u64 + 90);
        for layout in LAYOUTS {
            for column_layout in [Layout::Dn, Layout::Nd, Layout::Nz] {
                for (vr, vc) in REGIONS {
                    let src = vec_tile(dtype, layout, 32, 64, 0).valid(vr, vc);
                    let tmp = vec_tile(dtype, Layout::Nd, 32, 64, 0x4000);
                    let dst = column(dtype, column_layout, 0x8000);
                    for tile in [&src, &tmp, &dst] {
                        rig.fill(tile);
                    }
                    instruction(&mut rig.core, &dst, &src, &tmp).unwrap();
                    rig.model.compute(&dst, vr as usize, 1, |m, r, _| {
                        let row = (0..vc as usize).map(|c| m.get(&src, r, c)).collect();
                        f(row, m.get(&src, r, 0)).bits()
                    });
                    rig.compare(&dst, &format!("{dtype} {layout} to {column_layout} {vr}x{vc}"));
                }
            }
        }
    }
}

#[test]
fn row_sums_go_from_left_to_right() {
    reduced(Core::trowsum, |row, first| {
        if first.real().is_none() {
            return row.into_iter().fold(first.wrap(0), |sum, value| sum.arith('+', value));
        }
        let start = Value::F32(0.0);
        // 16-bit floats are summed in f32 and rounded at the end.
        let wide = row.into_iter().map(|value| Value::F32(value.real().unwrap() as f32));
        let sum = wide.fold(start, |sum, value| sum.arith('+', value));
        first.round(sum.real().unwrap())
    });
}

#[test]
fn row_maxima_start_with_the_first_column() {
    reduced(Core::trowmax, |row, first| {
        row.into_iter().fold(first, |best, value| if best.less(value) { value } else { best })
    });
}

#[test]
fn expanded_columns_and_rows() {
    for (seed, dtype) in COMPUTE.into_iter().enumerate() {
        let mut rig = Rig::aiv(seed as u64 + 120);
        for layout in LAYOUTS {
            for (vr, vc) in REGIONS {
                let dst = vec_tile(dtype, layout, 32, 64, 0).valid(vr, vc);
                let from = column(dtype, Layout::Dn, 0x8000);
                let (rows, cols) = (vr as usize, vc as usize);
                rig.fill(&dst);
                rig.fill(&from);
                rig.core.trowexpand(&dst, &from).unwrap();
                rig.model.compute(&dst, rows, cols, |m, r, _| m.bits(&from, r, 0));
                rig.compare(&dst, &format!("rows {dtype} {layout} {vr}x{vc}"));
                let from = vec_tile(dtype, Layout::Nd, 1, 64, 0x8000);
                rig.fill(&from);
                rig.core.tcolexpand(&dst, &from).unwrap();
                rig.model.compute(&dst, rows, cols, |m, _, c| m.bits(&from, 0, c));
                rig.compare(&dst, &format!("columns {dtype} {layout} {vr}x{vc}"));
            }
        }
    }
}

#[test]
fn tiles_combined_with_a_column() {
    type Instruction = fn(&mut Core, &Tile, &Tile, &Tile) -> KernelResult;
    let instructions: [(char, Instruction); 3] =
        [('*', Core::trowexpandmul), ('-', Core::trowexpandsub), ('/', Core::trowexpanddiv)];
    for (seed, dtype) in COMPUTE.into_iter().enumerate() {
        let mut rig = Rig::aiv(seed as u64 + 150);
        for layout in LAYOUTS {
            for (vr, vc) in REGIONS {
                for (op, instruction) in instructions {
                    for (small_cols, at) in [(1, 0x4000), (8, 0x4000), (1, 0)] {
                        let dst = vec_tile(dtype, layout, 32, 64, at).valid(vr, vc);
                        let a = vec_tile(dtype, layout, 32, 64, 0);
                        let b = match small_cols {
                            1 => column(dtype, Layout::Dn, 0x8000),
                            cols => vec_tile(dtype, Layout::Nd, 32, 32, 0x8000).valid(32, cols),
                        };
                        rig.fill(&dst);
                        rig.fill(&a);
                        rig.fill(&b);
                        if !dtype.is_float() {
                            rig.fill_with(&b, |rng, _, _| rng.element(dtype) | 1);
                        }
                        instruction(&mut rig.core, &dst, &a, &b).unwrap();
                        rig.model.compute(&dst, vr as usize, vc as usize, |m, r, c| {
                            let b = m.get(&b, r, c % small_cols as usize);
                            m.get(&a, r, c % a.valid_cols as usize).arith(op, b).bits()
                        });
                        rig.compare(&dst, &format!("{op} {dtype} {layout} {vr}x{vc} by {small_cols}"));
                    }
                }
            }
        }
    }
}

#[test]
fn the_first_operand_may_be_the_small_one() {
    let mut rig = Rig::aiv(170);
    for dtype in COMPUTE {
        let dst = vec_tile(dtype, Layout::Nd, 32, 64, 0).valid(20, 50);
        let a = vec_tile(dtype, Layout::Nd, 32, 32, 0x4000).valid(32, 7);
        let b = vec_tile(dtype, Layout::Nd, 32, 64, 0x8000);
        for tile in [&dst, &a, &b] {
            rig.fill(tile);
        }
        rig.core.trowexpandsub(&dst, &a, &b).unwrap();
        rig.model.compute(&dst, 20, 50, |m, r, c| m.get(&a, r, c % 7).arith('-', m.get(&b, r, c)).bits());
        rig.compare(&dst, &dtype.to_string());
    }
}

#[test]
fn tiles_multiplied_by_a_row() {
    for (seed, dtype) in COMPUTE.into_iter().enumerate() {
        let mut rig = Rig::aiv(seed as u64 + 180);
        for layout in LAYOUTS {
            for (vr, vc) in REGIONS {
                for at in [0, 0x4000] {
                    let dst = vec_tile(dtype, layout, 32, 64, at).valid(vr, vc);
                    let a = vec_tile(dtype, layout, 32, 64, 0);
                    let b = vec_tile(dtype, Layout::Nd, 1, 64, 0x8000);
                    for tile in [&dst, &a, &b] {
                        rig.fill(tile);
                    }
                    rig.core.tcolexpandmul(&dst, &a, &b).unwrap();
                    rig.model.compute(&dst, vr as usize, vc as usize, |m, r, c| {
                        m.get(&a, r, c).arith('*', m.get(&b, 0, c)).bits()
                    });
                    rig.compare(&dst, &format!("{dtype} {layout} {vr}x{vc}"));
                }
            }
        }
    }
}
