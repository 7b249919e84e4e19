//! The head of a manifest, of any format version: its keys and what they mean, with the list of entries among them.

use std::fmt;
use std::path::Path;

use argus_abi::{Stage, TaskId};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::dump::{FormatVersion, Losses, Skip as Skipped};
use super::entry::EntrySeed;
use super::json::{Key, SeenKeys, Skip, State, Token, Wrong};
use super::row::{ListName, Rows};
use super::run_facts::RunFacts;

/// What a manifest says about itself.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) claims: Claims,
    /// The level of August.
    pub(crate) level: Option<u64>,
    /// `None`: there is none, and the manifest says so. The outer `None`: it does not say.
    pub(super) bin_file: Option<Option<String>>,
    pub(super) run: RunFacts,
    pub(super) losses: Losses,
    /// Only our own manifests have one.
    pub(super) schema: Option<String>,
    pub(super) timestamp: bool,
    /// How a capture in the background judged itself; since September.
    pub(super) verdict: Option<String>,
    pub(super) counts_unknown: bool,
    /// Records of which not even the description was kept.
    pub(super) metadata_discarded: u64,
}

/// Counts in the head, as far as they are there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claims {
    pub(crate) total: Option<u64>,
    pub(crate) before: Option<u64>,
    pub(crate) after: Option<u64>,
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) inout: Option<u64>,
    pub(crate) truncated: Option<u64>,
    /// Payloads that were lost: overwritten on the device, since September given up by the host.
    pub(crate) overwritten: Option<u64>,
}

#[derive(Clone, Copy)]
enum HeadField {
    Timestamp,
    BinFormat,
    Level,
    Count(fn(&mut Head) -> &mut Option<u64>),
    Loss(fn(&mut Head) -> &mut u64),
    BinFile,
    Schema,
    Text(fn(&mut Head) -> &mut String),
    Error,
    Verdict,
    CountsUnknown,
    Skipped,
    List(ListName),
}

const HEAD: &[(&str, HeadField)] = &[
    ("timestamp", HeadField::Timestamp),
    ("bin_format", HeadField::BinFormat),
    ("dump_args_level", HeadField::Level),
    ("total_tensors", HeadField::Count(|head| &mut head.claims.total)),
    ("total_args", HeadField::Count(|head| &mut head.claims.total)),
    ("before_dispatch", HeadField::Count(|head| &mut head.claims.before)),
    ("after_completion", HeadField::Count(|head| &mut head.claims.after)),
    ("input_tensors", HeadField::Count(|head| &mut head.claims.input)),
    ("input_args", HeadField::Count(|head| &mut head.claims.input)),
    ("output_tensors", HeadField::Count(|head| &mut head.claims.output)),
    ("output_args", HeadField::Count(|head| &mut head.claims.output)),
    ("inout_tensors", HeadField::Count(|head| &mut head.claims.inout)),
    ("inout_args", HeadField::Count(|head| &mut head.claims.inout)),
    ("truncated_tensors", HeadField::Count(|head| &mut head.claims.truncated)),
    ("truncated_args", HeadField::Count(|head| &mut head.claims.truncated)),
    ("dropped_records", HeadField::Loss(|head| &mut head.losses.dropped_records)),
    ("dropped_bytes", HeadField::Loss(|head| &mut head.losses.dropped_bytes)),
    ("dropped_overwrite", HeadField::Count(|head| &mut head.claims.overwritten)),
    ("bin_file", HeadField::BinFile),
    ("host_discarded_args", HeadField::Count(|head| &mut head.claims.overwritten)),
    ("metadata_discarded_records", HeadField::Loss(|head| &mut head.metadata_discarded)),
    ("counts_unknown", HeadField::CountsUnknown),
    ("collection_verdict", HeadField::Verdict),
    ("schema", HeadField::Schema),
    ("run_id", HeadField::Text(|head| &mut head.run.run_id)),
    ("scene", HeadField::Text(|head| &mut head.run.scene)),
    ("case", HeadField::Text(|head| &mut head.run.case)),
    ("platform", HeadField::Text(|head| &mut head.run.platform)),
    ("runtime", HeadField::Text(|head| &mut head.run.runtime)),
    ("level", HeadField::Text(|head| &mut head.run.level)),
    ("status", HeadField::Text(|head| &mut head.run.status)),
    ("error", HeadField::Error),
    ("skipped", HeadField::Skipped),
    ("tensors", HeadField::List(ListName::Tensors)),
    ("args", HeadField::List(ListName::Args)),
];

