//! The tasks of a dump: made once, then every question costs what it shows.
//!
//! A *place* is a position in the order of the browser: records by task, within a task as the dump has them. A
//! *task* is named by its position in the list of tasks.

use std::ops::Range;

use argus_abi::TaskId;
use argus_facts::FuncIds;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::source::Source;

/// Tasks in the order of their ids, and which records are theirs.
pub struct Index {
    tasks: Vec<Task>,
    /// Names of kernels, each combination once.
    names: Vec<String>,
    /// Record at each place; `None` if that is its own number.
    order: Option<Vec<usize>>,
    places: usize,
}

struct Task {
    id: TaskId,
    /// Its first place.
    first: usize,
    /// In `names`.
    kernels: usize,
}

impl Index {
    pub fn new(source: &dyn Source) -> Index {
        let places = source.len();
        let mut records: Vec<(TaskId, FuncIds, usize)> = (0..places)
            .into_par_iter()
            .map(|index| {
                let record = source.record(index);
                (record.task_id, record.func_ids, index)
            })
            .collect();
        let mut order = None;
        if !records.is_sorted_by_key(|record| record.0) {
            records.par_sort_by_key(|record| record.0);
            order = Some(records.iter().map(|record| record.2).collect());
        }
        let mut index = Index { tasks: Vec::new(), names: Vec::new(), order, places };
        let mut known = FxHashMap::default();
        let mut last = None;
        for (place, &(id, funcs, record)) in records.iter().enumerate() {
            if last == Some(id) {
                continue;
            }
            last = Some(id);
            let kernels = *known.entry(funcs).or_insert_with(|| {
                index.names.push(source.kernels(&source.record(record)));
                index.names.len() - 1
            });
            index.tasks.push(Task { id, first: place, kernels });
        }
        index
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Number of places.
    pub fn places(&self) -> usize {
        self.places
    }

    pub fn id(&self, task: usize) -> TaskId {
        self.tasks.get(task).map_or(TaskId::INVALID, |task| task.id)
    }

    pub fn kernels(&self, task: usize) -> &str {
        self.tasks.get(task).and_then(|task| self.names.get(task.kernels)).map_or("", String::as_str)
    }

    /// Places of a task's records.
    pub fn places_of(&self, task: usize) -> Range<usize> {
        let first = |task: usize| self.tasks.get(task).map_or(self.places, |task| task.first);
        first(task)..first(task.saturating_add(1))
    }

    /// The record at a place.
    pub fn record(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| order.get(place).copied().unwrap_or(place))
    }

    /// The task whose record is at a place.
    pub fn task_at(&self, place: usize) -> usize {
        self.tasks.partition_point(|task| task.first <= place).saturating_sub(1)
    }

    /// Finds tasks whose id or kernels, as shown, contain `text` in any letter case.
    pub fn matcher(&self, text: &str) -> Matcher<'_> {
        let text = text.to_lowercase();
        let names = self.names.iter().map(|name| name.to_lowercase().contains(&text)).collect();
        Matcher { index: self, names, text }
    }
}

/// A text that is looked for.
pub struct Matcher<'a> {
    index: &'a Index,
    /// For each combination of kernels whether it matches.
    names: Vec<bool>,
    text: String,
}

impl Matcher<'_> {
    pub fn matches(&self, task: usize) -> bool {
        self.index.tasks.get(task).is_some_and(|task| {
            self.names.get(task.kernels).copied().unwrap_or(false) || task.id.to_string().contains(&self.text)
        })
    }
}
