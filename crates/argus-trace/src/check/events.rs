//! A trace file, event by event. Only the envelope and the form of an event are judged here.

use std::fmt;
use std::io::Read;

use argus_facts::with_causes;
use serde::Deserialize;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use crate::check::broken::rule;
use crate::check::{FilePlace, Rule};

/// One event, with nothing but what real files have.
#[derive(Debug, Default)]
pub(super) struct Event {
    pub args: Option<Args>,
    pub cat: Option<String>,
    pub cname: Option<String>,
    pub dur: Option<f64>,
    pub id: Option<String>,
    pub name: Option<String>,
    pub ph: Option<String>,
    pub pid: Option<Label>,
    pub tid: Option<Label>,
    pub ts: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    pub code: Option<String>,
    pub detail: Option<String>,
    pub pc_addr: Option<String>,
    pub process_bytes: Option<String>,
    pub sort_index: Option<u64>,
    pub name: Option<String>,
    #[serde(rename = "throughput(MB/s)")]
    pub throughput: Option<f64>,
}

/// A process or a thread.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Label {
    Number(u64),
    Text(String),
}

impl Label {
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
pub(super) fn read(reader: impl Read, schema: u64, handle: &mut dyn FnMut(Event) -> Rule) -> Rule {
    const KEYS: [&str; 4] = ["displayTimeUnit", "profilingType", "schemaVersion", "traceEvents"];
    read_envelope(reader, &KEYS, schema, handle)
}

/// Reads Chrome's trace events, which need not be a simulation.
pub(super) fn read_list<E: DeserializeOwned>(reader: impl Read, handle: &mut dyn FnMut(E) -> Rule) -> Rule {
    read_envelope(reader, &["displayTimeUnit", "traceEvents"], 0, handle)
}

fn read_envelope<E: DeserializeOwned>(
    reader: impl Read,
    keys: &'static [&'static str],
    schema: u64,
    handle: &mut dyn FnMut(E) -> Rule,
) -> Rule {
    let mut deserializer = serde_json::Deserializer::from_reader(reader);
    let mut count = 0;
    let mut counted = |event| {
        count += 1;
        handle(event).map_err(|broken| broken.at(FilePlace::Event(count)))
    };
    let envelope = Envelope { keys, schema, handle: &mut counted };
    envelope.deserialize(&mut deserializer)?;
    deserializer.end()?;
    if count == 0 { Err("there are no events".into()) } else { Ok(()) }
}

struct Envelope<'a, E> {
    keys: &'static [&'static str],
    schema: u64,
    handle: &'a mut dyn FnMut(E) -> Rule,
}

impl<'de, E: DeserializeOwned> DeserializeSeed<'de> for Envelope<'_, E> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, E: DeserializeOwned> Visitor<'de> for Envelope<'_, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with traceEvents")
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut map: M) -> Result<(), M::Error> {
        for &key in self.keys {
            let found: Option<String> = map.next_key()?;
            if found.as_deref() != Some(key) {
                let found = found.unwrap_or_else(|| "nothing".into());
                return Err(de::Error::custom(format!("key {found} where {key} must stand")));
            }
            let (value, good) = match key {
                "traceEvents" => {
                    map.next_value_seed(List { handle: &mut self.handle })?;
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

struct List<'a, 'b, E> {
    handle: &'a mut &'b mut dyn FnMut(E) -> Rule,
}

impl<'de, E: DeserializeOwned> DeserializeSeed<'de> for List<'_, '_, E> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, E: DeserializeOwned> Visitor<'de> for List<'_, '_, E> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<(), S::Error> {
        while let Some(event) = seq.next_element::<E>()? {
            (self.handle)(event).map_err(|broken| de::Error::custom(with_causes(&broken)))?;
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Event, D::Error> {
        struct Keys;

        impl<'de> Visitor<'de> for Keys {
            type Value = Event;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Event, M::Error> {
                let mut event = Event::default();
                let mut last = String::new();
                while let Some(key) = map.next_key::<String>()? {
                    if key <= last {
                        return Err(de::Error::custom(format!("key {key} of an event stands behind {last}")));
                    }
                    match key.as_str() {
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
