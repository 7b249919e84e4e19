//! Sums over a timeline that several files need.

use std::collections::BTreeMap;

use crate::timeline::Timeline;

/// What the calls of one address on one core add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SiteTotal {
    pub calls: u64,
    pub cycles: u64,
    pub bytes: u64,
    /// Operations done, and those that full steps would have done.
    pub useful: u64,
    pub capacity: u64,
}

/// What the instructions of one source line on one core add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineTotal {
    pub calls: u64,
    pub cycles: u64,
    /// Cycles in which at least one of them ran.
    pub covered: u64,
}

#[derive(Debug)]
pub(crate) struct Totals {
    /// By core, then by site.
    pub sites: Vec<Vec<SiteTotal>>,
}

impl Totals {
    pub fn new(timeline: &Timeline<'_>) -> Totals {
        let sites = timeline
            .cores
            .iter()
            .map(|core| {
                let mut totals = vec![SiteTotal::default(); timeline.sites.len()];
                for instr in &core.instrs {
                    let total = &mut totals[instr.site as usize];
                    total.calls += 1;
                    total.cycles += instr.cycles();
                    total.bytes += instr.bytes;
                    total.useful += instr.useful;
                    total.capacity += instr.capacity;
                }
                totals
            })
            .collect();
        Totals { sites }
    }
}

/// By file and line.
pub(crate) fn lines(timeline: &Timeline<'_>, core: usize) -> BTreeMap<(u32, u32), LineTotal> {
    let mut spans: Vec<((u32, u32), u64, u64)> = timeline.cores[core]
        .instrs
        .iter()
        .map(|instr| {
            let site = &timeline.sites[instr.site as usize];
            ((site.file, site.line), instr.start, instr.end)
        })
        .collect();
    spans.sort_unstable();
    let mut lines: BTreeMap<(u32, u32), LineTotal> = BTreeMap::new();
    let mut reached = 0;
    let mut current = None;
    for (line, start, end) in spans {
        if current != Some(line) {
            (current, reached) = (Some(line), 0);
        }
        let total = lines.entry(line).or_default();
        total.calls += 1;
        total.cycles += end - start;
        total.covered += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    lines
}
