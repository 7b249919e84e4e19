use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::Memory;
use crate::{Completion, Countdown, Holds};

/// Wiring a consumer while its producer completes: the consumer becomes ready exactly once.
#[test]
fn a_consumer_wired_during_completion_becomes_ready_once() {
    loom::model(|| {
        let producer = Arc::new(Completion::<Arc<Countdown>>::default());
        let consumer = Arc::new(Countdown::new(1));
        let ready = Arc::new(AtomicUsize::new(0));
        let completer = {
            let (producer, ready) = (Arc::clone(&producer), Arc::clone(&ready));
            thread::spawn(move || {
                for consumer in producer.complete() {
                    ready.fetch_add(consumer.finish_one().into(), Ordering::Relaxed);
                }
            })
        };
        producer.link(|| {
            consumer.add_one();
            Arc::clone(&consumer)
        });
        ready.fetch_add(consumer.finish_one().into(), Ordering::Relaxed);
        completer.join().unwrap();
        assert_eq!(ready.load(Ordering::Relaxed), 1);
    });
}

/// Two producers complete at once: the consumer becomes ready once, and sees what both wrote.
#[test]
fn the_last_of_two_producers_releases_the_consumer() {
    loom::model(|| {
        let consumer = Arc::new(Countdown::new(2));
        let memory = Arc::new([Memory::new(), Memory::new()]);
        let ready = Arc::new(AtomicUsize::new(0));
        let threads = [0, 1].map(|index| {
            let (consumer, memory, ready) = (Arc::clone(&consumer), Arc::clone(&memory), Arc::clone(&ready));
            thread::spawn(move || {
                memory[index].write(5);
                if consumer.finish_one() {
                    assert_eq!(memory.each_ref().map(Memory::read), [5; 2]);
                    ready.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(ready.load(Ordering::Relaxed), 1);
    });
}

/// The thread that sees that a task is complete sees what it wrote: the orchestration reads tensors then.
#[test]
fn a_seen_completion_shows_what_came_before() {
    loom::model(|| {
        let shared = Arc::new((Completion::<()>::default(), Memory::new()));
        let completer = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1.write(3);
                assert!(shared.0.complete().is_empty());
            })
        };
        if shared.0.is_complete() {
            assert_eq!(shared.1.read(), 3);
        }
        completer.join().unwrap();
    });
}

/// A creator's memory is kept while a consumer retains it, whichever lets go first, and freed exactly once, by
/// a thread that sees that all others are done with it.
#[test]
fn memory_is_given_up_exactly_once() {
    loom::model(|| {
        let shared = Arc::new((Holds::new(1), [Memory::new(), Memory::new()], AtomicUsize::new(0)));
        assert!(shared.0.retain());
        let let_go = |shared: &(Holds, [Memory; 2], AtomicUsize), index: usize| {
            let (holds, memory, freed) = shared;
            memory[index].write(1);
            if holds.let_go() {
                // Reuse: what others still did to it would show.
                memory.iter().for_each(|memory| memory.write(2));
                freed.fetch_add(1, Ordering::Relaxed);
            }
        };
        let using = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || let_go(&shared, 0))
        };
        let_go(&shared, 1);
        using.join().unwrap();
        assert_eq!(shared.2.load(Ordering::Relaxed), 1);
        assert!(shared.0.is_free());
        assert!(!shared.0.retain(), "what was given up cannot be retained again");
    });
}

/// The thread that finds that no thread holds the memory may reuse it, also if another thread let go last.
#[test]
fn memory_found_free_may_be_reused() {
    loom::model(|| {
        let shared = Arc::new((Holds::new(1), Memory::new()));
        let holder = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1.write(1);
                assert!(shared.0.let_go());
            })
        };
        if shared.0.is_free() {
            shared.1.write(2);
        }
        holder.join().unwrap();
    });
}
