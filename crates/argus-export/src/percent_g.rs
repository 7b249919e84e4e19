//! Numbers as C's `printf` and Python print them.

use std::fmt::Write;

/// Appends `value` as `%.<digits>g` prints it, for up to 32: at most so many significant digits, no trailing zeros, with an
/// exponent below 1e-4 and from `10^digits` on.
pub fn put_percent_g(out: &mut String, value: f64, digits: usize) {
    let digits = digits.clamp(1, MOST_DIGITS);
    if !put_special(out, value) && !put_short(out, value, digits) {
        // Behind what is there already, so that no memory is needed for it alone.
        let start = out.len();
        let _ = write!(out, "{value:.*e}", digits - 1);
        put_decimal(out, start, -4, digits as i32, false);
    }
}

/// Powers of ten from 1e-4 on. Those from 1 on are exact.
const POWERS: [f64; 20] = [
    1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
    1e15,
];
/// The place of 1 among them.
const ONE: usize = 4;

/// The common case: a number that is printed plainly with few digits. Scaled to a whole number of `digits` digits it is off by
/// at most one bit, so rounding is right unless a tie is near; then, and in all other cases, nothing is appended.
fn put_short(out: &mut String, value: f64, digits: usize) -> bool {
    let magnitude = value.abs();
    if digits > 9 || !(POWERS[0]..POWERS[ONE + digits]).contains(&magnitude) {
        return false;
    }
    let mut place = POWERS.partition_point(|&power| power <= magnitude) - 1;
    let scaled = magnitude * POWERS[ONE + digits - 1 + ONE - place];
    let rest = scaled.fract();
    if (rest - 0.5).abs() < 1e-4 {
        return false;
    }
    let mut whole = scaled as u64 + u64::from(rest > 0.5);
    if whole >= POWERS[ONE + digits] as u64 {
        (whole, place) = (whole / 10, place + 1);
    }
    if place >= ONE + digits || whole < POWERS[ONE + digits - 1] as u64 {
        return false;
    }
    let mut buffer = itoa::Buffer::new();
    let figures = buffer.format(whole).trim_end_matches('0');
    if value < 0.0 {
        out.push('-');
    }
    if place < ONE {
        out.push_str("0.");
        out.push_str(&"000"[..ONE - 1 - place]);
        out.push_str(figures);
    } else if figures.len() <= place - ONE + 1 {
        out.push_str(figures);
        out.push_str(&"000000000"[..place - ONE + 1 - figures.len()]);
    } else {
        let (before, behind) = figures.split_at(place - ONE + 1);
        out.push_str(before);
        out.push('.');
        out.push_str(behind);
    }
    true
}

/// Appends `value` as Python's `str()` does: the shortest decimal that reads back as the same number.
pub fn put_python_float(out: &mut String, value: f64) {
    if !put_special(out, value) {
        let shortest = format!("{value:e}");
        // Of two shortest decimals that are equally near Python takes the even one, as rounding does.
        let digits = shortest.bytes().take_while(|&byte| byte != b'e').filter(u8::is_ascii_digit).count();
        let rounded = format!("{value:.*e}", digits - 1);
        let start = out.len();
        out.push_str(if rounded.parse() == Ok(value) { &rounded } else { &shortest });
        put_decimal(out, start, -4, 16, true);
    }
}

/// Numbers that have no digits.
fn put_special(out: &mut String, value: f64) -> bool {
    if value.is_nan() {
        out.push_str("nan");
    } else if value.is_infinite() {
        out.push_str(if value < 0.0 { "-inf" } else { "inf" });
    }
    !value.is_finite()
}

/// Digits of the longest number that is laid out: `{:e}` needs 17.
const MOST_DIGITS: usize = 32;

