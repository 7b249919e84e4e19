//! Values of JSON that cannot be trusted, and numbers that do not fit into a double.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::ArtefactError;

/// A number of 64 bits: as a number, as decimal digits in a string, or as hexadecimal ones behind `0x`.
///
/// The reference writes all three, and a reader that goes through a double would round the large ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wide(pub u64);

impl<'de> Deserialize<'de> for Wide {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Wide, D::Error> {
        deserializer.deserialize_any(WideVisitor)
    }
}

struct WideVisitor;

impl Visitor<'_> for WideVisitor {
    type Value = Wide;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 to 2^64-1, as a number or in a string")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Wide, E> {
        Ok(Wide(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Wide, E> {
        wide(text).map(Wide).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

/// The number that a string spells, without signs and spaces.
pub(crate) fn wide(text: &str) -> Option<u64> {
    let digits = |text: &str, radix| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        plain.then(|| u64::from_str_radix(text, radix).ok()).flatten()
    };
    match text.strip_prefix("0x") {
        Some(hex) => digits(hex, 16),
        None => digits(text, 10),
    }
}

/// Reads a whole text; an empty one is said to be empty.
pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, ArtefactError> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(ArtefactError::Empty);
    }
    Ok(serde_json::from_slice(text)?)
}

/// The lines of a text that hold something, with their numbers from 1.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = text.split(|&byte| byte == b'\n').enumerate();
    lines.map(|(number, line)| (number + 1, line.trim_ascii())).filter(|(_, line)| !line.is_empty())
}

/// Writes a string as JSON spells it.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes a list of numbers.
pub(crate) fn list<T: fmt::Display>(numbers: &[T]) -> String {
    let texts: Vec<String> = numbers.iter().map(T::to_string).collect();
    format!("[{}]", texts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_64_bits_are_read_in_all_their_spellings_and_nothing_else_is() {
        let read = |text: &str| serde_json::from_str::<Wide>(text).ok().map(|wide| wide.0);
        assert_eq!(read("18446744073709551615"), Some(u64::MAX));
        assert_eq!(read("\"9007199254740993\""), Some((1 << 53) + 1));
        assert_eq!(read("\"0x0000000200000001\""), Some(0x2_0000_0001));
        for wrong in
            ["-1", "1.5", "1e3", "\"\"", "\"+1\"", "\" 1\"", "\"0x\"", "18446744073709551616", "null"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
