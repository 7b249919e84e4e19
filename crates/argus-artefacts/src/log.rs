//! The run log: host spans, clock anchors, and the report of a run that stood still or failed.
//!
//! Lines of several processes may share one physical line, and what stands before a mark differs from age to age: marks
//! are searched, line starts are not.

mod codes;
mod stall;

use std::borrow::Cow;

use crate::ArtefactError;

pub use stall::{RunFailure, StallReport, StalledTask};

/// What a log tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLog {
    /// In the order of the log: inner spans end, and are written, before outer ones.
    pub spans: Vec<Span>,
    pub anchors: Vec<WallAnchor>,
    pub stall: Option<StallReport>,
    pub failure: Option<RunFailure>,
    /// The most devices that the runner says one run was given.
    pub devices: usize,
    /// Lines that carry a mark and do not say what it promises.
    pub unreadable: usize,
}

/// A span of time of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub name: String,
    pub pid: u64,
    pub tid: u64,
    /// Number of the run in its process.
    pub inv: u64,
    pub depth: u32,
    /// Of the host's monotonic clock; of the device's, from the start of its run, if `device`.
    pub start_ns: u64,
    pub duration_ns: u64,
    pub device: bool,
    /// Other fields, in order.
    pub attributes: Vec<(String, String)>,
}

/// Monotonic and wall clock of a process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallAnchor {
    pub pid: u64,
    pub mono_ns: u64,
    pub wall_ns: u64,
}

const SPAN: &str = "[STRACE] ";
const ANCHOR: &str = "[CLOCK_ANCHOR] ";

impl RunLog {
    /// Reads a log. Any text is a log; one without a mark tells nothing.
    pub fn parse(text: &[u8]) -> Result<RunLog, ArtefactError> {
        if text.iter().all(u8::is_ascii_whitespace) {
            return Err(ArtefactError::Empty);
        }
        let text = String::from_utf8_lossy(text);
        let mut log = RunLog::default();
        for line in text.lines() {
            for piece in marked(line, SPAN) {
                match span(piece) {
                    Some(span) => log.spans.push(span),
                    None => log.unreadable += 1,
                }
            }
            for piece in marked(line, ANCHOR) {
                match anchor(piece) {
                    Some(anchor) => log.anchors.push(anchor),
                    None => log.unreadable += 1,
                }
            }
            log.devices = log.devices.max(devices(line).unwrap_or(0));
            stall::take(line, &mut log);
        }
        Ok(log)
    }

    /// Adds what another log of the same run tells.
    pub(crate) fn join(&mut self, other: RunLog) {
        self.spans.extend(other.spans);
        self.anchors.extend(other.anchors);
        self.stall = self.stall.take().or(other.stall);
        self.failure = self.failure.take().or(other.failure);
        self.devices = self.devices.max(other.devices);
        self.unreadable += other.unreadable;
    }

    /// Whether the log has anything that this reader knows.
    pub fn is_empty(&self) -> bool {
        *self == RunLog::default()
    }

    /// The spans of one run of one process.
    pub fn run(&self, pid: u64, inv: u64) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(move |span| span.pid == pid && span.inv == inv)
    }
}

/// What follows each mark of a line, up to the next record on the same line.
fn marked<'a>(line: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    line.split(mark).skip(1).map(|piece| &piece[..next_record(piece)])
}

/// Where the next record of a line begins: at its clock, at a date, or at its thread.
fn next_record(piece: &str) -> usize {
    let starts = |at: usize| {
        let inside = &piece.as_bytes()[at + 1..];
        let date = inside.len() > 4 && inside[..4].iter().all(u8::is_ascii_digit) && inside[4] == b'-';
        date || inside.starts_with(b"mono_ns=") || inside.starts_with(b"T0x")
    };
    piece.match_indices('[').map(|(at, _)| at).find(|&at| starts(at)).unwrap_or(piece.len())
}

/// How many devices the runner gave to a run of several chips: `START L3 ... devices=[0, 1]`.
fn devices(line: &str) -> Option<usize> {
    let (_, behind) = line.split_once(" START L")?;
    let (_, list) = behind.split_once("devices=[")?;
    let list = list.split(']').next()?.trim();
    Some(if list.is_empty() { 0 } else { list.split(',').count() })
}

/// The fields `key=value` of a piece, in order.
fn fields(piece: &str) -> impl Iterator<Item = (&str, &str)> {
    piece.split_ascii_whitespace().filter_map(|word| word.split_once('='))
}

fn span(piece: &str) -> Option<Span> {
    let (mut pid, mut tid, mut inv, mut depth, mut start, mut duration) =
        (None, None, None, None, None, None);
    let (mut name, mut device) = (None, false);
    let mut attributes = Vec::new();
    for (key, value) in fields(piece) {
        match key {
            "pid" => pid = Some(value.parse().ok()?),
            "tid" => tid = Some(value.parse().ok()?),
            "inv" => inv = Some(value.parse().ok()?),
            "depth" => depth = Some(value.parse().ok()?),
            "ts" => start = Some(value.parse().ok()?),
            "dur" => duration = Some(value.parse().ok()?),
            "name" => name = Some(decoded(value)),
            "clk" => device = value == "dev",
            "v" => {}
            _ => attributes.push((key.to_owned(), decoded(value))),
        }
    }
    Some(Span {
        name: name?,
        pid: pid?,
        tid: tid.unwrap_or(0),
        inv: inv?,
        depth: depth?,
        start_ns: start?,
        duration_ns: duration?,
        device,
        attributes,
    })
}

fn anchor(piece: &str) -> Option<WallAnchor> {
    let find = |wanted: &str| fields(piece).find(|(key, _)| *key == wanted)?.1.parse().ok();
    Some(WallAnchor { pid: find("pid")?, mono_ns: find("mono_ns")?, wall_ns: find("wall_ns")? })
}

/// Control characters and separators are written as `%` and two hexadecimal digits.
fn decoded(value: &str) -> String {
    if !value.contains('%') {
        return value.to_owned();
    }
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = (byte == b'%').then(|| std::str::from_utf8(tail.get(..2)?).ok()).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(code) => {
                bytes.push(code);
                rest = &tail[2..];
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    match String::from_utf8_lossy(&bytes) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_records_on_one_line_are_two_records() {
        let line = "[mono_ns=1][T0x1][TIMING] f: [STRACE] v=1 pid=7 tid=8 inv=1 hid=0 depth=2 name=a%20b ts=5 dur=6 \
                    clk=dev[mono_ns=2][T0x2][TIMING] f: [STRACE] v=1 pid=9 tid=9 inv=2 hid=ab depth=0 name=c ts=18446744073709551615 dur=0 run_id=3";
        let log = RunLog::parse(line.as_bytes()).unwrap();
        assert_eq!(log.spans.len(), 2);
        let first = &log.spans[0];
        assert_eq!((first.name.as_str(), first.pid, first.inv, first.device), ("a b", 7, 1, true));
        assert_eq!(log.spans[1].start_ns, u64::MAX);
        assert_eq!(log.spans[1].attributes, [("hid".into(), "ab".into()), ("run_id".into(), "3".into())]);
        let cut = RunLog::parse(b"[STRACE] v=1 pid=7 tid=8 inv=1 depth=x name=a ts=5 dur=6").unwrap();
        assert_eq!((cut.spans.len(), cut.unreadable), (0, 1));
    }
}
