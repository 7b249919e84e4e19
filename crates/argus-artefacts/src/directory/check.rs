//! Files held against each other and against the dump. What contradicts is put aside and said.

use std::collections::BTreeMap;
use std::path::Path;

use argus_abi::{CoreType, DType, TaskId};
use argus_facts::FuncIds;

use super::{Artefacts, Contradiction, Kind};
use crate::deps::{self, Deps, DepsTask};
use crate::times::Times;

/// What the dump says of its tasks.
#[derive(Clone, Debug, Default)]
pub struct DumpFacts {
    /// The number of the run in its process, where the dump says it.
    pub epoch: Option<u64>,
    /// Kernels of each task; empty where the dump does not know them.
    pub tasks: BTreeMap<TaskId, FuncIds>,
    pub arguments: Vec<DumpArgument>,
}

/// A tensor of the dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpArgument {
    pub task: TaskId,
    pub arg: u32,
    pub dtype: Option<DType>,
    pub shape: Vec<u64>,
}

impl Artefacts {
    /// Holds the files of the directory against each other.
    pub(super) fn hold_together(&mut self) {
        if let Some(how) = self.deps.as_ref().and_then(within_graph) {
            self.put_aside(Kind::Graph, how);
        }
        if let Some(how) = self.times_against_graph() {
            self.put_aside(Kind::Times, how);
        }
        if let Some(how) = self.counters_against_graph() {
            self.put_aside(Kind::Counters, how);
        }
        if let Some(how) = self.identity_against_place() {
            self.put_aside(Kind::Identity, how);
        }
    }

    /// Holds the files against the dump, which is what they are beside.
    pub fn hold_against(&mut self, dump: &DumpFacts) {
        self.dumped = dump.tasks.keys().copied().collect();
        match dump.epoch {
            Some(epoch) => self.keep_epoch(epoch),
            None => self.without_epoch(),
        }
        if let Some(how) = self.graph_against(dump) {
            self.put_aside(Kind::Graph, how);
        }
        // A dump may be of some tasks only; that not one of them ran is another run.
        let stranger = |id: TaskId| !dump.tasks.is_empty() && !dump.tasks.contains_key(&id);
        let parts = self.times.as_ref().map_or(&[][..], |times| &times.parts);
        if !parts.is_empty() && parts.iter().all(|part| stranger(part.task)) {
            self.put_aside(Kind::Times, "none of its tasks is in the dump".to_owned());
        }
        let rows = self.counters.as_ref().map_or(&[][..], |counters| &counters.rows);
        if !rows.is_empty() && rows.iter().all(|row| stranger(row.task)) {
            self.put_aside(Kind::Counters, "none of its tasks is in the dump".to_owned());
        }
        if let Some(how) = self.times_against_kernels(dump) {
            self.put_aside(Kind::Times, how);
        }
    }

    /// Rows of other runs of the same process have the same task ids and mean other tasks.
    fn keep_epoch(&mut self, epoch: u64) {
        let of_others = |found: Option<u64>| found.is_some_and(|found| found != epoch);
        let told = |left_out: usize| {
            format!("{left_out} of its rows are of other runs than run {epoch}, that of the dump")
        };
        let mut left_out = [(Kind::Times, 0, 0), (Kind::Counters, 0, 0), (Kind::Scopes, 0, 0)];
        if let Some(times) = &mut self.times {
            let rows = times.keep_epoch(epoch);
            left_out[0] = (Kind::Times, rows, times.parts.len());
        }
        if let Some(scopes) = &mut self.scopes {
            let before = scopes.samples.len();
            scopes.samples.retain(|sample| !of_others(sample.epoch));
            let rows = before - scopes.samples.len();
            scopes.total = scopes.total.map(|total| total.saturating_sub(rows as u64));
            left_out[2] = (Kind::Scopes, rows, scopes.samples.len());
        }
        if let Some(counters) = &mut self.counters {
            let before = counters.rows.len();
            counters.rows.retain(|row| !of_others(row.epoch));
            left_out[1] = (Kind::Counters, before - counters.rows.len(), counters.rows.len());
        }
        for (kind, rows, kept) in left_out.into_iter().filter(|(_, rows, _)| *rows > 0) {
            if kept == 0 {
                self.put_aside(kind, told(rows));
            } else {
                let path = self.source(kind).map(Path::to_path_buf).unwrap_or_default();
                self.contradictions.push(Contradiction { kind, path, how: told(rows) });
            }
        }
    }

    /// Rows of several runs, and a dump that does not say which it is of: task ids would mean two tasks.
    fn without_epoch(&mut self) {
        let told = |epochs: &[u64]| {
            format!("it has rows of {} runs, and the dump does not say which is its own", epochs.len())
        };
        let timed = self.times.as_ref().map(Times::epochs).filter(|epochs| epochs.len() > 1);
        if let Some(epochs) = timed {
            self.put_aside(Kind::Times, told(&epochs));
        }
        let rows = self.counters.iter().flat_map(|counters| &counters.rows);
        let mut counted: Vec<u64> = rows.filter_map(|row| row.epoch).collect();
        counted.sort_unstable();
        counted.dedup();
        if counted.len() > 1 {
            self.put_aside(Kind::Counters, told(&counted));
        }
    }

    fn put_aside(&mut self, kind: Kind, how: String) {
        let at = self.found.iter().position(|found| found.kind == kind);
        let path = at.map(|at| self.found.remove(at).path).unwrap_or_default();
        self.contradictions.push(Contradiction { kind, path, how });
        match kind {
            Kind::Graph => self.deps = None,
            Kind::Times => self.times = None,
            Kind::Counters => self.counters = None,
            Kind::Scopes => self.scopes = None,
            Kind::Identity => self.identity = None,
            Kind::Names | Kind::HostPhases | Kind::Log | Kind::Program => {}
        }
    }

