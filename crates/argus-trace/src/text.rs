//! Numbers and JSON strings appended to a byte buffer. A trace is millions of them, so they are written
//! without going through a formatter.

/// Digits of a number.
pub(crate) fn push_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
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
    push_decimal::<6>(out, ps / 1_000_000, ps % 1_000_000);
}

/// The length of a slice in microseconds, a femtosecond short: a reader who adds it to the start, in floating
/// point and perhaps counted from elsewhere, must not come beyond the end, or the next slice would seem to begin
/// inside this one. Late slices need more, because sums are coarser there.
pub(crate) fn push_length(out: &mut Vec<u8>, start_ps: u64, end_ps: u64) {
    const FS_PER_US: u128 = 1_000_000_000;
    let short = 1 + end_ps / 500_000_000_000;
    let fs = (u128::from(end_ps - start_ps) * 1000).saturating_sub(short.into());
    push_decimal::<9>(out, (fs / FS_PER_US) as u64, (fs % FS_PER_US) as u64);
}

/// A number and `DIGITS` decimals.
fn push_decimal<const DIGITS: usize>(out: &mut Vec<u8>, whole: u64, mut decimals: u64) {
    push_u64(out, whole);
    out.push(b'.');
    let mut digits = [b'0'; DIGITS];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (decimals % 10) as u8;
        decimals /= 10;
    }
    out.extend_from_slice(&digits);
}

/// A JSON string with its quotes.
pub(crate) fn push_json(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("any text is a JSON string, and memory takes it");
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
    fn a_slice_ends_no_later_than_the_next_one_begins_in_any_sum() {
        // From the first microseconds, and after a minute.
        for (first, scale) in [(541, 1), (77_000_000_000_001, 1_003)] {
            let us = |ps: u64| text(|out| push_us(out, ps)).parse::<f64>().unwrap();
            let mut start = first;
            for step in 0..20_000u64 {
                let end = start + (1 + step * 7919 % 100_003) * scale;
                let length: f64 = text(|out| push_length(out, start, end)).parse().unwrap();
                assert!(us(start) + length <= us(end), "{start} {end}");
                assert!(us(start) - us(first) + length <= us(end) - us(first), "{start} {end}");
                // Still the same picoseconds.
                assert_eq!((length * 1e6).round() as u64, end - start);
                start = end;
            }
        }
        assert_eq!(text(|out| push_length(out, 541, 12_003_991)), "12.003449999");
        assert_eq!(text(|out| push_length(out, 541, 541)), "0.000000000");
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
