//! The statistics of an entry, which only our own manifests have.

use std::fmt;

use argus_abi::DType;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::json::{Key, Skip, Token, Wrong};
use crate::stats::Statistics;
use argus_facts::number::Number;

/// Statistics before the dtype says what their numbers are.
#[derive(Debug, Default)]
pub(super) struct RawStatistics {
    min: Option<Number>,
    max: Option<Number>,
    mean: Option<Number>,
    counts: [u64; 3],
}

impl RawStatistics {
    pub(super) fn typed(&self, dtype: Option<DType>) -> Result<Statistics, Wrong> {
        let allowed = "numbers of the record's dtype";
        let float = dtype.is_none_or(DType::is_float);
        let extreme = |number: Option<Number>| match number {
            None => Ok(None),
            Some(number) if float => Ok(Some(Number::Float(number.as_f64()))),
            Some(Number::Unsigned(value)) if dtype == Some(DType::U64) => Ok(Some(Number::Unsigned(value))),
            Some(Number::Unsigned(value)) => match i64::try_from(value) {
                Ok(value) => Ok(Some(Number::Signed(value))),
                Err(_) => Err(Wrong::new(value.to_string(), allowed)),
            },
            Some(Number::Bool(value)) => Ok(Some(Number::Signed(value.into()))),
            Some(Number::Signed(value)) if dtype != Some(DType::U64) => Ok(Some(Number::Signed(value))),
            Some(other) => Err(Wrong::new(format!("{}", other.as_f64()), allowed)),
        };
        let [nan, inf, zero] = self.counts;
        Ok(Statistics {
            unwritten: 0,
            min: extreme(self.min)?,
            max: extreme(self.max)?,
            mean: self.mean.map(Number::as_f64),
            nan,
            inf,
            zero,
        })
    }
}

pub(super) struct StatisticsSeed;

impl<'de> DeserializeSeed<'de> for StatisticsSeed {
    type Value = RawStatistics;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawStatistics, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for StatisticsSeed {
    type Value = RawStatistics;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("statistics in braces")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawStatistics, A::Error> {
        const KEYS: &[(&str, usize)] =
            &[("min", 0), ("max", 1), ("mean", 2), ("nan", 3), ("inf", 4), ("zero", 5)];
        let mut statistics = RawStatistics::default();
        let mut next = 0;
        while let Some(key) = map.next_key_seed(Key(KEYS, next))? {
            let Some((place, key)) = key else {
                map.next_value::<Skip>()?;
                continue;
            };
            next = place + 1;
            let token: Token<'de> = map.next_value()?;
            let number = match &token {
                Token::Null => None,
                Token::Bool(value) => Some(Number::Bool(*value)),
                Token::Unsigned(value) => Some(Number::Unsigned(*value)),
                Token::Signed(value) => Some(Number::Signed(*value)),
                Token::Float(value) => Some(Number::Float(*value)),
                Token::Text(text) => {
                    let whole =
                        text.parse().map(Number::Unsigned).or_else(|_| text.parse().map(Number::Signed));
                    Some(match (infinity(text), whole) {
                        (Some(value), _) => Number::Float(value),
                        (None, Ok(number)) => number,
                        _ => return Err(Error::custom(format!("{} is not a number", token.shown()))),
                    })
                }
                other => return Err(Error::custom(format!("{} is not a number", other.shown()))),
            };
            match (key, number) {
                (0, number) => statistics.min = number,
                (1, number) => statistics.max = number,
                (2, number) => statistics.mean = number,
                (count, Some(Number::Unsigned(value))) => statistics.counts[count - 3] = value,
                _ => return Err(Error::custom("a count is a whole number")),
            }
        }
        Ok(statistics)
    }
}

/// The words for what JSON has no numbers for, the reference's and ours.
pub(super) fn infinity(text: &str) -> Option<f64> {
    match text {
        "$Inf" | "Infinity" => Some(f64::INFINITY),
        "-$Inf" | "-Infinity" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        _ => None,
    }
}
