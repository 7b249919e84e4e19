//! What a buffer holds before the run.

use half::{bf16, f16};

use super::suite::{Buffer, Init, width};

/// Number `index` of a sequence.
fn mix(seed: u64, index: usize) -> u32 {
    let start = (index as u32).wrapping_add(1).wrapping_mul(0x9E37_79B1);
    let mut x = start.wrapping_add((seed as u32).wrapping_mul(0x85EB_CA77));
    x ^= x >> 16;
    x = x.wrapping_mul(0x7FEB_352D);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846C_A68B);
    x ^ (x >> 16)
}

fn encode(value: f64, dtype: &str) -> u64 {
    let single = value as f32;
    match dtype {
        "f32" => single.to_bits().into(),
        "f16" => f16::from_f32(single).to_bits().into(),
        "bf16" => bf16::from_f32(single).to_bits().into(),
        _ => value as i64 as u64,
    }
}

fn pattern(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

pub fn bytes(buffer: &Buffer) -> Vec<u8> {
    let (count, dtype, size) = (buffer.count, buffer.dtype.as_str(), width(&buffer.dtype));
    let each = |value: &dyn Fn(usize) -> u64| -> Vec<u64> { (0..count).map(value).collect() };
    let mut bits: Vec<u64> = match &buffer.init {
        Init::Fill { byte } => each(&|_| u64::from_ne_bytes([*byte; 8])),
        Init::Real { seed, lo, hi } => {
            each(&|i| encode(lo + (hi - lo) * (f64::from(mix(*seed, i)) / 4_294_967_296.0), dtype))
        }
        Init::Grid { seed, span, step } => {
            each(&|i| encode((i64::from(mix(*seed, i)) % (2 * span + 1) - span) as f64 * step, dtype))
        }
        Init::Int { seed, lo, hi } => each(&|i| (lo + i64::from(mix(*seed, i)) % (hi - lo + 1)) as u64),
        Init::Bits { seed } => each(&|i| mix(*seed, i).into()),
        Init::Iota { start, step } => each(&|i| encode(start + step * i as f64, dtype)),
        Init::Perm { seed, scale, start } => {
            let mut order: Vec<usize> = (0..count).collect();
            order.sort_by_key(|&i| mix(*seed, i));
            order.into_iter().map(|place| encode(place as f64 * scale + start, dtype)).collect()
        }
        Init::Bitlist { values } => each(&|i| pattern(&values[i % values.len()])),
        Init::Records { seed, records, levels, step } => {
            let lists = count / (2 * records);
            let mut pairs = Vec::with_capacity(count);
            for list in 0..lists {
                let mut scores: Vec<i64> =
                    (0..*records).map(|i| i64::from(mix(seed + list as u64, i)) % levels).collect();
                scores.sort_by(|a, b| b.cmp(a));
                for (at, score) in scores.into_iter().enumerate() {
                    pairs.push((score as f32 * step).to_bits().into());
                    pairs.push((at + list * 1000) as u64);
                }
            }
            pairs.resize(count, 0);
            pairs
        }
    };
    for (index, special) in &buffer.special {
        bits[*index] = pattern(special);
    }
    bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
}
