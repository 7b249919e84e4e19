//! Every hand-off between threads, checked in all interleavings that loom explores.
//!
//! Run with `cargo xtask loom`.
#![cfg(loom)]
#![allow(unsafe_code, reason = "loom's cells hand out raw pointers; loom itself checks every access")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "as above")]

use std::sync::Arc;
use std::time::Duration;

use argus_abi::TaskId;
use argus_runtime::schedule::bell::Bell;
use argus_runtime::schedule::mailbox::{Condition, Mailbox, Token};
use argus_runtime::schedule::ready::ReadyQueue;
use argus_runtime::schedule::task::{Task, TaskArgs, Work};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

fn task(local: u32) -> Arc<Task> {
    Arc::new(Task::new(TaskId::new(0, local), Work::None, TaskArgs::default(), 0))
}

/// What a kernel writes is seen by the control thread that reads its finish, and the payload is seen by the
/// core that reads the token. loom's cells report any unsynchronised access.
#[test]
fn mailbox_publishes_payload_and_results() {
    loom::model(|| {
        let mailbox = Arc::new(Mailbox::<u64>::default());
        let memory = Arc::new(UnsafeCell::new(0u64));
        let core = {
            let (mailbox, memory) = (Arc::clone(&mailbox), Arc::clone(&memory));
            thread::spawn(move || {
                let token = loop {
                    match mailbox.receive(None) {
                        Some(token) => break token,
                        None => thread::yield_now(),
                    }
                };
                mailbox.acknowledge(token);
                let value = *mailbox.payload(token);
                memory.with_mut(|memory| unsafe { *memory = value + 1 });
                mailbox.finish(token);
            })
        };
        mailbox.post(Token::FIRST, |payload| *payload = 41);
        loop {
            match mailbox.condition() {
                Condition::Finished(token) => {
                    assert_eq!(token, Token::FIRST);
                    break;
                }
                _ => thread::yield_now(),
            }
        }
        assert_eq!(memory.with(|memory| unsafe { *memory }), 42);
        core.join().unwrap();
    });
}

/// A core that takes a second token overwrites its first finish; the acknowledgement still publishes what
/// the first task wrote.
#[test]
fn the_next_acknowledgement_publishes_the_task_before() {
    loom::model(|| {
        let mailbox = Arc::new(Mailbox::<u64>::default());
        let memory = Arc::new(UnsafeCell::new(0u64));
        let (first, second) = (Token::FIRST, Token::FIRST.next());
        mailbox.post(first, |payload| *payload = 1);
        let core = {
            let (mailbox, memory) = (Arc::clone(&mailbox), Arc::clone(&memory));
            thread::spawn(move || {
                let token = mailbox.receive(None).unwrap();
                if token == first {
                    mailbox.acknowledge(first);
                    memory.with_mut(|memory| unsafe { *memory = 7 });
                    mailbox.finish(first);
                    if let Some(next) = mailbox.receive(Some(first)) {
                        mailbox.acknowledge(next);
                    }
                }
            })
        };
        match mailbox.condition() {
            Condition::Finished(token) if token == first => {
                mailbox.post(second, |payload| *payload = 2);
                assert_eq!(memory.with(|memory| unsafe { *memory }), 7);
            }
            Condition::Running(token) if token == second => {
                assert_eq!(memory.with(|memory| unsafe { *memory }), 7);
            }
            _ => {}
        }
        core.join().unwrap();
    });
}

/// Wiring a consumer while its producer completes: the consumer becomes ready exactly once.
#[test]
fn a_consumer_wired_during_completion_becomes_ready_once() {
    loom::model(|| {
        let (producer, consumer) = (task(0), task(1));
        let ready = Arc::new(AtomicUsize::new(0));
        let completer = {
            let (producer, ready) = (Arc::clone(&producer), Arc::clone(&ready));
            thread::spawn(move || {
                producer.complete(|_| {
                    ready.fetch_add(1, Ordering::Relaxed);
                });
            })
        };
        consumer.wait_for(&producer);
        if consumer.publish() {
            ready.fetch_add(1, Ordering::Relaxed);
        }
        completer.join().unwrap();
        assert_eq!(ready.load(Ordering::Relaxed), 1);
    });
}

