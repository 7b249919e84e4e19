//! Which task of a dump: by its id, by the name of its kernel, or by the exact set of its kernels.
//!
//! Tasks are counted in the order of their ids, because the order of dispatch is another one in each run.
//! A caller that asks for what is not there is told what is.

use std::collections::{BTreeMap, BTreeSet};

use argus_abi::TaskId;
use argus_dump::read::{Dump, Ending};
use argus_facts::kernel_info::{is_called, joined_names};
use argus_facts::{FuncIds, Graph, TaskSelector};
use thiserror::Error;

use crate::code::Code;

/// What a message lists at most.
const LISTED: usize = 12;

/// What is asked for. All that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskChoice {
    pub task: Option<TaskSelector>,
    /// The name of one of its kernels, or all of them as `A+B`.
    pub kernel: Option<String>,
    /// The numbers of its kernels: exactly these, in any order.
    pub func_ids: Option<Vec<i32>>,
    /// Of the tasks that fit, this one, counted from 0.
    pub nth: usize,
}

/// Why no task was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectError {
    #[error("no task is named; there are {known}")]
    Nothing { known: String },
    #[error("there is no task {task}; there are {known}")]
    NoTask { task: TaskSelector, known: String },
    #[error("there is no task {task}: there are {count} tasks, counted from 0; an id begins with 0x")]
    NoNumber { task: TaskSelector, count: usize },
    #[error("no task runs a kernel '{name}'; the kernels of the dump are {known}")]
    NoKernel { name: String, known: String },
    #[error("no task runs exactly the kernels {set}; the sets in the dump are {known}")]
    NoSet { set: String, known: String },
    #[error("task {task:#x} runs {runs}, not {asked}")]
    Contradiction { task: TaskId, runs: String, asked: String },
    #[error("there is no task number {nth}; tasks that fit: {count}, counted from 0")]
    Nth { nth: usize, count: usize },
    #[error("this dump does not say which kernel a task ran")]
    NoIds,
    #[error("the dump holds no task at all")]
    Empty,
}

/// A task that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    pub task: TaskId,
    /// Its kernels; empty where unknown.
    pub func_ids: FuncIds,
    /// `None` where unknown.
    pub blocks: Option<u32>,
}

/// The tasks of a dump that run kernels, by id, and how those kernels are called.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    tasks: Vec<Listed>,
    names: BTreeMap<i32, String>,
}

impl Listing {
    /// What a dump says itself.
    pub fn from_dump(dump: &Dump) -> Listing {
        if let Some(graph) = dump.own_graph()
            && !graph.tasks.is_empty()
        {
            let running = graph.tasks.iter().filter(|task| !task.func_ids.is_empty());
            let tasks = running.map(|task| Listed {
                task: task.id,
                func_ids: task.func_ids,
                blocks: Some(task.blocks),
            });
            let names = graph.kernels.iter().map(|kernel| (kernel.func_id as i32, kernel.name.clone()));
            let mut listing = Listing { tasks: tasks.collect(), names: names.collect() };
            if matches!(dump.ending(), Ending::Unfinished { .. }) {
                // A run that was cut off has records of tasks that it never described.
                listing.add_records(dump);
            }
            return listing;
        }
        let mut listing = Listing::default();
        listing.add_records(dump);
        if let Some(graph) = dump.graph() {
            listing.supply(graph);
        }
        let ids: BTreeSet<i32> = listing.tasks.iter().flat_map(|task| task.func_ids.to_vec()).collect();
        listing.names.extend(ids.into_iter().filter_map(|id| Some((id, dump.kernel_name(id)?.to_owned()))));
        listing
    }

    /// Adds the tasks of records that are not listed yet.
    fn add_records(&mut self, dump: &Dump) {
        let listed = dump.records().map(|record| Listed {
            task: record.task_id,
            func_ids: record.func_ids,
            blocks: None,
        });
        self.tasks.extend(listed);
        // The sort is stable: what was listed before stays in front.
        self.tasks.sort_by_key(|listed| listed.task);
        self.tasks.dedup_by_key(|listed| listed.task);
    }

    /// Adds the names of kernels that the dump does not name.
    pub fn name(&mut self, code: &Code) {
        for entry in code.kernels.iter() {
            self.names.entry(entry.func_id.0 as i32).or_insert_with(|| entry.name.to_string());
        }
    }

    /// Adds kernels and blocks from elsewhere to tasks of which the dump does not know them.
    pub fn supply(&mut self, graph: &Graph) {
        for task in &graph.tasks {
            if let Ok(at) = self.tasks.binary_search_by_key(&task.id, |listed| listed.task) {
                let known = &mut self.tasks[at];
                if known.func_ids.is_empty() {
                    known.func_ids = task.func_ids;
                }
                known.blocks = known.blocks.or(Some(task.blocks));
            }
        }
    }

    /// Whether it is known of any task which kernels it runs.
    pub fn knows_kernels(&self) -> bool {
        self.tasks.iter().any(|listed| !listed.func_ids.is_empty())
    }

    /// The kernels by name, joined with `+`; by number where they have no names.
    pub fn kernel_names(&self, func_ids: &[i32]) -> String {
        joined_names(func_ids, |id| self.names.get(&id).map(String::as_str))
    }

