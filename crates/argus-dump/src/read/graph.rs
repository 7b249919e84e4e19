//! Tasks, kernels and edges of a run, with quick ways from a task to its neighbours.

use argus_abi::args::KernelAbi;
use argus_abi::{ArgDirection, CoreSet, CoreType};

/// A kernel of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub func_id: u32,
    pub name: String,
    pub core_type: CoreType,
    pub signature: Vec<ArgDirection>,
    pub abi: KernelAbi,
}

/// A task that completed or will never run any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    pub task_id: u64,
    /// Its kernels in the order of its members; see [`Task::func_ids`].
    pub funcs: [i32; 3],
    pub func_count: u8,
    pub blocks: u32,
    /// Position in the order of first dispatch; `None` if it never was dispatched.
    pub dispatch_order: Option<u64>,
    /// Nanoseconds since the run began.
    pub dispatched_ns: u64,
    pub finished_ns: u64,
    /// The cores that ran a part of it.
    pub cores: CoreSet,
    pub scope_depth: u32,
    /// How many arguments it has of either kind.
    pub tensors: u16,
    pub scalars: u16,
    /// See [`argus_abi::capture::task_state`].
    pub state: u8,
}

impl Task {
    pub fn func_ids(&self) -> &[i32] {
        &self.funcs[..usize::from(self.func_count)]
    }
}

/// A task waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: u64,
    pub to: u64,
    /// See [`argus_abi::capture::edge_reason`].
    pub reason: u8,
}

/// The graph of a run.
///
/// A run that was killed may have edges to tasks that it never described; they are in `edges` and lead
/// nowhere in [`Graph::predecessors`] and [`Graph::successors`].
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Sorted by number.
    pub kernels: Vec<Kernel>,
    /// Sorted by id, each once.
    pub tasks: Vec<Task>,
    /// Sorted, each once.
    pub edges: Vec<Edge>,
    predecessors: Neighbours,
    successors: Neighbours,
}

impl Graph {
    /// Puts the parts in order. Of several descriptions of a task the last one counts.
    pub(super) fn new(mut kernels: Vec<Kernel>, mut tasks: Vec<Task>, mut edges: Vec<Edge>) -> Graph {
        kernels.sort_by_key(|kernel| kernel.func_id);
        tasks.sort_by_key(|task| task.task_id);
        tasks.dedup_by(|later, earlier| {
            let same = later.task_id == earlier.task_id;
            if same {
                *earlier = *later;
            }
            same
        });
        edges.sort_unstable();
        edges.dedup();
        let find = |id: u64| tasks.binary_search_by_key(&id, |task| task.task_id).ok();
        let mut pairs: Vec<(u32, u32)> = (edges.iter())
            .filter_map(|edge| Some((find(edge.from)? as u32, find(edge.to)? as u32)))
            .collect();
        // The same two tasks may be joined for several reasons.
        pairs.dedup();
        let successors = Neighbours::new(tasks.len(), &pairs);
        for pair in &mut pairs {
            *pair = (pair.1, pair.0);
        }
        pairs.sort_unstable();
        let predecessors = Neighbours::new(tasks.len(), &pairs);
        Graph { kernels, tasks, edges, predecessors, successors }
    }

    /// Position of a task in `tasks`.
    pub fn position(&self, task_id: u64) -> Option<usize> {
        self.tasks.binary_search_by_key(&task_id, |task| task.task_id).ok()
    }

    pub fn task(&self, task_id: u64) -> Option<&Task> {
        self.position(task_id).and_then(|position| self.tasks.get(position))
    }

    pub fn kernel(&self, func_id: i32) -> Option<&Kernel> {
        kernel_in(&self.kernels, func_id)
    }

    /// Positions of the tasks that the task at `position` waits for, ascending, each once.
    pub fn predecessors(&self, position: usize) -> &[u32] {
        self.predecessors.of(position)
    }

    /// Positions of the tasks that wait for the task at `position`, ascending, each once.
    pub fn successors(&self, position: usize) -> &[u32] {
        self.successors.of(position)
    }
}

/// The first kernel with this number; `kernels` is sorted by it.
pub(super) fn kernel_in(kernels: &[Kernel], func_id: i32) -> Option<&Kernel> {
    let func_id = u32::try_from(func_id).ok()?;
    let place = kernels.partition_point(|kernel| kernel.func_id < func_id);
    kernels.get(place).filter(|kernel| kernel.func_id == func_id)
}

/// For each task a run of `targets`.
#[derive(Clone, Debug, Default)]
struct Neighbours {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Neighbours {
    /// From pairs that are sorted.
    fn new(tasks: usize, pairs: &[(u32, u32)]) -> Neighbours {
        let mut starts = vec![0u32; tasks + 1];
        for &(from, _) in pairs {
            starts[from as usize + 1] += 1;
        }
        for index in 0..tasks {
            starts[index + 1] += starts[index];
        }
        Neighbours { starts, targets: pairs.iter().map(|pair| pair.1).collect() }
    }

    fn of(&self, position: usize) -> &[u32] {
        match (self.starts.get(position), self.starts.get(position + 1)) {
            (Some(&start), Some(&end)) => &self.targets[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// The kernels among `ids` and how many they are; negative numbers are places without one.
pub(super) fn present(ids: impl IntoIterator<Item = i32>) -> ([i32; 3], u8) {
    let mut funcs = [-1; 3];
    let mut count = 0;
    for id in ids.into_iter().filter(|&id| id >= 0).take(3) {
        funcs[count] = id;
        count += 1;
    }
    (funcs, count as u8)
}

/// The different kernels by name, joined with `+`; by number where nobody named them.
pub(super) fn joined_names<'a>(ids: &[i32], name: impl Fn(i32) -> Option<&'a str>) -> String {
    let mut names = String::new();
    for (index, &id) in ids.iter().enumerate() {
        if ids[..index].contains(&id) {
            continue;
        }
        if !names.is_empty() {
            names.push('+');
        }
        match name(id) {
            Some(name) => names.push_str(name),
            None => names.push_str(&id.to_string()),
        }
    }
    names
}
