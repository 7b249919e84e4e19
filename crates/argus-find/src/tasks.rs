//! The tasks of a dump, each with its records, in an order in which they can have run.

use std::collections::BTreeMap;

use argus_abi::{EdgeReason, Kind, Role, Stage, TaskId};
use argus_dump::read::{Dump, Ending, Record};
use argus_facts::{Edge, FuncIds, Graph};
use rustc_hash::FxHashMap;

/// The graph of a dump that has none itself, from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Supplied {
    /// Where it comes from, for the report.
    pub from: String,
    pub graph: Graph,
}

/// A task and its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    pub func_ids: FuncIds,
    /// Names of its kernels joined by `+`; empty if unknown.
    pub kernel: String,
    pub blocks: u32,
    /// Indices of what it was given: records before dispatch, by argument.
    pub inputs: Vec<usize>,
    /// Indices of what it left: records after completion, by argument.
    pub outputs: Vec<usize>,
    /// Its place in the order of dispatch, where the dump knows it.
    pub dispatch: Option<u64>,
    /// It ended, as far as the dump knows. Of others the outputs are partial.
    pub completed: bool,
    /// Everything that it was given was captured, as far as the dump can tell.
    pub inputs_known: bool,
}

/// A task that must run first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predecessor {
    pub task: usize,
    /// Values come along this edge; the others only keep an order.
    pub data: bool,
}

/// All tasks of a dump.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    list: Vec<Task>,
    places: FxHashMap<TaskId, usize>,
    /// Names of kernels by number, as far as they are known.
    names: BTreeMap<i32, String>,
    predecessors: Vec<Vec<Predecessor>>,
    successors: Vec<Vec<usize>>,
    order: Vec<usize>,
    edges: bool,
    cyclic: bool,
}

impl Tasks {
    /// Groups the records of a dump by task. Kernels and edges come from the dump where it has them, else from
    /// `supplied`.
    pub fn new(dump: &Dump, supplied: Option<&Supplied>) -> Tasks {
        let mut list: Vec<Task> = Vec::new();
        let mut place: FxHashMap<TaskId, usize> = FxHashMap::default();
        for record in dump.records() {
            let at = *place.entry(record.task_id).or_insert_with(|| {
                list.push(task_of(&record, dump));
                list.len() - 1
            });
            match record.stage {
                Stage::BeforeDispatch => list[at].inputs.push(record.index),
                Stage::AfterCompletion => list[at].outputs.push(record.index),
            }
        }
        let mut edges = Vec::new();
        let cut_off = matches!(dump.ending(), Ending::Unfinished { .. } | Ending::Failed { .. });
        if let Some(graph) = dump.graph() {
            // A run that was cut off describes the tasks that ended; of the others there are records only.
            list.iter_mut().for_each(|task| task.completed = !cut_off);
            for known in &graph.tasks {
                let at = *place.entry(known.id).or_insert_with(|| {
                    list.push(Task::bare(known.id));
                    list.len() - 1
                });
                let task = &mut list[at];
                task.blocks = known.blocks;
                task.dispatch = known.dispatch_order;
                task.completed = known.state.is_done();
                if task.func_ids.is_empty() {
                    task.func_ids = known.func_ids;
                    task.kernel = graph.kernel_names(&known.func_ids);
                }
            }
            edges.extend(&graph.edges);
        }
        if let Some(Supplied { graph, .. }) = supplied {
            for known in &graph.tasks {
                let Some(&at) = place.get(&known.id) else { continue };
                let task = &mut list[at];
                if task.kernel.is_empty() || task.func_ids.is_empty() {
                    task.func_ids = known.func_ids;
                    task.kernel = graph.kernel_names(&known.func_ids);
                } else if task.kernel.chars().all(|letter| letter.is_ascii_digit() || letter == '+') {
                    task.kernel = graph.kernel_names(&task.func_ids);
                }
                if dump.graph().is_none_or(|own| own.task(known.id).is_none()) {
                    task.blocks = known.blocks;
                }
            }
            if edges.is_empty() {
                edges.extend(&graph.edges);
            }
        }
        for task in &mut list {
            let arguments = dump.graph().and_then(|graph| graph.task(task.id));
            let arguments =
                arguments.map_or(0, |known| usize::from(known.tensors) + usize::from(known.scalars));
            look_at_records(task, dump, arguments);
        }
        let names = names(dump, supplied, &list);
        Tasks::with_edges(list, names, place, &edges)
    }

    fn with_edges(
        list: Vec<Task>,
        names: BTreeMap<i32, String>,
        places: FxHashMap<TaskId, usize>,
        edges: &[Edge],
    ) -> Tasks {
        let mut predecessors = vec![Vec::new(); list.len()];
        let mut successors = vec![Vec::new(); list.len()];
        let mut any = false;
        for &Edge { from, to, reason } in edges {
            let (Some(&from), Some(&to)) = (places.get(&from), places.get(&to)) else { continue };
            any = true;
            predecessors[to].push(Predecessor { task: from, data: reason != EdgeReason::WriteAfterRead });
            successors[from].push(to);
        }
        let mut tasks = Tasks {
            list,
            places,
            names,
            predecessors,
            successors,
            order: Vec::new(),
            edges: any,
            cyclic: false,
        };
        tasks.sort();
        tasks
    }

