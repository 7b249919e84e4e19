//! When what ran where: `ATIM`, of a run as it was measured, and of a task as the model has it.

use argus_dump::read::FormatVersion;
use argus_runs::Capture;
use argus_runs::capture::Wanted;
use argus_runs::timeline::of_capture;
use argus_trace::RunTimeline;
use rustc_hash::FxHashMap;
use serde_json::json;

use crate::answer::Problem;
use crate::columns::Columns;
use crate::shown::Shown;

/// No task, or no slice.
const NONE: u32 = u32::MAX;

/// Slices on tracks, and arrows between them.
#[derive(Default)]
pub struct Drawing {
    pub tracks: Vec<Track>,
    labels: Vec<String>,
    known: FxHashMap<String, u32>,
    pub slices: Vec<Slice>,
    /// From the end of one slice to the start of another.
    pub arrows: Vec<(u32, u32)>,
    /// Slices that held up the end, in the order of time.
    pub critical: Vec<u32>,
}

pub struct Track {
    pub name: String,
    pub kind: &'static str,
}

/// Something that took time. Times are microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    pub begin: f64,
    pub end: f64,
    pub track: u32,
    pub task: u32,
    pub label: u32,
}

impl Drawing {
    /// The number of a label; equal ones have one.
    pub fn label(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let number = self.labels.len() as u32;
        self.labels.push(text.to_owned());
        self.known.insert(text.to_owned(), number);
        number
    }

    pub fn columns(&self) -> Vec<u8> {
        let tracks: Vec<_> =
            self.tracks.iter().map(|track| json!({ "name": track.name, "kind": track.kind })).collect();
        let names = json!({ "tracks": tracks, "labels": self.labels }).to_string();
        let mut columns = Columns::new(b"ATIM", 1);
        columns.u32s([
            self.tracks.len() as u32,
            self.slices.len() as u32,
            self.arrows.len() as u32,
            names.len() as u32,
        ]);
        columns.text(&names);
        columns.f64s(self.slices.iter().map(|slice| slice.begin));
        columns.f64s(self.slices.iter().map(|slice| slice.end));
        columns.u32s(self.slices.iter().map(|slice| slice.track));
        columns.u32s(self.slices.iter().map(|slice| slice.task));
        columns.u32s(self.slices.iter().map(|slice| slice.label));
        columns.u32s(self.arrows.iter().map(|arrow| arrow.0));
        columns.u32s(self.arrows.iter().map(|arrow| arrow.1));
        columns.u32s([self.critical.len() as u32]);
        columns.u32s(self.critical.iter().copied());
        columns.finish()
    }
}

/// The run of a dump. One that does not tell its times has no tracks.
pub fn columns(shown: &Shown) -> Result<Vec<u8>, Problem> {
    let timeline = match shown.dump().format_version() {
        FormatVersion::Argus => of_capture(&shown.capture),
        // Files of times are large and were left alone when the dump was opened.
        FormatVersion::April | FormatVersion::June | FormatVersion::August => {
            let all = Capture::open(shown.dump().directory(), Wanted::All)
                .map_err(|error| Problem::failed(&error))?;
            of_capture(&all)
        }
    };
    let timeline = timeline.map_err(|error| Problem::failed(&error))?;
    Ok(timeline.map_or_else(Drawing::default, |timeline| draw(shown, &timeline)).columns())
}

fn draw(shown: &Shown, timeline: &RunTimeline) -> Drawing {
    let mut drawing = Drawing::default();
    let us = |ns: u64| ns as f64 / 1e3;
    for (number, track) in timeline.tracks.iter().enumerate() {
        let kind =
            if track.group.starts_with("control") || track.group == "host" { "control" } else { "core" };
        drawing.tracks.push(Track { name: format!("{} {}", track.group, track.name), kind });
        for task in &track.tasks {
            let label = drawing.label(&task.name);
            let place = shown.tasks.find(task.id).map_or(NONE, |place| place as u32);
            let (begin, end) = (us(task.start_ns), us(task.end_ns.max(task.start_ns)));
            drawing.slices.push(Slice { begin, end, track: number as u32, task: place, label });
        }
        for wait in &track.waits {
            let label = drawing.label(&wait.reason);
            let (begin, end) = (us(wait.start_ns), us(wait.end_ns.max(wait.start_ns)));
            drawing.slices.push(Slice { begin, end, track: number as u32, task: NONE, label });
        }
    }
    drawing.slices.sort_by(|a, b| {
        (a.track.cmp(&b.track)).then(a.begin.total_cmp(&b.begin)).then(a.end.total_cmp(&b.end))
    });
    let parts = Parts::new(&drawing.slices, shown.tasks.len());
    let arrows = shown.tasks.edges.iter().filter_map(|&(from, to)| parts.arrow(from, to));
    drawing.arrows = arrows.collect();
    drawing.critical = critical(&drawing, &parts);
    drawing
}

/// Of each task the slice that begins first and the one that ends last.
struct Parts {
    first: Vec<u32>,
    last: Vec<u32>,
}

impl Parts {
    fn new(slices: &[Slice], tasks: usize) -> Parts {
        let (mut first, mut last) = (vec![NONE; tasks], vec![NONE; tasks]);
        for (at, slice) in slices.iter().enumerate().filter(|(_, slice)| slice.task != NONE) {
            let task = slice.task as usize;
            if first[task] == NONE || slice.begin < slices[first[task] as usize].begin {
                first[task] = at as u32;
            }
            if last[task] == NONE || slice.end > slices[last[task] as usize].end {
                last[task] = at as u32;
            }
        }
        Parts { first, last }
    }

    fn arrow(&self, from: u32, to: u32) -> Option<(u32, u32)> {
        let arrow = (self.last[from as usize], self.first[to as usize]);
        (arrow.0 != NONE && arrow.1 != NONE).then_some(arrow)
    }
}

/// What really held up the end of the run: from the slice that ends last back to what ended last before it, among the tasks
/// that it waited for and what its core did before.
fn critical(drawing: &Drawing, parts: &Parts) -> Vec<u32> {
    let slices = &drawing.slices;
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); parts.first.len()];
    for &(from, to) in &drawing.arrows {
        before[slices[to as usize].task as usize].push(from);
    }
    let ran = || (0..slices.len() as u32).filter(|&at| slices[at as usize].task != NONE);
    let last = ran().max_by(|&a, &b| slices[a as usize].end.total_cmp(&slices[b as usize].end));
    let Some(mut at) = last else { return Vec::new() };
    let mut way = vec![at];
    // Every step begins earlier than the one before it; ends that touch begins may not, so steps are counted.
    for _ in 0..slices.len() {
        let slice = slices[at as usize];
        let on_core = (0..at).rev().take_while(|&other| slices[other as usize].track == slice.track);
        let on_core = on_core.into_iter().find(|&other| slices[other as usize].task != NONE);
        let candidates = before[slice.task as usize].iter().copied().chain(on_core);
        let earlier = candidates.filter(|&other| {
            let other = slices[other as usize];
            other.end <= slice.begin && other.begin < slice.begin
        });
        match earlier.max_by(|&a, &b| slices[a as usize].end.total_cmp(&slices[b as usize].end)) {
            Some(other) => {
                way.push(other);
                at = other;
            }
            None => break,
        }
    }
    way.reverse();
    way
}
