//! A trace file, event by event. Only the envelope and the form of an event are judged here.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::check::broken::rule;
use crate::check::window::Window;
use crate::check::{FilePlace, Rule};

/// A text, where it lies in the file if it can stay there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Text<'a>(Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Any)
    }
}

/// One event, with nothing but what real files have.
#[derive(Debug, Default)]
pub(super) struct Event<'a> {
    pub args: Option<Args<'a>>,
    pub cat: Option<Text<'a>>,
    pub cname: Option<Text<'a>>,
    pub dur: Option<f64>,
    pub id: Option<Text<'a>>,
    pub name: Option<Text<'a>>,
    pub ph: Option<Text<'a>>,
    pub pid: Option<Label<'a>>,
    pub tid: Option<Label<'a>>,
    pub ts: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'a"))]
pub(super) struct Args<'a> {
    pub code: Option<Text<'a>>,
    pub detail: Option<Text<'a>>,
    pub pc_addr: Option<Text<'a>>,
    pub process_bytes: Option<Text<'a>>,
    pub sort_index: Option<u64>,
    pub name: Option<Text<'a>>,
    #[serde(rename = "throughput(MB/s)")]
    pub throughput: Option<f64>,
}

/// A process or a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Label<'a> {
    Number(u64),
    Text(Text<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Label<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Label<'a>, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Label<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a number")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Label<'de>, E> {
                Ok(Label::Number(number))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Label<'de>, E> {
                Ok(Label::Text(Text(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Label<'de>, E> {
                Ok(Label::Text(Text(Cow::Owned(text.to_owned()))))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

impl Label<'_> {
    pub fn text(&self) -> Rule<&str> {
        match self {
            Label::Text(text) if !text.is_empty() => Ok(text),
            other => Err(rule!("{other:?} where a name is needed")),
        }
    }

    pub fn number(&self) -> Rule<u64> {
        match self {
            Label::Number(number) => Ok(*number),
            other => Err(rule!("{other:?} where a number is needed")),
        }
    }
}

/// Microseconds as picoseconds.
pub(super) fn picoseconds(us: f64) -> Rule<u64> {
    let ps = (us * 1e6).round();
    if us.is_finite() && (0.0..9e15).contains(&ps) { Ok(ps as u64) } else { Err(rule!("a time of {us} us")) }
}

/// Reads a whole trace. The envelope's keys must come in the order that makes readers see a simulation.
pub(super) fn read(reader: impl Read, schema: u64, handle: &mut dyn FnMut(Event<'_>) -> Rule) -> Rule {
    const KEYS: [&str; 4] = ["displayTimeUnit", "profilingType", "schemaVersion", "traceEvents"];
    read_envelope(reader, &KEYS, schema, &mut |text| handle(serde_json::from_slice(text)?))
}

/// Reads Chrome's trace events, which need not be a simulation.
pub(super) fn read_list<E: DeserializeOwned>(reader: impl Read, handle: &mut dyn FnMut(E) -> Rule) -> Rule {
    const KEYS: [&str; 2] = ["displayTimeUnit", "traceEvents"];
    read_envelope(reader, &KEYS, 0, &mut |text| handle(serde_json::from_slice(text)?))
}

/// Cuts the list of events into its items, which are parsed one by one where they lie. What stands around them is parsed as
/// if the list were empty.
fn read_envelope(
    reader: impl Read,
    keys: &'static [&'static str],
    schema: u64,
    handle: &mut dyn FnMut(&[u8]) -> Rule,
) -> Rule {
    let envelope = |text: &[u8]| -> Rule {
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        Envelope { keys, schema }.deserialize(&mut deserializer)?;
        Ok(deserializer.end()?)
    };
    let mut text = Window::new(reader);
    let mut around = text.head()?;
    if !around.ends_with(b"[") {
        // There is no list: what is there tells what is wrong.
        return envelope(&around).and(Err("there are no events".into()));
    }
    envelope(&[&around[..], b"]}"].concat())?;
    let mut count = 0;
    while let Some(item) = text.item(count == 0)? {
        count += 1;
        handle(item).map_err(|broken| broken.at(FilePlace::Event(count)))?;
    }
    text.rest(&mut around)?;
    envelope(&around)?;
    if count == 0 { Err("there are no events".into()) } else { Ok(()) }
}

/// What stands around the events.
struct Envelope {
    keys: &'static [&'static str],
    schema: u64,
}

impl<'de> DeserializeSeed<'de> for Envelope {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Envelope {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with traceEvents")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        for &key in self.keys {
            let found: Option<String> = map.next_key()?;
            if found.as_deref() != Some(key) {
                let found = found.unwrap_or_else(|| "nothing".into());
                return Err(de::Error::custom(format!("key {found} where {key} must stand")));
            }
            let (value, good) = match key {
                "traceEvents" => {
                    let _empty: [(); 0] = map.next_value()?;
                    continue;
                }
                "schemaVersion" => {
                    let value: u64 = map.next_value()?;
                    (value.to_string(), value == self.schema)
                }
                _ => {
                    let value: String = map.next_value()?;
                    let good = value == if key == "profilingType" { "op" } else { "ns" };
                    (value, good)
                }
            };
            if !good {
                return Err(de::Error::custom(format!("{key} is {value}")));
            }
        }
        match map.next_entry::<String, IgnoredAny>()? {
            Some((key, _)) => Err(de::Error::custom(format!("key {key} behind the events"))),
            None => Ok(()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Event<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Event<'a>, D::Error> {
        struct Keys;

        impl<'de> Visitor<'de> for Keys {
            type Value = Event<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Event<'de>, M::Error> {
                let mut event = Event::default();
                let mut last = Text::default();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    if *key <= *last {
                        return Err(de::Error::custom(format!("key {key} of an event stands behind {last}")));
                    }
                    match &*key {
                        "args" => event.args = Some(map.next_value()?),
                        "cat" => event.cat = Some(map.next_value()?),
                        "cname" => event.cname = Some(map.next_value()?),
                        "dur" => event.dur = Some(map.next_value()?),
                        "id" => event.id = Some(map.next_value()?),
                        "name" => event.name = Some(map.next_value()?),
                        "ph" => event.ph = Some(map.next_value()?),
                        "pid" => event.pid = Some(map.next_value()?),
                        "tid" => event.tid = Some(map.next_value()?),
                        "ts" => event.ts = Some(map.next_value()?),
                        _ => return Err(de::Error::custom(format!("an event has no key {key}"))),
                    }
                    last = key;
                }
                Ok(event)
            }
        }

        deserializer.deserialize_map(Keys)
    }
}

/// What must be there.
pub(super) fn need<T>(value: Option<T>, what: &str) -> Rule<T> {
    value.ok_or_else(|| rule!("{what} is missing"))
}
