//! `perfetto.json`: Chrome's trace events, which Perfetto, speedscope and browsers read.

use std::io::{self, Write};

use crate::perfetto::{Drawing, DrawnTrack, Group, Slice, Value};
use crate::text::{push_json, push_length, push_u64, push_us};

/// The text is handed on in pieces of about this size.
const PIECE: usize = 1 << 20;

pub(crate) struct JsonDrawing<W> {
    out: W,
    text: Vec<u8>,
    first: bool,
    groups: u32,
    tracks: u32,
}

impl<W: Write> JsonDrawing<W> {
    pub fn new(out: W) -> JsonDrawing<W> {
        let text = br#"{"displayTimeUnit":"ns","traceEvents":["#.to_vec();
        JsonDrawing { out, text, first: true, groups: 0, tracks: 0 }
    }

    fn separate(&mut self) {
        if !self.first {
            self.text.push(b',');
        }
        self.first = false;
    }

    fn metadata(&mut self, kind: &str, track: DrawnTrack, args: &[u8]) {
        self.separate();
        self.text.extend_from_slice(br#"{"ph":"M","name":""#);
        self.text.extend_from_slice(kind.as_bytes());
        self.text.extend_from_slice(br#"","pid":"#);
        push_u64(&mut self.text, track.group.0.into());
        self.text.extend_from_slice(br#","tid":"#);
        push_u64(&mut self.text, track.number.into());
        self.text.extend_from_slice(br#","args":{"#);
        self.text.extend_from_slice(args);
        self.text.extend_from_slice(b"}}");
    }

    fn name_and_rank(&mut self, what: &str, track: DrawnTrack, name: &str, rank: u32) {
        let mut args = br#""name":"#.to_vec();
        push_json(&mut args, name);
        self.metadata(&format!("{what}_name"), track, &args);
        self.metadata(&format!("{what}_sort_index"), track, format!(r#""sort_index":{rank}"#).as_bytes());
    }

    /// An end of an arrow inside a slice: it must lie between the slice's ends to be bound to it.
    fn flow(&mut self, phase: &str, id: u64, track: DrawnTrack, ps: u64) {
        self.separate();
        self.text.extend_from_slice(br#"{"ph":""#);
        self.text.extend_from_slice(phase.as_bytes());
        self.text.extend_from_slice(br#"","name":"flow","cat":"flow","id":"#);
        push_u64(&mut self.text, id);
        if phase == "f" {
            self.text.extend_from_slice(br#","bp":"e""#);
        }
        self.place(track, ps);
        self.text.push(b'}');
    }

    fn place(&mut self, track: DrawnTrack, ps: u64) {
        self.text.extend_from_slice(br#","pid":"#);
        push_u64(&mut self.text, track.group.0.into());
        self.text.extend_from_slice(br#","tid":"#);
        push_u64(&mut self.text, track.number.into());
        self.text.extend_from_slice(br#","ts":"#);
        push_us(&mut self.text, ps);
    }
}

impl<W: Write> Drawing for JsonDrawing<W> {
    fn group(&mut self, name: &str, rank: u32) -> io::Result<Group> {
        self.groups += 1;
        let group = Group(self.groups);
        self.name_and_rank("process", DrawnTrack { group, number: 0 }, name, rank);
        Ok(group)
    }

    fn track(&mut self, group: Group, name: &str, rank: u32) -> io::Result<DrawnTrack> {
        self.tracks += 1;
        let track = DrawnTrack { group, number: self.tracks };
        self.name_and_rank("thread", track, name, rank);
        Ok(track)
    }

    fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        self.separate();
        self.text.extend_from_slice(br#"{"ph":"X","name":"#);
        push_json(&mut self.text, slice.name);
        self.place(slice.track, slice.start);
        self.text.extend_from_slice(br#","dur":"#);
        push_length(&mut self.text, slice.start, slice.end);
        if !slice.args.is_empty() {
            self.text.extend_from_slice(br#","args":{"#);
            for (index, (name, value)) in slice.args.iter().enumerate() {
                if index > 0 {
                    self.text.push(b',');
                }
                push_json(&mut self.text, name);
                self.text.push(b':');
                match value {
                    Value::Number(number) => push_u64(&mut self.text, *number),
                    Value::Text(text) => push_json(&mut self.text, text),
                }
            }
            self.text.push(b'}');
        }
        self.text.push(b'}');
        // An arrow leaves in the middle of its slice and arrives just before the end of the other, which never
        // ends before the first: it does not point back.
        let length = slice.end - slice.start;
        for &id in slice.flows_out {
            self.flow("s", id, slice.track, slice.end - length.div_ceil(2));
        }
        for &id in slice.flows_in {
            self.flow("f", id, slice.track, slice.end - u64::from(length > 0));
        }
        if self.text.len() > PIECE {
            self.out.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.text.extend_from_slice(b"]}");
        self.out.write_all(&self.text)?;
        self.out.flush()
    }
}
