//! JSON values of files that cannot be trusted.
//!
//! Every value is first taken as what it is and then asked to be what it should be, so that a wrong one can be
//! shown. Nothing is kept of lists beyond a tensor's dimensions, and nothing nests deeper than the parser's
//! own limit of 128.

use std::borrow::Cow;
use std::fmt;

use argus_abi::MAX_DIMS;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, Expected, MapAccess, SeqAccess, Unexpected, Visitor,
};

/// Where the reader is, and what it stumbled over.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) record: Option<usize>,
    pub(super) field: &'static str,
    pub(super) wrong: Option<Wrong>,
}

/// A value that cannot be.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) found: String,
    pub(super) allowed: &'static str,
}

impl Wrong {
    pub(super) fn new(found: impl Into<String>, allowed: &'static str) -> Wrong {
        Wrong { found: found.into(), allowed }
    }
}

impl State {
    /// Keeps what is wrong and ends the parsing.
    pub(super) fn stop<E: Error>(&mut self, wrong: Wrong) -> E {
        self.wrong = Some(wrong);
        E::custom("a value cannot be")
    }
}

/// Any value.
#[derive(Debug)]
pub(super) enum Token<'a> {
    Null,
    Bool(bool),
    Unsigned(u64),
    /// Below zero.
    Signed(i64),
    Float(f64),
    Text(Cow<'a, str>),
    List,
    Object,
}

const HEX: &str = "\"0x\" and 1 to 16 hexadecimal digits, in quotes";
const WHOLE: &str = "a whole number from 0 to 18446744073709551615";

impl Token<'_> {
    /// What it is, for a message.
    pub(super) fn shown(&self) -> String {
        match self {
            Token::Null => "null".to_owned(),
            Token::Bool(value) => value.to_string(),
            Token::Unsigned(value) => value.to_string(),
            Token::Signed(value) => value.to_string(),
            Token::Float(value) => format!("{value:?}"),
            Token::Text(text) if text.chars().count() > 40 => {
                format!("\"{}...\"", text.chars().take(40).collect::<String>().escape_debug())
            }
            Token::Text(text) => format!("\"{}\"", text.escape_debug()),
            Token::List => "a list".to_owned(),
            Token::Object => "an object".to_owned(),
        }
    }

    pub(super) fn unsigned(&self) -> Result<u64, Wrong> {
        match self {
            Token::Unsigned(value) => Ok(*value),
            // Ours writes what an f64 cannot hold in quotes.
            Token::Text(text) => text.parse().map_err(|_| Wrong::new(self.shown(), WHOLE)),
            other => Err(Wrong::new(other.shown(), WHOLE)),
        }
    }

    pub(super) fn text(&self) -> Result<&str, Wrong> {
        match self {
            Token::Text(text) => Ok(text),
            other => Err(Wrong::new(other.shown(), "text in quotes")),
        }
    }

    /// `"0x..."`
    pub(super) fn hex(&self) -> Result<u64, Wrong> {
        let digits = match self {
            Token::Text(text) => text.strip_prefix("0x").unwrap_or(""),
            _ => "",
        };
        parse_hex(digits).ok_or_else(|| Wrong::new(self.shown(), HEX))
    }

    /// One of the words of an enum.
    pub(super) fn word<T>(
        &self,
        from_name: impl Fn(&str) -> Option<T>,
        allowed: &'static str,
    ) -> Result<T, Wrong> {
        match self {
            Token::Text(text) => from_name(text),
            _ => None,
        }
        .ok_or_else(|| Wrong::new(self.shown(), allowed))
    }
}

/// Up to sixteen digits and nothing else.
pub(super) fn parse_hex(digits: &str) -> Option<u64> {
    let sound = (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if sound { u64::from_str_radix(digits, 16).ok() } else { None }
}

impl<'de: 'a, 'a> Deserialize<'de> for Token<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Token<'a>, D::Error> {
        deserializer.deserialize_any(TokenVisitor)
    }
}

struct TokenVisitor;

