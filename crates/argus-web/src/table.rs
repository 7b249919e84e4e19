//! The tasks of a dump in the order of their ids, each with its kernel, its records and its edges.

use std::ops::Range;

use argus_abi::{EdgeReason, TaskId, TaskState};
use argus_dump::read::Dump;
use argus_facts::FuncIds;
use argus_facts::kernel_info::joined_names;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::columns::Columns;

/// A task whose kernel is not known.
pub const NO_KERNEL: u32 = u32::MAX;

/// All tasks that a dump has records of, or that its graph names.
#[derive(Default)]
pub struct TaskTable {
    /// Ascending, each once.
    pub ids: Vec<TaskId>,
    /// Of each task, in `names`.
    pub kernels: Vec<u32>,
    /// Kernels, or kernels joined by `+`.
    pub names: Vec<String>,
    func_ids: Vec<FuncIds>,
    /// Payload bytes of each task.
    pub bytes: Vec<u64>,
    /// Where each task's records begin in `records`, and where the last ones end.
    starts: Vec<u32>,
    records: Vec<u32>,
    /// Between positions in `ids`.
    pub edges: Vec<(u32, u32)>,
    /// Of each edge: 0 data, 1 declared, 2 neither.
    pub edge_kinds: Vec<u8>,
}

impl TaskTable {
    pub fn new(dump: &Dump) -> TaskTable {
        let mut rows: Vec<(TaskId, u32, FuncIds, u64)> = (0..dump.len())
            .into_par_iter()
            .map(|index| {
                let record = dump.record(index);
                (record.task_id, index as u32, record.func_ids, record.bin_size)
            })
            .collect();
        rows.par_sort_unstable_by_key(|row| (row.0, row.1));
        let graph = dump.graph();
        let mut ids: Vec<TaskId> = rows.iter().map(|row| row.0).collect();
        ids.extend(graph.into_iter().flat_map(|graph| &graph.tasks).map(|task| task.id));
        ids.sort_unstable();
        ids.dedup();
        let mut table = TaskTable { ids, ..TaskTable::default() };
        let mut known: FxHashMap<FuncIds, u32> = FxHashMap::default();
        let mut next = 0;
        for at in 0..table.ids.len() {
            let id = table.ids[at];
            let first = next;
            while rows.get(next).is_some_and(|row| row.0 == id) {
                next += 1;
            }
            let own = &rows[first..next];
            let captured = own.iter().map(|row| row.2).find(|ids| !ids.is_empty());
            let listed = || graph.and_then(|graph| graph.task(id)).map(|task| task.func_ids);
            let func_ids = captured.or_else(listed).unwrap_or_default();
            table.starts.push(first as u32);
            table.bytes.push(own.iter().map(|row| row.3).sum());
            table.func_ids.push(func_ids);
            let name = *known.entry(func_ids).or_insert_with(|| {
                let name = joined_names(&func_ids, |func_id| dump.kernel_name(func_id));
                if name.is_empty() {
                    return NO_KERNEL;
                }
                // Different members may have one name.
                let there = table.names.iter().position(|known| *known == name);
                there.unwrap_or_else(|| {
                    table.names.push(name);
                    table.names.len() - 1
                }) as u32
            });
            table.kernels.push(name);
        }
        table.starts.push(rows.len() as u32);
        table.records = rows.into_iter().map(|row| row.1).collect();
        table.join(dump);
        table
    }

    fn join(&mut self, dump: &Dump) {
        let Some(graph) = dump.graph() else { return };
        let find = |id: TaskId| self.ids.binary_search(&id).ok().map(|at| at as u32);
        let edges = graph.edges.iter().filter_map(|edge| {
            let kind = match edge.reason {
                EdgeReason::Creator | EdgeReason::Overlap => 0,
                EdgeReason::Explicit => 1,
                EdgeReason::WriteAfterRead => 2,
            };
            Some(((find(edge.from)?, find(edge.to)?), kind))
        });
        let mut edges: Vec<((u32, u32), u8)> = edges.collect();
        // Two tasks may be joined for several reasons: the strongest is drawn.
        edges.sort_unstable();
        edges.dedup_by_key(|edge| edge.0);
        (self.edges, self.edge_kinds) = edges.into_iter().unzip();
    }

    /// Takes what a scene knows of tasks that the dump is silent about: names of kernels, and edges if it has none.
    pub fn supply(&mut self, kernels: impl IntoIterator<Item = (usize, String)>, edges: Vec<(u32, u32)>) {
        for (task, name) in kernels {
            if self.kernels[task] != NO_KERNEL || name.is_empty() {
                continue;
            }
            let known = self.names.iter().position(|known| *known == name);
            self.kernels[task] = known.unwrap_or_else(|| {
                self.names.push(name);
                self.names.len() - 1
            }) as u32;
        }
        if self.edges.is_empty() {
            self.edge_kinds = vec![0; edges.len()];
            self.edges = edges;
        }
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn find(&self, id: TaskId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// Indices of a task's records, as the dump has them in order.
    pub fn records(&self, task: usize) -> &[u32] {
        let range: Range<usize> = self.starts[task] as usize..self.starts[task + 1] as usize;
        &self.records[range]
    }

    pub fn kernel(&self, task: usize) -> &str {
        self.names.get(self.kernels[task] as usize).map_or("", String::as_str)
    }

    pub fn func_ids(&self, task: usize) -> FuncIds {
        self.func_ids[task]
    }

    /// All columns, with these verdicts.
    pub fn columns(&self, dump: &Dump, verdicts: &[u8]) -> Vec<u8> {
        let names = serde_json::Value::from(self.names.clone()).to_string();
        let infos: Vec<_> =
            self.ids.iter().map(|&id| dump.graph().and_then(|graph| graph.task(id))).collect();
        let mut columns = Columns::new(b"ATSK", 1);
        columns.u32s([self.len() as u32, names.len() as u32]);
        columns.text(&names);
        columns.u64s(self.ids.iter().map(|id| id.raw()));
        let times = infos.iter().map(|info| info.and_then(times_us));
        let (begins, ends): (Vec<f64>, Vec<f64>) =
            times.map(|times| times.unwrap_or((f64::NAN, f64::NAN))).unzip();
        columns.f64s(begins);
        columns.f64s(ends);
        columns.u64s(self.bytes.iter().copied());
        columns.u32s(self.kernels.iter().copied());
        columns.u32s(infos.iter().map(|info| info.map_or(0, |info| info.scope_depth)));
        columns.u32s(infos.iter().map(|info| info.map_or(0, |info| info.blocks)));
        columns.u8s(infos.iter().map(|info| info.map_or(0, |info| state(info.state))));
        columns.u8s((0..self.len()).map(|task| verdicts.get(task).copied().unwrap_or(0)));
        columns.finish()
    }
}

/// When a task was dispatched and when it was finished, in microseconds; `None` where no clock ran.
pub fn times_us(info: &argus_facts::TaskInfo) -> Option<(f64, f64)> {
    let ran = info.finished_ns > 0 && info.dispatch_order.is_some();
    ran.then(|| (info.dispatched_ns as f64 / 1e3, info.finished_ns as f64 / 1e3))
}

/// As the columns say it.
pub fn state(state: TaskState) -> u8 {
    match state {
        TaskState::Waiting => 1,
        TaskState::Running => 2,
        TaskState::Completed => 3,
        TaskState::Skipped => 5,
    }
}
