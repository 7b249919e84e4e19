//! A ring: task slots and heap bytes that are reused in the order they were taken.
//!
//! The orchestrator takes at the head; the thread that lets go of the last hold on the oldest task moves the tail.
//! A younger task that is done waits for the older ones: reclaim is in order, so a ring is two counters and
//! not an allocator.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use argus_abi::TaskId;
use argus_abi::tensor::BUFFER_ALIGN;
use argus_gm::Buffer;
use argus_sync::relock;

use crate::config::RingConfig;
use crate::schedule::task::Task;

/// A task's share of the heap, until it is reclaimed.
#[derive(Clone, Copy, Debug)]
struct HeapSpan {
    local: u32,
    start: u64,
    end: u64,
}

#[derive(Debug, Default)]
struct State {
    /// Counter that names the next task.
    next_local: u32,
    /// Every task from the oldest that is not reclaimed to the newest.
    live: VecDeque<Arc<Task>>,
    /// Heap spans of live tasks that have one, oldest first.
    spans: VecDeque<HeapSpan>,
    /// Dependency edges of live tasks.
    edges: u32,
    /// Heap bytes and edges that were ever taken.
    heap_taken: u64,
    edges_taken: u64,
    /// Taken by the orchestrator for the task it is about to add.
    reserved: Option<HeapSpan>,
}

/// What was taken from a ring and what of it was given back, each counted since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub released: u64,
    pub taken: u64,
}

/// The three things that a ring hands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingUse {
    pub tasks: Flow,
    pub heap: Flow,
    pub edges: Flow,
}

/// What is missing for a task to be added now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    Window,
    Heap,
    Edges,
}

/// A place for one task: its id, and the address of its outputs if it has any.
#[derive(Clone, Copy, Debug)]
pub struct Reservation {
    pub id: TaskId,
    pub heap_addr: u64,
}

#[derive(Debug)]
pub struct Ring {
    index: u8,
    config: RingConfig,
    heap: Buffer,
    state: Mutex<State>,
}

impl Ring {
    pub fn new(index: u8, config: RingConfig, heap: Buffer) -> Ring {
        Ring { index, config, heap, state: Mutex::default() }
    }

    pub fn config(&self) -> &RingConfig {
        &self.config
    }

    pub fn heap(&self) -> Buffer {
        self.heap
    }

    /// Most tasks alive at once: one slot always stays free.
    pub fn capacity(&self) -> usize {
        self.config.window as usize - 1
    }

    /// Takes a slot, `bytes` of heap (already padded) and `edges` from the pool, or says what is missing.
    /// The place is the caller's until [`Ring::add`].
    pub fn reserve(&self, bytes: u64, edges: u32) -> Result<Reservation, Shortage> {
        let mut state = relock(self.state.lock());
        // A ring whose counter is used up has no names left for tasks; better full than a name used twice.
        if state.live.len() >= self.capacity() || state.next_local == u32::MAX {
            return Err(Shortage::Window);
        }
        if edges > self.config.dep_pool - state.edges {
            return Err(Shortage::Edges);
        }
        let local = state.next_local;
        let start = if bytes == 0 {
            0
        } else {
            let start = state.free_span(bytes, self.heap.len).ok_or(Shortage::Heap)?;
            state.reserved = Some(HeapSpan { local, start, end: start + bytes });
            start
        };
        Ok(Reservation { id: TaskId::new(self.index, local), heap_addr: self.heap.addr + start })
    }

    /// Puts the task into the place reserved for it.
    pub fn add(&self, task: Arc<Task>) {
        let mut state = relock(self.state.lock());
        debug_assert_eq!(task.id.local(), state.next_local);
        state.next_local += 1;
        state.edges += task.edges;
        state.edges_taken += u64::from(task.edges);
        if let Some(span) = state.reserved.take() {
            state.heap_taken += span.end - span.start;
            state.spans.push_back(span);
        }
        state.live.push_back(task);
    }

    /// The task with this counter, unless it was reclaimed or never existed.
    pub fn find(&self, local: u32) -> Lookup {
        let state = relock(self.state.lock());
        if local >= state.next_local {
            return Lookup::Never;
        }
        match state.live.front().map(|oldest| oldest.id.local()) {
            Some(first) if first <= local => {
                let there = |at: &usize| state.live.get(*at).is_some_and(|task| task.id.local() == local);
                // Names have gaps only where a block of them was begun.
                let at = Some((local - first) as usize)
                    .filter(there)
                    .or_else(|| state.live.binary_search_by_key(&local, |task| task.id.local()).ok());
                at.map_or(Lookup::Never, |at| Lookup::Live(Arc::clone(&state.live[at])))
            }
            _ => Lookup::Reclaimed,
        }
    }

    /// Continues with the name `local`, leaving out those before it. False if it is already given.
    pub fn begin_block(&self, local: u32) -> bool {
        let mut state = relock(self.state.lock());
        let free = state.next_local <= local;
        if free {
            state.next_local = local;
        }
        free
    }

    /// The name that the next task gets.
    pub fn next_local(&self) -> u32 {
        relock(self.state.lock()).next_local
    }

    /// Reclaims from the oldest task on, as far as tasks are consumed. True if anything was reclaimed.
    pub fn reclaim(&self) -> bool {
        let mut gone = Vec::new();
        let mut state = relock(self.state.lock());
        while state.live.front().is_some_and(|task| task.is_consumed()) {
            let Some(task) = state.live.pop_front() else { break };
            state.edges -= task.edges;
            if state.spans.front().is_some_and(|span| span.local == task.id.local()) {
                state.spans.pop_front();
            }
            gone.push(task);
        }
        drop(state);
        // Tasks are dropped here, outside the lock.
        !gone.is_empty()
    }

