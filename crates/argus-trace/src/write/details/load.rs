//! How busy the pipes are, and what they wait for.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Facts, sub_core};
use crate::detail::channel_pipes;
use crate::machine::{Role, flag_pipe_name};
use crate::summary::TrackSummary;

/// Units of a number.
const MICROSECONDS: u32 = 0;
const PERCENT: u32 = 3;

impl Facts<'_> {
    /// Work of each track in percent of the task's length.
    pub(super) fn load_graph(&self) -> Value {
        let length = self.timeline.cycles.max(1) as f64;
        self.load(PERCENT, &|cycles| cycles as f64 / length * 100.0)
    }

    /// The same in microseconds.
    pub(super) fn load_table(&self) -> Value {
        self.load(MICROSECONDS, &|cycles| cycles as f64 / self.summary.mhz)
    }

    /// A bar for the work of each track, and one for its waits if there were any.
    fn load(&self, unit: u32, measure: &dyn Fn(u64) -> f64) -> Value {
        let mut bars = Vec::new();
        for (block, cores) in self.blocks() {
            for &number in &cores {
                let core = &self.timeline.cores[number];
                // A reader puts the bars of a block beside each other by name.
                let suffix = match sub_core(core.member) {
                    "vector0" if cores.len() > 1 => "0",
                    "vector1" if cores.len() > 1 => "1",
                    _ => "",
                };
                let mut bar = |name: String, cycles: u64| {
                    bars.push(json!({
                        "block_id": block,
                        "block_type": sub_core(core.member),
                        "name": name,
                        "unit": unit,
                        "value": measure(cycles),
                        "origin_value": cycles,
                    }));
                };
                for track in &self.summary.cores[number].tracks {
                    bar(format!("{} Active{suffix}", track.track), work(track));
                    if track.waiting_cycles > 0 {
                        bar(format!("{} Wait{suffix}", track.track), track.waiting_cycles);
                    }
                }
            }
        }
        json!({ "advice": self.advice(), "subblock_detail": bars })
    }

    /// Cycles that pipes spent waiting for a flag, by both pipes. None if nothing waited.
    pub(super) fn stall_reasons(&self) -> Option<Value> {
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        for instr in self.timeline.cores.iter().flat_map(|core| &core.instrs) {
            let (set, wait) = match instr.role {
                Role::Wait(flag) => (flag.src, flag.dst),
                Role::Await(number) => {
                    let channel = &self.timeline.channels[usize::from(number)];
                    channel_pipes(self.timeline, instr, channel)
                }
                _ => continue,
            };
            let kind = if matches!(instr.role, Role::Await(_)) { "another core's " } else { "" };
            let name = format!("{} waits for {kind}{}", flag_pipe_name(wait), flag_pipe_name(set));
            *reasons.entry(name).or_default() += instr.cycles();
        }
        let table: BTreeMap<_, _> =
            reasons.into_iter().map(|(name, cycles)| (name, cycles.min(i32::MAX as u64))).collect();
        (!table.is_empty()).then(|| json!({ "top_stall_reason_table": table }))
    }
}

/// Cycles of a track without its waits.
pub(super) fn work(track: &TrackSummary) -> u64 {
    track.busy_cycles - track.waiting_cycles
}
