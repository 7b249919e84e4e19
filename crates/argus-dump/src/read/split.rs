//! A manifest read by several threads.
//!
//! The writers of manifests put each entry on a line of its own. If the text looks like that, the lines
//! between the list's brackets are shared out. Nothing is taken on trust:
//!
//! - What is before and behind the lines is parsed with a marker in their place, and the marker, known by its
//!   address, must be the only item of the list.
//! - Each thread parses its lines as entries with commas between them. If every share is that, all of them
//!   joined by commas are the items of one list, whatever the lines look like.
//!
//! If anything is otherwise, the text is read from its first byte to its last by one thread, which finds out
//! what is wrong and where.

use std::iter;

use rayon::prelude::*;
use serde::de::DeserializeSeed;

use super::head::{Body, Head, HeadSeed, ListSeed};
use super::json::State;
use super::row::{ListName, Rows};
use crate::map::Bytes;

/// How every line with an entry begins.
const LINE: &[u8] = b"\n    {";
/// Bytes of a share; less than two are not worth it.
const SHARE: usize = 256 << 10;
/// Shares whose entries are in memory at a time.
const SHARES_HELD: usize = 32;
/// Bytes of a line, about.
const USUAL_ENTRY: usize = 300;
/// Stands for the entries. Its length does not matter, only that it is a string.
const MARKER: &str = "\"entries\"";

/// The manifest, if it can be shared out: its entries are passed on in their order, some at a time. If it cannot, some may
/// have been passed on already.
///
/// `text` lies behind the first `skipped` bytes of `file`.
pub(super) fn parse(file: &Bytes, skipped: usize, pass_on: &mut dyn FnMut(Rows)) -> Option<(Head, ListName)> {
    let text = file.get(skipped..)?;
    if text.len() < 2 * SHARE {
        return None;
    }
    let start = find_line(text)?;
    let end = text.iter().rposition(|&byte| byte == b']')?;
    let (before, body, behind) = (text.get(..start)?, text.get(start..end)?, text.get(end..)?);
    let before = str::from_utf8(before).ok()?;
    let frame = [before, MARKER, str::from_utf8(behind).ok()?].concat();
    let address = frame.as_bytes().get(before.len() + 1)?;
    let mut deserializer = serde_json::Deserializer::from_str(&frame);
    let seed = HeadSeed { state: &mut State::default(), body: Body::Marker(address), pass_on: &mut |_| {} };
    let (head, list) = seed.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;

    let (mut count, mut at) = (0, skipped + start);
    let mut rest = Some(body);
    loop {
        // Cut when it is their turn: to look for a cut is to read there.
        let held: Vec<Share<'_>> = iter::from_fn(|| next_share(&mut rest)).take(SHARES_HELD).collect();
        if held.is_empty() {
            return Some((head, list));
        }
        let parsed: Vec<Rows> = held.par_iter().map(|share| entries(share, list)).collect::<Option<_>>()?;
        let mut rows = Rows::new(list);
        parsed.into_iter().for_each(|share| rows.append(share));
        count += rows.rows.len();
        u32::try_from(count).ok()?;
        pass_on(rows);
        let bytes: usize = held.iter().map(|share| share.text.len()).sum();
        file.let_go(at..at + bytes);
        at += bytes;
    }
}

fn find_line(text: &[u8]) -> Option<usize> {
    text.windows(LINE.len()).position(|bytes| bytes == LINE)
}

/// Some of the lines.
struct Share<'a> {
    text: &'a [u8],
    /// Others follow.
    followed: bool,
}

/// Takes a share from the front of the lines, which are cut where one begins with an entry.
fn next_share<'a>(lines: &mut Option<&'a [u8]>) -> Option<Share<'a>> {
    let text = lines.take()?;
    let cut = text.get(SHARE..).and_then(find_line).map(|at| SHARE + at);
    let (text, rest) = text.split_at(cut.unwrap_or(text.len()));
    *lines = cut.map(|_| rest);
    Some(Share { text, followed: cut.is_some() })
}

