//! What is ready and waits for a thread to take it.

use std::collections::VecDeque;

use crate::primitives::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::primitives::{Mutex, relock};

/// A first-in-first-out queue whose emptiness can be read without its lock.
///
/// The lock hands over what is in the queue; the length beside it is relaxed. The thread that misses a push because
/// of that is told by the bell that the pusher rings afterwards, and sees the length then.
#[derive(Debug)]
pub struct ReadyQueue<T> {
    len: AtomicUsize,
    tasks: Mutex<VecDeque<T>>,
}

impl<T> Default for ReadyQueue<T> {
    fn default() -> ReadyQueue<T> {
        ReadyQueue { len: AtomicUsize::new(0), tasks: Mutex::new(VecDeque::new()) }
    }
}

impl<T> ReadyQueue<T> {
    pub fn push(&self, task: T) {
        let mut tasks = relock(self.tasks.lock());
        tasks.push_back(task);
        self.len.store(tasks.len(), Relaxed);
    }

    /// Puts back a task that could not be placed whole; it keeps its turn.
    pub fn push_front(&self, task: T) {
        let mut tasks = relock(self.tasks.lock());
        tasks.push_front(task);
        self.len.store(tasks.len(), Relaxed);
    }

    #[inline]
    pub fn pop(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut tasks = relock(self.tasks.lock());
        let task = tasks.pop_front();
        self.len.store(tasks.len(), Relaxed);
        task
    }

    /// A hint: a push whose bell has not rung yet may be missed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len.load(Relaxed) == 0
    }

    /// Empties the queue of an aborted run.
    pub fn clear(&self) {
        let tasks = std::mem::take(&mut *relock(self.tasks.lock()));
        self.len.store(0, Relaxed);
        drop(tasks);
    }
}
