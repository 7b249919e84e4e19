//! The tasks of a dump, each with its records, in an order in which they can have run.

use std::collections::BTreeMap;
use std::sync::Arc;

use argus_abi::{EdgeReason, Kind, Role, Stage, TaskId};
use argus_dump::read::{Dump, Ending, Record};
use argus_facts::{Edge, FuncIds, Graph, Neighbours, Order};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::indices::Indices;

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
    pub kernel: Arc<str>,
    pub blocks: u32,
    /// What it was given: records before dispatch, by argument.
    pub inputs: Indices,
    /// What it left: records after completion, by argument.
    pub outputs: Indices,
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
    /// Places in `list`, by id.
    by_id: Vec<u32>,
    /// Names of kernels by number, as far as they are known.
    names: BTreeMap<i32, String>,
    predecessors: Neighbours<Predecessor>,
    successors: Neighbours,
    order: Vec<usize>,
    edges: bool,
    cyclic: bool,
}

/// The names of tasks, each text once.
#[derive(Default)]
struct KernelTexts(FxHashMap<FuncIds, Arc<str>>);

impl KernelTexts {
    fn get(&mut self, func_ids: FuncIds, text: impl FnOnce() -> String) -> Arc<str> {
        Arc::clone(self.0.entry(func_ids).or_insert_with(|| text().into()))
    }
}

impl Tasks {
    /// Groups the records of a dump by task. Kernels and edges come from the dump where it has them, else from
    /// `supplied`.
    pub fn new(dump: &Dump, supplied: Option<&Supplied>) -> Tasks {
        let graph = dump.passing_graph();
        let graph = graph.as_deref();
        let (mut of_records, mut of_graph, mut elsewhere) =
            (KernelTexts::default(), KernelTexts::default(), KernelTexts::default());
        let mut list: Vec<Task> = Vec::with_capacity(graph.map_or(0, |graph| graph.tasks.len()));
        let mut place: FxHashMap<TaskId, u32> = FxHashMap::default();
        for record in dump.records() {
            // Most dumps have the records of a task beside each other.
            let at = match list.last() {
                Some(last) if last.id == record.task_id => list.len() - 1,
                _ => *place.entry(record.task_id).or_insert_with(|| {
                    let func_ids = record.func_ids;
                    let names =
                        || if func_ids.is_empty() { String::new() } else { dump.kernel_names(&record) };
                    let kernel = of_records.get(func_ids, names);
                    list.push(Task { func_ids, kernel, ..Task::bare(record.task_id) });
                    list.len() as u32 - 1
                }) as usize,
            };
            match record.stage {
                Stage::BeforeDispatch => list[at].inputs.push(record.index),
                Stage::AfterCompletion => list[at].outputs.push(record.index),
            }
        }
        let mut edges: &[Edge] = &[];
        let cut_off = matches!(dump.ending(), Ending::Unfinished { .. } | Ending::Failed { .. });
        if let Some(graph) = graph {
            // A run that was cut off describes the tasks that ended; of the others there are records only.
            list.iter_mut().for_each(|task| task.completed = !cut_off);
            for known in &graph.tasks {
                let at = *place.entry(known.id).or_insert_with(|| {
                    list.push(Task::bare(known.id));
                    list.len() as u32 - 1
                });
                let task = &mut list[at as usize];
                task.blocks = known.blocks;
                task.dispatch = known.dispatch_order;
                task.completed = known.state.is_done();
                if task.func_ids.is_empty() {
                    task.func_ids = known.func_ids;
                    task.kernel = of_graph.get(known.func_ids, || graph.kernel_names(&known.func_ids));
                }
            }
            edges = &graph.edges;
        }
        if let Some(Supplied { graph: supplied, .. }) = supplied {
            for known in &supplied.tasks {
                let Some(&at) = place.get(&known.id) else { continue };
                let task = &mut list[at as usize];
                let named = task.kernel.chars().any(|letter| !letter.is_ascii_digit() && letter != '+');
                let lacking = task.kernel.is_empty() || task.func_ids.is_empty();
                if lacking {
                    task.func_ids = known.func_ids;
                }
                if lacking || !named {
                    let func_ids = task.func_ids;
                    task.kernel = elsewhere.get(func_ids, || supplied.kernel_names(&func_ids));
                }
                if graph.is_none_or(|own| own.task(known.id).is_none()) {
                    task.blocks = known.blocks;
                }
            }
            if edges.is_empty() {
                edges = &supplied.edges;
            }
        }
        drop(place);
        // Tasks that values come to from others, for dumps that do not count arguments.
        let data = edges.iter().filter(|edge| edge.reason != EdgeReason::WriteAfterRead);
        let fed: FxHashSet<TaskId> =
            if dump.has_own_graph() { FxHashSet::default() } else { data.map(|edge| edge.to).collect() };
        for task in &mut list {
            let arguments = graph.and_then(|graph| graph.task(task.id));
            let arguments =
                arguments.map_or(0, |known| usize::from(known.tensors) + usize::from(known.scalars));
            let count = match dump.has_own_graph() {
                true => Count::Exact(arguments),
                false => Count::AtLeast { arguments, is_fed: edges.is_empty() || fed.contains(&task.id) },
            };
            look_at_records(task, dump, count);
        }
        let names = names(dump, supplied, &list);
        Tasks::with_edges(list, names, edges)
    }

