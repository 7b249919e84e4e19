//! `perfetto.pftrace` read by Perfetto's own message classes, against the model.

use std::path::Path;
use std::process::Command;

use argus_abi::{EdgeReason, TaskId};
use argus_chip::{A2A3SIM, A5SIM};
use argus_facts::{Edge, with_causes};
use argus_trace::{Params, RunTask, RunTimeline, RunTrack, RunWait, TaskLog, Timeline, Track};
use serde_json::{Value, json};

use crate::files::write_task;
use crate::kernels::{mix, softmax};
use crate::python::interpreter;

/// Decodes a native trace with Perfetto's classes into slices with their nesting, times and arrows.
const DECODE: &str = r#"
import json, sys
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent, TrackDescriptor
trace = Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
tracks, names, args, texts, stacks, slices = {}, {}, {}, {}, {}, []
first = True
for packet in trace.packet:
    for message in (packet, packet.track_event, packet.track_descriptor, packet.interned_data):
        assert len(UnknownFieldSet(message)) == 0
    assert packet.trusted_packet_sequence_id == 1
    wanted = packet.SEQ_INCREMENTAL_STATE_CLEARED if first else packet.SEQ_NEEDS_INCREMENTAL_STATE
    assert packet.sequence_flags == wanted and packet.first_packet_on_sequence == first
    first = False
    for interned, table in ((packet.interned_data.event_names, names), (packet.interned_data.debug_annotation_names, args)):
        for entry in interned:
            assert entry.iid not in table
            table[entry.iid] = entry.name
    for entry in packet.interned_data.debug_annotation_string_values:
        texts[entry.iid] = entry.str.decode()
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        parent = tracks[track.parent_uuid] if track.HasField("parent_uuid") else []
        if not parent:
            assert track.process.process_name == track.name
            assert track.child_ordering == TrackDescriptor.EXPLICIT
        tracks[track.uuid] = parent + [track.name]
    if packet.HasField("track_event"):
        event = packet.track_event
        stack = stacks.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            found = {args[a.name_iid]: texts[a.string_value_iid] if a.HasField("string_value_iid") else a.uint_value
                     for a in event.debug_annotations}
            entry = {"track": tracks[event.track_uuid], "name": names[event.name_iid], "depth": len(stack),
                     "start": packet.timestamp, "args": found, "out": list(event.flow_ids), "in": []}
            stack.append(entry)
            slices.append(entry)
        else:
            assert event.type == TrackEvent.TYPE_SLICE_END
            entry = stack.pop()
            entry["end"] = packet.timestamp
            entry["in"] = list(event.terminating_flow_ids)
assert not any(stacks.values())
json.dump({"slices": slices, "tracks": sorted(tracks.values())}, sys.stdout)
"#;

fn decode(path: &Path) -> Value {
    let output = Command::new(interpreter()).args(["-c", DECODE]).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What the model says a native trace holds: slices with their parents, in the order of tracks.
fn expected(task: &TaskLog) -> Vec<Value> {
    let params = Params::for_chip(task.chip).unwrap();
    let timeline = Timeline::new(task, &params).unwrap();
    // Perfetto counts nanoseconds; cycles are rounded to picoseconds on the way.
    let time = |cycle: u64| ((cycle as f64 * 1e6 / params.mhz()).round() as u64 + 500) / 1000;
    let mut slices = Vec::new();
    for (number, core) in timeline.cores.iter().enumerate() {
        for track in Track::ALL {
            let on_track: Vec<_> = core.instrs.iter().filter(|instr| instr.track == track).collect();
            for family in on_track.chunk_by(|a, b| a.entry == b.entry) {
                let (first, last) = (family[0], family[family.len() - 1]);
                let depth = u64::from(family.len() > 1);
                if depth == 1 {
                    let opcode = task.cores[number].log.entries[first.entry as usize].opcode.name();
                    slices.push(json!({
                        "track": [core.name, track.name()], "name": opcode, "depth": 0,
                        "start": time(first.start), "end": time(last.end), "out": [], "in": [],
                        "cycle": first.start, "cycles": last.end - first.start,
                    }));
                }
                for instr in family {
                    let flow: Vec<u32> = instr.pair().map(|pair| pair + 1).into_iter().collect();
                    let sets = matches!(instr.role, argus_trace::Role::Set(_) | argus_trace::Role::Signal(_));
                    let (out, arriving) = if sets { (flow, vec![]) } else { (vec![], flow) };
                    slices.push(json!({
                        "track": [core.name, track.name()], "name": instr.mnemonic.name(), "depth": depth,
                        "start": time(instr.start), "end": time(instr.end), "out": out, "in": arriving,
                        "cycle": instr.start, "cycles": instr.cycles(), "source": timeline.source(instr),
                    }));
                }
            }
        }
    }
    slices
}

#[test]
fn perfetto_reads_what_the_model_says() {
    let mut nested = 0;
    for task in [softmax(&A2A3SIM), softmax(&A5SIM), mix(&A2A3SIM, 4), mix(&A5SIM, 4)] {
        let dir = tempfile::tempdir().unwrap();
        write_task(&task, dir.path());
        let decoded = decode(&dir.path().join("simulator/perfetto.pftrace"));
        let found: Vec<Value> = decoded["slices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|slice| {
                let mut slice = slice.clone();
                let args = slice.as_object_mut().unwrap().remove("args").unwrap();
                for (name, value) in args.as_object().unwrap() {
                    if name != "detail" {
                        slice[name] = value.clone();
                    }
                }
                slice
            })
            .collect();
        let expected = expected(&task);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
        nested += expected.iter().filter(|slice| slice["depth"] == 1).count();
        assert!(expected.iter().any(|slice| slice["in"] != json!([])));
    }
    assert!(nested > 0, "no tile instruction became several of one track");
}