/// What is in the list of entries.
#[derive(Clone, Copy)]
pub(super) enum Body {
    Entries,
    /// One string at this address, which stands for the entries.
    Marker(*const u8),
}

/// Takes entries as they come, some at a time.
pub(super) type PassOn<'s> = &'s mut dyn FnMut(Rows);

/// Reads the whole manifest.
pub(super) struct HeadSeed<'s> {
    pub(super) state: &'s mut State,
    pub(super) body: Body,
    pub(super) pass_on: PassOn<'s>,
}

impl<'de> DeserializeSeed<'de> for HeadSeed<'_> {
    type Value = (Head, ListName);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(Head, ListName), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for HeadSeed<'_> {
    type Value = (Head, ListName);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a manifest in braces")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(Head, ListName), A::Error> {
        let HeadSeed { state, body, pass_on } = self;
        let mut head = Head::default();
        let mut list = None;
        let mut seen = SeenKeys::default();
        let mut next = 0;
        while let Some(key) = map.next_key_seed(Key(HEAD, next))? {
            let Some((place, field)) = key else {
                map.next_value::<Skip>()?;
                continue;
            };
            next = place + 1;
            state.field = HEAD[place].0;
            seen.first(place)?;
            match field {
                HeadField::List(name) => {
                    if list.is_some() {
                        return Err(Error::custom("a manifest has one list, \"args\" or \"tensors\""));
                    }
                    match body {
                        Body::Entries => map.next_value_seed(ListSeed { state, list: name, pass_on })?,
                        Body::Marker(address) => {
                            let [marker] = map.next_value::<[&'de str; 1]>()?;
                            if marker.as_ptr() != address {
                                return Err(Error::custom("the marker is elsewhere"));
                            }
                        }
                    }
                    list = Some(name);
                }
                HeadField::Skipped => head.losses.skipped = map.next_value_seed(SkipsSeed)?,
                HeadField::BinFormat => {
                    let format: BinFormat = map.next_value()?;
                    format.check().map_err(|wrong| state.stop(wrong))?;
                }
                simple => {
                    let token: Token<'de> = map.next_value()?;
                    head.take(simple, &token).map_err(|wrong| state.stop(wrong))?;
                }
            }
            state.field = "";
        }
        match list {
            Some(list) => Ok((head, list)),
            None => {
                Err(Error::custom("neither \"args\" nor \"tensors\" is in it, so this is not a manifest"))
            }
        }
    }
}

impl Head {
    /// Who wrote a manifest with this head and list; `raw_shapes`: an entry gives its view as in April.
    pub(crate) fn version(&self, list: ListName, raw_shapes: bool) -> FormatVersion {
        match list {
            _ if self.schema.as_deref().is_some_and(|schema| schema.starts_with("argus")) => {
                FormatVersion::Argus
            }
            ListName::Args => FormatVersion::August,
            ListName::Tensors if self.timestamp || raw_shapes => FormatVersion::April,
            ListName::Tensors => FormatVersion::June,
        }
    }

    fn take(&mut self, field: HeadField, token: &Token<'_>) -> Result<(), Wrong> {
        match field {
            HeadField::Timestamp => self.timestamp = true,
            HeadField::Level => self.level = Some(token.unsigned()?),
            // A count that is not known.
            HeadField::Count(_) | HeadField::Loss(_) | HeadField::Verdict if matches!(token, Token::Null) => {
            }
            HeadField::Count(place) => *place(self) = Some(token.unsigned()?),
            HeadField::Loss(place) => *place(self) = token.unsigned()?,
            HeadField::BinFile => self.bin_file = Some(bin_file(token)?),
            HeadField::Schema => self.schema = Some(token.text()?.to_owned()),
            HeadField::Text(place) => *place(self) = token.text()?.to_owned(),
            HeadField::Verdict => self.verdict = Some(token.text()?.to_owned()),
            HeadField::CountsUnknown => self.counts_unknown = matches!(token, Token::Bool(true)),
            HeadField::Error => self.run.error = Some(token.text()?.to_owned()),
            HeadField::BinFormat | HeadField::Skipped | HeadField::List(_) => {}
        }
        Ok(())
    }
}

