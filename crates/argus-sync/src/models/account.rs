use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::Memory;
use crate::TaskAccount;

/// In silence all completions are counted and visible; a task that a completing one made ready keeps the run
/// from being silent in between.
#[test]
fn silence_shows_every_completion() {
    loom::model(|| {
        let shared = Arc::new((TaskAccount::default(), [Memory::new(), Memory::new()]));
        let (account, memory) = &*shared;
        account.submit();
        account.submit();
        account.enter_flight();
        let worker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (account, memory) = &*shared;
                memory[0].write(1);
                // The second waited for the first.
                account.enter_flight();
                assert!(!account.complete());
                memory[1].write(1);
                assert!(!account.complete());
            })
        };
        if account.is_quiet() {
            assert_eq!(account.completed(), 2);
            assert_eq!(memory.each_ref().map(Memory::read), [1; 2]);
        }
        worker.join().unwrap();
        assert!(account.is_quiet());
    });
}

/// Silence after two threads completed one task each shows what both did.
#[test]
fn silence_shows_the_completions_of_all_threads() {
    loom::model(|| {
        let shared = Arc::new((TaskAccount::default(), [Memory::new(), Memory::new()]));
        let (account, memory) = &*shared;
        for _ in 0..2 {
            account.submit();
            account.enter_flight();
        }
        let workers = [0, 1].map(|index| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1[index].write(1);
                assert!(!shared.0.complete());
            })
        });
        if account.is_quiet() {
            assert_eq!(memory.each_ref().map(Memory::read), [1; 2]);
        }
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// An orchestration that waits remembers how many had completed, then looks whether it can go on: what was
/// counted must be seen by that look, because only a further completion ends the wait.
#[test]
fn what_is_counted_is_visible() {
    loom::model(|| {
        let shared = Arc::new((TaskAccount::default(), Memory::new()));
        let (account, memory) = &*shared;
        account.submit();
        account.enter_flight();
        let worker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1.write(1);
                assert!(!shared.0.complete());
            })
        };
        if account.completed() == 1 {
            assert_eq!(memory.read(), 1);
        }
        worker.join().unwrap();
    });
}

/// The last completion or the end of the orchestration ends the run, exactly one of them, and the thread that does
/// sees what all tasks did.
#[test]
fn a_run_ends_exactly_once() {
    super::bounded(3, || {
        let shared = Arc::new((TaskAccount::default(), [Memory::new(), Memory::new()], AtomicUsize::new(0)));
        let end = |shared: &(TaskAccount, [Memory; 2], AtomicUsize)| {
            assert_eq!(shared.1.each_ref().map(Memory::read), [1; 2]);
            shared.2.fetch_add(1, Ordering::Relaxed);
        };
        let workers = [0, 1].map(|index| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                // The number of tasks is not handed over with the task here, so that only the end of the
                // orchestration can do it.
                shared.1[index].write(1);
                if shared.0.complete() {
                    end(&shared);
                }
            })
        });
        for _ in 0..2 {
            shared.0.submit();
            shared.0.enter_flight();
        }
        if shared.0.end_orchestration() {
            end(&shared);
        }
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(shared.2.load(Ordering::Relaxed), 1);
    });
}

/// Who sees that the graph is whole sees how many tasks it has: otherwise a run would be taken for stuck.
#[test]
fn a_whole_graph_has_all_its_tasks() {
    loom::model(|| {
        let account = Arc::new(TaskAccount::default());
        let orchestration = {
            let account = Arc::clone(&account);
            thread::spawn(move || {
                account.submit();
                assert!(!account.end_orchestration());
            })
        };
        if account.is_whole() {
            assert_eq!(account.submitted(), 1);
        }
        orchestration.join().unwrap();
    });
}
