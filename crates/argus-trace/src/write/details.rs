//! The blocks behind the details view, from the timeline's own sums. What the model does not know is left out, or is
//! "NA" where a reader would show a missing value as zero.

mod load;
mod memory;
mod roofline;

use argus_abi::Member;
use serde_json::{Value, json};

use crate::summary::Summary;
use crate::timeline::Timeline;
use crate::write::bin::BlockType;
use crate::write::traffic::Traffic;

/// What a reader shows for a number that nothing is known of.
const UNKNOWN: &str = "NA";

/// Everything that blocks are made of.
struct Facts<'a> {
    timeline: &'a Timeline<'a>,
    summary: &'a Summary,
    /// By core.
    traffic: Vec<Traffic>,
}

/// Every block with its content.
pub(crate) fn blocks(timeline: &Timeline<'_>, summary: &Summary) -> Vec<(BlockType, Value)> {
    let traffic = (0..timeline.cores.len()).map(|core| Traffic::new(timeline, core)).collect();
    let facts = Facts { timeline, summary, traffic };
    let mut blocks = vec![
        (BlockType::BaseInfo, facts.base_info()),
        (BlockType::ComputeLoadGraph, facts.load_graph()),
        (BlockType::ComputeLoadTable, facts.load_table()),
        (BlockType::MemoryGraph, facts.memory_graph()),
        (BlockType::MemoryTable, facts.memory_table()),
        (BlockType::InterCoreLoad, facts.inter_core()),
    ];
    blocks.extend(facts.roofline().map(|roofline| (BlockType::Roofline, roofline)));
    blocks.extend(facts.stall_reasons().map(|reasons| (BlockType::StallReasons, reasons)));
    blocks
}

/// What a group of cores is called: by the kinds of cores in it.
fn op_type(members: impl Iterator<Item = Member> + Clone) -> &'static str {
    let has = |matrix: bool| members.clone().any(|member| (member == Member::Aic) == matrix);
    match (has(true), has(false)) {
        (true, true) => "mix",
        (true, false) => "cube",
        _ => "vector",
    }
}

fn sub_core(member: Member) -> &'static str {
    match member {
        Member::Aic => "cube0",
        Member::Aiv0 => "vector0",
        Member::Aiv1 => "vector1",
    }
}

fn core_type(member: Member) -> &'static str {
    if member == Member::Aic { "cube" } else { "vector" }
}

impl Facts<'_> {
    fn advice(&self) -> Vec<String> {
        let Summary { statement, parameters, bottleneck, instructions, .. } = self.summary;
        let mut advice = vec![format!("{statement} Parameters: {parameters}."), bottleneck.clone()];
        if self.summary.cut {
            advice
                .push(format!("The trace is cut after {instructions} instructions; the task had not ended."));
        }
        advice
    }

    fn op_type(&self) -> &'static str {
        op_type(self.timeline.cores.iter().map(|core| core.member))
    }

    /// The numbers of the cores of each block.
    fn blocks(&self) -> Vec<(u32, Vec<usize>)> {
        let mut blocks: Vec<(u32, Vec<usize>)> = Vec::new();
        for (number, core) in self.timeline.cores.iter().enumerate() {
            match blocks.iter_mut().find(|(block, _)| *block == core.block) {
                Some((_, cores)) => cores.push(number),
                None => blocks.push((core.block, vec![number])),
            }
        }
        blocks.sort_by_key(|(block, _)| *block);
        blocks
    }

    /// What the memory map and the tables of a block are called. A reader draws more than one core only for a mix,
    /// so two vector cores are one too.
    fn block_type(&self, cores: &[usize]) -> &'static str {
        match cores {
            [core] => op_type(std::iter::once(self.timeline.cores[*core].member)),
            _ => "mix",
        }
    }

    fn base_info(&self) -> Value {
        let Facts { timeline, summary, .. } = self;
        let blocks = self.blocks().len();
        let rows: Vec<Value> = (timeline.cores.iter().zip(&summary.cores))
            .map(|(core, of_core)| {
                let value = [
                    core.block.to_string(),
                    sub_core(core.member).to_owned(),
                    format!("{:.6}", of_core.time_us),
                    of_core.cycles.to_string(),
                    core.instrs.len().to_string(),
                ];
                json!({ "value": value })
            })
            .collect();
        let mix = self.op_type() == "mix";
        let mut info = json!({
            "name": timeline.task.name,
            "soc": timeline.task.chip.vendor.soc_version,
            "op_type": self.op_type(),
            "block_dim": blocks,
            "mix_block_dim": if mix { timeline.cores.len() } else { 0 },
            "duration": summary.time_us,
            "device_id": 0,
            "pid": 0,
            "advice": self.advice(),
        });
        let detail = if mix { "mix_block_detail" } else { "block_detail" };
        info[detail] = json!({
            "head_name": ["Block ID", "Core Type", "Duration (\u{b5}s)", "Cycles", "Instructions"],
            "size": [rows.len(), 5],
            "row": rows,
        });
        info
    }

    /// Cores beside each other. A reader keeps one core of an entry unless the task is a mix, so each vector core has an
    /// entry of its own.
    fn inter_core(&self) -> Value {
        let groups: Vec<Vec<usize>> = match self.op_type() {
            "vector" => (0..self.timeline.cores.len()).map(|core| vec![core]).collect(),
            _ => self.blocks().into_iter().map(|(_, cores)| cores).collect(),
        };
        let details: Vec<Value> = (groups.iter().enumerate())
            .map(|(number, cores)| {
                let cores: Vec<Value> = cores.iter().map(|&core| self.core_detail(core)).collect();
                json!({ "core_id": number, "core_detail": cores })
            })
            .collect();
        json!({
            "soc": self.timeline.task.chip.vendor.soc_version,
            "op_type": self.op_type(),
            "advice": self.advice().join(" "),
            "op_detail": details,
        })
    }

    fn core_detail(&self, core: usize) -> Value {
        let member = self.timeline.cores[core].member;
        json!({
            "subcore_id": member.sub_block_id(),
            "subcore_type": core_type(member),
            "cycles": self.summary.cores[core].cycles,
            // Whole bytes: a reader cuts what stands behind the point.
            "throughput": self.traffic[core].global_bytes(),
            "L2cache_hit_rate": UNKNOWN,
        })
    }
}
