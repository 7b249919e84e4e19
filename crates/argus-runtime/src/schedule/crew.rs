//! The host threads of a run.
//!
//! About one per CPU. A kernel that may wait for another core (a member of a mix, a block of a cohort) keeps
//! its thread while it waits, so before it starts the crew makes sure that another thread is free to run
//! that other core: progress never depends on how many CPUs there are.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

use argus_sync::{FreeThreads, Ticket, relock};

use crate::error::RunError;
use crate::schedule::Scheduler;

/// How often an idle thread looks again before it sleeps: a hand-off within this time costs no system call.
const SPINS: u32 = 64;
const YIELDS: u32 = 2;
/// No wake-up is ever lost, so this only bounds the damage of a mistake.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);
/// No bell rings when a word in memory changes: a thread that waits for one looks again after this.
const BETWEEN_LOOKS: Duration = Duration::from_micros(50);
/// Stack of a thread: the 8 MiB that kernels and orchestrations find elsewhere for their large locals, and as much again for what
/// runs below them. What is not touched costs no memory.
const STACK_BYTES: usize = 16 << 20;

pub struct Crew {
    scheduler: Weak<Scheduler>,
    threads: FreeThreads,
    hired: AtomicUsize,
    attendance: Arc<Attendance>,
}

/// How many threads there are. Outlives the scheduler, which a thread lets go before it signs off.
#[derive(Default)]
struct Attendance {
    present: Mutex<usize>,
    left: Condvar,
}

impl Attendance {
    fn leave(&self) {
        *relock(self.present.lock()) -= 1;
        self.left.notify_all();
    }
}

/// A thread does something other than looking for work, for as long as this lives.
pub struct Away<'a>(&'a Crew);

/// A thread is in a kernel that may wait for a partner, for as long as this lives.
pub struct Waiting<'a>(&'a Crew);

impl Crew {
    pub fn new(scheduler: Weak<Scheduler>) -> Crew {
        Crew {
            scheduler,
            threads: FreeThreads::default(),
            hired: AtomicUsize::new(0),
            attendance: Arc::default(),
        }
    }

    /// Starts a thread that does `first` and then works until the run ends.
    pub fn hire(&self, first: impl FnOnce(&Arc<Scheduler>, usize) + Send + 'static) -> io::Result<()> {
        let Some(scheduler) = self.scheduler.upgrade() else { return Ok(()) };
        let worker = self.hired.fetch_add(1, Ordering::Relaxed);
        let attendance = Arc::clone(&self.attendance);
        *relock(attendance.present.lock()) += 1;
        self.threads.join();
        let thread =
            std::thread::Builder::new().name(format!("argus-worker-{worker}")).stack_size(STACK_BYTES);
        let spawned = thread.spawn(move || {
            argus_child::prepare_thread();
            first(&scheduler, worker);
            scheduler.work(worker);
            scheduler.crew.threads.leave();
            // Before it signs off: when all are gone, nothing but the caller holds the run's kernels and memory.
            drop(scheduler);
            attendance.leave();
        });
        if let Err(error) = spawned {
            self.threads.leave();
            self.attendance.leave();
            return Err(error);
        }
        Ok(())
    }

    /// Starts a thread without which the run cannot go on: if that fails, the run ends.
    fn hire_needed(&self) {
        if let (Err(source), Some(scheduler)) = (self.hire(|_, _| ()), self.scheduler.upgrade()) {
            scheduler.end(Some(RunError::Thread { source }));
        }
    }

    /// Called when nothing moves although there is work: kernels may wait for other cores in ways that the scheduler cannot see. More
    /// threads than cores are of no use.
    pub fn reinforce(&self, cores: usize) {
        if self.hired.load(Ordering::Relaxed) <= cores {
            // Without another thread the run may still go on.
            _ = self.hire(|_, _| ());
        }
    }

    /// Called before a kernel that may wait for a partner: a thread must be free to run that partner.
    pub fn enter_waiting_kernel(&self) -> Waiting<'_> {
        if self.threads.enter_waiting() {
            self.hire_needed();
        }
        Waiting(self)
    }

    /// Called by the thread that runs the orchestration.
    pub fn orchestrate(&self) -> Away<'_> {
        self.threads.leave();
        Away(self)
    }

    /// Called by the orchestration's thread while it waits and therefore helps.
    pub fn help<R>(&self, help: impl FnOnce() -> R) -> R {
        self.threads.join();
        let result = help();
        if self.threads.stop_helping() {
            self.hire_needed();
        }
        result
    }

    /// Waits until every thread has left but `lost` that never will; false if more are still there after `limit`.
    pub fn wait_until_gone(&self, lost: usize, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut present = relock(self.attendance.present.lock());
        while *present > lost {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return false };
            (present, _) = relock(self.attendance.left.wait_timeout(present, left));
        }
        true
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        self.0.threads.join();
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.threads.leave_waiting();
    }
}

impl Scheduler {
    /// Works until the run has ended.
    pub fn work(&self, worker: usize) {
        self.work_and_sleep(worker, || false, |ticket| self.bell.sleep(ticket, self.longest_sleep()));
    }

    /// Works until the run has ended or `done` says so; `done` may change whenever a task completes.
    pub fn work_until(&self, worker: usize, done: impl Fn() -> bool) {
        self.work_and_sleep(worker, &done, |ticket| {
            self.bell.sleep_until_news(ticket, self.longest_sleep());
            // The ring may have meant work, which this thread leaves to others if it is done.
            if done() {
                self.bell.ring();
            }
        });
    }

    fn longest_sleep(&self) -> Duration {
        if self.deferrals.is_empty() { LONGEST_SLEEP } else { BETWEEN_LOOKS }
    }

    /// A panic of the scheduler itself leaves locks poisoned and tasks half-done: nothing can go on after it, so it ends
    /// the run. Panics of kernels are caught where they run.
    fn work_and_sleep(&self, worker: usize, done: impl Fn() -> bool, sleep: impl Fn(Ticket)) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.keep_working(worker, done, sleep))) {
            self.end(Some(RunError::SchedulerPanic { message: panic_message(panic.as_ref()) }));
            // What it was raised with may panic again when it is dropped.
            std::mem::forget(panic);
        }
    }

    fn keep_working(&self, worker: usize, done: impl Fn() -> bool, sleep: impl Fn(Ticket)) {
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
                sleep(ticket);
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use argus_chip::CHIPS;
    use argus_gm::{Fill, GlobalMemory};

    use super::*;
    use crate::kernel_table::KernelTable;
    use crate::schedule::cores::Cores;

    /// Without the catch a thread that helps is gone, its locks are poisoned, and the run waits for its timeout.
    #[test]
    fn a_panic_of_the_scheduler_ends_the_run_with_its_text() {
        let stop = Arc::new(AtomicBool::new(false));
        let scheduler = Arc::new_cyclic(|this: &Weak<Scheduler>| {
            let cores = Cores::new(CHIPS[0], 1, Fill::Zero, Arc::new(GlobalMemory::new()), &stop);
            let (kernels, crew) = (KernelTable::default(), Crew::new(this.clone()));
            Scheduler::new(cores, kernels, Vec::new(), vec![None], Arc::clone(&stop), crew, None)
        });
        scheduler.work_until(0, || panic!("no such slot"));
        assert!(scheduler.outcome.has_ended());
        let error = scheduler.outcome.take_error();
        assert!(
            matches!(&error, Some(RunError::SchedulerPanic { message }) if message == "no such slot"),
            "{error:?}"
        );
    }
}
