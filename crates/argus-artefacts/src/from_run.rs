//! Graph and times of a run of this project, as the reference writes them.
//!
//! What the reference's files cannot say is left out: it has no edge for a write behind a read, and no file tells when
//! a control thread saw the end of one kernel of several.

use std::collections::{BTreeMap, BTreeSet};

use argus_abi::{CoreType, DType, EdgeReason, RuntimeKind, TaskId, TensorArgType};
use argus_facts::{Graph, RunTimes, TaskInfo};

use crate::deps::{Deps, DepsArg, DepsEdge, DepsTask, DepsTensor, EdgeSource, Flags, View, tensor_id};
use crate::times::{Part, Times};

/// A tensor argument of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunArgument {
    pub index: u32,
    pub kind: TensorArgType,
    /// Of the first element of the view.
    pub address: u64,
    pub dtype: DType,
    pub shape: Vec<u64>,
    pub strides: Vec<u64>,
    /// In elements, from the start of the tensor.
    pub start_offset: u64,
}

impl RunArgument {
    /// Where the tensor begins.
    fn buffer(&self) -> u64 {
        self.address.saturating_sub(self.bytes(self.start_offset))
    }

    fn bytes(&self, elements: u64) -> u64 {
        elements.saturating_mul(u64::from(self.dtype.bits())).div_ceil(8)
    }

    /// Elements from the first of the view to its last.
    fn reach(&self) -> u64 {
        let steps = self.shape.iter().zip(&self.strides);
        let last = steps.fold(0u64, |sum, (&extent, &stride)| {
            sum.saturating_add(extent.saturating_sub(1).saturating_mul(stride))
        });
        if self.shape.contains(&0) { 0 } else { last.saturating_add(1) }
    }

    fn range(&self) -> std::ops::Range<u64> {
        self.address..self.address.saturating_add(self.bytes(self.reach()))
    }

    fn view(&self) -> View {
        View {
            tensor_id: Some(tensor_id(self.buffer(), 0)),
            dtype: Some(self.dtype),
            shape: self.shape.clone(),
            start_offset: Some(self.start_offset),
            strides: self.strides.clone(),
        }
    }

    fn reads(&self) -> bool {
        self.kind.role() != argus_abi::Role::Output
    }

    fn writes(&self) -> bool {
        self.kind.role() != argus_abi::Role::Input
    }
}

/// The graph of a run, and how many edges the reference's file cannot hold.
pub fn deps(
    graph: &Graph,
    runtime: Option<RuntimeKind>,
    arguments: &BTreeMap<TaskId, Vec<RunArgument>>,
) -> (Deps, usize) {
    let mut deps = Deps { runtime, ..Deps::default() };
    let none = Vec::new();
    let of = |task: TaskId| arguments.get(&task).unwrap_or(&none);
    // In the file a producer stands before its consumers.
    let order = graph.dependencies_first();
    let makers = graph.edges.iter().filter(|edge| edge.reason == EdgeReason::Creator).map(|edge| edge.from);
    let makers: BTreeSet<TaskId> = makers.collect();
    for &at in &order {
        let task = &graph.tasks[at];
        // What only owns memory is no task there, but may be a producer.
        let runs_nothing = task.func_ids.is_empty() && task.tensors == 0 && task.blocks == 0;
        if runs_nothing && makers.contains(&task.id) {
            continue;
        }
        let arg = |arg: &RunArgument| DepsArg {
            index: arg.index,
            kind: arg.kind,
            view: (arg.kind != TensorArgType::Output).then(|| arg.view()),
        };
        deps.tasks.push(DepsTask {
            id: task.id,
            manual_scope: false,
            early_dispatch: Some(false),
            kernel_ids: Some(members(graph, task)),
            block_num: Some(task.blocks.max(1)),
            args: of(task.id).iter().map(arg).collect(),
        });
    }
    deps.tensors = tensors(arguments);
    let listed: BTreeSet<TaskId> = deps.tasks.iter().map(|task| task.id).collect();
    let mut left_out = 0;
    // Rows are grouped by consumer, in the order of the tasks.
    let mut of_consumer: BTreeMap<TaskId, Vec<&argus_facts::Edge>> = BTreeMap::new();
    for edge in &graph.edges {
        of_consumer.entry(edge.to).or_default().push(edge);
    }
    for &at in &order {
        let consumer = graph.tasks[at].id;
        if !listed.contains(&consumer) {
            continue;
        }
        let mut found = Vec::new();
        for edge in of_consumer.get(&consumer).into_iter().flatten() {
            let rows = rows(edge.from, consumer, edge.reason, of(edge.from), of(consumer));
            left_out += usize::from(rows.is_empty());
            found.extend(rows);
        }
        in_their_order(&mut found, runtime);
        deps.edges.extend(found);
    }
    (deps, left_out)
}