/// The payload file lies beside the manifest and nowhere else.
fn bin_file(token: &Token<'_>) -> Result<Option<String>, Wrong> {
    let allowed = "the name of a file beside the manifest, or null";
    match token {
        Token::Null => Ok(None),
        Token::Text(name) if Path::new(&**name).file_name().is_some_and(|last| last == &**name) => {
            Ok(Some(name.clone().into_owned()))
        }
        other => Err(Wrong::new(other.shown(), allowed)),
    }
}

#[derive(serde::Deserialize)]
struct BinFormat<'a> {
    #[serde(rename = "type", borrow)]
    kind: Token<'a>,
    #[serde(borrow)]
    byte_order: Token<'a>,
}

impl BinFormat<'_> {
    fn check(&self) -> Result<(), Wrong> {
        let known = self.kind.text()? == "logical_contiguous" && self.byte_order.text()? == "little_endian";
        if known {
            return Ok(());
        }
        let found = format!("{}, {}", self.kind.shown(), self.byte_order.shown());
        Err(Wrong::new(found, "\"logical_contiguous\", \"little_endian\""))
    }
}

/// Reads the list of entries.
pub(super) struct ListSeed<'s> {
    pub(super) state: &'s mut State,
    pub(super) list: ListName,
    pub(super) pass_on: PassOn<'s>,
}

/// Entries that are passed on at a time.
const PIECE: usize = 16 << 10;

impl<'de> DeserializeSeed<'de> for ListSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let ListSeed { state, list, pass_on } = self;
        state.field = "";
        let mut passed = 0;
        let mut rows = Rows::new(list);
        loop {
            let number = passed + rows.rows.len();
            state.record = Some(number);
            if u32::try_from(number).is_err() {
                return Err(state.stop(Wrong::new("more than 4294967295 entries", "fewer")));
            }
            if seq.next_element_seed(EntrySeed { state, rows: &mut rows })?.is_none() {
                state.record = None;
                pass_on(rows);
                return Ok(());
            }
            if rows.rows.len() == PIECE {
                passed += PIECE;
                pass_on(std::mem::replace(&mut rows, Rows::new(list)));
            }
        }
    }
}

/// Reads what our manifest says was skipped.
struct SkipsSeed;

impl<'de> DeserializeSeed<'de> for SkipsSeed {
    type Value = Vec<Skipped>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Skipped>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for SkipsSeed {
    type Value = Vec<Skipped>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of what was skipped")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Skipped>, A::Error> {
        let mut skipped = Vec::new();
        while let Some(item) = seq.next_element::<SkippedText<'de>>()? {
            let item = item.understood().map_err(|wrong| {
                Error::custom(format!(
                    "item {}: {}; allowed is {}",
                    skipped.len(),
                    wrong.found,
                    wrong.allowed
                ))
            })?;
            skipped.push(item);
        }
        Ok(skipped)
    }
}

#[derive(serde::Deserialize)]
struct SkippedText<'a> {
    #[serde(borrow)]
    task_id: Token<'a>,
    #[serde(borrow)]
    func_id: Token<'a>,
    #[serde(borrow)]
    arg_index: Token<'a>,
    #[serde(borrow)]
    stage: Token<'a>,
    #[serde(borrow)]
    reason: Token<'a>,
}

impl SkippedText<'_> {
    fn understood(&self) -> Result<Skipped, Wrong> {
        let arg_index = match &self.arg_index {
            Token::Null => None,
            token => {
                Some(u32::try_from(token.unsigned()?).map_err(|_| Wrong::new(token.shown(), "a number"))?)
            }
        };
        Ok(Skipped {
            task_id: TaskId::from_raw(self.task_id.hex()?),
            func_id: match &self.func_id {
                Token::Unsigned(value) => i32::try_from(*value).ok(),
                _ => None,
            },
            arg_index,
            stage: self.stage.word(Stage::from_name, "\"before_dispatch\" or \"after_completion\"")?,
            reason: self.reason.text()?.to_owned().into(),
        })
    }
}