fn run() -> RunTimeline {
    let task = |name: &str, id, start_ns, end_ns| RunTask {
        name: name.into(),
        id: TaskId::from_raw(id),
        block: Some(0),
        start_ns,
        end_ns,
    };
    let track = |group: &str, name: &str, tasks: Vec<RunTask>, waits: Vec<RunWait>| RunTrack {
        group: group.into(),
        name: name.into(),
        tasks,
        waits,
    };
    let edge = |(from, to)| Edge {
        from: TaskId::from_raw(from),
        to: TaskId::from_raw(to),
        reason: EdgeReason::Overlap,
    };
    RunTimeline {
        tracks: vec![
            track("cores", "AIC 0", vec![task("QK", 1, 100, 350), task("PV", 3, 700, 900)], vec![]),
            track("cores", "AIV 0", vec![task("SF", 2, 360, 600), task("SF", 2, 500, 650)], vec![]),
            track(
                "scheduler",
                "track 0",
                vec![],
                vec![RunWait { reason: "capture ring full".into(), start_ns: 350, end_ns: 360 }],
            ),
            track("scheduler", "track 1", vec![], vec![]),
        ],
        edges: [(1, 2), (2, 3), (9, 3)].map(edge).into(),
    }
}

#[test]
fn a_run_is_drawn_for_perfetto() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.pftrace");
    run().write_pftrace(&path, &[]).unwrap();
    let decoded = decode(&path);
    let slice = |track: [&str; 2],
                 name: &str,
                 start: u64,
                 end: u64,
                 args: Value,
                 out: Vec<u64>,
                 arriving: Vec<u64>| {
        json!({ "track": track, "name": name, "depth": 0, "start": start, "end": end, "args": args, "out": out,
            "in": arriving })
    };
    let part = |task: u32| json!({ "task": format!("0x000000000000000{task}"), "block": 0 });
    // The arrow from task 2 leaves its last part; the one from a task that nothing saw is left out. What
    // overlaps lies on a track of its own.
    assert_eq!(
        decoded["slices"],
        json!([
            slice(["cores", "AIC 0"], "QK", 100, 350, part(1), vec![1], vec![]),
            slice(["cores", "AIC 0"], "PV", 700, 900, part(3), vec![], vec![2]),
            slice(["cores", "AIV 0"], "SF", 360, 600, part(2), vec![], vec![1]),
            slice(["cores", "AIV 0 #2"], "SF", 500, 650, part(2), vec![2], vec![]),
            slice(["scheduler", "track 0"], "capture ring full", 350, 360, json!({}), vec![], vec![]),
        ])
    );
    assert_eq!(
        decoded["tracks"],
        json!([
            ["cores"],
            ["cores", "AIC 0"],
            ["cores", "AIV 0"],
            ["cores", "AIV 0 #2"],
            ["scheduler"],
            ["scheduler", "track 0"],
            ["scheduler", "track 1"],
        ])
    );
}

#[test]
fn a_run_as_chrome_events_text_by_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.json");
    let mut small = run();
    small.tracks.truncate(2);
    small.tracks[1].tasks.truncate(1);
    small.tracks[0].tasks.truncate(1);
    small.write_json(&path, &[]).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = [
        r#"{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"cores"}}"#,
        r#"{"ph":"M","name":"process_sort_index","pid":1,"tid":0,"args":{"sort_index":0}}"#,
        r#"{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"AIC 0"}}"#,
        r#"{"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{"sort_index":0}}"#,
        r#"{"ph":"X","name":"QK","pid":1,"tid":1,"ts":0.100000,"dur":0.249999999,"args":{"task":"0x0000000000000001","block":0}}"#,
        r#"{"ph":"s","name":"flow","cat":"flow","id":1,"pid":1,"tid":1,"ts":0.225000}"#,
        r#"{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"AIV 0"}}"#,
        r#"{"ph":"M","name":"thread_sort_index","pid":1,"tid":2,"args":{"sort_index":1}}"#,
        r#"{"ph":"X","name":"SF","pid":1,"tid":2,"ts":0.360000,"dur":0.239999999,"args":{"task":"0x0000000000000002","block":0}}"#,
        r#"{"ph":"f","name":"flow","cat":"flow","id":1,"bp":"e","pid":1,"tid":2,"ts":0.599999}"#,
    ];
    assert_eq!(text, format!(r#"{{"displayTimeUnit":"ns","traceEvents":[{}]}}"#, lines.join(",")));
    let error = with_causes(&small.write_json(&dir.path().join("no/such/run.json"), &[]).unwrap_err());
    assert!(error.starts_with("cannot write "), "{error}");
}
