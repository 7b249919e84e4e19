//! Tasks whose kernels have run and which are complete only when words in memory say so. They hold no core: what they
//! wait for may need every core there is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use argus_abi::TaskId;
use argus_sync::relock;
use argus_tile::Deferred;

use crate::error::KernelSite;
use crate::schedule::task::Task;

#[derive(Default)]
pub struct Deferrals {
    held: Mutex<Vec<Held>>,
    /// How many there are: asked so often that one look must do.
    count: AtomicUsize,
    /// The task runs alone: there is no other that would notify it.
    ignored: AtomicBool,
}

/// A task that something is to be waited for.
struct Held {
    id: TaskId,
    /// Once the last of its parts has run.
    task: Option<Arc<Task>>,
    conditions: Vec<(KernelSite, Deferred)>,
}

impl Held {
    /// A word that cannot be read any more will never say anything else.
    fn is_complete(&self) -> bool {
        self.task.is_some() && self.conditions.iter().all(|(_, condition)| condition.holds().unwrap_or(true))
    }
}

impl Deferrals {
    /// From now on a task is complete when its kernels are: it runs alone.
    pub fn ignore(&self) {
        self.ignored.store(true, Ordering::Relaxed);
    }

    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Relaxed: a thread that has to know of a task learns of it by its core's report, which comes later.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// What a kernel left behind. Called before its core reports it as finished.
    pub fn register(&self, id: TaskId, site: &KernelSite, conditions: Vec<Deferred>) {
        if self.ignored.load(Ordering::Relaxed) {
            return;
        }
        let mut held = relock(self.held.lock());
        let conditions = conditions.into_iter().map(|condition| (site.clone(), condition));
        match held.iter_mut().find(|held| held.id == id) {
            Some(known) => known.conditions.extend(conditions),
            None => held.push(Held { id, task: None, conditions: conditions.collect() }),
        }
        self.count.store(held.len(), Ordering::Relaxed);
    }

    /// The last part of a task has run. True if the task has to wait.
    pub fn holds_back(&self, task: &Arc<Task>) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut held = relock(self.held.lock());
        let known = held.iter_mut().find(|held| held.id == task.id);
        known.map(|held| held.task = Some(Arc::clone(task))).is_some()
    }

    /// The tasks whose conditions hold by now.
    pub fn take_complete(&self) -> Vec<Arc<Task>> {
        if self.is_empty() {
            return Vec::new();
        }
        // A thread that has the lock looks for the others.
        let Ok(mut held) = self.held.try_lock() else { return Vec::new() };
        let complete: Vec<Held> = held.extract_if(.., |held| held.is_complete()).collect();
        self.count.store(held.len(), Ordering::Relaxed);
        complete.into_iter().filter_map(|held| held.task).collect()
    }

    /// What the first task waits for: the kernel that asked for it, and in words.
    pub fn first(&self) -> Option<(KernelSite, String)> {
        let held = relock(self.held.lock());
        let ran = held.iter().filter(|held| held.task.is_some());
        let mut open = ran.flat_map(|held| &held.conditions);
        let unmet = open.find(|(_, condition)| !condition.holds().unwrap_or(true));
        unmet.map(|(site, condition)| (site.clone(), condition.to_string()))
    }

    pub fn clear(&self) {
        relock(self.held.lock()).clear();
        self.count.store(0, Ordering::Relaxed);
    }
}
