//! Manifests: those of the reference, and our own when its journal is gone.
//!
//! Entries stay in the manifest's order, because that is how people number them. What the head says about the
//! number of entries is kept as a claim and not relied on.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use argus_abi::{Stage, TaskId};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::dump::{Age, Ending, Losses, Skip as Skipped};
use super::entry::EntrySeed;
use super::error::OpenError;
use super::json::{Key, Seen, Skip, State, Token, Wrong};
use super::record::Record;
use super::row::{Extra, ListName, Row, Rows, flag};
use super::run::RunFacts;
use super::split;

/// Bytes of the longest message.
const LONGEST: usize = 400;

/// A manifest as a table of records.
pub(crate) struct Listed {
    pub(crate) head: Head,
    pub(crate) age: Age,
    rows: Vec<Row>,
    extras: Vec<Extra>,
    names: BTreeMap<i32, String>,
}

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
    schema: Option<String>,
    timestamp: bool,
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
    pub(crate) overwritten: Option<u64>,
}

impl Listed {
    /// Reads a manifest of any age.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Listed, OpenError> {
        let refuse =
            |record, field, problem| OpenError::Manifest { path: path.to_path_buf(), record, field, problem };
        // Once for the whole text is quicker than string by string.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
            refuse(
                None,
                "",
                match utf16 {
                    true => "the text is UTF-16; a manifest is UTF-8".to_owned(),
                    false => format!("byte {} is no UTF-8", error.valid_up_to()),
                },
            )
        })?;
        let (head, rows) = match split::parse(text) {
            Some(parsed) => parsed,
            None => {
                let mut state = State::default();
                whole(text, &mut state)
                    .map_err(|error| refuse(state.record, state.field, explain(text, &error, state.wrong)))?
            }
        };
        let age = match rows.list {
            _ if head.schema.as_deref().is_some_and(|schema| schema.starts_with("argus")) => Age::Argus,
            ListName::Args => Age::August,
            ListName::Tensors if head.timestamp || rows.rows.iter().any(|row| row.has(flag::RAW_SHAPE)) => {
                Age::April
            }
            ListName::Tensors => Age::June,
        };
        let mut listed = Listed { head, age, rows: rows.rows, extras: rows.extras, names: rows.names };
        if age == Age::Argus {
            listed.mark_shared();
        }
        Ok(listed)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn row(&self, index: usize) -> &Row {
        &self.rows[index]
    }

    pub(crate) fn record(&self, index: usize) -> Record {
        self.rows[index].record(index, &self.extras)
    }

    pub(super) fn kernel_name(&self, func_id: i32) -> Option<&str> {
        self.names.get(&func_id).map(String::as_str)
    }

    pub(super) fn ending(&self) -> Ending {
        match self.head.run.status.as_str() {
            "complete" => Ending::Complete,
            "failed" => Ending::Failed { error: self.head.run.error.clone().unwrap_or_default() },
            _ => Ending::Unknown,
        }
    }

    /// Counted from the entries, and more only if the head says so.
    pub(super) fn losses(&self) -> Losses {
        let count = |flag| self.rows.iter().filter(|row| row.has(flag)).count() as u64;
        let claims = &self.head.claims;
        Losses {
            overwritten: count(flag::OVERWRITTEN).max(claims.overwritten.unwrap_or(0)),
            truncated: count(flag::TRUNCATED).max(claims.truncated.unwrap_or(0)),
            ..self.head.losses.clone()
        }
    }

    /// Tensors without a payload.
    pub(super) fn without_payload(&self) -> usize {
        self.rows.iter().filter(|row| row.is_tensor() && row.range().1 == 0).count()
    }

    /// Our journal says which records share a payload, our manifest leaves it to be seen.
    fn mark_shared(&mut self) {
        let mut known = rustc_hash::FxHashSet::default();
        for row in &mut self.rows {
            if row.range().1 > 0 && !known.insert(row.range()) {
                row.share();
            }
        }
    }
}

