use std::sync::Arc;
use std::time::Duration;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::{Bell, ReadyQueue};

/// Two pushers, two poppers: everything is taken once.
#[test]
fn nothing_is_lost_or_doubled() {
    loom::model(|| {
        let queue = Arc::new(ReadyQueue::default());
        let taken = Arc::new(AtomicUsize::new(0));
        let pusher = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(0))
        };
        let popper = {
            let (queue, taken) = (Arc::clone(&queue), Arc::clone(&taken));
            thread::spawn(move || {
                if let Some(task) = queue.pop() {
                    taken.fetch_add(1 << (8 * task), Ordering::Relaxed);
                }
            })
        };
        queue.push(1);
        pusher.join().unwrap();
        popper.join().unwrap();
        while let Some(task) = queue.pop() {
            taken.fetch_add(1 << (8 * task), Ordering::Relaxed);
        }
        assert_eq!(taken.load(Ordering::Relaxed), 0x101);
    });
}

/// A worker that finds the queue empty and sleeps is woken by the bell of the thread that pushes, and then finds what
/// was pushed: the relaxed length is enough.
#[test]
fn a_push_and_its_bell_reach_a_sleeping_worker() {
    loom::model(|| {
        let shared = Arc::new((ReadyQueue::default(), Bell::default()));
        let worker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (queue, bell) = &*shared;
                loop {
                    let ticket = bell.ticket();
                    if let Some(task) = queue.pop() {
                        return task;
                    }
                    bell.sleep(ticket, Duration::MAX);
                }
            })
        };
        let (queue, bell) = &*shared;
        queue.push(7);
        bell.ring();
        assert_eq!(worker.join().unwrap(), 7);
    });
}