/// Entries with commas between them, and one behind the last if others follow.
fn entries(share: &Share<'_>, list: ListName) -> Option<Rows> {
    let text = str::from_utf8(share.text).ok()?;
    // Without a comma there the share does not end behind an entry.
    let share = if share.followed { text.trim_end().strip_suffix(',')? } else { text };
    let text = ["[", share, "]"].concat();
    let mut rows = Rows::new(list);
    rows.rows.reserve(text.len() / USUAL_ENTRY);
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    let seed = ListSeed { state: &mut State::default(), list, pass_on: &mut |piece| rows.append(piece) };
    seed.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"{"task_id": "0xTASK", "func_id": [1], "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "INT8", "is_contiguous": true, "shape": [4], "strides": [1], "start_offset": 0, "numel": 4, "bin_offset": 0, "bin_size": 4, "kernel": "KTASK", "time_ns": TASK, "truncated": false, "overwritten": false}"#;

    /// A manifest with `count` entries, their texts joined by `between`.
    fn manifest(count: u64, head: &str, between: &str, tail: &str) -> String {
        let entries: Vec<_> = (0..count).map(|task| ENTRY.replace("TASK", &task.to_string())).collect();
        format!("{{\n  {head}\"args\": [\n    {}\n  ]{tail}\n}}\n", entries.join(between))
    }

    /// All entries at once.
    fn parse(text: &str) -> Option<(Head, Rows)> {
        let file = Bytes::Owned(text.as_bytes().to_vec());
        joined(|pass_on| super::parse(&file, 0, pass_on))
    }

    fn whole(text: &str) -> serde_json::Result<(Head, Rows)> {
        let mut error = None;
        let parsed = joined(|pass_on| {
            super::super::from_manifest::whole(text, &mut State::default(), pass_on)
                .map_err(|why| error = Some(why))
                .ok()
        });
        parsed.ok_or_else(|| error.unwrap())
    }

    fn joined(parse: impl FnOnce(&mut dyn FnMut(Rows)) -> Option<(Head, ListName)>) -> Option<(Head, Rows)> {
        let mut rows = Rows::new(ListName::Args);
        let (head, list) = parse(&mut |piece| rows.append(piece))?;
        assert_eq!(list, ListName::Args);
        Some((head, rows))
    }

    fn records(rows: &Rows) -> Vec<super::super::Record> {
        rows.rows.iter().enumerate().map(|(index, row)| row.record(index, &rows.extras)).collect()
    }

    #[test]
    fn shares_give_what_the_whole_gives() {
        // More than are held at a time, of shares and of entries.
        let text = manifest(40_000, "\"dropped_records\": 3, ", ",\n    ", ", \"dropped_bytes\": 4");
        let (head, rows) = parse(&text).unwrap();
        let (whole_head, whole_rows) = whole(&text).unwrap();
        assert_eq!(rows.rows.len(), 40_000);
        assert_eq!(records(&rows), records(&whole_rows));
        assert_eq!(rows.names, whole_rows.names);
        assert_eq!((head.losses.dropped_records, head.losses.dropped_bytes), (3, 4));
        assert_eq!(head.losses, whole_head.losses);
    }

    #[test]
    fn what_only_looks_like_shares_is_left_to_the_whole() {
        let count = 2000;
        let sound = |text: &str| whole(text).unwrap().1.rows.len() as u64;
        // All on one line, or more than one line each: shared out or not, it is the same list.
        for between in [",", ",\n", ",\n  \n    ", "\n    ,"] {
            let text = manifest(count, "", between, "");
            assert_eq!(sound(&text), count);
            if let Some((_, rows)) = parse(&text) {
                assert_eq!(rows.rows.len() as u64, count);
            }
        }
        // The list ends before the last bracket, another one follows.
        let text = manifest(count, "", ",\n    ", ", \"x\": [1]");
        assert_eq!(sound(&text), count);
        assert!(parse(&text).is_none());
        // The lines are not in the list of entries.
        let other = manifest(count, "", ",\n    ", "").replacen("\"args\"", "\"other\"", 1);
        let other = other.replacen("{\n  ", "{\n  \"args\": [\"entries\"], ", 1);
        assert!(parse(&other).is_none());
        // The lines are in a string.
        let quoted = format!("{{\"args\": [], \"x\": \"[\n    {{{}]\"}}", "\n    {".repeat(200_000));
        assert!(parse(&quoted).is_none());
        // A comma too many, or one too few.
        for between in [",,\n    ", "\n    "] {
            let text = manifest(count, "", between, "");
            assert!(parse(&text).is_none() && whole(&text).is_err());
        }
    }
}