impl<'de> Visitor<'de> for TokenVisitor {
    type Value = Token<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Token<'de>, E> {
        Ok(Token::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Token<'de>, E> {
        Ok(Token::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Token<'de>, E> {
        Ok(Token::Signed(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Token<'de>, E> {
        Ok(Token::Float(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Token<'de>, E> {
        Ok(Token::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Token<'de>, E> {
        Ok(Token::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Token<'de>, E> {
        Ok(Token::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Token<'de>, A::Error> {
        SkipVisitor.visit_seq(seq)?;
        Ok(Token::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Token<'de>, A::Error> {
        SkipVisitor.visit_map(map)?;
        Ok(Token::Object)
    }
}

/// A value that was not asked for. Unlike serde's own it keeps to the parser's limit of depth.
pub(super) struct Skip;

impl<'de> Deserialize<'de> for Skip {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Skip, D::Error> {
        deserializer.deserialize_any(SkipVisitor)
    }
}

struct SkipVisitor;

impl<'de> Visitor<'de> for SkipVisitor {
    type Value = Skip;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_str<E>(self, _: &str) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_unit<E>(self) -> Result<Skip, E> {
        Ok(Skip)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Skip, A::Error> {
        while seq.next_element::<Skip>()?.is_some() {}
        Ok(Skip)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Skip, A::Error> {
        while map.next_entry::<Skip, Skip>()?.is_some() {}
        Ok(Skip)
    }
}

/// Keys seen so far: one bit each.
#[derive(Default)]
pub(super) struct SeenKeys(u64);

impl SeenKeys {
    /// Refuses a key that came before.
    pub(super) fn first<E: Error>(&mut self, key: usize) -> Result<(), E> {
        let bit = 1 << key;
        if self.0 & bit != 0 {
            return Err(E::custom("the key is there twice"));
        }
        self.0 |= bit;
        Ok(())
    }
}

/// A key, looked up in a table of known ones. Keys mostly come in the table's order, so the search starts
/// behind the last one that was found.
pub(super) struct Key<'a, T>(pub(super) &'a [(&'static str, T)], pub(super) usize);

impl<'de, T: Copy> DeserializeSeed<'de> for Key<'_, T> {
    type Value = Option<(usize, T)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T: Copy> Visitor<'_> for Key<'_, T> {
    type Value = Option<(usize, T)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        let Key(known, from) = self;
        let mut order = (from..known.len()).chain(0..from.min(known.len()));
        Ok(order.find(|&place| known[place].0 == text).map(|place| (place, known[place].1)))
    }
}

/// The error for a text that is not what it should be; a long one is cut.
fn refuse<E: Error>(text: &str, allowed: &dyn Expected) -> E {
    E::custom(format!("found {}; allowed is {allowed}", Token::Text(Cow::Borrowed(text)).shown()))
}

/// Declares a reader of one kind of value: what is allowed, and how it arrives.
macro_rules! reader {
    ($(#[$doc:meta])* $name:ident -> $value:ty, $how:ident, $allowed:expr, { $($visit:item)+ }) => {
        $(#[$doc])*
        pub(super) struct $name;

        impl<'de> DeserializeSeed<'de> for $name {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                deserializer.$how(self)
            }
        }

        impl<'de> Visitor<'de> for $name {
            type Value = $value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($allowed)
            }

            $($visit)+
        }
    };
}

reader! {
    /// A size, an offset, a count.
    Whole -> u64, deserialize_u64, WHOLE, {
        fn visit_u64<E>(self, value: u64) -> Result<u64, E> {
            Ok(value)
        }
    }
}

reader! {
    /// The number of an argument.
    Small -> u32, deserialize_u64, "a whole number from 0 to 4294967295", {
        fn visit_u64<E: Error>(self, value: u64) -> Result<u32, E> {
            u32::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
        }
    }
}

reader! {
    /// The number of a member of a task.
    Member -> u8, deserialize_u64, "a member from 0 to 2", {
        fn visit_u64<E: Error>(self, value: u64) -> Result<u8, E> {
            let member = u8::try_from(value).ok().filter(|&member| member <= 2);
            member.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
        }
    }
}

reader! {
    Flag -> bool, deserialize_bool, "true or false", {
        fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
            Ok(value)
        }
    }
}

reader! {
    /// An id, an address, raw bits.
    Hex -> u64, deserialize_str, HEX, {
        fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
            let parsed = text.strip_prefix("0x").and_then(parse_hex);
            parsed.ok_or_else(|| refuse(text, &self))
        }
    }
}

reader! {
    /// `xxh3_128:` and 32 digits.
    Checksum -> u128, deserialize_str, "\"xxh3_128:\" and 32 hexadecimal digits", {
        fn visit_str<E: Error>(self, text: &str) -> Result<u128, E> {
            let digits = text.strip_prefix("xxh3_128:").filter(|digits| digits.len() == 32 && digits.is_ascii());
            let halves = digits.map(|digits| digits.split_at(16));
            let parsed = halves.and_then(|(high, low)| {
                Some(u128::from(parse_hex(high)?) << 64 | u128::from(parse_hex(low)?))
            });
            parsed.ok_or_else(|| refuse(text, &self))
        }
    }
}

reader! {
    /// Extents, strides or offsets, and how many they are.
    Dims -> ([u64; MAX_DIMS], usize), deserialize_seq, "a list of at most 5 whole numbers", {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let (mut dims, mut len) = ([0; MAX_DIMS], 0);
            while let Some(value) = seq.next_element_seed(Whole)? {
                let Some(dim) = dims.get_mut(len) else {
                    return Err(A::Error::invalid_length(len + 1, &self));
                };
                *dim = value;
                len += 1;
            }
            Ok((dims, len))
        }
    }
}

reader! {
    /// Numbers of kernels: one, or a list of up to three; -1 where one is not known.
    Funcs -> [i32; 3], deserialize_any, "a kernel's number from -1 to 2147483647, or a list of up to three", {
        fn visit_u64<E: Error>(self, value: u64) -> Result<[i32; 3], E> {
            // April keeps the number unsigned.
            let func = if value == 0xffff_ffff { Some(-1) } else { i32::try_from(value).ok() };
            Ok([func.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))?, -1, -1])
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<[i32; 3], E> {
            match value {
                -1 => Ok([-1; 3]),
                _ => Err(E::invalid_value(Unexpected::Signed(value), &self)),
            }
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<[i32; 3], A::Error> {
            let (mut funcs, mut len) = ([-1; 3], 0);
            while let Some([func, ..]) = seq.next_element_seed(Func)? {
                let Some(place) = funcs.get_mut(len) else {
                    return Err(A::Error::invalid_length(len + 1, &self));
                };
                *place = func;
                len += 1;
            }
            Ok(funcs)
        }
    }
}

/// One of a list of [`Funcs`].
struct Func;

impl<'de> DeserializeSeed<'de> for Func {
    type Value = [i32; 3];

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<[i32; 3], D::Error> {
        // Asked for a number, the parser gives no list.
        deserializer.deserialize_i64(Funcs)
    }
}

/// One of the words of an enum.
pub(super) struct Word<T>(pub(super) fn(&str) -> Option<T>, pub(super) &'static str);

impl<'de, T> DeserializeSeed<'de> for Word<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T> Visitor<'_> for Word<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        self.0(text).ok_or_else(|| refuse(text, &self))
    }
}