/// The rows of one consumer as the reference writes them: explicit ones, then slot by slot the creator before the
/// writers. A producer has one row of the first two sources; edges of host-built graphs have no flags.
fn in_their_order(rows: &mut Vec<DepsEdge>, runtime: Option<RuntimeKind>) {
    rows.sort_by_key(|row| (row.arg, row.source == EdgeSource::Tensormap));
    let mut producers = BTreeSet::new();
    rows.retain(|row| row.source == EdgeSource::Tensormap || producers.insert(row.pred));
    if runtime == Some(RuntimeKind::Hbg) {
        rows.iter_mut().for_each(|row| row.flags = None);
    }
}

fn rows(
    pred: TaskId,
    succ: TaskId,
    reason: EdgeReason,
    from: &[RunArgument],
    to: &[RunArgument],
) -> Vec<DepsEdge> {
    let row = |source, wait, retain| DepsEdge {
        flags: Some(Flags { wait, retain }),
        ..DepsEdge::new(pred, succ, source)
    };
    let overlap = |a: &RunArgument, b: &RunArgument| {
        let (a, b) = (a.range(), b.range());
        a.start < b.end && b.start < a.end
    };
    match reason {
        EdgeReason::Explicit => vec![row(EdgeSource::Explicit, true, true)],
        EdgeReason::WriteAfterRead => Vec::new(),
        EdgeReason::Creator => {
            // One row for the first slot that uses what the other made.
            let made = |arg: &&RunArgument| {
                from.iter()
                    .any(|output| output.kind == TensorArgType::Output && output.buffer() == arg.buffer())
            };
            let used =
                to.iter().find(made).or_else(|| to.iter().find(|arg| arg.kind != TensorArgType::Output));
            let creator = row(EdgeSource::Creator, true, true);
            used.map(|arg| DepsEdge { arg: Some(arg.index), consumer: Some(arg.view()), ..creator })
                .into_iter()
                .collect()
        }
        EdgeReason::Overlap => {
            let mut found = Vec::new();
            // A slot that only writes does not look at the map of writers.
            for arg in to.iter().filter(|arg| arg.reads()) {
                for output in from.iter().filter(|output| output.writes() && overlap(output, arg)) {
                    let (ours, theirs) = (arg.range(), output.range());
                    let dense = output.bytes(output.shape.iter().product()) == theirs.end - theirs.start;
                    found.push(DepsEdge {
                        arg: Some(arg.index),
                        covered: Some(dense && theirs.start <= ours.start && ours.end <= theirs.end),
                        consumer: Some(arg.view()),
                        producer: Some(View { tensor_id: None, dtype: None, ..output.view() }),
                        ..row(EdgeSource::Tensormap, true, false)
                    });
                }
            }
            found
        }
    }
}

/// The kernel of each member, -1 for none.
fn members(graph: &Graph, task: &TaskInfo) -> [i32; 3] {
    let mut members = [-1; 3];
    for &id in task.func_ids.iter() {
        let matrix = graph.kernel(id).is_some_and(|kernel| kernel.core_type == CoreType::Aic);
        let free = if matrix { 0..1 } else { 1..3 };
        let place = free.into_iter().find(|&member| members[member] < 0);
        if let Some(place) = place {
            members[place] = id;
        }
    }
    members
}

fn tensors(arguments: &BTreeMap<TaskId, Vec<RunArgument>>) -> Vec<DepsTensor> {
    let mut found: BTreeMap<u64, DepsTensor> = BTreeMap::new();
    for arg in arguments.values().flatten() {
        let elements = arg.start_offset.saturating_add(arg.reach());
        let entry = found.entry(arg.buffer()).or_insert_with(|| DepsTensor {
            id: tensor_id(arg.buffer(), 0),
            address: arg.buffer(),
            version: 0,
            dtype: Some(arg.dtype),
            elements: Some(0),
        });
        entry.elements = entry.elements.max(Some(elements));
    }
    found.into_values().collect()
}

/// Ticks before the first moment of a run: a start at 0 means to the reference that a core never began.
const LEAD: u64 = 1000;

/// The times of a run: ticks are nanoseconds. `core_types` has every core of the device, also those that ran nothing.
pub fn times(
    run: &RunTimes,
    graph: &Graph,
    runtime: Option<RuntimeKind>,
    mut core_types: Vec<CoreType>,
) -> Times {
    for core in &run.cores {
        let core_type = if core.member == argus_abi::Member::Aic { CoreType::Aic } else { CoreType::Aiv };
        while core_types.len() <= core.core as usize {
            core_types.push(CoreType::Aiv);
        }
        core_types[core.core as usize] = core_type;
    }
    let mut parts = Vec::new();
    for core in &run.cores {
        for (token, part) in (1u64..).zip(&core.parts) {
            let finished = graph.task(part.task).map_or(0, |task| task.finished_ns);
            parts.push(Part {
                core: core.core,
                task: part.task,
                func: None,
                token: Some(token),
                dispatch: Some(part.posted_ns + LEAD),
                receive: Some(part.started_ns + LEAD),
                start: part.started_ns + LEAD,
                end: part.ended_ns + LEAD,
                finish: Some(part.ended_ns.max(finished) + LEAD),
                epoch: None,
            });
        }
    }
    parts.sort_by_key(|part| (part.core, part.start));
    Times { level: Some(2), runtime, clock_hz: 1_000_000_000, core_types, parts, ..Times::default() }
}
