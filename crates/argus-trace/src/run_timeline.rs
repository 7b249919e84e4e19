//! The timeline of a whole run: which core ran which task when, what waited, and what depended on what.
//!
//! Plain values come in, Perfetto files go out; nothing here knows the runtime or a dump.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use argus_abi::TaskId;
use argus_facts::Edge;
use rustc_hash::FxHashMap;

use crate::perfetto::{
    Depth, Drawing, DrawnTrack, Group, JsonDrawing, NativeDrawing, Slice, Value, draw_task,
};
use crate::timeline::Timeline;
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
    /// Shared by all tasks that have it: there are millions of tasks and a few kernels.
    pub name: Arc<str>,
    /// The task's own number: members and blocks of one task share it.
    pub id: TaskId,
    /// `None` where it is not known which.
    pub block: Option<u32>,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// Time in which a core or thread waited, such as for a free core or for room in a capture ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunWait {
    pub reason: Arc<str>,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// The modelled instructions of a task of the run, drawn below it from the moment at which the task began.
#[derive(Clone, Copy)]
pub struct RunModel<'a> {
    pub timeline: &'a Timeline<'a>,
    /// What its tracks are called, such as `model of SF`.
    pub name: &'a str,
    pub start_ns: u64,
}

/// Something on a track.
struct Bar<'a> {
    start: u64,
    end: u64,
    name: &'a str,
    /// Its place among the tasks of the track.
    task: Option<u32>,
}

/// The arrows that leave a task's share of a core and those that arrive there.
#[derive(Default)]
struct Arrows {
    out: Vec<u64>,
    arriving: Vec<u64>,
}

impl RunTimeline {
    /// Writes Chrome's trace events, which Perfetto, speedscope and browsers open.
    pub fn write_json(&self, path: &Path, models: &[RunModel<'_>]) -> Result<(), WriteError> {
        replace_file(path, |file| self.draw(JsonDrawing::new(file), models))
    }

    /// Writes Perfetto's own format.
    pub fn write_pftrace(&self, path: &Path, models: &[RunModel<'_>]) -> Result<(), WriteError> {
        replace_file(path, |file: &mut File| self.draw(NativeDrawing::new(file), models))
    }

    fn draw(&self, mut drawing: impl Drawing, models: &[RunModel<'_>]) -> io::Result<()> {
        let arrows = self.arrows();
        let none = Arrows::default();
        let mut groups: BTreeMap<&str, _> = BTreeMap::new();
        let mut tracks = 0;
        for (number, track) in self.tracks.iter().enumerate() {
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
            for bar in track.bars() {
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
                let task = bar.task.map(|index| &track.tasks[index as usize]);
                let id = task.map(|task| task.id.to_string()).unwrap_or_default();
                let block = task.and_then(|task| task.block).map(u64::from);
                let both = [("task", Value::Text(&id)), ("block", Value::Number(block.unwrap_or(0)))];
                let args = match (task, block) {
                    (None, _) => &both[..0],
                    (Some(_), None) => &both[..1],
                    (Some(_), Some(_)) => &both[..],
                };
                let arrows = bar.task.and_then(|index| arrows.get(&(number as u32, index))).unwrap_or(&none);
                drawing.slice(&Slice {
                    track: ends[row].1,
                    name: bar.name,
                    start: bar.start.saturating_mul(1000),
                    end: bar.end.saturating_mul(1000),
                    children: 0,
                    args,
                    flows_out: &arrows.out,
                    flows_in: &arrows.arriving,
                })?;
            }
            if ends.is_empty() {
                drawing.track(group, &track.name, tracks)?;
                tracks += 1;
            }
        }
        let mut flows = self.edges.len() as u64;
        for model in models {
            let mut placed = Placed {
                inner: &mut drawing,
                name: model.name,
                rank: groups.len() as u32,
                start_ps: model.start_ns.saturating_mul(1000),
                flows,
                most_flow: flows,
            };
            draw_task(&mut placed, model.timeline, Depth::Flat)?;
            flows = placed.most_flow;
        }
        drawing.finish()
    }

    /// The arrows of each task's share of a core, by its track and its place there: from the part of the one task that
    /// ended last to the part of the other that started first.
    fn arrows(&self) -> FxHashMap<(u32, u32), Arrows> {
        type Place = (u64, u32, u32);
        let mut parts: FxHashMap<TaskId, [Place; 2]> = FxHashMap::default();
        for (number, track) in (0u32..).zip(&self.tracks) {
            for (index, task) in (0u32..).zip(&track.tasks) {
                let (start, end) = ((task.start_ns, number, index), (task.end_ns, number, index));
                let [first, last] = parts.entry(task.id).or_insert([start, end]);
                if task.start_ns < first.0 {
                    *first = start;
                }
                if task.end_ns > last.0 {
                    *last = end;
                }
            }
        }
        let mut arrows: FxHashMap<(u32, u32), Arrows> = FxHashMap::default();
        for (number, edge) in (1u64..).zip(&self.edges) {
            if let (Some([_, from]), Some([to, _])) = (parts.get(&edge.from), parts.get(&edge.to)) {
                arrows.entry((from.1, from.2)).or_default().out.push(number);
                arrows.entry((to.1, to.2)).or_default().arriving.push(number);
            }
        }
        arrows
    }
}

impl RunTrack {
    /// Everything on the track in the order of time.
    fn bars(&self) -> Vec<Bar<'_>> {
        let bar = |start, end: u64, name, task| Bar { start, end: end.max(start), name, task };
        let tasks = (0u32..).zip(&self.tasks);
        let tasks = tasks.map(|(index, task)| bar(task.start_ns, task.end_ns, &*task.name, Some(index)));
        let waits = self.waits.iter().map(|wait| bar(wait.start_ns, wait.end_ns, &*wait.reason, None));
        let mut bars: Vec<Bar<'_>> = tasks.chain(waits).collect();
        bars.sort_by_key(|bar| (bar.start, bar.end));
        bars
    }
}

/// A drawing whose slices are moved to where a task began, with names and arrows of their own.
struct Placed<'a, D> {
    inner: &'a mut D,
    name: &'a str,
    rank: u32,
    start_ps: u64,
    /// Arrows with these numbers are taken.
    flows: u64,
    most_flow: u64,
}

impl<D: Drawing> Drawing for Placed<'_, D> {
    fn group(&mut self, name: &str, rank: u32) -> io::Result<Group> {
        self.inner.group(&format!("{}, {name}", self.name), self.rank.saturating_add(rank))
    }

    fn track(&mut self, group: Group, name: &str, rank: u32) -> io::Result<DrawnTrack> {
        self.inner.track(group, name, rank)
    }

    fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        let moved = |flows: &[u64]| -> Vec<u64> { flows.iter().map(|flow| flow + self.flows).collect() };
        let (out, arriving) = (moved(slice.flows_out), moved(slice.flows_in));
        let most = out.iter().chain(&arriving).copied().max().unwrap_or(0);
        self.most_flow = self.most_flow.max(most);
        let (start, end) =
            (slice.start.saturating_add(self.start_ps), slice.end.saturating_add(self.start_ps));
        self.inner.slice(&Slice { start, end, flows_out: &out, flows_in: &arriving, ..slice.clone() })
    }

    fn finish(self) -> io::Result<()> {
        Ok(())
    }
}
