//! The host threads of a run.
//!
//! About one per CPU. A kernel that may wait for another core (a member of a mix, a block of a cohort) keeps
//! its thread while it waits, so before it starts the crew makes sure that another thread is free to run
//! that other core: progress never depends on how many CPUs there are.

use std::any::Any;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::schedule::Scheduler;
use crate::sync::relock;

/// How often an idle thread looks again before it sleeps: a hand-off within this time costs no system call.
const SPINS: u32 = 64;
const YIELDS: u32 = 2;
/// No wake-up is ever lost, so this only bounds the damage of a mistake.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

pub struct Crew {
    scheduler: Weak<Scheduler>,
    /// Threads that look for work or will soon: neither in a kernel that may wait nor orchestrating.
    free: AtomicIsize,
    hired: AtomicUsize,
    present: Mutex<usize>,
    left: Condvar,
}

/// A thread does something other than looking for work, for as long as this lives.
pub struct Away<'a>(&'a Crew);

impl Crew {
    pub fn new(scheduler: Weak<Scheduler>) -> Crew {
        Crew {
            scheduler,
            free: AtomicIsize::new(0),
            hired: AtomicUsize::new(0),
            present: Mutex::new(0),
            left: Condvar::new(),
        }
    }

    /// Starts a thread that does `first` and then works until the run ends.
    pub fn hire(&self, first: impl FnOnce(&Arc<Scheduler>, usize) + Send + 'static) {
        let Some(scheduler) = self.scheduler.upgrade() else { return };
        let worker = self.hired.fetch_add(1, Ordering::Relaxed);
        *relock(self.present.lock()) += 1;
        self.free.fetch_add(1, Ordering::AcqRel);
        let spawned = std::thread::Builder::new().name(format!("argus-worker-{worker}")).spawn(move || {
            first(&scheduler, worker);
            scheduler.work(worker, || false);
            scheduler.crew.leave();
        });
        if spawned.is_err() {
            self.leave();
        }
    }

    fn leave(&self) {
        self.free.fetch_sub(1, Ordering::AcqRel);
        *relock(self.present.lock()) -= 1;
        self.left.notify_all();
    }

    /// Called before a kernel that may wait for a partner: somebody must be free to run that partner.
    pub fn enter_waiting_kernel(&self) -> Away<'_> {
        if self.free.fetch_sub(1, Ordering::AcqRel) <= 1 {
            self.hire(|_, _| ());
        }
        Away(self)
    }

    /// Called by the thread that runs the orchestration.
    pub fn orchestrate(&self) -> Away<'_> {
        self.free.fetch_sub(1, Ordering::AcqRel);
        Away(self)
    }

    /// Called by the orchestration's thread while it waits and therefore helps.
    pub fn help<R>(&self, help: impl FnOnce() -> R) -> R {
        self.free.fetch_add(1, Ordering::AcqRel);
        let result = help();
        self.free.fetch_sub(1, Ordering::AcqRel);
        result
    }

    /// Waits until every thread has left; false if some are still there after `limit`.
    pub fn wait_until_gone(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut present = relock(self.present.lock());
        while *present > 0 {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return false };
            (present, _) = relock(self.left.wait_timeout(present, left));
        }
        true
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::AcqRel);
    }
}

impl Scheduler {
    /// Works until the run has ended or `done` says so.
    pub fn work(&self, worker: usize, done: impl Fn() -> bool) {
        let mut fruitless = 0;
        loop {
            let ticket = self.bell.ticket();
            if self.outcome.has_ended() || done() {
                return;
            }
            if self.pass(worker) {
                fruitless = 0;
                continue;
            }
            fruitless += 1;
            if fruitless <= SPINS {
                std::hint::spin_loop();
            } else if fruitless <= SPINS + YIELDS {
                std::thread::yield_now();
            } else {
                self.bell.sleep(ticket, LONGEST_SLEEP);
                fruitless = 0;
            }
        }
    }
}

/// The text a panic was raised with.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).into()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "no message".into()
    }
}
