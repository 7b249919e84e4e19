//! `perfetto.pftrace`: Perfetto's own format, track events with interned names.
//!
//! The messages are the part of Perfetto's protocol that is used here, with its field numbers.

use std::io::{self, Write};

use prost::Message;
use rustc_hash::FxHashMap;

use crate::perfetto::{Drawing, DrawnTrack, Group, Slice, Value};

/// The file is handed on in pieces of about this size.
const PIECE: usize = 1 << 20;
/// All packets are of one sequence.
const SEQUENCE: u32 = 1;
const STATE_CLEARED: u32 = 1;
const NEEDS_STATE: u32 = 2;
const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const EXPLICIT_ORDER: i32 = 3;
/// Tag of a packet in the trace.
const PACKET_TAG: u8 = 0x0A;

#[derive(Clone, PartialEq, Message)]
struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
    #[prost(bool, optional, tag = "87")]
    first_packet_on_sequence: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(int32, optional, tag = "11")]
    child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    sibling_order_rank: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    process_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, optional, tag = "9")]
    kind: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    terminating_flow_ids: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct DebugAnnotation {
    #[prost(uint64, optional, tag = "1")]
    name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(uint64, optional, tag = "17")]
    string_value_iid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct InternedData {
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<InternedName>,
    #[prost(message, repeated, tag = "3")]
    debug_annotation_names: Vec<InternedName>,
    #[prost(message, repeated, tag = "29")]
    debug_annotation_string_values: Vec<InternedString>,
}

#[derive(Clone, PartialEq, Message)]
struct InternedName {
    #[prost(uint64, optional, tag = "1")]
    iid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct InternedString {
    #[prost(uint64, optional, tag = "1")]
    iid: Option<u64>,
    #[prost(bytes = "vec", optional, tag = "2")]
    text: Option<Vec<u8>>,
}

/// Texts that were given a number.
#[derive(Default)]
struct Interned {
    numbers: FxHashMap<String, u64>,
}

impl Interned {
    /// The number of a text, and whether it is new.
    fn number(&mut self, text: &str) -> (u64, bool) {
        if let Some(&number) = self.numbers.get(text) {
            return (number, false);
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(text.to_owned(), number);
        (number, true)
    }
}

pub(crate) struct NativeDrawing<W> {
    out: W,
    bytes: Vec<u8>,
    started: bool,
    groups: u32,
    tracks: u32,
    names: Interned,
    arg_names: Interned,
    texts: Interned,
    /// Slices whose children are still to come: the track, the number of children, the end.
    open: Vec<Open>,
}

struct Open {
    track: DrawnTrack,
    children: u32,
    end: u64,
}

impl<W: Write> NativeDrawing<W> {
    pub fn new(out: W) -> NativeDrawing<W> {
        NativeDrawing {
            out,
            bytes: Vec::new(),
            started: false,
            groups: 0,
            tracks: 0,
            names: Interned::default(),
            arg_names: Interned::default(),
            texts: Interned::default(),
            open: Vec::new(),
        }
    }

    fn packet(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        packet.sequence_flags = Some(if self.started { NEEDS_STATE } else { STATE_CLEARED });
        packet.first_packet_on_sequence = (!self.started).then_some(true);
        self.started = true;
        self.bytes.push(PACKET_TAG);
        packet.encode_length_delimited(&mut self.bytes).map_err(io::Error::other)?;
        if self.bytes.len() > PIECE {
            self.out.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    fn end(&mut self, track: DrawnTrack, ps: u64, flows_in: &[u64]) -> io::Result<()> {
        let event = TrackEvent {
            kind: Some(SLICE_END),
            track_uuid: Some(track_uuid(track)),
            // Here, not at the beginning: a wait begins before the set that ends it.
            terminating_flow_ids: flows_in.to_vec(),
            ..Default::default()
        };
        self.packet(TracePacket {
            timestamp: Some(nanoseconds(ps)),
            track_event: Some(event),
            ..Default::default()
        })
    }
}

/// Perfetto counts nanoseconds.
fn nanoseconds(ps: u64) -> u64 {
    ps / 1000 + u64::from(ps % 1000 >= 500)
}

fn group_uuid(group: Group) -> u64 {
    u64::from(group.0) << 32
}

fn track_uuid(track: DrawnTrack) -> u64 {
    group_uuid(track.group) | u64::from(track.number)
}

impl<W: Write> Drawing for NativeDrawing<W> {
    fn group(&mut self, name: &str, rank: u32) -> io::Result<Group> {
        self.groups += 1;
        let group = Group(self.groups);
        let process =
            ProcessDescriptor { pid: Some(self.groups as i32), process_name: Some(name.to_owned()) };
        self.packet(TracePacket {
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(group_uuid(group)),
                name: Some(name.to_owned()),
                process: Some(process),
                child_ordering: Some(EXPLICIT_ORDER),
                sibling_order_rank: Some(rank as i32),
                ..Default::default()
            }),
            ..Default::default()
        })?;
        Ok(group)
    }

    fn track(&mut self, group: Group, name: &str, rank: u32) -> io::Result<DrawnTrack> {
        self.tracks += 1;
        let track = DrawnTrack { group, number: self.tracks };
        self.packet(TracePacket {
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(track_uuid(track)),
                name: Some(name.to_owned()),
                parent_uuid: Some(group_uuid(group)),
                sibling_order_rank: Some(rank as i32),
                ..Default::default()
            }),
            ..Default::default()
        })?;
        Ok(track)
    }

    fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        let mut interned = InternedData::default();
        let name = |(iid, new): (u64, bool), text: &str, list: &mut Vec<InternedName>| {
            if new {
                list.push(InternedName { iid: Some(iid), name: Some(text.to_owned()) });
            }
            iid
        };
        let name_iid = name(self.names.number(slice.name), slice.name, &mut interned.event_names);
        let debug_annotations = slice
            .args
            .iter()
            .map(|(arg, value)| {
                let arg = name(self.arg_names.number(arg), arg, &mut interned.debug_annotation_names);
                let mut annotation = DebugAnnotation { name_iid: Some(arg), ..Default::default() };
                match value {
                    Value::Number(number) => annotation.uint_value = Some(*number),
                    Value::Text(text) => {
                        let (iid, new) = self.texts.number(text);
                        if new {
                            let text = Some(text.as_bytes().to_vec());
                            interned
                                .debug_annotation_string_values
                                .push(InternedString { iid: Some(iid), text });
                        }
                        annotation.string_value_iid = Some(iid);
                    }
                }
                annotation
            })
            .collect();
        let event = TrackEvent {
            kind: Some(SLICE_BEGIN),
            track_uuid: Some(track_uuid(slice.track)),
            name_iid: Some(name_iid),
            debug_annotations,
            flow_ids: slice.flows_out.to_vec(),
            ..Default::default()
        };
        self.packet(TracePacket {
            timestamp: Some(nanoseconds(slice.start)),
            track_event: Some(event),
            interned_data: (interned != InternedData::default()).then_some(interned),
            ..Default::default()
        })?;
        if slice.children > 0 {
            self.open.push(Open { track: slice.track, children: slice.children, end: slice.end });
            return Ok(());
        }
        self.end(slice.track, slice.end, slice.flows_in)?;
        // The last child ends its parent too.
        while let Some(parent) = self.open.last_mut() {
            parent.children -= 1;
            if parent.children > 0 {
                break;
            }
            let (track, end) = (parent.track, parent.end);
            self.open.pop();
            self.end(track, end, &[])?;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.out.flush()
    }
}