    fn with_edges(list: Vec<Task>, names: BTreeMap<i32, String>, edges: &[Edge]) -> Tasks {
        let mut by_id: Vec<u32> = (0..list.len() as u32).collect();
        by_id.sort_unstable_by_key(|&at| list[at as usize].id);
        let mut tasks = Tasks { list, by_id, names, ..Tasks::default() };
        let place = |id: TaskId| tasks.find(id).map(|at| at as u32);
        let known: Vec<(u32, u32, bool)> = edges
            .iter()
            .filter_map(|edge| {
                Some((place(edge.from)?, place(edge.to)?, edge.reason != EdgeReason::WriteAfterRead))
            })
            .collect();
        let before = known.iter().map(|&(from, to, data)| (to, Predecessor { task: from as usize, data }));
        tasks.predecessors = Neighbours::new(tasks.len(), before);
        tasks.successors = Neighbours::new(tasks.len(), known.iter().map(|&(from, to, _)| (from, to)));
        tasks.edges = !known.is_empty();
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
        let waits_for = (0..self.len()).map(|at| self.predecessors(at).len() as u32).collect();
        let Order { mut order, mut circular } = Order::new(&self.successors, waits_for, rank);
        // A graph with a circle is no graph of a run: what is left comes as it was dispatched.
        self.cyclic = !circular.is_empty();
        circular.sort_by_key(|&at| rank(at));
        order.extend(circular);
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
        self.predecessors.at(at)
    }

    pub fn successors(&self, at: usize) -> &[u32] {
        self.successors.at(at)
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
        let found = self.by_id.binary_search_by_key(&id, |&at| self.list[at as usize].id);
        found.ok().map(|place| self.by_id[place] as usize)
    }
}

impl Task {
    fn bare(id: TaskId) -> Task {
        Task {
            id,
            func_ids: FuncIds::default(),
            kernel: Arc::default(),
            blocks: 1,
            inputs: Indices::default(),
            outputs: Indices::default(),
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
        match &*self.kernel {
            "" => self.id.to_string(),
            kernel => format!("{} ({kernel})", self.id),
        }
    }

    /// What it was given and left as tensors, for telling tasks apart without their ids.
    pub(crate) fn tensors<'a>(&'a self, dump: &'a Dump) -> impl Iterator<Item = Record> + 'a {
        let records = self.inputs.iter().chain(self.outputs.iter()).map(|index| dump.record(index));
        records.filter(|record| record.kind == Kind::Tensor)
    }
}

/// How many arguments a task had; 0 if that is not known.
#[derive(Clone, Copy)]
enum Count {
    /// The dump says it.
    Exact(usize),
    /// Files next to the dump say it, or the records. Values came from other tasks, or may have.
    AtLeast { arguments: usize, is_fed: bool },
}

/// Whether a task ended, and whether its inputs are all there, by its records.
fn look_at_records(task: &mut Task, dump: &Dump, count: Count) {
    let (mut slots, mut before) = (Vec::new(), Vec::new());
    let mut tensors_before = false;
    for record in task.inputs.iter().map(|index| dump.record(index)) {
        before.push(record.arg_index);
        slots.push(record.arg_index);
        tensors_before |= record.kind == Kind::Tensor;
    }
    let mut known = true;
    for record in task.outputs.iter().map(|index| dump.record(index)) {
        task.completed &= !record.partial;
        known &= record.role != Role::Inout || before.contains(&record.arg_index);
        slots.push(record.arg_index);
    }
    slots.sort_unstable();
    slots.dedup();
    // A task may have no inputs; where the dump does not count arguments, it looks like one of a capture without
    // that stage. Arguments are numbered from 0, so a gap is one that was not captured.
    let without_gap = slots.last().is_none_or(|&last| slots.len() as u64 == u64::from(last) + 1);
    let all = match count {
        Count::Exact(0) => tensors_before,
        Count::Exact(arguments) => slots.len() >= arguments,
        Count::AtLeast { arguments, is_fed } => {
            slots.len() >= arguments && without_gap && (tensors_before || !is_fed)
        }
    };
    task.inputs_known = known && all;
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
        let name = match dump.has_own_graph() {
            true => dump.kernel_name(id).or(elsewhere),
            false => elsewhere.or_else(|| dump.kernel_name(id)),
        };
        if let Some(name) = name {
            names.insert(id, name.to_owned());
        }
    }
    names
}