/// Reads a whole manifest from its first byte to its last.
pub(super) fn whole(text: &str, state: &mut State) -> serde_json::Result<(Head, Rows)> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = HeadSeed { state, body: Body::Entries }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(parsed)
}

/// What the parser says, and what is known beyond that.
fn explain(text: &str, error: &serde_json::Error, wrong: Option<Wrong>) -> String {
    if let Some(Wrong { found, allowed }) = wrong {
        return format!("found {found}; allowed is {allowed} (line {})", error.line());
    }
    let mut problem = reworded(error.to_string());
    if text.is_empty() {
        problem = "the file is empty".to_owned();
    } else if error.is_eof() {
        problem = format!("the file ends too early: {problem}");
    }
    // The parser repeats a value that is not what it should be, however long.
    if problem.len() > LONGEST {
        let (head, tail) = (problem.floor_char_boundary(LONGEST / 2), problem.len() - LONGEST / 2);
        let tail = problem.ceil_char_boundary(tail);
        problem = format!("{} ... {}", &problem[..head], &problem[tail..]);
    }
    problem
}

/// The parser's own words for a wrong value in ours.
fn reworded(problem: String) -> String {
    if problem.starts_with("recursion limit exceeded") {
        return problem.replace("recursion limit exceeded", "it nests deeper than 127 levels");
    }
    let value = problem.strip_prefix("invalid type: ").or_else(|| problem.strip_prefix("invalid value: "));
    let length = problem.strip_prefix("invalid length ").map(|length| (length, "a list of "));
    match value
        .map(|value| (value, ""))
        .or(length)
        .and_then(|(rest, what)| Some((rest.split_once(", expected ")?, what)))
    {
        Some(((found, allowed), what)) => format!("found {what}{found}; allowed is {allowed}"),
        None => problem,
    }
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

/// Reads the whole manifest.
pub(crate) struct HeadSeed<'s> {
    pub(super) state: &'s mut State,
    pub(super) body: Body,
}

impl<'de> DeserializeSeed<'de> for HeadSeed<'_> {
    type Value = (Head, Rows);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(Head, Rows), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for HeadSeed<'_> {
    type Value = (Head, Rows);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a manifest in braces")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(Head, Rows), A::Error> {
        let state = self.state;
        let mut head = Head::default();
        let mut list: Option<Rows> = None;
        let mut seen = Seen::default();
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
                    let mut rows = Rows::new(name);
                    match self.body {
                        Body::Entries => map.next_value_seed(ListSeed { state, rows: &mut rows })?,
                        Body::Marker(address) => {
                            let [marker] = map.next_value::<[&'de str; 1]>()?;
                            if marker.as_ptr() != address {
                                return Err(Error::custom("the marker is elsewhere"));
                            }
                        }
                    }
                    list = Some(rows);
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
            Some(rows) => Ok((head, rows)),
            None => Err(Error::custom("neither \"args\" nor \"tensors\" is in it, so this is no manifest")),
        }
    }
}

impl Head {
    fn take(&mut self, field: HeadField, token: &Token<'_>) -> Result<(), Wrong> {
        match field {
            HeadField::Timestamp => self.timestamp = true,
            HeadField::Level => self.level = Some(token.unsigned()?),
            HeadField::Count(place) => *place(self) = Some(token.unsigned()?),
            HeadField::Loss(place) => *place(self) = token.unsigned()?,
            HeadField::BinFile => self.bin_file = Some(bin_file(token)?),
            HeadField::Schema => self.schema = Some(token.text()?.to_owned()),
            HeadField::Text(place) => *place(self) = token.text()?.to_owned(),
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
    pub(super) rows: &'s mut Rows,
}

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
        let ListSeed { state, rows } = self;
        state.field = "";
        loop {
            state.record = Some(rows.rows.len());
            if u32::try_from(rows.rows.len()).is_err() {
                return Err(state.stop(Wrong::new("more than 4294967295 entries", "fewer")));
            }
            if seq.next_element_seed(EntrySeed { state, rows })?.is_none() {
                state.record = None;
                return Ok(());
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
