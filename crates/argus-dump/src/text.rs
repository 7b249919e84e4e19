//! JSON text, piece by piece, into a byte vector.
//!
//! The manifest has one line per record and must look like the reference's, so it is put together by hand.
//! Strings that are not our own go through `serde_json`.

use argus_facts::number::Number;

/// Beyond this an integer is no longer exact in readers that keep numbers as f64.
const EXACT: u64 = 1 << 53;

pub(crate) fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn put_u64(out: &mut Vec<u8>, value: u64) {
    put(out, itoa::Buffer::new().format(value));
}

pub(crate) fn put_i64(out: &mut Vec<u8>, value: i64) {
    put(out, itoa::Buffer::new().format(value));
}

/// Sixteen lower-case digits.
pub(crate) fn put_hex64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&hex64(value));
}

/// `"0x…"` with sixteen digits.
pub(crate) fn put_word(out: &mut Vec<u8>, value: u64) {
    let mut word = *b"\"0x0000000000000000\"";
    word[3..19].copy_from_slice(&hex64(value));
    out.extend_from_slice(&word);
}

/// All digits at once: a manifest has several for each record.
fn hex64(value: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&hex32((value >> 32) as u32));
    digits[8..].copy_from_slice(&hex32(value as u32));
    digits
}

/// Eight digits, computed as the bytes of one word.
fn hex32(value: u32) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // Four bits into each byte, the highest into the last.
    let mut digits = u64::from(value);
    digits = (digits | digits << 16) & 0x0000_ffff_0000_ffff;
    digits = (digits | digits << 8) & 0x00ff_00ff_00ff_00ff;
    digits = (digits | digits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // Six more carry out of the four bits from ten on: these are letters.
    let letters = (digits + 6 * ONES) >> 4 & ONES;
    (digits + u64::from(b'0') * ONES + u64::from(b'a' - b'0' - 10) * letters).to_be_bytes()
}

/// A string in quotes, escaped.
pub(crate) fn put_string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("any text is a JSON string, and memory takes it");
}

/// `[1, 2]`
pub(crate) fn put_list<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    put_item: impl Fn(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b", ");
        }
        put_item(out, item);
    }
    out.push(b']');
}

pub(crate) fn put_bool(out: &mut Vec<u8>, value: bool) {
    put(out, if value { "true" } else { "false" });
}

/// The shortest decimal that reads back as the same number; JSON has no word for the others.
pub(crate) fn put_float(out: &mut Vec<u8>, text: &str, value: f64) {
    if value.is_nan() {
        put(out, "\"NaN\"");
    } else if value.is_infinite() {
        put(out, if value > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" });
    } else {
        put(out, text);
    }
}

pub(crate) fn put_f64(out: &mut Vec<u8>, value: f64) {
    put_float(out, &format!("{value:?}"), value);
}

/// A number as JSON; one that an f64 does not hold exactly as a string.
pub(crate) fn put_number(out: &mut Vec<u8>, value: Number) {
    match value {
        Number::Float(value) => put_f64(out, value),
        Number::Bool(value) => put_bool(out, value),
        Number::Signed(value) => quoted_if(out, value.unsigned_abs() > EXACT, |out| put_i64(out, value)),
        Number::Unsigned(value) => quoted_if(out, value > EXACT, |out| put_u64(out, value)),
    }
}

fn quoted_if(out: &mut Vec<u8>, quoted: bool, put_digits: impl Fn(&mut Vec<u8>)) {
    if quoted {
        out.push(b'"');
    }
    put_digits(out);
    if quoted {
        out.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_the_standard_library_writes_them() {
        let mut values = vec![0, 9, 10, 99, 100, 101, 999, 1000, u64::MAX, u64::MAX - 1];
        values.extend((0..64).flat_map(|bit| [(1u64 << bit).wrapping_sub(1), 1 << bit]));
        for value in values {
            let mut out = Vec::new();
            put_u64(&mut out, value);
            out.push(b' ');
            put_i64(&mut out, value as i64);
            out.push(b' ');
            put_hex64(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{value} {} {value:016x}", value as i64));
        }
    }

    #[test]
    fn what_a_reader_would_round_becomes_a_string() {
        let text = |value| {
            let mut out = Vec::new();
            put_number(&mut out, value);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(Number::Unsigned(1 << 53)), "9007199254740992");
        assert_eq!(text(Number::Unsigned((1 << 53) + 1)), "\"9007199254740993\"");
        assert_eq!(text(Number::Signed(i64::MIN)), "\"-9223372036854775808\"");
        assert_eq!(text(Number::Float(f64::NEG_INFINITY)), "\"-Infinity\"");
        assert_eq!(text(Number::Float(1e300)), "1e300");
        assert_eq!(text(Number::Float(1.0)), "1.0");
    }
}
