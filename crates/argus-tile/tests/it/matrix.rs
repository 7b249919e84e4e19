use argus_abi::DType;
use argus_tile::{Space, Tile};

use crate::model::Value;
use crate::rig::Rig;

/// Products are added unrounded in ascending order of k, from zero.
fn product(rig: &mut Rig, dst: &Tile, acc: Option<&Tile>, left: &Tile, right: &Tile) {
    let (m, k, n) = (left.valid_rows as usize, left.valid_cols as usize, right.valid_cols as usize);
    let float = left.dtype.is_float();
    rig.model.compute(dst, m, n, |model, i, j| {
        let wide = |value: Value| match value.real() {
            Some(x) => Value::F32(x as f32),
            None => Value::I32(value.whole() as i32),
        };
        let start = if float { Value::F32(0.0) } else { Value::I32(0) };
        let sum = (0..k).fold(start, |sum, at| {
            let (a, b) = (wide(model.get(left, i, at)), wide(model.get(right, at, j)));
            match (sum, a, b) {
                (Value::F32(sum), Value::F32(a), Value::F32(b)) => Value::F32(fused(a, b, sum)),
                _ => sum.arith('+', a.arith('*', b)),
            }
        });
        acc.map_or(sum, |acc| model.get(acc, i, j).arith('+', sum)).bits()
    });
}

/// `a * b + c` rounded once. In f64 the product is exact; what the sum lost decides its last bit, so that
/// rounding to f32 sees on which side of a tie the sum lies.
fn fused(a: f32, b: f32, c: f32) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    if !sum.is_finite() {
        return sum as f32;
    }
    let seen = sum - product;
    let lost = (product - (sum - seen)) + (c - seen);
    let even = sum.to_bits() & 1 == 0;
    let odd = match (lost > 0.0) == (sum > 0.0) {
        true => sum.to_bits() + 1,
        false => sum.to_bits() - 1,
    };
    if lost != 0.0 && even { f64::from_bits(odd) as f32 } else { sum as f32 }
}

#[test]
fn products_of_every_type_layout_and_shape() {
    for (seed, dtype) in [DType::F32, DType::F16, DType::Bf16, DType::I8].into_iter().enumerate() {
        let mut rig = Rig::aic(seed as u64 + 300);
        let sum = if dtype == DType::I8 { DType::I32 } else { DType::F32 };
        for (rows, inner, cols) in [(16, 32, 16), (32, 64, 48), (48, 96, 80)] {
            for (m, k, n) in [(rows, inner, cols), (rows - 3, inner - 5, cols - 7), (1, 1, 1), (5, 0, 3)] {
                for zz in [false, true] {
                    let left = if zz { Tile::left_zz } else { Tile::left };
                    let left = left(dtype, rows, inner).at(0x100).valid(m, k);
                    let right = Tile::right(dtype, inner, cols).at(0x200).valid(inner, n);
                    let dst = Tile::acc(sum, rows, cols).at(0x400);
                    for tile in [&left, &right, &dst] {
                        rig.fill(tile);
                    }
                    rig.core.tmatmul(&dst, &left, &right).unwrap();
                    product(&mut rig, &dst, None, &left, &right);
                    rig.compare(&dst, &format!("{dtype} {m}x{k}x{n} zz {zz}"));
                    let from = Tile::acc(sum, rows, cols).at(0x8000);
                    rig.fill(&from);
                    for acc in [&from, &dst] {
                        rig.core.tmatmul_acc(&dst, acc, &left, &right).unwrap();
                        product(&mut rig, &dst, Some(acc), &left, &right);
                        rig.compare(&dst, &format!("{dtype} {m}x{k}x{n} zz {zz} accumulated"));
                    }
                }
            }
        }
    }
}

#[test]
fn products_are_added_before_they_are_rounded() {
    let mut rig = Rig::aic(320);
    let left = Tile::left(DType::F32, 16, 8).at(0).valid(1, 2);
    let right = Tile::right(DType::F32, 8, 16).at(0).valid(2, 1);
    let dst = Tile::acc(DType::F32, 16, 16).at(0);
    // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24; rounded on its own the product would lose the last term.
    let x = 1.0f32 + 1.0 / 4096.0;
    rig.fill_with(&left, |_, _, c| u64::from((if c == 0 { -1.0 - 1.0 / 2048.0 } else { x }).to_bits()));
    rig.fill_with(&right, |_, r, _| u64::from((if r == 0 { 1.0 } else { x }).to_bits()));
    rig.core.tmatmul(&dst, &left, &right).unwrap();
    assert_eq!(rig.core.peek(Space::Acc, 0..4).unwrap(), 2f32.powi(-24).to_le_bytes());
}
