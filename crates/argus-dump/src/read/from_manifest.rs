//! Manifests: those of the reference, and our own when its journal is gone.
//!
//! Entries stay in the manifest's order, because that is how people number them. What the head says about the
//! number of entries is kept as a claim and not relied on.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeSeed;

use super::dump::{Ending, FormatVersion, Losses};
use super::error::OpenError;
use super::head::{Body, Head, HeadSeed};
use super::json::{State, Wrong};
use super::record::Record;
use super::row::{Extra, ListName, Row, Rows, flag};
use super::split;
use crate::map::Bytes;

/// Bytes of the longest message.
const LONGEST: usize = 400;

/// A manifest as a table of records.
pub(crate) struct Listed {
    pub(crate) head: Head,
    pub(crate) version: FormatVersion,
    rows: Vec<Row>,
    extras: Vec<Extra>,
    names: BTreeMap<i32, String>,
}

impl Listed {
    /// No records at all.
    pub(super) fn empty() -> Listed {
        let (rows, extras, names) = (Vec::new(), Vec::new(), BTreeMap::new());
        Listed { head: Head::default(), version: FormatVersion::August, rows, extras, names }
    }

    /// Reads a manifest of any format version.
    pub(crate) fn parse(path: &Path, file: &Bytes) -> Result<Listed, OpenError> {
        let start = || Rows::new(ListName::Args);
        let (head, list, rows) = walk(path, file, start, |rows, piece| rows.append(piece))?;
        let version = head.version(list, rows.has_raw_shapes());
        let mut listed = Listed { head, version, rows: rows.rows, extras: rows.extras, names: rows.names };
        if version == FormatVersion::Argus {
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

    pub(crate) fn kernel_name(&self, func_id: i32) -> Option<&str> {
        self.names.get(&func_id).map(String::as_str)
    }

    pub(super) fn ending(&self) -> Ending {
        match self.head.run.status.as_str() {
            "complete" => Ending::Complete,
            "failed" => Ending::Failed { error: self.head.run.error.clone().unwrap_or_default() },
            "unfinished" => Ending::Unfinished { why: self.head.run.error.clone().unwrap_or_default() },
            _ => Ending::Unknown,
        }
    }

    /// What a capture in the background says against itself.
    pub(super) fn self_doubt(&self) -> Vec<String> {
        let verdict = self.head.verdict.as_deref();
        let bad = verdict.filter(|verdict| !matches!(*verdict, "published" | "published_empty"));
        let bad = bad.map(|verdict| format!("the capture calls itself '{verdict}', which is not whole"));
        let unknown = self.head.counts_unknown;
        let unknown = unknown.then(|| "the capture does not know how many records it should have".to_owned());
        bad.into_iter().chain(unknown).collect()
    }

    /// Counted from the entries, and more only if the head says so.
    pub(super) fn losses(&self) -> Losses {
        let count = |flag| self.rows.iter().filter(|row| row.has(flag)).count() as u64;
        let claims = &self.head.claims;
        let dropped_records = self.head.losses.dropped_records.saturating_add(self.head.metadata_discarded);
        Losses {
            dropped_records,
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

/// Goes through a manifest of any format version. Its entries are given to `take` in their order, some at a time, so that
/// they need not be in memory all at once; what became of them comes back.
///
/// A manifest that turns out not to be what it looked like is gone through again, with what `start` makes then.
pub(crate) fn walk<S>(
    path: &Path,
    file: &Bytes,
    start: impl Fn() -> S,
    take: impl Fn(&mut S, Rows),
) -> Result<(Head, ListName, S), OpenError> {
    let refuse =
        |record, field, problem| OpenError::Manifest { path: path.to_path_buf(), record, field, problem };
    let skipped = if file.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut taken = start();
    if let Some((head, list)) = split::parse(file, skipped, &mut |rows| take(&mut taken, rows)) {
        return Ok((head, list, taken));
    }
    // Once for the whole text is quicker than string by string.
    let bytes = &file[skipped..];
    let text = str::from_utf8(bytes).map_err(|error| {
        let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        refuse(
            None,
            "",
            match utf16 {
                true => "the text is UTF-16; a manifest is UTF-8".to_owned(),
                false => format!("byte {} is not UTF-8", error.valid_up_to()),
            },
        )
    })?;
    let mut taken = start();
    let mut state = State::default();
    let (head, list) = whole(text, &mut state, &mut |rows| take(&mut taken, rows))
        .map_err(|error| refuse(state.record, state.field, explain(text, &error, state.wrong)))?;
    Ok((head, list, taken))
}

/// Reads a whole manifest from its first byte to its last.
pub(super) fn whole(
    text: &str,
    state: &mut State,
    pass_on: &mut dyn FnMut(Rows),
) -> serde_json::Result<(Head, ListName)> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed = HeadSeed { state, body: Body::Entries, pass_on }.deserialize(&mut deserializer)?;
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