    /// An identity that was written for another directory pairs this one with the wrong captures.
    fn identity_against_place(&self) -> Option<String> {
        let identity = self.identity.as_ref()?;
        let directory = std::fs::canonicalize(&self.directory).unwrap_or_else(|_| self.directory.clone());
        let place = crate::ranks::place(&directory)?;
        identity.against(place.0, place.1)
    }

    fn graph_against(&self, dump: &DumpFacts) -> Option<String> {
        let deps = self.deps.as_ref().filter(|deps| !deps.tasks.is_empty())?;
        let (layout, tasks) = (self.layout(), by_id(deps));
        for (id, func_ids) in &dump.tasks {
            let Some(task) = tasks.get(id) else {
                if layout.outer(*id).is_some() {
                    continue;
                }
                return Some(format!("the dump has task {id}, which the graph does not have"));
            };
            let Some(ids) = task.kernel_ids else { continue };
            let known: FuncIds = ids.into_iter().collect();
            if !func_ids.is_empty() && *func_ids != known {
                let (ours, theirs) = (&known[..], &func_ids[..]);
                return Some(format!(
                    "task {id} runs kernel {theirs:?} in the dump and {ours:?} in the graph"
                ));
            }
        }
        for argument in &dump.arguments {
            let Some(task) = tasks.get(&argument.task) else { continue };
            let Some(slot) = task.args.iter().find(|slot| slot.index == argument.arg) else { continue };
            let Some(view) = &slot.view else { continue };
            let types_differ = view.dtype.zip(argument.dtype).is_some_and(|(ours, theirs)| ours != theirs);
            if types_differ || (!view.shape.is_empty() && view.shape != argument.shape) {
                return Some(format!(
                    "argument {} of task {} is {} {:?} in the dump and {} {:?} in the graph",
                    argument.arg,
                    argument.task,
                    argument.dtype.map_or("?", DType::name),
                    argument.shape,
                    view.dtype.map_or("?", DType::name),
                    view.shape
                ));
            }
        }
        None
    }

    fn times_against_graph(&self) -> Option<String> {
        let deps = self.deps.as_ref().filter(|deps| !deps.tasks.is_empty())?;
        let (times, layout, tasks) = (self.times.as_ref()?, self.layout(), by_id(deps));
        for part in &times.parts {
            let Some(task) = tasks.get(&part.task) else {
                if layout.outer(part.task).is_some() {
                    continue;
                }
                return Some(format!("it has task {}, which the graph does not have", part.task));
            };
            let (Some(ids), Some(core_type)) = (task.kernel_ids, times.core_type(part.core)) else {
                continue;
            };
            let runs = match core_type {
                CoreType::Aic => ids[0] >= 0,
                CoreType::Aiv => ids[1] >= 0 || ids[2] >= 0,
            };
            if !runs {
                let (id, core) = (part.task, part.core);
                return Some(format!(
                    "it has task {id} on core {core}, for which the graph gives it no kernel"
                ));
            }
        }
        None
    }

    fn times_against_kernels(&self, dump: &DumpFacts) -> Option<String> {
        let parts = &self.times.as_ref()?.parts;
        let (id, func) = parts.iter().find_map(|part| {
            let known = dump.tasks.get(&part.task).filter(|known| !known.is_empty())?;
            let func = part.func.filter(|func| !known.contains(func))?;
            Some((part.task, func))
        })?;
        Some(format!("it says that task {id} ran kernel {func}, and the dump does not"))
    }

    fn counters_against_graph(&self) -> Option<String> {
        let deps = self.deps.as_ref().filter(|deps| !deps.tasks.is_empty())?;
        let (counters, layout, tasks) = (self.counters.as_ref()?, self.layout(), by_id(deps));
        for row in &counters.rows {
            let Some(task) = tasks.get(&row.task) else {
                if layout.outer(row.task).is_some() {
                    continue;
                }
                return Some(format!("it has task {}, which the graph does not have", row.task));
            };
            if task.kernel_ids.is_some_and(|ids| row.func >= 0 && !ids.contains(&row.func)) {
                let (id, func) = (row.task, row.func);
                return Some(format!("it says that task {id} ran kernel {func}, and the graph does not"));
            }
        }
        None
    }
}

fn by_id(deps: &Deps) -> BTreeMap<TaskId, &DepsTask> {
    deps.tasks.iter().map(|task| (task.id, task)).collect()
}

/// What no graph of a run can say.
fn within_graph(deps: &Deps) -> Option<String> {
    let mut order: BTreeMap<TaskId, usize> = BTreeMap::new();
    for (number, task) in deps.tasks.iter().enumerate() {
        if order.insert(task.id, number).is_some() {
            return Some(format!("it has task {} twice", task.id));
        }
    }
    for tensor in &deps.tensors {
        let expected = deps::tensor_id(tensor.address, tensor.version);
        if tensor.id != expected {
            let (id, address) = (tensor.id, tensor.address);
            return Some(format!(
                "tensor {id} is said to be at {address:#x}, where tensor {expected} would be"
            ));
        }
    }
    if deps.tasks.is_empty() {
        return None;
    }
    for (number, edge) in deps.edges.iter().enumerate() {
        let Some(consumer) = order.get(&edge.succ) else {
            return Some(format!("edge {number} leads to task {}, which it does not list", edge.succ));
        };
        // Allocations are producers that it does not list.
        if order.get(&edge.pred).is_some_and(|producer| producer >= consumer) {
            let (pred, succ) = (edge.pred, edge.succ);
            return Some(format!(
                "edge {number} leads from task {pred} to {succ}, which was submitted before it"
            ));
        }
    }
    None
}
