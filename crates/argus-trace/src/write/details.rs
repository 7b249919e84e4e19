//! The blocks behind the details view, from the timeline's own sums. What the model does not know is left out.

use argus_abi::Member;
use serde_json::{Value, json};

use crate::machine::{Path, Track};
use crate::summary::Summary;
use crate::timeline::Timeline;
use crate::write::bin::BlockType;

/// Units of a number.
const MICROSECONDS: u32 = 0;
const PERCENT: u32 = 3;

/// Every block with its content.
pub(crate) fn blocks(timeline: &Timeline<'_>, summary: &Summary) -> Vec<(BlockType, Value)> {
    vec![
        (BlockType::BaseInfo, base_info(timeline, summary)),
        (BlockType::ComputeLoadGraph, load(timeline, summary, &busy_share)),
        (BlockType::ComputeLoadTable, load(timeline, summary, &busy_time)),
        (BlockType::MemoryGraph, memory_graph(timeline, summary)),
        (BlockType::MemoryTable, memory_table(timeline, summary)),
        (BlockType::InterCoreLoad, inter_core(timeline, summary)),
    ]
}

fn op_type(timeline: &Timeline<'_>) -> &'static str {
    let has = |matrix: bool| timeline.cores.iter().any(|core| (core.member == Member::Aic) == matrix);
    match (has(true), has(false)) {
        (true, true) => "mix",
        (true, false) => "cube",
        _ => "vector",
    }
}

fn unit(member: Member) -> &'static str {
    match member {
        Member::Aic => "cube0",
        Member::Aiv0 => "vector0",
        Member::Aiv1 => "vector1",
    }
}

fn advice(summary: &Summary) -> Vec<String> {
    let mut advice = vec![
        format!("{} Parameters: {}.", summary.statement, summary.parameters),
        summary.bottleneck.clone(),
    ];
    if summary.cut {
        advice.push(format!(
            "The trace is cut after {} instructions; the task did not end there.",
            summary.instructions
        ));
    }
    advice
}

