//! Whole numbers appended to a byte buffer, without going through a formatter: an export is millions of them.

pub(crate) fn put_number(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Hexadecimal digits, so many of them.
pub(crate) fn put_hex(out: &mut Vec<u8>, value: u128, digits: u32) {
    out.extend((0..digits).rev().map(|digit| b"0123456789abcdef"[(value >> (4 * digit) & 15) as usize]));
}
