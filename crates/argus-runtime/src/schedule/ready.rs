//! Tasks that wait for a core: one queue per shape.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::schedule::task::Task;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, relock};

/// A first-in-first-out queue whose emptiness can be read without its lock.
#[derive(Debug)]
pub struct ReadyQueue {
    len: AtomicUsize,
    tasks: Mutex<VecDeque<Arc<Task>>>,
}

impl Default for ReadyQueue {
    fn default() -> ReadyQueue {
        ReadyQueue { len: AtomicUsize::new(0), tasks: Mutex::new(VecDeque::new()) }
    }
}

impl ReadyQueue {
    pub fn push(&self, task: Arc<Task>) {
        let mut tasks = relock(self.tasks.lock());
        tasks.push_back(task);
        self.len.store(tasks.len(), Ordering::Release);
    }

    /// Puts back a task that could not be placed whole; it keeps its turn.
    pub fn push_front(&self, task: Arc<Task>) {
        let mut tasks = relock(self.tasks.lock());
        tasks.push_front(task);
        self.len.store(tasks.len(), Ordering::Release);
    }

    pub fn pop(&self) -> Option<Arc<Task>> {
        if self.is_empty() {
            return None;
        }
        let mut tasks = relock(self.tasks.lock());
        let task = tasks.pop_front();
        self.len.store(tasks.len(), Ordering::Release);
        task
    }

    /// A hint: a push that has not yet released its lock may be missed; its bell rings afterwards.
    pub fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }

    /// Empties the queue of an aborted run.
    pub fn clear(&self) {
        let tasks = std::mem::take(&mut *relock(self.tasks.lock()));
        self.len.store(0, Ordering::Release);
        drop(tasks);
    }
}
