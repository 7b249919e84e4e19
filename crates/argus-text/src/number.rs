//! One number in as few characters as it needs.

use argus_abi::DType;
use argus_facts::number::{Number, is_unwritten};

/// What an element shows that no instruction has written.
pub const UNWRITTEN: &str = "unwritten";

/// Digits behind the point that tell two neighbours of a type apart well enough to read.
fn precision(dtype: DType) -> usize {
    match dtype {
        DType::F32 => 6,
        DType::F16 => 4,
        _ => 3,
    }
}

/// One number in as few characters as it needs.
pub fn number(dtype: DType, value: Number) -> String {
    match value {
        _ if is_unwritten(dtype, value) => UNWRITTEN.to_owned(),
        Number::Float(value) => float(value, precision(dtype)),
        Number::Signed(value) => value.to_string(),
        Number::Unsigned(value) => value.to_string(),
        Number::Bool(value) => if value { "True" } else { "False" }.to_owned(),
    }
}

/// A float with so many significant digits, without zeros that say nothing.
pub fn float(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0." } else { "0." }.to_owned();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-5..15).contains(&exponent) {
        return format!("{value:.*e}", digits - 1);
    }
    let behind = (digits as i32 - 1 - exponent).max(0) as usize;
    let text = format!("{value:.behind$}");
    if text.contains('.') { text.trim_end_matches('0').to_owned() } else { text + "." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_memory_is_not_a_nan() {
        let shown = |dtype, bits| number(dtype, argus_facts::number::number(dtype, bits));
        assert_eq!(shown(DType::F32, 0xffff_ffff), "unwritten");
        assert_eq!(shown(DType::Bf16, 0xffff), "unwritten");
        assert_eq!(shown(DType::F32, 0x7fc0_0000), "nan");
        assert_eq!(shown(DType::U16, 0xffff), "65535");
    }

    #[test]
    fn floats_carry_the_digits_that_mean_something() {
        for (value, text) in [
            (1.0, "1."),
            (-2.5, "-2.5"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333"),
            (123_456.7, "123457."),
            (1e-5, "0.00001"),
            (1.25e-7, "1.25000e-7"),
            (1e20, "1.00000e20"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
            (-0.0, "-0."),
        ] {
            assert_eq!(float(value, 6), text);
        }
    }
}
