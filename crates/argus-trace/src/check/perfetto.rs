//! Both Perfetto files: the same slices, times and arrows as `trace.json`.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Deserialize;
use serde_json::Value;

use crate::check::broken::rule;
use crate::check::events::{self, picoseconds};
use crate::check::trace::TraceFacts;
use crate::check::wire::{Field, fields, varint};
use crate::check::{Broken, FilePlace, Rule};

/// The sums of a track.
#[derive(Debug, Default)]
struct Track {
    slices: u64,
    busy: u64,
    end: u64,
    first_us: Option<f64>,
    end_us: [f64; 2],
}

/// Every track of the trace must be a track with the same sums.
fn compare(
    tracks: &BTreeMap<(String, String), (u64, u64)>,
    seen: &TraceFacts,
    slack: impl Fn(u64) -> u64,
) -> Rule {
    for ((core, track), sums) in &seen.tracks {
        let &(slices, busy) = tracks
            .get(&(core.clone(), track.clone()))
            .ok_or_else(|| rule!("track {track} of {core} is missing"))?;
        if slices != sums.slices || busy.abs_diff(sums.busy_ps) > slack(slices) {
            return Err(rule!(
                "{track} of {core} has {slices} slices of {busy} ps, trace.json {} of {}",
                sums.slices,
                sums.busy_ps
            ));
        }
    }
    match tracks.keys().find(|track| !seen.tracks.contains_key(*track)) {
        Some((group, track)) => Err(rule!("track {track} of {group} is not a track")),
        None => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    ph: String,
    name: String,
    pid: u64,
    tid: u64,
    ts: Option<f64>,
    dur: Option<f64>,
    #[serde(rename = "cat")]
    _cat: Option<String>,
    id: Option<u64>,
    bp: Option<String>,
    #[serde(default)]
    args: Value,
}

/// What `perfetto.json` has said so far.
#[derive(Default)]
struct JsonFile {
    groups: BTreeMap<u64, String>,
    names: BTreeMap<(u64, u64), String>,
    tracks: BTreeMap<(u64, u64), Track>,
    arrows: BTreeMap<u64, [Option<u64>; 2]>,
}

pub(super) fn read_json(reader: impl Read, seen: &TraceFacts) -> Rule {
    let mut file = JsonFile::default();
    events::read_list(reader, &mut |event| file.event(&event))?;
    for (id, ends) in &file.arrows {
        match ends {
            [Some(leaves), Some(arrives)] if leaves <= arrives => {}
            _ => return Err(rule!("arrow {id} has one end or goes back in time")),
        }
    }
    check_arrows(file.arrows.len(), seen)?;
    let mut named = BTreeMap::new();
    for (place, track) in &file.tracks {
        let group = file.groups.get(&place.0).ok_or("a process without name")?;
        let name = file.names.get(place).ok_or("a thread without name")?;
        named.insert((group.clone(), name.clone()), (track.slices, track.busy));
    }
    compare(&named, seen, |_| 0)
}

impl JsonFile {
    fn event(&mut self, event: &Event) -> Rule {
        let place = (event.pid, event.tid);
        let time = || picoseconds(event.ts.ok_or("a time is missing")?);
        match event.ph.as_str() {
            "M" => {
                let name = || event.args["name"].as_str().map(str::to_owned).ok_or("a name is missing");
                match event.name.as_str() {
                    "process_name" => drop(self.groups.insert(event.pid, name()?)),
                    "thread_name" => drop(self.names.insert(place, name()?)),
                    "process_sort_index" | "thread_sort_index" if event.args["sort_index"].is_u64() => {}
                    other => return Err(rule!("metadata {other}")),
                }
            }
            "X" => {
                let start = time()?;
                let end = start + picoseconds(event.dur.ok_or("a length is missing")?)?;
                let track = self.tracks.entry(place).or_default();
                // Readers add start and length as they are, some counted from the first slice: even a last bit too
                // much is an overlap.
                let [start_us, length_us] = [event.ts, event.dur].map(Option::unwrap_or_default);
                let first_us = *track.first_us.get_or_insert(start_us);
                let from_first = start_us - first_us;
                if start < track.end || start_us < track.end_us[0] || from_first < track.end_us[1] {
                    return Err(rule!("{} at {start} ps overlaps the slice before it", event.name));
                }
                track.slices += 1;
                track.busy += end - start;
                track.end = end;
                track.end_us = [start_us + length_us, from_first + length_us];
            }
            "s" | "f" => {
                let at = time()?;
                let track = self.tracks.get(&place).ok_or("an arrow where nothing is")?;
                if at > track.end || (event.ph == "f") != (event.bp.as_deref() == Some("e")) {
                    return Err("an arrow that is bound to no slice".into());
                }
                let ends = self.arrows.entry(event.id.ok_or("an arrow without id")?).or_default();
                if ends[usize::from(event.ph == "f")].replace(at).is_some() {
                    return Err("an arrow has an end twice".into());
                }
            }
            other => return Err(rule!("phase {other}")),
        }
        Ok(())
    }
}

fn check_arrows(found: usize, seen: &TraceFacts) -> Rule {
    if found as u64 == seen.flows() {
        return Ok(());
    }
    Err(rule!("{found} arrows, trace.json has {}", seen.flows()))
}

/// A track of the native file, while its slices come in.
#[derive(Debug, Default)]
struct Native {
    name: String,
    parent: Option<u64>,
    open: Vec<(u64, bool)>,
    /// Slices without others inside.
    leaves: u64,
    all: u64,
    busy: u64,
    last: u64,
}

#[derive(Default)]
struct NativeFile {
    tracks: BTreeMap<u64, Native>,
    names: [BTreeMap<u64, String>; 3],
    arrows: BTreeMap<u64, [Option<u64>; 2]>,
}

/// Tables of interned texts by the number of their field.
const TABLES: [u64; 3] = [2, 3, 29];

pub(super) fn read_native(mut reader: impl Read, seen: &TraceFacts) -> Rule<u64> {
    let mut file = NativeFile::default();
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    let mut rest = &bytes[..];
    let mut count = 0;
    while !rest.is_empty() {
        let wrong = |broken: Broken| broken.at(FilePlace::Packet(count));
        if varint(&mut rest).map_err(wrong)? != 0x0A {
            return Err(wrong("it is not a packet".into()));
        }
        let length = varint(&mut rest).map_err(wrong)?;
        let packet = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let (packet, tail) =
            packet.ok_or_else(|| wrong(rule!("{length} bytes are announced, {} are there", rest.len())))?;
        rest = tail;
        file.packet(packet, count == 0).map_err(wrong)?;
        count += 1;
    }
    file.finish(seen)
}

impl NativeFile {
    fn packet(&mut self, packet: &[u8], first: bool) -> Rule {
        let (mut time, mut event, mut flags, mut sequence) = (None, None, 0, 0);
        for field in fields(packet) {
            match field? {
                (8, Field::Varint(value)) => time = Some(value),
                (10, Field::Varint(value)) => sequence = value,
                (13, Field::Varint(value)) => flags = value,
                (87, Field::Varint(1)) if first => {}
                (11, Field::Bytes(value)) => event = Some(value),
                (12, Field::Bytes(value)) => self.intern(value)?,
                (60, Field::Bytes(value)) => self.descriptor(value)?,
                (number, _) => return Err(rule!("field {number} of a packet")),
            }
        }
        if sequence == 0 || flags != if first { 1 } else { 2 } {
            return Err(rule!("sequence {sequence} with flags {flags}"));
        }
        match (event, time) {
            (Some(event), Some(time)) => self.event(event, time),
            (None, None) => Ok(()),
            _ => Err("an event without time".into()),
        }
    }

    fn intern(&mut self, data: &[u8]) -> Rule {
        for field in fields(data) {
            let (number, Field::Bytes(entry)) = field? else { return Err("an interned number".into()) };
            let table = TABLES.iter().position(|&table| table == number);
            let table = table.ok_or_else(|| rule!("table {number} of interned texts"))?;
            let (mut iid, mut text) = (0, String::new());
            for field in fields(entry) {
                match field? {
                    (1, Field::Varint(value)) => iid = value,
                    (2, Field::Bytes(value)) => {
                        text = std::str::from_utf8(value)?.to_owned();
                    }
                    (number, _) => return Err(rule!("field {number} of an interned text")),
                }
            }
            if iid == 0 || self.names[table].insert(iid, text).is_some() {
                return Err(rule!("interned text {iid} is given twice"));
            }
        }
        Ok(())
    }

    fn descriptor(&mut self, data: &[u8]) -> Rule {
        let (mut uuid, mut track) = (0, Native::default());
        for field in fields(data) {
            match field? {
                (1, Field::Varint(value)) => uuid = value,
                (2, Field::Bytes(value)) => {
                    track.name = std::str::from_utf8(value)?.to_owned();
                }
                (5, Field::Varint(value)) => track.parent = Some(value),
                (3, Field::Bytes(_)) | (11 | 12, Field::Varint(_)) => {}
                (number, _) => return Err(rule!("field {number} of a track")),
            }
        }
        if uuid == 0 || track.name.is_empty() {
            return Err("a track without number or name".into());
        }
        if track.parent.is_some_and(|parent| !self.tracks.contains_key(&parent)) {
            return Err(rule!("track {} has no parent", track.name));
        }
        match self.tracks.insert(uuid, track) {
            Some(old) => Err(rule!("the number of track {} is used twice", old.name)),
            None => Ok(()),
        }
    }

    fn event(&mut self, data: &[u8], time: u64) -> Rule {
        let (mut kind, mut name, mut uuid) = (0, None, 0);
        let (mut leaves, mut arrives) = (Vec::new(), Vec::new());
        for field in fields(data) {
            match field? {
                (9, Field::Varint(value)) => kind = value,
                (10, Field::Varint(value)) => name = Some(value),
                (11, Field::Varint(value)) => uuid = value,
                (47, Field::Fixed64(value)) => leaves.push(value),
                (48, Field::Fixed64(value)) => arrives.push(value),
                (4, Field::Bytes(value)) => self.annotation(value)?,
                (number, _) => return Err(rule!("field {number} of an event")),
            }
        }
        let track = self.tracks.get_mut(&uuid).ok_or_else(|| rule!("track {uuid} is unknown"))?;
        if time < track.last {
            return Err(rule!("the events of {} go back in time", track.name));
        }
        track.last = time;
        match kind {
            1 => {
                if name.is_none_or(|name| !self.names[0].contains_key(&name)) {
                    return Err("a slice whose name was never given".into());
                }
                if let Some(parent) = track.open.last_mut() {
                    parent.1 = true;
                }
                track.open.push((time, false));
            }
            2 => {
                let (start, has_children) = track.open.pop().ok_or("a slice ends that never began")?;
                track.all += 1;
                if !has_children {
                    track.leaves += 1;
                    track.busy += time - start;
                }
            }
            other => return Err(rule!("an event of type {other}")),
        }
        for (ids, end) in [(leaves, 0), (arrives, 1)] {
            for id in ids {
                if self.arrows.entry(id).or_default()[end].replace(time).is_some() {
                    return Err(rule!("arrow {id} has an end twice"));
                }
            }
        }
        Ok(())
    }

    fn annotation(&self, data: &[u8]) -> Rule {
        for field in fields(data) {
            let known = match field? {
                (1, Field::Varint(iid)) => self.names[1].contains_key(&iid),
                (17, Field::Varint(iid)) => self.names[2].contains_key(&iid),
                (3, Field::Varint(_)) => true,
                _ => false,
            };
            if !known {
                return Err("an annotation that cannot be read".into());
            }
        }
        Ok(())
    }

    fn finish(self, seen: &TraceFacts) -> Rule<u64> {
        let mut tracks = BTreeMap::new();
        let mut all = 0;
        for track in self.tracks.values() {
            if !track.open.is_empty() {
                return Err(rule!("a slice of {} never ends", track.name));
            }
            let Some(parent) = track.parent else { continue };
            let core = self.tracks.get(&parent).map(|parent| parent.name.clone()).unwrap_or_default();
            tracks.insert((core, track.name.clone()), (track.leaves, track.busy * 1000));
            all += track.all;
        }
        for (id, ends) in &self.arrows {
            match ends {
                [Some(leaves), Some(arrives)] if leaves <= arrives => {}
                _ => return Err(rule!("arrow {id} has one end or goes back in time")),
            }
        }
        check_arrows(self.arrows.len(), seen)?;
        // Each end is rounded to a nanosecond.
        compare(&tracks, seen, |slices| slices * 1000)?;
        Ok(all)
    }
}
