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

use rayon::prelude::*;
use serde::de::DeserializeSeed;

use super::head::{Body, Head, HeadSeed, ListSeed};
use super::json::State;
use super::row::{ListName, Rows};

/// How every line with an entry begins.
const LINE: &str = "\n    {";
/// Bytes of a share; less than two are not worth it.
const SHARE: usize = 256 << 10;
/// Bytes of a line, about.
const USUAL_ENTRY: usize = 300;
/// Stands for the entries. Its length does not matter, only that it is a string.
const MARKER: &str = "\"entries\"";

/// The manifest, if it could be shared out.
pub(super) fn parse(text: &str) -> Option<(Head, Rows)> {
    if text.len() < 2 * SHARE {
        return None;
    }
    let start = text.find(LINE)?;
    let end = text.rfind(']')?;
    let (before, body, behind) = (text.get(..start)?, text.get(start..end)?, text.get(end..)?);
    let frame = [before, MARKER, behind].concat();
    let address = frame.as_bytes().get(before.len() + 1)?;
    let mut deserializer = serde_json::Deserializer::from_str(&frame);
    let seed = HeadSeed { state: &mut State::default(), body: Body::Marker(address) };
    let (head, mut rows) = seed.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;

    let shares: Vec<Rows> =
        shares(body).into_par_iter().map(|share| entries(share, rows.list)).collect::<Option<_>>()?;
    let count = shares.iter().map(|share| share.rows.len()).sum();
    u32::try_from(count).ok()?;
    rows.rows.reserve_exact(count);
    for share in shares {
        rows.append(share);
    }
    Some((head, rows))
}

/// Cuts the lines where one begins with an entry; the comma before it goes away.
fn shares(mut body: &str) -> Vec<&str> {
    let mut shares = Vec::with_capacity(body.len() / SHARE + 1);
    while body.len() > SHARE {
        let near = body.ceil_char_boundary(SHARE);
        let Some(cut) = body[near..].find(LINE).map(|at| near + at) else { break };
        // Without a comma there the share does not end behind an entry, and parsing it fails.
        shares.push(body[..cut].trim_end().strip_suffix(',').unwrap_or("?"));
        body = &body[cut..];
    }
    shares.push(body);
    shares
}

/// Entries with commas between them.
fn entries(share: &str, list: ListName) -> Option<Rows> {
    let text = ["[", share, "]"].concat();
    let mut rows = Rows::new(list);
    rows.rows.reserve(text.len() / USUAL_ENTRY);
    let mut deserializer = serde_json::Deserializer::from_str(&text);
    ListSeed { state: &mut State::default(), rows: &mut rows }.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::super::from_manifest::whole;
    use super::*;

    const ENTRY: &str = r#"{"task_id": "0xTASK", "func_id": [1], "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "INT8", "is_contiguous": true, "shape": [4], "strides": [1], "start_offset": 0, "numel": 4, "bin_offset": 0, "bin_size": 4, "kernel": "KTASK", "time_ns": TASK, "truncated": false, "overwritten": false}"#;

    /// A manifest with `count` entries, their texts joined by `between`.
    fn manifest(count: u64, head: &str, between: &str, tail: &str) -> String {
        let entries: Vec<_> = (0..count).map(|task| ENTRY.replace("TASK", &task.to_string())).collect();
        format!("{{\n  {head}\"args\": [\n    {}\n  ]{tail}\n}}\n", entries.join(between))
    }

    fn records(rows: &Rows) -> Vec<super::super::Record> {
        rows.rows.iter().enumerate().map(|(index, row)| row.record(index, &rows.extras)).collect()
    }

    #[test]
    fn shares_give_what_the_whole_gives() {
        let text = manifest(5000, "\"dropped_records\": 3, ", ",\n    ", ", \"dropped_bytes\": 4");
        let (head, rows) = parse(&text).unwrap();
        let (whole_head, whole_rows) = whole(&text, &mut State::default()).unwrap();
        assert_eq!(rows.rows.len(), 5000);
        assert_eq!(records(&rows), records(&whole_rows));
        assert_eq!(rows.names, whole_rows.names);
        assert_eq!((head.losses.dropped_records, head.losses.dropped_bytes), (3, 4));
        assert_eq!(head.losses, whole_head.losses);
    }

    #[test]
    fn what_only_looks_like_shares_is_left_to_the_whole() {
        let count = 2000;
        let sound = |text: &str| whole(text, &mut State::default()).unwrap().1.rows.len() as u64;
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
            assert!(parse(&text).is_none() && whole(&text, &mut State::default()).is_err());
        }
    }
}
