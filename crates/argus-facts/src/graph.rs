//! Tasks, kernels and edges of a run, with quick ways from a task to its neighbours.

use std::sync::OnceLock;

use argus_abi::{EdgeReason, TaskId};
use serde::{Deserialize, Serialize};

use crate::kernel_info::{self, KernelInfo};
use crate::neighbours::{Neighbours, Order};
use crate::select::SelectorError;
use crate::task::TaskInfo;
use crate::task_selector::TaskSelector;

/// A task waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edge {
    pub from: TaskId,
    pub to: TaskId,
    pub reason: EdgeReason,
}

/// The graph of a run.
///
/// A run that was killed may have edges to tasks that it never described; they are in `edges` and lead
/// nowhere in [`Graph::predecessors`] and [`Graph::successors`].
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Sorted by number.
    pub kernels: Vec<KernelInfo>,
    /// Sorted by id, each once.
    pub tasks: Vec<TaskInfo>,
    /// Sorted, each once.
    pub edges: Vec<Edge>,
    /// Made when they are asked for first: a graph that is only compared or listed needs none.
    neighbours: OnceLock<[Neighbours; 2]>,
}

impl Graph {
    /// Puts the parts in order. Of several descriptions of a task the last one counts.
    pub fn new(mut kernels: Vec<KernelInfo>, mut tasks: Vec<TaskInfo>, mut edges: Vec<Edge>) -> Graph {
        kernels.sort_by_key(|kernel| kernel.func_id);
        // The last of several entries of a task counts, by time: they may come from different rings.
        tasks.sort_by_key(|task| (task.id, task.finished_ns));
        tasks.dedup_by(|later, earlier| {
            let same = later.id == earlier.id;
            if same {
                *earlier = *later;
            }
            same
        });
        edges.sort_unstable();
        edges.dedup();
        Graph { kernels, tasks, edges, neighbours: OnceLock::new() }
    }

    /// Of each task the predecessors, and the successors.
    fn neighbours(&self) -> &[Neighbours; 2] {
        self.neighbours.get_or_init(|| {
            let find = |id: TaskId| self.position(id);
            let mut pairs: Vec<(u32, u32)> = (self.edges.iter())
                .filter_map(|edge| Some((find(edge.from)? as u32, find(edge.to)? as u32)))
                .collect();
            // The same two tasks may be joined for several reasons.
            pairs.dedup();
            let back = pairs.iter().map(|&(from, to)| (to, from));
            [
                Neighbours::new(self.tasks.len(), back),
                Neighbours::new(self.tasks.len(), pairs.iter().copied()),
            ]
        })
    }

    /// Position of a task in `tasks`.
    pub fn position(&self, id: TaskId) -> Option<usize> {
        self.tasks.binary_search_by_key(&id, |task| task.id).ok()
    }

    pub fn task(&self, id: TaskId) -> Option<&TaskInfo> {
        self.position(id).and_then(|position| self.tasks.get(position))
    }

    /// The tasks that run kernels, in the order of ids.
    pub fn running(&self) -> impl Iterator<Item = &TaskInfo> {
        self.tasks.iter().filter(|task| !task.func_ids.is_empty())
    }

    /// Whether a task runs a kernel of this name.
    pub fn runs(&self, task: &TaskInfo, name: &str) -> bool {
        let mut kernels = task.func_ids.iter().filter_map(|&id| self.kernel(id));
        kernels.any(|kernel| kernel_info::is_called(&kernel.name, name))
    }

    /// The tasks that a selector means, by their ids.
    pub fn resolve(&self, tasks: &TaskSelector) -> Result<TaskSelector, SelectorError> {
        let running = self.running().map(|task| (task.id, task));
        let resolved = tasks.resolve(running, |task, name| self.runs(task, name));
        resolved.ok_or_else(|| SelectorError::NoTask { task: tasks.clone(), count: self.running().count() })
    }

    pub fn kernel(&self, func_id: i32) -> Option<&KernelInfo> {
        kernel_info::find(&self.kernels, func_id)
    }

    /// The different kernels of a task, joined with `+`.
    pub fn kernel_names(&self, func_ids: &[i32]) -> String {
        kernel_info::joined_names(func_ids, |id| self.kernel(id).map(|kernel| kernel.name.as_str()))
    }

    /// Positions of the tasks that the task at `position` waits for, ascending, each once.
    pub fn predecessors(&self, position: usize) -> &[u32] {
        self.neighbours()[0].at(position)
    }

    /// Positions of the tasks that wait for the task at `position`, ascending, each once.
    pub fn successors(&self, position: usize) -> &[u32] {
        self.neighbours()[1].at(position)
    }

    /// Positions of all tasks, dependencies first, else as they are listed. Those of a circle are left out.
    pub fn dependencies_first(&self) -> Vec<usize> {
        let waits_for = (0..self.tasks.len()).map(|at| self.predecessors(at).len() as u32).collect();
        Order::new(&self.neighbours()[1], waits_for, |_| ()).order
    }
}