    /// What was taken and given back so far.
    pub fn flow(&self) -> RingUse {
        let state = relock(self.state.lock());
        let flow = |taken: u64, held: u64| Flow { released: taken - held, taken };
        let heap: u64 = state.spans.iter().map(|span| span.end - span.start).sum();
        RingUse {
            tasks: flow(state.next_local.into(), state.live.len() as u64),
            heap: flow(state.heap_taken, heap),
            edges: flow(state.edges_taken, state.edges.into()),
        }
    }

    /// Tasks that are not reclaimed.
    pub fn live(&self) -> Vec<Arc<Task>> {
        relock(self.state.lock()).live.iter().cloned().collect()
    }

    /// Forgets the tasks of an aborted run.
    pub fn clear(&self) {
        let live = std::mem::take(&mut relock(self.state.lock()).live);
        for task in &live {
            task.unlink();
        }
    }
}

/// What a task id resolves to.
#[derive(Debug)]
pub enum Lookup {
    Live(Arc<Task>),
    /// It ran, completed, and its slot was given back.
    Reclaimed,
    /// No such task was submitted.
    Never,
}

impl State {
    /// Start of `bytes` free heap bytes in one piece: after the newest span, or at 0 when the end is too
    /// close. Without any span the heap starts over at 0.
    fn free_span(&self, bytes: u64, heap_len: u64) -> Option<u64> {
        let (Some(oldest), Some(newest)) = (self.spans.front(), self.spans.back()) else {
            return (bytes <= heap_len).then_some(0);
        };
        let (tail, head) = (oldest.start, newest.end);
        if newest.start >= oldest.start {
            // Used: tail..head. Free: head..end, then 0..tail.
            if heap_len - head >= bytes {
                return Some(head);
            }
            (tail >= bytes).then_some(0)
        } else {
            // Used: tail..end and 0..head. Free: head..tail.
            (tail - head >= bytes).then_some(head)
        }
    }
}

/// Bytes of heap that an output of `bytes` takes.
pub fn padded(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(BUFFER_ALIGN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::task::{TaskArgs, Work};

    fn ring(window: u32, heap: u64) -> Ring {
        let config = RingConfig { window, heap, dep_pool: 16 };
        Ring::new(2, config, Buffer { addr: 0x10000, len: heap })
    }

    fn add(ring: &Ring, bytes: u64) -> Result<(u64, Arc<Task>), Shortage> {
        let place = ring.reserve(bytes, 0)?;
        let task = Arc::new(Task::new(place.id, Work::None, TaskArgs::default(), 0));
        ring.add(Arc::clone(&task));
        Ok((place.heap_addr - 0x10000, task))
    }

    fn consume(ring: &Ring, task: &Task) {
        assert!(!task.let_go());
        assert!(task.let_go());
        ring.reclaim();
    }

    #[test]
    fn ids_count_up_and_one_slot_stays_free() {
        let ring = ring(4, 4096);
        for local in 0..3 {
            assert_eq!(add(&ring, 0).unwrap().1.id, TaskId::new(2, local));
        }
        assert_eq!(add(&ring, 0).unwrap_err(), Shortage::Window);
    }

    #[test]
    fn reclaim_is_in_order() {
        let ring = ring(4, 4096);
        let tasks: Vec<_> = (0..3).map(|_| add(&ring, 1024).unwrap().1).collect();
        consume(&ring, &tasks[1]);
        assert_eq!(add(&ring, 0).unwrap_err(), Shortage::Window);
        consume(&ring, &tasks[0]);
        assert!(matches!(ring.find(1), Lookup::Reclaimed));
        assert!(matches!(ring.find(2), Lookup::Live(_)));
        assert!(matches!(ring.find(3), Lookup::Never));
        assert!(add(&ring, 0).is_ok());
    }

    #[test]
    fn the_heap_fits_exactly_wraps_and_starts_over() {
        let ring = ring(16, 4096);
        let (at, first) = add(&ring, 2048).unwrap();
        assert_eq!(at, 0);
        let (at, second) = add(&ring, 2048).unwrap();
        assert_eq!(at, 2048);
        assert_eq!(add(&ring, 1024).unwrap_err(), Shortage::Heap);
        consume(&ring, &first);
        let (at, third) = add(&ring, 1024).unwrap();
        assert_eq!(at, 0, "wraps to the front");
        assert_eq!(add(&ring, 2048).unwrap_err(), Shortage::Heap);
        let (at, fourth) = add(&ring, 1024).unwrap();
        assert_eq!(at, 1024, "exact fit below the oldest");
        assert_eq!(add(&ring, 1024).unwrap_err(), Shortage::Heap);
        for task in [second, third, fourth] {
            consume(&ring, &task);
        }
        assert_eq!(add(&ring, 4096).unwrap().0, 0, "an empty heap starts over");
    }

    #[test]
    fn a_buffer_never_wraps() {
        let ring = ring(16, 4096);
        let (_, first) = add(&ring, 1024).unwrap();
        let (_, _second) = add(&ring, 2048).unwrap();
        consume(&ring, &first);
        assert_eq!(add(&ring, 2048).unwrap_err(), Shortage::Heap, "1024 at each end is not 2048");
    }

    #[test]
    fn edges_come_back_with_their_task() {
        let ring = ring(16, 4096);
        let place = ring.reserve(0, 12).unwrap();
        let task = Arc::new(Task::new(place.id, Work::None, TaskArgs::default(), 12));
        ring.add(Arc::clone(&task));
        assert_eq!(ring.reserve(0, 5).unwrap_err(), Shortage::Edges);
        consume(&ring, &task);
        assert!(ring.reserve(0, 5).is_ok());
    }
}