    /// Dependencies first; among what is free to run, in the order of dispatch, else of ids. A task that was never
    /// dispatched, like one that only creates tensors, was done as soon as it could be: later it would hold back tasks that
    /// ran before others, and memory that was used again would look like a race.
    fn sort(&mut self) {
        let rank = |at: usize| {
            let task = &self.list[at];
            (task.dispatch, task.id)
        };
        let mut missing: Vec<usize> = self.predecessors.iter().map(Vec::len).collect();
        let mut free: std::collections::BTreeSet<((Option<u64>, TaskId), usize)> =
            (0..self.list.len()).filter(|&at| missing[at] == 0).map(|at| (rank(at), at)).collect();
        let mut order = Vec::with_capacity(self.list.len());
        while let Some((_, at)) = free.pop_first() {
            order.push(at);
            for &next in &self.successors[at] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    free.insert((rank(next), next));
                }
            }
        }
        if order.len() < self.list.len() {
            // A graph with a circle is no graph of a run: what is left comes as it was dispatched.
            self.cyclic = true;
            let mut left: Vec<usize> = (0..self.list.len()).filter(|&at| missing[at] > 0).collect();
            left.sort_by_key(|&at| rank(at));
            order.extend(left);
        }
        self.order = order;
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn get(&self, at: usize) -> &Task {
        &self.list[at]
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Task> {
        self.list.iter()
    }

    /// Places of all tasks, dependencies first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    pub fn predecessors(&self, at: usize) -> &[Predecessor] {
        &self.predecessors[at]
    }

    pub fn successors(&self, at: usize) -> &[usize] {
        &self.successors[at]
    }

    /// Names of a task's kernels, in the order of its members; `None` if one is not known.
    pub fn kernel_names(&self, task: &Task) -> Option<Vec<&str>> {
        task.func_ids.iter().map(|id| self.names.get(id).map(String::as_str)).collect()
    }

    /// Whether it is known which task waits for which.
    pub fn has_edges(&self) -> bool {
        self.edges
    }

    /// Whether the edges run in a circle, which those of a run never do.
    pub fn is_cyclic(&self) -> bool {
        self.cyclic
    }

    /// The place of the task with this id.
    pub fn find(&self, id: TaskId) -> Option<usize> {
        self.places.get(&id).copied()
    }
}

impl Task {
    fn bare(id: TaskId) -> Task {
        Task {
            id,
            func_ids: FuncIds::default(),
            kernel: String::new(),
            blocks: 1,
            inputs: Vec::new(),
            outputs: Vec::new(),
            dispatch: None,
            completed: true,
            inputs_known: true,
        }
    }

    /// It has neither kernels nor arguments.
    pub fn is_idle(&self) -> bool {
        self.func_ids.is_empty() && self.inputs.is_empty() && self.outputs.is_empty()
    }

    /// It was dispatched, or something of it was captured.
    pub fn has_started(&self) -> bool {
        self.dispatch.is_some() || !self.inputs.is_empty() || !self.outputs.is_empty()
    }

    /// `0x0000000200000001 (QK)`
    pub fn label(&self) -> String {
        match self.kernel.as_str() {
            "" => self.id.to_string(),
            kernel => format!("{} ({kernel})", self.id),
        }
    }

    /// What it was given and left as tensors, for telling tasks apart without their ids.
    pub(crate) fn tensors<'a>(&'a self, dump: &'a Dump) -> impl Iterator<Item = Record> + 'a {
        let records = self.inputs.iter().chain(&self.outputs).map(|&index| dump.record(index));
        records.filter(|record| record.kind == Kind::Tensor)
    }
}

/// Whether a task ended, and whether its inputs are all there, by its records. `arguments` is how many it had, 0 if
/// the dump does not say.
fn look_at_records(task: &mut Task, dump: &Dump, arguments: usize) {
    let (mut slots, mut before) = (Vec::new(), Vec::new());
    let mut tensors_before = false;
    for record in task.inputs.iter().map(|&index| dump.record(index)) {
        before.push(record.arg_index);
        slots.push(record.arg_index);
        tensors_before |= record.kind == Kind::Tensor;
    }
    let mut known = true;
    for record in task.outputs.iter().map(|&index| dump.record(index)) {
        task.completed &= !record.partial;
        known &= record.role != Role::Inout || before.contains(&record.arg_index);
        slots.push(record.arg_index);
    }
    slots.sort_unstable();
    slots.dedup();
    // A task may have no inputs; where the dump does not count arguments, it looks like one of a capture without
    // that stage.
    let all = if arguments > 0 { slots.len() >= arguments } else { tensors_before };
    task.inputs_known = known && all;
}

fn task_of(record: &Record, dump: &Dump) -> Task {
    let func_ids = record.func_ids;
    let kernel = if func_ids.is_empty() { String::new() } else { dump.kernel_names(record) };
    Task { func_ids, kernel, ..Task::bare(record.task_id) }
}

/// The names of all kernels of the tasks, from the dump, else from elsewhere.
fn names(dump: &Dump, supplied: Option<&Supplied>, list: &[Task]) -> BTreeMap<i32, String> {
    let mut names = BTreeMap::new();
    for &id in list.iter().flat_map(|task| task.func_ids.iter()) {
        if names.contains_key(&id) {
            continue;
        }
        // A scene that fits knows its kernels better than a file beside the dump does.
        let elsewhere =
            supplied.and_then(|supplied| supplied.graph.kernel(id)).map(|kernel| kernel.name.as_str());
        let name = match dump.own_graph() {
            Some(_) => dump.kernel_name(id).or(elsewhere),
            None => elsewhere.or_else(|| dump.kernel_name(id)),
        };
        if let Some(name) = name {
            names.insert(id, name.to_owned());
        }
    }
    names
}