fn base_info(timeline: &Timeline<'_>, summary: &Summary) -> Value {
    let mut blocks: Vec<u32> = timeline.cores.iter().map(|core| core.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let rows: Vec<Value> = timeline
        .cores
        .iter()
        .zip(&summary.cores)
        .map(|(core, of_core)| {
            let value = [
                core.block.to_string(),
                unit(core.member).to_owned(),
                format!("{:.6}", of_core.time_us),
                of_core.cycles.to_string(),
                core.instrs.len().to_string(),
            ];
            json!({ "value": value })
        })
        .collect();
    json!({
        "name": timeline.task.name,
        "soc": timeline.task.chip.vendor.insight,
        "op_type": op_type(timeline),
        "block_dim": blocks.len(),
        "mix_block_dim": if op_type(timeline) == "mix" { timeline.cores.len() } else { 0 },
        "duration": summary.time_us,
        "device_id": 0,
        "pid": 0,
        "advice": advice(summary),
        "block_detail": {
            "head_name": ["Block ID", "Core", "Duration(us)", "Cycles", "Instructions"],
            "size": [rows.len(), 5],
            "row": rows,
        },
    })
}

type Measure = dyn Fn(&crate::summary::TrackSummary, &Summary) -> (u32, f64);

fn busy_share(track: &crate::summary::TrackSummary, _: &Summary) -> (u32, f64) {
    (PERCENT, track.share * 100.0)
}

fn busy_time(track: &crate::summary::TrackSummary, summary: &Summary) -> (u32, f64) {
    (MICROSECONDS, track.busy_cycles as f64 / summary.mhz)
}

fn load(timeline: &Timeline<'_>, summary: &Summary, measure: &Measure) -> Value {
    let details: Vec<Value> = timeline
        .cores
        .iter()
        .zip(&summary.cores)
        .flat_map(|(core, of_core)| {
            of_core.tracks.iter().map(move |track| {
                let (kind, value) = measure(track, summary);
                json!({
                    "block_id": core.block,
                    "block_type": unit(core.member),
                    "name": track.track,
                    "unit": kind,
                    "value": value,
                    "origin_value": track.busy_cycles,
                })
            })
        })
        .collect();
    json!({ "advice": advice(summary), "subblock_detail": details })
}

/// The numbers of the arrows in the memory map.
fn arrow(path: Path, member: Member) -> Option<u32> {
    let second = member == Member::Aiv1;
    Some(match path {
        Path::GmToL1 => 2,
        Path::L1ToGm => 3,
        Path::L1ToL0a => 4,
        Path::L1ToL0b => 5,
        Path::L0cToL1 => 9,
        Path::L0cToGm => 10,
        Path::GmToUb if second => 16,
        Path::GmToUb => 12,
        Path::UbToGm if second => 17,
        Path::UbToGm => 13,
        _ => return None,
    })
}

fn memory_graph(timeline: &Timeline<'_>, summary: &Summary) -> Value {
    let maps: Vec<Value> = timeline
        .cores
        .iter()
        .enumerate()
        .map(|(number, core)| {
            let units: Vec<Value> = Path::ALL
                .into_iter()
                .filter_map(|path| {
                    let arrow = arrow(path, core.member)?;
                    let moved: Vec<_> = core.instrs.iter().filter(|instr| instr.path == Some(path)).collect();
                    let bytes: u64 = moved.iter().map(|instr| instr.bytes).sum();
                    let cycles: u64 = moved.iter().map(|instr| instr.cycles()).sum();
                    let seconds = cycles as f64 / (summary.mhz * 1e6);
                    let gib_s = if cycles == 0 { 0.0 } else { bytes as f64 / seconds / (1u64 << 30) as f64 };
                    let peak = timeline.params.bytes_per_cycle(path);
                    let ratio = if cycles == 0 { 0.0 } else { bytes as f64 / cycles as f64 / peak * 100.0 };
                    Some(json!({
                        "memory_path": arrow,
                        "request": moved.len(),
                        "bandwidth": gib_s,
                        "peak_ratio": ratio,
                        "display": u32::from(!moved.is_empty()),
                    }))
                })
                .collect();
            let of_core = &summary.cores[number];
            let busy = |track: Track| {
                of_core
                    .tracks
                    .iter()
                    .find(|of_track| of_track.track == track.name())
                    .map_or(0, |of_track| of_track.busy_cycles)
            };
            let (unit, cycles) = match core.member {
                Member::Aic => ("Cube", busy(Track::Cube)),
                Member::Aiv0 => ("Vector", busy(Track::Vector) + busy(Track::PushQ)),
                Member::Aiv1 => ("Vector1", busy(Track::Vector) + busy(Track::PushQ)),
            };
            let ratio = if of_core.cycles == 0 { 0.0 } else { cycles as f64 / of_core.cycles as f64 * 100.0 };
            let mut map = json!({
                "core_no": core.block,
                "op_type": if core.member == Member::Aic { "cube" } else { "vector" },
                "soc": timeline.task.chip.vendor.insight,
                "advice": advice(summary),
                "memory_unit": units,
            });
            map[unit] = json!({ "cycle": cycles, "ratio": ratio, "total_cycles": of_core.cycles });
            map
        })
        .collect();
    json!({ "core_memory_map": maps })
}

fn memory_table(timeline: &Timeline<'_>, summary: &Summary) -> Value {
    let tables: Vec<Value> = timeline
        .cores
        .iter()
        .map(|core| {
            let rows: Vec<Value> = Path::ALL
                .into_iter()
                .filter_map(|path| {
                    let moved = core.instrs.iter().filter(|instr| instr.path == Some(path));
                    let (calls, bytes, cycles) = moved.fold((0u64, 0, 0), |(calls, bytes, cycles), instr| {
                        (calls + 1, bytes + instr.bytes, cycles + instr.cycles())
                    });
                    let value = [calls.to_string(), bytes.to_string(), cycles.to_string()];
                    (calls > 0).then(|| json!({ "name": path.name(), "value": value }))
                })
                .collect();
            json!({
                "block_id": core.block,
                "table_op_type": unit(core.member),
                "advice": advice(summary),
                "table_detail": [{
                    "table_name": "Bytes moved",
                    "size": [rows.len(), 3],
                    "header_name": ["Path", "Transfers", "Bytes", "Cycles"],
                    "row": rows,
                }],
            })
        })
        .collect();
    json!({ "table_per_block": tables })
}

fn inter_core(timeline: &Timeline<'_>, summary: &Summary) -> Value {
    let mut blocks: Vec<u32> = timeline.cores.iter().map(|core| core.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let details: Vec<Value> = blocks
        .into_iter()
        .map(|block| {
            let cores = timeline.cores.iter().zip(&summary.cores).filter(|(core, _)| core.block == block);
            let cores: Vec<Value> = cores
                .map(|(core, of_core)| {
                    let bytes: u64 = core.instrs.iter().map(|instr| instr.bytes).sum();
                    let seconds = of_core.cycles as f64 / (summary.mhz * 1e6);
                    let throughput =
                        if of_core.cycles == 0 { 0.0 } else { bytes as f64 / seconds / (1u64 << 30) as f64 };
                    json!({
                        "subcore_id": core.member.sub_block_id(),
                        "subcore_type": if core.member == Member::Aic { "cube" } else { "vector" },
                        "cycles": of_core.cycles,
                        "throughput": throughput,
                        "L2cache_hit_rate": 0.0,
                    })
                })
                .collect();
            json!({ "core_id": block, "core_detail": cores })
        })
        .collect();
    json!({
        "soc": timeline.task.chip.vendor.insight,
        "op_type": op_type(timeline),
        "advice": advice(summary).join(" "),
        "op_detail": details,
    })
}
