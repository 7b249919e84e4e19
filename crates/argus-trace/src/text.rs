//! Numbers and JSON strings appended to a byte buffer. A trace is millions of them, so they are written
//! without going through a formatter.

/// Digits of a number.
pub(crate) fn push_u64(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// `0x` and hexadecimal digits.
pub(crate) fn push_hex(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(b"0x");
    let digits = (64 - value.leading_zeros()).div_ceil(4).max(1);
    for digit in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(value >> (4 * digit) & 15) as usize]);
    }
}

/// Picoseconds as microseconds with six decimals.
pub(crate) fn push_us(out: &mut Vec<u8>, ps: u64) {
    push_u64(out, ps / 1_000_000);
    out.push(b'.');
    let mut rest = ps % 1_000_000;
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits);
}

/// The length of a slice in microseconds, such that a reader who adds it to the start does not come beyond the
/// end: with a sum that is rounded up, the next slice would seem to begin inside this one.
pub(crate) fn push_length(out: &mut Vec<u8>, start_ps: u64, end_ps: u64) {
    let us = |ps: u64| ps as f64 / 1e6;
    let beyond = |length: f64| us(start_ps) + length > us(end_ps);
    if !beyond(us(end_ps - start_ps)) {
        return push_us(out, end_ps - start_ps);
    }
    let mut length = us(end_ps) - us(start_ps);
    while beyond(length) {
        length = length.next_down();
    }
    out.extend_from_slice(length.to_string().as_bytes());
}

/// A JSON string with its quotes.
pub(crate) fn push_json(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    push_escaped(out, text);
    out.push(b'"');
}

/// A JSON string without its quotes.
pub(crate) fn push_escaped(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.push(b"0123456789abcdef"[usize::from(byte >> 4)]);
                out.push(b"0123456789abcdef"[usize::from(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
}

/// Cycles as picoseconds at a clock, rounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    ps_per_cycle: f64,
}

impl Ticks {
    pub fn at_mhz(mhz: f64) -> Ticks {
        Ticks { ps_per_cycle: 1e6 / mhz }
    }

    pub fn ps(self, cycles: u64) -> u64 {
        (cycles as f64 * self.ps_per_cycle).round() as u64
    }

    pub fn us(self, cycles: u64) -> f64 {
        cycles as f64 * self.ps_per_cycle / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers() {
        for value in [0, 7, 10, 1999, u64::MAX] {
            assert_eq!(text(|out| push_u64(out, value)), value.to_string());
            assert_eq!(text(|out| push_hex(out, value)), format!("{value:#x}"));
        }
        assert_eq!(text(|out| push_us(out, 12_003_450)), "12.003450");
        assert_eq!(text(|out| push_us(out, 541)), "0.000541");
    }

    #[test]
    fn a_slice_ends_no_later_than_the_next_one_begins_whoever_adds_up() {
        let mut adjusted = 0;
        let mut start = 0u64;
        for step in 0..20_000u64 {
            let end = start + 1 + step * 7919 % 100_003;
            let length = text(|out| push_length(out, start, end));
            let [start_us, end_us] =
                [start, end].map(|ps| text(|out| push_us(out, ps)).parse::<f64>().unwrap());
            let sum = start_us + length.parse::<f64>().unwrap();
            assert!(sum <= end_us, "{start} {end} {length}");
            // Still the same picoseconds.
            assert_eq!((length.parse::<f64>().unwrap() * 1e6).round() as u64, end - start);
            adjusted += u32::from(length.len() > 10);
            start = end;
        }
        assert!(adjusted > 100, "{adjusted}");
    }

    #[test]
    fn strings() {
        let odd = "a\"b\\c\nd\u{1}\u{1f}ü";
        let json = text(|out| push_json(out, odd));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), odd);
        assert_eq!(text(|out| push_json(out, "x\u{1f}")), r#""x\u001f""#);
    }

    #[test]
    fn times() {
        let ticks = Ticks::at_mhz(1850.0);
        assert_eq!((ticks.ps(1), ticks.ps(1850)), (541, 1_000_000));
    }
}
