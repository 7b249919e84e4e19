//! `visualize_data.bin`, block by block.

use std::io::{ErrorKind, Read};

use serde_json::Value;

use crate::check::broken::rule;
use crate::check::events;
use crate::check::trace::{TraceFacts, digest};
use crate::check::{Broken, FilePlace, Rule};

const HEADER: usize = 12;
const PATH: usize = 4096;
/// No reader takes more than 100 MB in one block, and a TRACE block has less than 64 MB.
const MAX_BLOCK: u64 = 100_000_000;
const MAX_TRACE: u64 = 64_000_000;
/// Each of these appears once, in this order, behind the traces and the sources.
const TABLES: [u8; 8] = [3, 4, 5, 6, 7, 8, 9, 12];
/// So may these, behind them: they are left out if there is nothing to show.
const OPTIONAL: [u8; 2] = [13, 15];

/// What the file holds besides the traces.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub traces: usize,
    pub sources: Vec<(String, String)>,
    pub tables: Vec<(u8, Value)>,
}

impl Blocks {
    pub fn table(&self, kind: u8) -> Rule<&Value> {
        let found = self.tables.iter().find(|(found, _)| *found == kind);
        found.map(|(_, table)| table).ok_or_else(|| rule!("block {kind} is missing"))
    }

    pub fn rows(&self) -> usize {
        self.table(4).ok().and_then(|table| table["Instructions"].as_array()).map_or(0, Vec::len)
    }
}

pub(super) fn read(mut reader: impl Read, seen: &TraceFacts) -> Rule<Blocks> {
    let mut blocks = Blocks::default();
    let mut events_digest = 0;
    let mut at = 0u64;
    loop {
        let mut header = [0; HEADER];
        match reader.read(&mut header[..1]) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        }
        let here = at;
        let wrong = |broken: Broken| broken.at(FilePlace::Block { byte: here });
        exact(&mut reader, &mut header[1..]).map_err(wrong)?;
        let size = u64::from_le_bytes(header[..8].try_into().map_err(|_| wrong("no size".into()))?);
        let [kind, padding, version, reserve] = [header[8], header[9], header[10], header[11]];
        if size == 0 || size > MAX_BLOCK {
            return Err(wrong(rule!("a size of {size} bytes")));
        }
        if padding > 3 || u64::from(padding) >= size || size % 4 != 0 {
            return Err(wrong(rule!("{padding} bytes of padding in {size}")));
        }
        let expected = if kind == 4 { 0 } else { 0x5A };
        if version != expected || reserve != 0x5A {
            return Err(wrong(rule!("type {kind} has version {version:#x} and reserve {reserve:#x}")));
        }
        let path = if kind == 1 { Some(take(&mut reader, PATH as u64).map_err(wrong)?) } else { None };
        at += HEADER as u64 + size + if kind == 1 { PATH as u64 } else { 0 };
        let mut content = take(&mut reader, size).map_err(wrong)?;
        let zeros = content.split_off(content.len() - usize::from(padding));
        if zeros.iter().any(|&byte| byte != 0) {
            return Err(wrong("the padding is not zero".into()));
        }
        match kind {
            2 => {
                if !blocks.sources.is_empty() || !blocks.tables.is_empty() {
                    return Err(wrong("a trace behind other blocks".into()));
                }
                if size >= MAX_TRACE {
                    return Err(wrong(rule!("a trace of {size} bytes")));
                }
                events::read(&content[..], 2, &mut |event| {
                    events_digest = digest(events_digest, &event);
                    Ok(())
                })
                .map_err(wrong)?;
                blocks.traces += 1;
            }
            1 => {
                if !blocks.tables.is_empty() {
                    return Err(wrong("a source behind the tables".into()));
                }
                let path = path.unwrap_or_default();
                blocks.sources.push(source(&path, content).map_err(wrong)?);
            }
            kind if TABLES.contains(&kind) || OPTIONAL.contains(&kind) => {
                if blocks.tables.last().is_some_and(|(last, _)| *last >= kind) {
                    return Err(wrong(rule!("type {kind} is out of order")));
                }
                let table = serde_json::from_slice(&content).map_err(|error| wrong(error.into()))?;
                blocks.tables.push((kind, table));
            }
            other => return Err(wrong(rule!("type {other} is unknown"))),
        }
    }
    if blocks.traces == 0 {
        return Err("there is no trace".into());
    }
    if events_digest != seen.digest {
        return Err("the TRACE blocks do not hold the events of trace.json".into());
    }
    for kind in TABLES {
        blocks.table(kind)?;
    }
    Ok(blocks)
}

fn source(path: &[u8], text: Vec<u8>) -> Rule<(String, String)> {
    let end = path.iter().position(|&byte| byte == 0).ok_or("a path without end")?;
    if path[end..].iter().any(|&byte| byte != 0) {
        return Err("bytes behind the end of a path".into());
    }
    let path = std::str::from_utf8(&path[..end])?;
    let odd = |c: char| c.is_control() || "|;&$><`!\"'\\%:".contains(c);
    if path.is_empty() || path.chars().count() > 500 || path.starts_with('/') || path.contains(odd) {
        return Err(rule!(
            "path {path:?} is empty, too long, absolute or has characters that readers refuse"
        ));
    }
    let text = String::from_utf8(text)?;
    if text.chars().count() > 1_000_000 || text.lines().count() > 10_000 {
        return Err(rule!("the text of {path} is longer than readers show"));
    }
    Ok((path.to_owned(), text))
}

fn exact(reader: &mut impl Read, into: &mut [u8]) -> Rule {
    reader.read_exact(into).map_err(|_| Broken::from("the file ends inside a header"))
}

/// Reads so many bytes, without trusting the number before they came.
fn take(reader: &mut impl Read, size: u64) -> Rule<Vec<u8>> {
    let mut content = Vec::new();
    let read = reader.take(size).read_to_end(&mut content)?;
    if read as u64 == size { Ok(content) } else { Err(rule!("{size} bytes are announced, {read} are there")) }
}