/// Lays out what stands from `start` on, Rust's `-1.25e-7`, anew: plainly if the exponent is in `low..high`.
fn put_decimal(out: &mut String, start: usize, low: i32, high: i32, keep_point: bool) {
    let scientific = &out[start..];
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let negative = mantissa.starts_with('-');
    let mut digits = [b'0'; MOST_DIGITS];
    let mut len = 0;
    for (place, digit) in digits.iter_mut().zip(mantissa.bytes().filter(u8::is_ascii_digit)) {
        *place = digit;
        len += 1;
    }
    while len > 1 && digits[len - 1] == b'0' {
        len -= 1;
    }
    let digits = &digits[..len];
    out.truncate(start);
    let put = |out: &mut String, digits: &[u8]| out.extend(digits.iter().map(|&digit| char::from(digit)));
    if negative {
        out.push('-');
    }
    if exponent < low || exponent >= high {
        put(out, &digits[..1]);
        if len > 1 {
            out.push('.');
            put(out, &digits[1..]);
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        // Writing into a string cannot fail.
        let _ = write!(out, "e{sign}{:02}", exponent.unsigned_abs());
    } else if exponent < 0 {
        out.push_str("0.");
        (1..-exponent).for_each(|_| out.push('0'));
        put(out, digits);
    } else {
        let whole = exponent as usize + 1;
        put(out, &digits[..whole.min(len)]);
        (len..whole).for_each(|_| out.push('0'));
        if len > whole {
            out.push('.');
            put(out, &digits[whole..]);
        } else if keep_point {
            out.push_str(".0");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn g(value: f64, digits: usize) -> String {
        let mut out = String::new();
        put_percent_g(&mut out, value, digits);
        out
    }

    #[test]
    fn as_the_c_standard_says() {
        for (value, digits, text) in [
            (0.0, 6, "0"),
            (-0.0, 6, "-0"),
            (1.0, 6, "1"),
            (100_000.0, 6, "100000"),
            (1_000_000.0, 6, "1e+06"),
            (999_999.5, 6, "1e+06"),
            (123_456.7, 6, "123457"),
            (0.0001, 6, "0.0001"),
            (0.000_099_999_95, 6, "0.0001"),
            (0.000_01, 6, "1e-05"),
            (1.5, 3, "1.5"),
            (2.5, 1, "2"),
            (1e300, 4, "1e+300"),
            (5e-324, 6, "4.94066e-324"),
            (f64::NAN, 6, "nan"),
            (-f64::NAN, 6, "nan"),
            (f64::NEG_INFINITY, 6, "-inf"),
            (0.1f32.into(), 6, "0.1"),
        ] {
            assert_eq!(g(value, digits), text);
        }
    }

    #[test]
    fn short_numbers_are_the_same_either_way() {
        let mut bits = 0x9E37_79B9u32;
        let mut short = 0;
        for step in 0..400_000u32 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Random bits, numbers of everyday size, and numbers that are near a tie or a power of ten.
            let value = match step % 4 {
                0 => f32::from_bits(bits),
                1 => (bits as f32 / u32::MAX as f32 - 0.5) * 2000.0,
                2 => (bits % 2_000_000) as f32 / 2048.0,
                _ => 10f32.powi((bits % 12) as i32 - 5) * (1.0 + (bits >> 28) as f32 * 1e-7 - 8e-7),
            };
            let value = f64::from(value);
            for digits in [3, 4, 6] {
                let (mut found, mut expected) = (String::new(), String::new());
                if value.is_nan() || !put_short(&mut found, value, digits) {
                    continue;
                }
                short += 1;
                write!(expected, "{value:.*e}", digits - 1).unwrap();
                put_decimal(&mut expected, 0, -4, digits as i32, false);
                assert_eq!(found, expected, "{value:?} in {digits} digits");
            }
        }
        assert!(short > 500_000, "{short}");
    }

    #[test]
    fn as_python_prints_a_float() {
        for (value, text) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (123_456.789, "123456.789"),
            (211_782_839_859_653.12, "211782839859653.12"),
        ] {
            let mut out = String::new();
            put_python_float(&mut out, value);
            assert_eq!(out, text);
        }
    }
}
