//! `core*/trace.json`: the same slices as in the file of all cores, a process for each track.

use std::collections::BTreeMap;
use std::io::Read;

use rustc_hash::FxHashMap;

use crate::check::Rule;
use crate::check::broken::rule;
use crate::check::events::{self, Event, Label, need, picoseconds};
use crate::check::trace::{TraceFacts, check_code, parse_hex};

const PROCESSES: &[(&str, u64)] = &[
    ("SCALAR", 10),
    ("SCALARLDST", 20),
    ("VECTOR", 30),
    ("CUBE", 40),
    ("MTE1", 50),
    ("MTE2", 60),
    ("MTE3", 70),
    ("FIXP", 80),
    ("FLOWCTRL", 90),
    ("ALL", 100),
    ("CACHEMISS", 110),
    ("USERMARK", 120),
    ("RVECEX", 130),
    ("RVECLD", 140),
    ("RVECST", 150),
    ("PUSHQ", 160),
];

#[derive(Default)]
struct Thread {
    named: u32,
    slices: u64,
    busy: u64,
    end: u64,
}

pub(super) fn read(reader: impl Read, core: &str, seen: &TraceFacts) -> Rule {
    let mut threads: BTreeMap<(u64, u64), Thread> = BTreeMap::new();
    let mut names: BTreeMap<u64, u32> = BTreeMap::new();
    let mut arrows: FxHashMap<String, [Option<u64>; 2]> = FxHashMap::default();
    events::read(reader, 1, &mut |event| {
        let phase = need(event.ph.clone(), "ph")?;
        match &*phase {
            "M" => metadata(&event, &mut threads, &mut names),
            "X" => slice(&event, &mut threads),
            "s" | "t" => {
                let label =
                    |label: Option<&Label<'_>>| Rule::Ok(need(label, "pid or tid")?.text()?.to_owned());
                let (pid, tid) = (label(event.pid.as_ref())?, label(event.tid.as_ref())?);
                let place =
                    (pid.parse().map_err(|_| "an arrow's pid")?, tid.parse().map_err(|_| "an arrow's tid")?);
                if !threads.contains_key(&place) {
                    return Err(rule!("an arrow on {pid} {tid}, where nothing is"));
                }
                let time = picoseconds(need(event.ts, "ts")?)?;
                let ends = arrows.entry(need(event.id.as_deref(), "id")?.to_owned()).or_default();
                if ends[usize::from(*phase == *"t")].replace(time).is_some() {
                    return Err("an arrow has an end twice".into());
                }
                Ok(())
            }
            other => Err(rule!("phase {other}")),
        }
    })?;
    let whole = |ends: &[Option<u64>; 2]| matches!(ends, [Some(leaves), Some(arrives)] if leaves <= arrives);
    // Of several the first by name, so that the same file is always told the same.
    if let Some((id, _)) = arrows.iter().filter(|(_, ends)| !whole(ends)).min_by_key(|(id, _)| *id) {
        return Err(rule!("arrow {id} has one end or goes back in time"));
    }
    let mut tracks: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for ((pid, tid), thread) in &threads {
        if thread.named != 2 || names.get(pid) != Some(&2) {
            return Err(rule!("process {pid} or its thread {tid} is not named and placed"));
        }
        let sums = tracks.entry(*pid).or_default();
        sums.0 += thread.slices;
        sums.1 += thread.busy;
    }
    for (track, sums) in seen.lanes_of(core) {
        let &(_, pid) = PROCESSES.iter().find(|row| row.0 == track).ok_or_else(|| rule!("track {track}"))?;
        let found = tracks.remove(&pid).unwrap_or_default();
        if found != (sums.slices, sums.busy_ps) {
            let (slices, busy) = found;
            return Err(rule!(
                "{track} has {slices} slices of {busy} ps, in the file of all cores {} of {}",
                sums.slices,
                sums.busy_ps
            ));
        }
    }
    match tracks.keys().next() {
        Some(pid) => Err(rule!("process {pid} is not a track of the core")),
        None => Ok(()),
    }
}

fn metadata(
    event: &Event<'_>,
    threads: &mut BTreeMap<(u64, u64), Thread>,
    names: &mut BTreeMap<u64, u32>,
) -> Rule {
    let pid = need(event.pid.as_ref(), "pid")?.number()?;
    let tid = need(event.tid.as_ref(), "tid")?.number()?;
    let args = need(event.args.as_ref(), "args")?;
    let track = PROCESSES.iter().find(|row| row.1 == pid).ok_or_else(|| rule!("process {pid}"))?.0;
    let name = need(event.name.as_deref(), "name")?;
    let good = match name {
        "process_name" => args.name.as_deref() == Some(track),
        "process_sort_index" => args.sort_index == Some(pid),
        "thread_name" => args.name.as_deref() == Some(&format!("{track}_{tid}")),
        "thread_sort_index" => args.sort_index == Some(tid),
        _ => false,
    };
    if !good {
        return Err(rule!("{name} of process {pid}"));
    }
    if name.starts_with("process") {
        *names.entry(pid).or_default() += 1;
    } else {
        threads.entry((pid, tid)).or_default().named += 1;
    }
    Ok(())
}

fn slice(event: &Event<'_>, threads: &mut BTreeMap<(u64, u64), Thread>) -> Rule {
    let place = (need(event.pid.as_ref(), "pid")?.number()?, need(event.tid.as_ref(), "tid")?.number()?);
    let args = need(event.args.as_ref(), "args")?;
    parse_hex(need(args.pc_addr.as_deref(), "pc_addr")?)?;
    check_code(need(args.code.as_deref(), "code")?)?;
    let start = picoseconds(need(event.ts, "ts")?)?;
    let end = start + picoseconds(need(event.dur, "dur")?)?;
    let thread = threads.entry(place).or_default();
    if start < thread.end {
        return Err(rule!("slices overlap on process {} at {start} ps", place.0));
    }
    thread.slices += 1;
    thread.busy += end - start;
    thread.end = end;
    Ok(())
}
