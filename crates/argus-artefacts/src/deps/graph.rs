//! The graph that the rest of this project works with, and who made what a task reads.

use std::collections::{BTreeMap, BTreeSet};

use argus_abi::args::KernelAbi;
use argus_abi::{CoreType, EdgeReason, TaskId, TensorArgType};
use argus_facts::{Edge, Graph, KernelInfo, TaskInfo};

use super::{Deps, EdgeSource};
use crate::names::Names;

/// Outputs that the runtime allocates begin at multiples of this, counted from the first one of their task.
const OUTPUT_ALIGNMENT: u64 = 1024;

impl Deps {
    /// Tasks, kernels and edges. Tasks that the file only names as producers own memory and run nothing.
    pub fn graph(&self, names: &Names) -> Graph {
        let mut kernels: BTreeMap<i32, CoreType> = BTreeMap::new();
        let mut known = BTreeSet::new();
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            let ids = task.kernel_ids.unwrap_or([-1; 3]);
            for (member, &id) in ids.iter().enumerate().filter(|(_, id)| **id >= 0) {
                kernels.entry(id).or_insert(if member == 0 { CoreType::Aic } else { CoreType::Aiv });
            }
            known.insert(task.id);
            tasks.push(TaskInfo {
                func_ids: ids.into_iter().collect(),
                blocks: if task.runs_nothing() { 0 } else { task.block_num.unwrap_or(1) },
                tensors: task.args.len() as u16,
                ..TaskInfo::new(task.id)
            });
        }
        let makers = self.edges.iter().flat_map(|edge| [edge.pred, edge.succ]);
        let makers: BTreeSet<TaskId> = makers.filter(|id| !known.contains(id)).collect();
        tasks.extend(makers.into_iter().map(TaskInfo::new));
        // What only keeps memory alive orders nothing.
        let waits =
            self.edges.iter().filter(|edge| edge.flags.is_none_or(|flags| flags.wait || !flags.retain));
        let edges = waits.map(|edge| Edge { from: edge.pred, to: edge.succ, reason: reason(edge.source) });
        let kernels = kernels.into_iter().filter_map(|(id, core_type)| {
            let name = names.kernel(id)?.to_owned();
            let func_id = u32::try_from(id).ok()?;
            Some(KernelInfo { func_id, name, core_type, signature: Vec::new(), abi: KernelAbi::Tensors })
        });
        Graph::new(kernels.collect(), tasks, edges.collect())
    }
}

fn reason(source: EdgeSource) -> EdgeReason {
    match source {
        EdgeSource::Explicit => EdgeReason::Explicit,
        EdgeSource::Creator => EdgeReason::Creator,
        // Values may come along an edge of which nothing is known.
        EdgeSource::Tensormap | EdgeSource::Unknown => EdgeReason::Overlap,
    }
}

/// Who made what a task finds in one of its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    /// The last task that wrote to the region.
    Wrote(TaskId),
    /// The task that made the tensor; its row names this slot.
    Made(TaskId),
    /// The task that made the tensor, by the place of the tensor among the outputs of the task.
    MadeByPlace { task: TaskId, output: u32 },
    /// It comes from outside.
    Outside,
    /// The slot has no region in the file.
    Unknown,
}

/// The producer of slot `arg` of a task.
///
/// Rows of a producer that already has one for this consumer are left out of the file, so a slot without a row may
/// still have a producer. `output_bytes` knows the size of an output of a task, from the dump; the outputs of one task
/// lie in one block, in the order of their slots.
pub fn producer(
    deps: &Deps,
    task: TaskId,
    arg: u32,
    output_bytes: &dyn Fn(TaskId, u32) -> Option<u64>,
) -> Producer {
    let rows = || deps.edges.iter().filter(|edge| edge.succ == task);
    let of_slot = |source| rows().filter(move |edge| edge.arg == Some(arg) && edge.source == source);
    if let Some(edge) = of_slot(EdgeSource::Tensormap).max_by_key(|edge| edge.pred) {
        return Producer::Wrote(edge.pred);
    }
    if let Some(edge) = of_slot(EdgeSource::Creator).next() {
        return Producer::Made(edge.pred);
    }
    let described = deps.tasks.iter().find(|described| described.id == task);
    let view =
        described.and_then(|described| described.args.iter().find(|slot| slot.index == arg)?.view.as_ref());
    let Some(address) = view.and_then(|view| address(deps, view.tensor_id?)) else {
        return Producer::Unknown;
    };
    let makers: BTreeSet<TaskId> =
        rows().filter(|edge| edge.source == EdgeSource::Creator).map(|edge| edge.pred).collect();
    let by_place = makers.into_iter().find_map(|maker| {
        let output = output_at(deps, maker, address, output_bytes)?;
        Some(Producer::MadeByPlace { task: maker, output })
    });
    by_place.unwrap_or(Producer::Outside)
}

fn address(deps: &Deps, tensor_id: u64) -> Option<u64> {
    deps.tensors.iter().find(|tensor| tensor.id == tensor_id).map(|tensor| tensor.address)
}

/// The output slot of `maker` that begins at `address`, if the rows of the file pin the block of its outputs.
fn output_at(
    deps: &Deps,
    maker: TaskId,
    address: u64,
    output_bytes: &dyn Fn(TaskId, u32) -> Option<u64>,
) -> Option<u32> {
    let described = deps.tasks.iter().find(|task| task.id == maker)?;
    let mut offsets = Vec::new();
    let mut end = 0u64;
    for slot in described.args.iter().filter(|slot| slot.kind == TensorArgType::Output) {
        let offset = end.checked_next_multiple_of(OUTPUT_ALIGNMENT)?;
        offsets.push((slot.index, offset));
        end = offset.checked_add(output_bytes(maker, slot.index)?)?;
    }
    let pinned: BTreeSet<u64> = deps
        .edges
        .iter()
        .filter(|edge| edge.pred == maker && edge.source == EdgeSource::Creator)
        .filter_map(|edge| self::address(deps, edge.consumer.as_ref()?.tensor_id?))
        .collect();
    let first = *pinned.first()?;
    let fits = |start: u64| pinned.iter().all(|&pin| offsets.iter().any(|(_, offset)| start + offset == pin));
    let starts =
        offsets.iter().filter_map(|(_, offset)| first.checked_sub(*offset)).filter(|&start| fits(start));
    let mut slots = starts.filter_map(|start| {
        offsets.iter().find(|(_, offset)| start + offset == address).map(|(slot, _)| *slot)
    });
    // Several places of the block would explain the pins: only one answer is an answer.
    let slot = slots.next()?;
    slots.all(|other| other == slot).then_some(slot)
}
