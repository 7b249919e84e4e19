//! The timeline of a whole run: which core ran which task when, what waited, and what depended on what.
//!
//! Plain values come in, Perfetto files go out; nothing here knows the runtime or a dump.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

use argus_abi::TaskId;
use argus_facts::Edge;

use crate::perfetto::{Drawing, JsonDrawing, NativeDrawing, Slice, Value};
use crate::write::{WriteError, replace_file};

/// A run. Times are nanoseconds from any common start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTimeline {
    pub tracks: Vec<RunTrack>,
    /// Drawn as arrows from the last part of the one task to the first of the other; those of a task that no
    /// track shows are left out.
    pub edges: Vec<Edge>,
}

/// A core, or a thread of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTrack {
    /// Tracks of one group are drawn together, groups in the order in which they first appear.
    pub group: String,
    pub name: String,
    pub tasks: Vec<RunTask>,
    pub waits: Vec<RunWait>,
}

/// A task's share of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTask {
    pub name: String,
    /// The task's own number: members and blocks of one task share it.
    pub id: TaskId,
    /// `None` where it is not known which.
    pub block: Option<u32>,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// Time in which a core or thread waited, such as for a free core or for room in a capture ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunWait {
    pub reason: String,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// Something on a track.
struct Bar<'a> {
    start: u64,
    end: u64,
    name: &'a str,
    task: Option<(TaskId, Option<u32>)>,
    flows_out: Vec<u64>,
    flows_in: Vec<u64>,
}

impl RunTimeline {
    /// Writes Chrome's trace events, which Perfetto, speedscope and browsers open.
    pub fn write_json(&self, path: &Path) -> Result<(), WriteError> {
        replace_file(path, |file| self.draw(JsonDrawing::new(file)))
    }

    /// Writes Perfetto's own format.
    pub fn write_pftrace(&self, path: &Path) -> Result<(), WriteError> {
        replace_file(path, |file: &mut File| self.draw(NativeDrawing::new(file)))
    }

    fn draw(&self, mut drawing: impl Drawing) -> io::Result<()> {
        let bars = self.bars();
        let mut groups: BTreeMap<&str, _> = BTreeMap::new();
        let mut tracks = 0;
        for (track, bars) in self.tracks.iter().zip(bars) {
            let group = match groups.get(track.group.as_str()) {
                Some(&group) => group,
                None => {
                    let group = drawing.group(&track.group, groups.len() as u32)?;
                    groups.insert(&track.group, group);
                    group
                }
            };
            // What overlaps goes to a row below.
            let mut ends: Vec<(u64, _)> = Vec::new();
            for bar in bars {
                let free = ends.iter().position(|&(end, _)| end <= bar.start);
                let row = match free {
                    Some(row) => row,
                    None => {
                        let name = match ends.len() {
                            0 => track.name.clone(),
                            more => format!("{} #{}", track.name, more + 1),
                        };
                        ends.push((0, drawing.track(group, &name, tracks)?));
                        tracks += 1;
                        ends.len() - 1
                    }
                };
                ends[row].0 = bar.end;
                let id = bar.task.map(|(id, _)| id.to_string()).unwrap_or_default();
                let args: &[(&'static str, Value<'_>)] = match bar.task {
                    Some((_, Some(block))) => {
                        &[("task", Value::Text(&id)), ("block", Value::Number(block.into()))]
                    }
                    Some((_, None)) => &[("task", Value::Text(&id))],
                    None => &[],
                };
                drawing.slice(&Slice {
                    track: ends[row].1,
                    name: bar.name,
                    start: bar.start.saturating_mul(1000),
                    end: bar.end.saturating_mul(1000),
                    children: 0,
                    args,
                    flows_out: &bar.flows_out,
                    flows_in: &bar.flows_in,
                })?;
            }
            if ends.is_empty() {
                drawing.track(group, &track.name, tracks)?;
                tracks += 1;
            }
        }
        drawing.finish()
    }

    /// The bars of each track in the order of time, with their arrows.
    fn bars(&self) -> Vec<Vec<Bar<'_>>> {
        let mut tracks: Vec<Vec<Bar<'_>>> = self
            .tracks
            .iter()
            .map(|track| {
                let bar = |start, end: u64, name, task| Bar {
                    start,
                    end: end.max(start),
                    name,
                    task,
                    flows_out: Vec::new(),
                    flows_in: Vec::new(),
                };
                let tasks = track.tasks.iter().map(|task| {
                    bar(task.start_ns, task.end_ns, task.name.as_str(), Some((task.id, task.block)))
                });
                let waits =
                    track.waits.iter().map(|wait| bar(wait.start_ns, wait.end_ns, &wait.reason, None));
                let mut bars: Vec<Bar<'_>> = tasks.chain(waits).collect();
                bars.sort_by_key(|bar| (bar.start, bar.end));
                bars
            })
            .collect();
        // Of each task the part that starts first and the one that ends last.
        let mut parts: BTreeMap<TaskId, [(usize, usize); 2]> = BTreeMap::new();
        for (track, bars) in tracks.iter().enumerate() {
            for (index, bar) in bars.iter().enumerate() {
                let Some((id, _)) = bar.task else { continue };
                let [first, last] = parts.entry(id).or_insert([(track, index); 2]);
                if bar.start < tracks[first.0][first.1].start {
                    *first = (track, index);
                }
                if bar.end > tracks[last.0][last.1].end {
                    *last = (track, index);
                }
            }
        }
        for (number, edge) in self.edges.iter().enumerate() {
            if let (Some([_, from]), Some([to, _])) = (parts.get(&edge.from), parts.get(&edge.to)) {
                tracks[from.0][from.1].flows_out.push(number as u64 + 1);
                tracks[to.0][to.1].flows_in.push(number as u64 + 1);
            }
        }
        tracks
    }
}
