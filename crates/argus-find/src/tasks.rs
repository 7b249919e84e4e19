//! The tasks of a dump, each with its records, in an order in which they can have run.

use argus_abi::capture::edge_reason;
use argus_abi::{Kind, Stage};
use argus_dump::read::{Dump, Graph, Record};
use rustc_hash::FxHashMap;

/// What a dump does not say itself and somebody else knows: the kernels of its tasks, and who waits for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supplied {
    /// Where it comes from, for the report.
    pub from: String,
    pub tasks: Vec<SuppliedTask>,
    /// From, to, and the reason as in [`argus_abi::capture::edge_reason`].
    pub edges: Vec<(u64, u64, u8)>,
}

/// A task that somebody else knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuppliedTask {
    pub id: u64,
    pub funcs: Vec<i32>,
    pub kernel: String,
    pub blocks: u32,
}

/// A task and its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: u64,
    pub funcs: Vec<i32>,
    /// Names of its kernels joined by `+`; empty if nobody knows them.
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
    predecessors: Vec<Vec<Predecessor>>,
    successors: Vec<Vec<usize>>,
    order: Vec<usize>,
    edges: bool,
    cyclic: bool,
}

impl Tasks {
    /// Groups the records of a dump by task. Kernels and edges come from the dump where it has them, else from
    /// `supplied`.
    pub fn of(dump: &Dump, supplied: Option<&Supplied>) -> Tasks {
        let mut list: Vec<Task> = Vec::new();
        let mut place: FxHashMap<u64, usize> = FxHashMap::default();
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
        if let Some(graph) = dump.graph() {
            for known in &graph.tasks {
                let at = *place.entry(known.task_id).or_insert_with(|| {
                    list.push(Task::bare(known.task_id));
                    list.len() - 1
                });
                let task = &mut list[at];
                task.blocks = known.blocks;
                task.dispatch = known.dispatch_order;
                task.completed = known.state == argus_abi::capture::task_state::COMPLETED;
                if task.funcs.is_empty() {
                    task.funcs = known.func_ids().to_vec();
                    task.kernel = kernel_names(graph, known.func_ids());
                }
            }
            edges.extend(graph.edges.iter().map(|edge| (edge.from, edge.to, edge.reason)));
        }
        if let Some(supplied) = supplied {
            for known in &supplied.tasks {
                let Some(&at) = place.get(&known.id) else { continue };
                let task = &mut list[at];
                if task.kernel.is_empty() || task.funcs.is_empty() {
                    task.funcs.clone_from(&known.funcs);
                    task.kernel.clone_from(&known.kernel);
                    task.blocks = known.blocks;
                } else if task.kernel.chars().all(|letter| letter.is_ascii_digit() || letter == '+') {
                    task.kernel.clone_from(&known.kernel);
                }
            }
            if edges.is_empty() {
                edges.clone_from(&supplied.edges);
            }
        }
        Tasks::with_edges(list, &place, edges)
    }

    fn with_edges(list: Vec<Task>, place: &FxHashMap<u64, usize>, edges: Vec<(u64, u64, u8)>) -> Tasks {
        let mut predecessors = vec![Vec::new(); list.len()];
        let mut successors = vec![Vec::new(); list.len()];
        let mut any = false;
        for (from, to, reason) in edges {
            let (Some(&from), Some(&to)) = (place.get(&from), place.get(&to)) else { continue };
            any = true;
            predecessors[to].push(Predecessor { task: from, data: reason != edge_reason::WRITE_AFTER_READ });
            successors[from].push(to);
        }
        let mut tasks =
            Tasks { list, predecessors, successors, order: Vec::new(), edges: any, cyclic: false };
        tasks.sort();
        tasks
    }

    /// Dependencies first; among what is free to run, in the order of dispatch, else of ids.
    fn sort(&mut self) {
        let rank = |at: usize| {
            let task = &self.list[at];
            (task.dispatch.unwrap_or(u64::MAX), task.id)
        };
        let mut missing: Vec<usize> = self.predecessors.iter().map(Vec::len).collect();
        let mut free: std::collections::BTreeSet<((u64, u64), usize)> =
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

    /// Whether anybody knows who waits for whom.
    pub fn has_edges(&self) -> bool {
        self.edges
    }

    /// Whether the edges run in a circle, which those of a run never do.
    pub fn is_cyclic(&self) -> bool {
        self.cyclic
    }

    /// The place of the task with this id.
    pub fn find(&self, id: u64) -> Option<usize> {
        self.list.iter().position(|task| task.id == id)
    }
}

impl Task {
    fn bare(id: u64) -> Task {
        Task {
            id,
            funcs: Vec::new(),
            kernel: String::new(),
            blocks: 1,
            inputs: Vec::new(),
            outputs: Vec::new(),
            dispatch: None,
            completed: true,
        }
    }

    /// It has neither kernels nor arguments.
    pub fn is_idle(&self) -> bool {
        self.funcs.is_empty() && self.inputs.is_empty() && self.outputs.is_empty()
    }

    /// `0x0000000200000001 (QK)`
    pub fn label(&self) -> String {
        match self.kernel.as_str() {
            "" => format!("0x{:016x}", self.id),
            kernel => format!("0x{:016x} ({kernel})", self.id),
        }
    }

    /// What it was given and left as tensors, for telling tasks apart without their ids.
    pub(crate) fn tensors<'a>(&'a self, dump: &'a Dump) -> impl Iterator<Item = Record> + 'a {
        let records = self.inputs.iter().chain(&self.outputs).map(|&index| dump.record(index));
        records.filter(|record| record.kind == Kind::Tensor)
    }
}

fn task_of(record: &Record, dump: &Dump) -> Task {
    let funcs = record.func_ids().to_vec();
    let known = !funcs.is_empty() && funcs.iter().all(|&func| func >= 0);
    let kernel = if known { dump.kernel_names(record) } else { String::new() };
    Task { funcs: if known { funcs } else { Vec::new() }, kernel, ..Task::bare(record.task_id) }
}

/// The different kernels, by name where they have one.
fn kernel_names(graph: &Graph, funcs: &[i32]) -> String {
    let mut names: Vec<String> = Vec::new();
    for &func in funcs {
        let name = graph.kernel(func).map_or_else(|| func.to_string(), |kernel| kernel.name.clone());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join("+")
}
