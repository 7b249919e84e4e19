//! The timeline of a whole run: which core ran which task when, what waited, and what depended on what.
//!
//! Plain values come in, Perfetto files go out; nothing here knows the runtime or a dump.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::perfetto::{Drawing, JsonDrawing, NativeDrawing, Slice, Value};
use crate::write::{WriteError, replace_file};

/// A run. Times are nanoseconds from any common start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTimeline {
    pub lanes: Vec<RunLane>,
    pub arrows: Vec<RunArrow>,
}

/// A core, or a thread of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLane {
    /// Lanes of one group are drawn together, groups in the order in which they first appear.
    pub group: String,
    pub name: String,
    pub tasks: Vec<RunTask>,
    pub waits: Vec<RunWait>,
}

/// A task's share of a core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTask {
    pub name: String,
    /// The task's own number: members and blocks of one task share it.
    pub id: u64,
    pub block: u32,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// Time in which a lane waited, such as for a free core or for room in a capture ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunWait {
    pub reason: String,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// One task had to wait for another. It leaves the last part of the one and arrives at the first of the other;
/// an arrow to or from a task that no lane shows is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunArrow {
    pub from: u64,
    pub to: u64,
}

/// Something on a lane.
struct Bar<'a> {
    start: u64,
    end: u64,
    name: &'a str,
    task: Option<(u64, u32)>,
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
        let lanes = self.bars();
        let mut groups: BTreeMap<&str, _> = BTreeMap::new();
        let mut tracks = 0;
        for (lane, bars) in self.lanes.iter().zip(lanes) {
            let group = match groups.get(lane.group.as_str()) {
                Some(&group) => group,
                None => {
                    let group = drawing.group(&lane.group, groups.len() as u32)?;
                    groups.insert(&lane.group, group);
                    group
                }
            };
            // What overlaps goes to a lane below.
            let mut ends: Vec<(u64, _)> = Vec::new();
            for bar in bars {
                let free = ends.iter().position(|&(end, _)| end <= bar.start);
                let row = match free {
                    Some(row) => row,
                    None => {
                        let name = match ends.len() {
                            0 => lane.name.clone(),
                            more => format!("{} #{}", lane.name, more + 1),
                        };
                        let track = drawing.track(group, &name, tracks)?;
                        tracks += 1;
                        ends.push((0, track));
                        ends.len() - 1
                    }
                };
                ends[row].0 = bar.end;
                let id = bar.task.map(|(id, _)| format!("{id:#018x}")).unwrap_or_default();
                let args: &[(&'static str, Value<'_>)] = match bar.task {
                    Some((_, block)) => &[("task", Value::Text(&id)), ("block", Value::Number(block.into()))],
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
                drawing.track(group, &lane.name, tracks)?;
                tracks += 1;
            }
        }
        drawing.finish()
    }

    /// The bars of each lane in the order of time, with their arrows.
    fn bars(&self) -> Vec<Vec<Bar<'_>>> {
        let mut lanes: Vec<Vec<Bar<'_>>> = self
            .lanes
            .iter()
            .map(|lane| {
                let bar = |start, end: u64, name, task| Bar {
                    start,
                    end: end.max(start),
                    name,
                    task,
                    flows_out: Vec::new(),
                    flows_in: Vec::new(),
                };
                let tasks = lane.tasks.iter().map(|task| {
                    bar(task.start_ns, task.end_ns, task.name.as_str(), Some((task.id, task.block)))
                });
                let waits = lane.waits.iter().map(|wait| bar(wait.start_ns, wait.end_ns, &wait.reason, None));
                let mut bars: Vec<Bar<'_>> = tasks.chain(waits).collect();
                bars.sort_by_key(|bar| (bar.start, bar.end));
                bars
            })
            .collect();
        // Of each task the part that starts first and the one that ends last.
        let mut parts: BTreeMap<u64, [(usize, usize); 2]> = BTreeMap::new();
        for (lane, bars) in lanes.iter().enumerate() {
            for (index, bar) in bars.iter().enumerate() {
                let Some((id, _)) = bar.task else { continue };
                let [first, last] = parts.entry(id).or_insert([(lane, index); 2]);
                if bar.start < lanes[first.0][first.1].start {
                    *first = (lane, index);
                }
                if bar.end > lanes[last.0][last.1].end {
                    *last = (lane, index);
                }
            }
        }
        for (number, arrow) in self.arrows.iter().enumerate() {
            if let (Some([_, from]), Some([to, _])) = (parts.get(&arrow.from), parts.get(&arrow.to)) {
                lanes[from.0][from.1].flows_out.push(number as u64 + 1);
                lanes[to.0][to.1].flows_in.push(number as u64 + 1);
            }
        }
        lanes
    }
}
