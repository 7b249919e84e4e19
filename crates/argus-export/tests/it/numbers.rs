use std::fmt::Write;

use argus_export::percent_g::{put_percent_g, put_python_float};

use crate::common::bytes;
use crate::python;

/// Random bits, all exponents, ties of short formats, and neighbours of powers of ten.
fn values() -> Vec<f64> {
    let words = bytes(5, 8 * 40_000);
    let words = words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let mut values: Vec<f64> = words.clone().map(f64::from_bits).collect();
    values.extend(words.clone().map(|word| f64::from(f32::from_bits(word as u32))));
    // Every bf16: most of them are ties somewhere.
    values.extend((0..=u16::MAX).map(|bits| f64::from(f32::from_bits(u32::from(bits) << 16))));
    values.extend(words.map(|word| (word % 20_000_001) as f64 / 1000.0 - 10_000.0));
    for power in -20..20 {
        let ten = 10f64.powi(power);
        for steps in -3i64..=3 {
            values.push(f64::from_bits((ten.to_bits() as i64 + steps) as u64));
            values.push(-ten * (1.0 + steps as f64 * 5e-7));
            values.push(ten * (9.995 + steps as f64 * 0.0005));
        }
    }
    values
}

#[test]
fn they_look_as_python_prints_them() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for value in values() {
        write!(text, "{:016x}", value.to_bits()).unwrap();
        for digits in [6, 4, 3] {
            text.push(' ');
            put_percent_g(&mut text, value, digits);
        }
        text.push(' ');
        put_python_float(&mut text, value);
        text.push('\n');
    }
    let file = directory.path().join("numbers.txt");
    std::fs::write(&file, text).unwrap();
    python::run("check_numbers.py", &[&file]);
}