/// Two producers complete at once: the consumer becomes ready once, and sees what both wrote.
#[test]
fn the_last_of_two_producers_releases_the_consumer() {
    loom::model(|| {
        let producers = [task(0), task(1)];
        let consumer = task(2);
        for producer in &producers {
            consumer.wait_for(producer);
        }
        assert!(!consumer.publish());
        let memory: Arc<[UnsafeCell<u64>; 2]> = Arc::new([UnsafeCell::new(0), UnsafeCell::new(0)]);
        let ready = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = producers
            .into_iter()
            .enumerate()
            .map(|(index, producer)| {
                let (memory, ready) = (Arc::clone(&memory), Arc::clone(&ready));
                thread::spawn(move || {
                    memory[index].with_mut(|memory| unsafe { *memory = 5 });
                    producer.complete(|_| {
                        for memory in memory.iter() {
                            assert_eq!(memory.with(|memory| unsafe { *memory }), 5);
                        }
                        ready.fetch_add(1, Ordering::Relaxed);
                    });
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(ready.load(Ordering::Relaxed), 1);
    });
}

/// A creator's memory is kept while a consumer retains it, whoever lets go first, and freed exactly once.
#[test]
fn memory_is_given_up_exactly_once() {
    loom::model(|| {
        let creator = task(0);
        let consumer = task(1);
        assert!(consumer.retain(&creator));
        let freed = Arc::new(AtomicUsize::new(0));
        let completion = {
            let (creator, freed) = (Arc::clone(&creator), Arc::clone(&freed));
            thread::spawn(move || {
                if creator.let_go() {
                    freed.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let using = {
            let freed = Arc::clone(&freed);
            thread::spawn(move || {
                for creator in consumer.take_retained() {
                    if creator.let_go() {
                        freed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        };
        // The end of the scope.
        if creator.let_go() {
            freed.fetch_add(1, Ordering::Relaxed);
        }
        completion.join().unwrap();
        using.join().unwrap();
        assert_eq!(freed.load(Ordering::Relaxed), 1);
        assert!(creator.is_consumed());
        assert!(!task(2).retain(&creator), "what was given up cannot be retained again");
    });
}

/// Two pushers, two poppers: every task is taken once.
#[test]
fn the_ready_queue_neither_loses_nor_doubles() {
    loom::model(|| {
        let queue = Arc::new(ReadyQueue::default());
        let taken = Arc::new(AtomicUsize::new(0));
        let pusher = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(task(0)))
        };
        let popper = {
            let (queue, taken) = (Arc::clone(&queue), Arc::clone(&taken));
            thread::spawn(move || {
                if let Some(task) = queue.pop() {
                    taken.fetch_add(1 << (8 * task.id.local()), Ordering::Relaxed);
                }
            })
        };
        queue.push(task(1));
        pusher.join().unwrap();
        popper.join().unwrap();
        while let Some(task) = queue.pop() {
            taken.fetch_add(1 << (8 * task.id.local()), Ordering::Relaxed);
        }
        assert_eq!(taken.load(Ordering::Relaxed), 0x101);
    });
}

/// A thread that looks for work, finds none and sleeps is woken by work that comes at any moment. In the
/// model a lost wake-up is a deadlock, which loom reports.
#[test]
fn the_bell_loses_no_wake_up() {
    loom::model(|| {
        let bell = Arc::new(Bell::default());
        let work = Arc::new(AtomicBool::new(false));
        let worker = {
            let (bell, work) = (Arc::clone(&bell), Arc::clone(&work));
            thread::spawn(move || {
                loop {
                    let ticket = bell.ticket();
                    if work.load(Ordering::Relaxed) {
                        return;
                    }
                    bell.sleep(ticket, Duration::MAX);
                }
            })
        };
        work.store(true, Ordering::Relaxed);
        bell.ring();
        worker.join().unwrap();
    });
}

/// The end of a run wakes every sleeper, also beside an ordinary ring.
#[test]
fn ringing_for_all_wakes_every_sleeper() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let bell = Arc::new(Bell::default());
        let ended = Arc::new(AtomicBool::new(false));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let (bell, ended) = (Arc::clone(&bell), Arc::clone(&ended));
                thread::spawn(move || {
                    loop {
                        let ticket = bell.ticket();
                        if ended.load(Ordering::Relaxed) {
                            return;
                        }
                        bell.sleep(ticket, Duration::MAX);
                    }
                })
            })
            .collect();
        bell.ring();
        ended.store(true, Ordering::Relaxed);
        bell.ring_all();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// A ring for all reaches everybody who slept when it rang, also if somebody who comes later takes one of the
/// wake-ups: the one who waits for a condition of its own must not be left behind.
#[test]
fn a_late_sleeper_leaves_nobody_behind() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let bell = Arc::new(Bell::default());
        let sleeper = |flag: &Arc<AtomicBool>| {
            let (bell, flag) = (Arc::clone(&bell), Arc::clone(flag));
            thread::spawn(move || {
                loop {
                    let ticket = bell.ticket();
                    if flag.load(Ordering::Relaxed) {
                        return;
                    }
                    bell.sleep(ticket, Duration::MAX);
                }
            })
        };
        let [completed, ended] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (waits, passes_by) = (sleeper(&completed), sleeper(&ended));
        completed.store(true, Ordering::Relaxed);
        bell.ring_all();
        waits.join().unwrap();
        ended.store(true, Ordering::Relaxed);
        bell.ring_all();
        passes_by.join().unwrap();
    });
}