    /// The chosen task.
    pub fn select(&self, selection: &TaskChoice) -> Result<Listed, SelectError> {
        let TaskChoice { task, kernel, func_ids, nth } = selection;
        if self.tasks.is_empty() {
            return Err(SelectError::Empty);
        }
        if task.is_none() && kernel.is_none() && func_ids.is_none() {
            return Err(SelectError::Nothing { known: self.known_tasks() });
        }
        let runs_named = kernel.as_deref().map(|name| self.runs_kernel(name));
        let runs = |listed: &Listed| {
            let named = runs_named.as_ref().is_none_or(|runs| runs(&listed.func_ids));
            named && func_ids.as_ref().is_none_or(|ids| same_set(&listed.func_ids, ids))
        };
        if let Some(task) = task {
            let meant = self.resolve(task)?;
            let named: Vec<Listed> =
                self.tasks.iter().filter(|listed| meant.holds(listed.task)).copied().collect();
            let Some(first) = named.first() else {
                return Err(SelectError::NoTask { task: meant, known: self.known_tasks() });
            };
            // A dump without kernels cannot contradict: the name then says which kernel to use.
            let fits = |listed: &&Listed| listed.func_ids.is_empty() || runs(listed);
            let fitting = named.iter().filter(fits).count();
            if fitting == 0 {
                let asked = match (kernel, func_ids) {
                    (Some(name), _) => format!("'{name}'"),
                    (None, ids) => set_text(ids.as_deref().unwrap_or_default()),
                };
                let runs = self.kernel_names(&first.func_ids);
                return Err(SelectError::Contradiction { task: first.task, runs, asked });
            }
            let chosen = named.iter().find(|listed| fitting == 1 && fits(listed));
            return chosen
                .or_else(|| named.iter().filter(fits).nth(*nth))
                .copied()
                .ok_or(SelectError::Nth { nth: *nth, count: fitting });
        }
        if !self.knows_kernels() {
            return Err(SelectError::NoIds);
        }
        if let Some(found) = self.tasks.iter().filter(|listed| runs(listed)).nth(*nth) {
            return Ok(*found);
        }
        Err(match (self.tasks.iter().filter(|listed| runs(listed)).count(), kernel, func_ids) {
            (0, Some(name), _) => self.no_kernel(name),
            (0, None, Some(ids)) => SelectError::NoSet {
                set: set_text(ids),
                known: self.distinct(|listed| set_text(&listed.func_ids)),
            },
            (count, ..) => SelectError::Nth { nth: *nth, count },
        })
    }

    /// The same tasks by id.
    fn resolve(&self, task: &TaskSelector) -> Result<TaskSelector, SelectError> {
        let tasks = self.tasks.iter().map(|listed| (listed.task, listed.func_ids));
        let resolved = match task {
            TaskSelector::OfKernel { kernel, .. } => {
                let runs = self.runs_kernel(kernel);
                task.resolve(tasks, |funcs, _| runs(funcs))
            }
            _ => task.resolve(tasks, |_, _| false),
        };
        resolved.ok_or_else(|| match task {
            TaskSelector::OfKernel { kernel, number } => {
                let runs = self.runs_kernel(kernel);
                match self.tasks.iter().filter(|listed| runs(&listed.func_ids)).count() {
                    0 if !self.knows_kernels() => SelectError::NoIds,
                    0 => self.no_kernel(kernel),
                    count => SelectError::Nth { nth: *number, count },
                }
            }
            _ => SelectError::NoNumber { task: task.clone(), count: self.tasks.len() },
        })
    }

    fn no_kernel(&self, name: &str) -> SelectError {
        let known = self.distinct(|listed| self.kernel_names(&listed.func_ids));
        SelectError::NoKernel { name: name.to_owned(), known }
    }

    /// Tells whether a task runs what is called `name`. Names are looked up once, not per task.
    fn runs_kernel<'a>(&'a self, name: &'a str) -> impl Fn(&[i32]) -> bool + 'a {
        let ids: Vec<i32> =
            self.names.iter().filter(|(_, known)| is_called(known, name)).map(|(&func, _)| func).collect();
        move |funcs| {
            let whole = || name.contains('+') && is_called(&self.kernel_names(funcs), name);
            funcs.iter().any(|func| ids.contains(func)) || whole()
        }
    }

    fn known_tasks(&self) -> String {
        listed(self.tasks.iter().map(|listed| match listed.func_ids.is_empty() {
            true => format!("{:#x}", listed.task),
            false => format!("{:#x} ({})", listed.task, self.kernel_names(&listed.func_ids)),
        }))
    }

    fn distinct(&self, text: impl Fn(&Listed) -> String) -> String {
        let mut all: Vec<String> =
            self.tasks.iter().filter(|listed| !listed.func_ids.is_empty()).map(text).collect();
        all.sort();
        all.dedup();
        listed(all.into_iter())
    }
}

/// Exactly the same numbers, in any order. A mix may run one kernel twice; the set names it once or twice.
fn same_set(runs: &[i32], asked: &[i32]) -> bool {
    let sorted = |ids: &[i32]| {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids
    };
    let (mut runs, mut asked) = (sorted(runs), sorted(asked));
    if runs == asked {
        return true;
    }
    runs.dedup();
    asked.dedup();
    !asked.is_empty() && runs == asked
}

fn set_text(ids: &[i32]) -> String {
    let ids: Vec<String> = ids.iter().map(i32::to_string).collect();
    format!("{{{}}}", ids.join(","))
}

fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let count = items.len();
    let shown: Vec<String> = items.take(LISTED).collect();
    match count.saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_exact_whatever_its_order() {
        assert!(same_set(&[0, 1, 1], &[1, 0, 1]));
        assert!(same_set(&[0, 1, 1], &[1, 0]));
        assert!(!same_set(&[0, 1], &[0]));
        assert!(!same_set(&[0], &[0, 1]));
        assert!(!same_set(&[0], &[]));
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let items = (0..15).map(|number| number.to_string()).collect::<Vec<_>>();
        assert_eq!(listed(items.into_iter()), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more");
    }
}
