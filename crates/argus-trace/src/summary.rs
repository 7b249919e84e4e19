//! The timeline in a few lines: how busy each track is, what the length is made of, what to look at first.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::machine::{At, Cause, Instr, Path, Role, Track};
use crate::timeline::{Hazard, Timeline};

/// What every output says about itself.
pub const STATEMENT: &str = "Estimated by a static cost table; not a cycle-accurate simulation of the chip.";

/// Rows of the lists.
const TOP: usize = 10;
const STEPS: usize = 32;

/// A timeline in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub task: String,
    pub chip: &'static str,
    pub statement: &'static str,
    /// The name of the parameter set.
    pub parameters: String,
    pub mhz: f64,
    pub cycles: u64,
    pub time_us: f64,
    pub instructions: u64,
    /// The trace ends before the task did.
    pub cut: bool,
    pub cores: Vec<CoreSummary>,
    pub critical_chain: CriticalChain,
    /// Addresses by cycles, all cores together.
    pub top: Vec<TopRow>,
    /// Bytes by path.
    pub bytes: Vec<BytesRow>,
    pub bottleneck: String,
    pub hazards: Vec<Hazard>,
    /// Flags that were set and never waited for.
    pub unpaired_flags: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct CoreSummary {
    pub name: String,
    /// When the core's last instruction ends.
    pub cycles: u64,
    pub time_us: f64,
    pub tracks: Vec<TrackSummary>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrackSummary {
    pub track: String,
    pub instructions: u64,
    /// All cycles in which something lies on the track.
    pub busy_cycles: u64,
    /// Those of them that are waits.
    pub waiting_cycles: u64,
    /// Work without waits, as a part of the task's length.
    pub share: f64,
}

/// The instructions that decide the task's length, each waiting for the one before it.
#[derive(Clone, Debug, Serialize)]
pub struct CriticalChain {
    pub steps: u64,
    /// Cycles of the chain by core and track, the largest first. Waits count nowhere.
    pub tracks: Vec<ChainTrack>,
    /// Cycles in which the chain only waited for the scalar stream to come by.
    pub issue_cycles: u64,
    /// The last steps, in the order of time.
    pub last: Vec<ChainStep>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ChainTrack {
    pub core: String,
    pub track: &'static str,
    pub cycles: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct ChainStep {
    pub core: String,
    pub track: &'static str,
    pub instruction: &'static str,
    pub start: u64,
    pub end: u64,
    pub source: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct TopRow {
    pub instruction: &'static str,
    pub track: &'static str,
    pub source: String,
    pub calls: u64,
    pub cycles: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct BytesRow {
    pub path: &'static str,
    pub bytes: u64,
    pub cycles: u64,
}

impl Summary {
    pub fn new(timeline: &Timeline<'_>) -> Summary {
        let ticks = timeline.ticks();
        let cores: Vec<CoreSummary> =
            (0..timeline.cores.len()).map(|core| core_summary(timeline, core)).collect();
        let critical_chain = critical_chain(timeline);
        let top = top(timeline);
        let bytes = bytes(timeline);
        let mut summary = Summary {
            task: timeline.task.name.clone(),
            chip: timeline.task.chip.hardware,
            statement: STATEMENT,
            parameters: timeline.params.name().to_owned(),
            mhz: timeline.params.mhz(),
            cycles: timeline.cycles,
            time_us: ticks.us(timeline.cycles),
            instructions: timeline.cores.iter().map(|core| core.instrs.len() as u64).sum(),
            cut: timeline.task.cut,
            cores,
            critical_chain,
            top,
            bytes,
            bottleneck: String::new(),
            hazards: timeline.hazards.clone(),
            unpaired_flags: timeline.unpaired_sets() as u64,
        };
        summary.bottleneck = bottleneck(timeline, &summary);
        summary
    }
}

fn is_wait(instr: &Instr) -> bool {
    matches!(instr.role, Role::Wait(_) | Role::Await(_))
}

fn core_summary(timeline: &Timeline<'_>, core: usize) -> CoreSummary {
    let mut tracks: BTreeMap<Track, (u64, u64, u64)> = BTreeMap::new();
    for instr in &timeline.cores[core].instrs {
        let (count, busy, waiting) = tracks.entry(instr.track).or_default();
        *count += 1;
        *busy += instr.cycles();
        *waiting += if is_wait(instr) { instr.cycles() } else { 0 };
    }
    let cycles = timeline.cores[core].instrs.iter().map(|instr| instr.end).max().unwrap_or(0);
    let tracks = tracks
        .into_iter()
        .map(|(track, (instructions, busy_cycles, waiting_cycles))| TrackSummary {
            track: track.name().to_owned(),
            instructions,
            busy_cycles,
            waiting_cycles,
            share: (busy_cycles - waiting_cycles) as f64 / timeline.cycles.max(1) as f64,
        })
        .collect();
    CoreSummary {
        name: timeline.cores[core].name.clone(),
        cycles,
        time_us: timeline.ticks().us(cycles),
        tracks,
    }
}

fn critical_chain(timeline: &Timeline<'_>) -> CriticalChain {
    let ends = timeline.cores.iter().enumerate().flat_map(|(core, of_core)| {
        let instrs = of_core.instrs.iter().enumerate().filter(|(_, instr)| instr.role != Role::Body);
        instrs.map(move |(index, instr)| (instr.end, At { core: core as u32, index: index as u32 }))
    });
    // Of several that end last, the first in program order.
    let mut at = ends.max_by_key(|&(end, at)| (end, std::cmp::Reverse(at))).map(|(_, at)| at);
    let mut tracks: BTreeMap<(u32, Track), u64> = BTreeMap::new();
    let (mut steps, mut issue_cycles) = (0, 0);
    let mut last = Vec::new();
    // Where the next step begins: what lies between is time in which nothing of the chain ran.
    let mut reached = timeline.cycles;
    while let Some(current) = at {
        let instr = timeline.instr(current);
        let released =
            is_wait(instr) && matches!(instr.cause, Cause::After(cause) if is_set(timeline, cause));
        if !released {
            let end = instr.end.min(reached);
            *tracks.entry((current.core, instr.track)).or_default() += end.saturating_sub(instr.start);
            issue_cycles += reached.saturating_sub(instr.end);
            reached = instr.start.min(reached);
        }
        steps += 1;
        if last.len() < STEPS {
            last.push(ChainStep {
                core: timeline.cores[current.core as usize].name.clone(),
                track: instr.track.name(),
                instruction: instr.mnemonic.name(),
                start: instr.start,
                end: instr.end,
                source: timeline.source(instr),
            });
        }
        at = match instr.cause {
            Cause::After(cause) => Some(cause),
            Cause::Issue => None,
        };
    }
    issue_cycles += reached;
    last.reverse();
    let mut tracks: Vec<ChainTrack> = tracks
        .into_iter()
        .filter(|(_, cycles)| *cycles > 0)
        .map(|((core, track), cycles)| ChainTrack {
            core: timeline.cores[core as usize].name.clone(),
            track: track.name(),
            cycles,
        })
        .collect();
    tracks.sort_by_key(|track| std::cmp::Reverse(track.cycles));
    CriticalChain { steps, tracks, issue_cycles, last }
}

fn is_set(timeline: &Timeline<'_>, at: At) -> bool {
    timeline.instr(at).role.sets()
}

fn top(timeline: &Timeline<'_>) -> Vec<TopRow> {
    let mut totals: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
    let instrs = timeline.cores.iter().flat_map(|core| &core.instrs);
    for instr in instrs.filter(|instr| !instr.role.is_flag() && instr.role != Role::Body) {
        let (calls, cycles) = totals.entry(instr.site).or_default();
        *calls += 1;
        *cycles += instr.cycles();
    }
    let mut rows: Vec<(u32, u64, u64)> = (0..timeline.sites.len() as u32)
        .filter_map(|site| totals.get(&site).map(|&(calls, cycles)| (site, calls, cycles)))
        .collect();
    rows.sort_by_key(|&(site, _, cycles)| (std::cmp::Reverse(cycles), site));
    let row = |&(site, calls, cycles): &(u32, u64, u64)| {
        let site = &timeline.sites[site as usize];
        TopRow {
            instruction: site.mnemonic.name(),
            track: site.track.name(),
            source: format!("{}:{}", timeline.files[site.file as usize], site.line),
            calls,
            cycles,
        }
    };
    rows.iter().take(TOP).map(row).collect()
}

fn bytes(timeline: &Timeline<'_>) -> Vec<BytesRow> {
    let mut rows = [(0u64, 0u64); Path::ALL.len()];
    for instr in timeline.cores.iter().flat_map(|core| &core.instrs) {
        if let Some(path) = instr.path {
            let (bytes, cycles) = &mut rows[path as usize];
            *bytes += instr.bytes;
            *cycles += instr.cycles();
        }
    }
    let rows = Path::ALL.into_iter().zip(rows).filter(|(_, (bytes, _))| *bytes > 0);
    rows.map(|(path, (bytes, cycles))| BytesRow { path: path.name(), bytes, cycles }).collect()
}

/// One sentence: which track holds the chain up, what it does, and what that means.
fn bottleneck(timeline: &Timeline<'_>, summary: &Summary) -> String {
    let chain = &summary.critical_chain;
    let Some(first) = chain.tracks.first() else {
        return "The task runs no instruction.".to_owned();
    };
    let length = summary.cycles.max(1) as f64;
    let part = first.cycles as f64 / length * 100.0;
    if chain.issue_cycles as f64 > length / 2.0 {
        let issue = chain.issue_cycles as f64 / length * 100.0;
        return format!(
            "{issue:.0} % of the {} cycles pass while instructions are issued: the task is bound by its scalar stream.",
            summary.cycles
        );
    }
    let meaning = match first.track {
        "MTE2" => "loads from global memory",
        "MTE3" | "FIXP" => "stores and what leaves the core",
        "MTE1" => "moves from L1 to L0",
        "CUBE" => "matrix products",
        "SCALAR" | "SCALARLDST" | "ALL" => "its scalar stream and its barriers",
        _ => "vector computation",
    };
    let busy = summary
        .cores
        .iter()
        .find(|core| core.name == first.core)
        .and_then(|core| core.tracks.iter().find(|track| track.track == first.track))
        .map_or(0.0, |track| track.share * 100.0);
    let most = timeline_top(timeline, first.track);
    format!(
        "{} of {} holds {part:.0} % of the critical chain of {} cycles and is busy {busy:.0} % of the time{most}: the \
         task is bound by {meaning}.",
        first.track, first.core, summary.cycles
    )
}

fn timeline_top(timeline: &Timeline<'_>, track: &str) -> String {
    let mut totals: FxHashMap<u32, u64> = FxHashMap::default();
    let instrs = timeline.cores.iter().flat_map(|core| &core.instrs);
    for instr in instrs.filter(|instr| instr.track.name() == track && !instr.role.is_flag()) {
        *totals.entry(instr.site).or_default() += instr.cycles();
    }
    let sites = (0..timeline.sites.len() as u32).filter_map(|site| Some((*totals.get(&site)?, site)));
    match sites.max_by_key(|&(cycles, site)| (cycles, std::cmp::Reverse(site))) {
        Some((_, site)) => {
            let site = &timeline.sites[site as usize];
            let path = &timeline.files[site.file as usize];
            format!(", mostly with {} at {path}:{}", site.mnemonic.name(), site.line)
        }
        None => String::new(),
    }
}
