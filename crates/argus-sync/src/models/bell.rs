use std::sync::Arc;
use std::time::Duration;

use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use crate::Bell;

/// A thread that looks for work, finds none and sleeps is woken by work that comes at any moment.
#[test]
fn no_wake_up_is_lost() {
    loom::model(|| {
        let bell = Arc::new(Bell::default());
        let work = Arc::new(AtomicBool::new(false));
        let worker = sleeper(&bell, &work);
        work.store(true, Ordering::Relaxed);
        bell.ring();
        worker.join().unwrap();
    });
}

/// The end of a run wakes every sleeper, also beside an ordinary ring.
#[test]
fn ringing_for_all_wakes_every_sleeper() {
    super::bounded(2, || {
        let bell = Arc::new(Bell::default());
        let ended = Arc::new(AtomicBool::new(false));
        let workers = [(); 2].map(|()| sleeper(&bell, &ended));
        bell.ring();
        ended.store(true, Ordering::Relaxed);
        bell.ring_all();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// A ring for all reaches every thread that slept when it rang, also if a thread that comes later takes one of the
/// wake-ups: the one who waits for a condition of its own must not be left behind.
#[test]
fn a_late_sleeper_leaves_no_thread_asleep() {
    super::bounded(2, || {
        let bell = Arc::new(Bell::default());
        let [completed, ended] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (waits, passes_by) = (sleeper(&bell, &completed), sleeper(&bell, &ended));
        completed.store(true, Ordering::Relaxed);
        bell.ring_all();
        waits.join().unwrap();
        ended.store(true, Ordering::Relaxed);
        bell.ring_all();
        passes_by.join().unwrap();
    });
}

/// News wake the one who waits for them, however many others sleep for work: a ring that woke only one of them
/// might wake the wrong one.
#[test]
fn news_reach_the_one_who_waits_for_them() {
    super::bounded(3, || {
        let bell = Arc::new(Bell::default());
        let completed = Arc::new(AtomicUsize::new(0));
        let ended = Arc::new(AtomicBool::new(false));
        let worker = sleeper(&bell, &ended);
        let orchestrator = {
            let (bell, completed) = (Arc::clone(&bell), Arc::clone(&completed));
            thread::spawn(move || {
                loop {
                    let ticket = bell.ticket();
                    if completed.load(Ordering::Relaxed) > 0 {
                        return;
                    }
                    bell.sleep_until_news(ticket, Duration::MAX);
                }
            })
        };
        completed.fetch_add(1, Ordering::Relaxed);
        bell.ring_news();
        orchestrator.join().unwrap();
        ended.store(true, Ordering::Relaxed);
        bell.ring_all();
        worker.join().unwrap();
    });
}

/// Sleeps until a flag is set that its setter rings for.
fn sleeper(bell: &Arc<Bell>, flag: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let (bell, flag) = (Arc::clone(bell), Arc::clone(flag));
    thread::spawn(move || {
        loop {
            let ticket = bell.ticket();
            if flag.load(Ordering::Relaxed) {
                return;
            }
            bell.sleep(ticket, Duration::MAX);
        }
    })
}
