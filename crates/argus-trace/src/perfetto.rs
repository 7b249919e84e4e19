//! Timelines for Perfetto, in both of its formats. A drawing is made of groups, tracks, slices and arrows; how
//! they are spelled is the business of the two writers.

mod json;
mod native;

use std::io;

pub(crate) use json::JsonDrawing;
pub(crate) use native::NativeDrawing;

use crate::detail::push_detail;
use crate::machine::{At, Role};
use crate::text::Ticks;
use crate::timeline::Timeline;

/// What can be drawn. Slices of one track come in the order of time; a slice inside another comes after it.
pub(crate) trait Drawing {
    fn group(&mut self, name: &str, rank: u32) -> io::Result<Group>;
    fn track(&mut self, group: Group, name: &str, rank: u32) -> io::Result<DrawnTrack>;
    fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()>;
    fn finish(self) -> io::Result<()>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawnTrack {
    pub group: Group,
    pub number: u32,
}

/// One slice. Times are picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Slice<'a> {
    pub track: DrawnTrack,
    pub name: &'a str,
    pub start: u64,
    pub end: u64,
    /// Slices inside this one that follow it.
    pub children: u32,
    pub args: &'a [(&'static str, Value<'a>)],
    /// Arrows that leave at its end, or arrive there.
    pub flows_out: &'a [u64],
    pub flows_in: &'a [u64],
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Number(u64),
    /// A text that many slices share.
    Text(&'a str),
}

/// How much of a task is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Machine instructions side by side, without their operands.
    Flat,
    /// The machine instructions of one tile instruction lie inside a slice with its name, and name their
    /// operands.
    Full,
}

/// Draws a task: each core a group with its tracks.
pub(crate) fn draw_task(drawing: &mut impl Drawing, timeline: &Timeline<'_>, depth: Depth) -> io::Result<()> {
    let ticks = timeline.ticks();
    let codes: Vec<String> = timeline
        .sites
        .iter()
        .map(|site| format!("{}:{}", timeline.files[site.file as usize], site.line))
        .collect();
    for (number, core) in timeline.cores.iter().enumerate() {
        let group = drawing.group(&core.name, 3 * core.block + 1 + core.member as u32)?;
        let mut by_track: Vec<Vec<u32>> = vec![Vec::new(); crate::machine::Track::ALL.len()];
        for (index, instr) in core.instrs.iter().enumerate() {
            by_track[instr.track as usize].push(index as u32);
        }
        for row in timeline.tracks(number) {
            let track = drawing.track(group, row.name(), crate::write::sort_index(row))?;
            let indices = &by_track[row as usize];
            let same = |a: u32, b: u32| core.instrs[a as usize].entry == core.instrs[b as usize].entry;
            for family in indices.chunk_by(|&a, &b| same(a, b)) {
                if depth == Depth::Full && family.len() > 1 {
                    draw_parent(drawing, timeline, number, track, family, ticks)?;
                }
                for &index in family {
                    let at = At { core: number as u32, index };
                    draw_instr(
                        drawing,
                        timeline,
                        at,
                        track,
                        depth,
                        &codes[core.instrs[index as usize].site as usize],
                    )?;
                }
            }
        }
    }
    Ok(())
}

fn draw_parent(
    drawing: &mut impl Drawing,
    timeline: &Timeline<'_>,
    core: usize,
    track: DrawnTrack,
    family: &[u32],
    ticks: Ticks,
) -> io::Result<()> {
    let instrs = &timeline.cores[core].instrs;
    let (first, last) = (&instrs[family[0] as usize], &instrs[family[family.len() - 1] as usize]);
    let entry = &timeline.task.cores[core].log.entries[first.entry as usize];
    drawing.slice(&Slice {
        track,
        name: entry.opcode.name(),
        start: ticks.ps(first.start),
        end: ticks.ps(last.end),
        children: family.len() as u32,
        args: &[("cycle", Value::Number(first.start)), ("cycles", Value::Number(last.end - first.start))],
        flows_out: &[],
        flows_in: &[],
    })
}

fn draw_instr(
    drawing: &mut impl Drawing,
    timeline: &Timeline<'_>,
    at: At,
    track: DrawnTrack,
    depth: Depth,
    code: &str,
) -> io::Result<()> {
    let (instr, ticks) = (timeline.instr(at), timeline.ticks());
    let mut detail = Vec::new();
    if depth == Depth::Full {
        push_detail(&mut detail, timeline, at.core as usize, instr);
    }
    let detail = String::from_utf8_lossy(&detail);
    let args = [
        ("cycle", Value::Number(instr.start)),
        ("cycles", Value::Number(instr.cycles())),
        ("source", Value::Text(code)),
        ("detail", Value::Text(&detail)),
    ];
    let flow = instr.pair().map(u64::from).map(|pair| pair + 1);
    let (out, arriving) = match (flow, instr.role) {
        (Some(flow), Role::Set(_) | Role::Signal(_)) => (Some(flow), None),
        (flow, _) => (None, flow),
    };
    drawing.slice(&Slice {
        track,
        name: instr.mnemonic.name(),
        start: ticks.ps(instr.start),
        end: ticks.ps(instr.end),
        children: 0,
        args: if depth == Depth::Full { &args } else { &args[..3] },
        flows_out: out.as_slice(),
        flows_in: arriving.as_slice(),
    })
}
