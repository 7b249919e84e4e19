//! How much of a time the threads of this process could have used.
//!
//! A run that makes no progress is stuck only if it had the chance to make some. On a machine with more to do than
//! processors, threads stand in line: that time is the machine's, not the run's. Linux keeps it for each thread
//! (`/proc/self/task/*/schedstat`). Where it cannot be read, all of the time counts.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// What Linux keeps of a thread, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Account {
    ran: u64,
    /// Ready and without a processor, up to when it last got one.
    waited: u64,
}

/// The time since it was started in which the run had the chance to make progress.
pub(super) struct Opportunity {
    threads: BTreeMap<u64, Account>,
    since: Instant,
}

impl Opportunity {
    pub(super) fn start() -> Opportunity {
        Opportunity { threads: accounts(), since: Instant::now() }
    }

    /// The time until now, without the share of it for which threads that wanted to run stood in line.
    pub(super) fn so_far(&self) -> Duration {
        let passed = self.since.elapsed();
        let whole = passed.as_nanos() as u64;
        let (mut ran, mut waited, mut busiest) = (0, 0, 0);
        for (&thread, now) in &accounts() {
            let before = self.threads.get(&thread).copied().unwrap_or_default();
            let own_ran = now.ran.saturating_sub(before.ran);
            let mut own_waited = now.waited.saturating_sub(before.waited);
            // Linux notes the time in line when it is over.
            if own_ran == 0 && own_waited == 0 && is_ready(thread) {
                own_waited = whole;
            }
            ran += own_ran;
            waited += own_waited;
            busiest = whole.min(own_ran + own_waited).max(busiest);
        }
        if waited == 0 {
            return passed;
        }
        // All sleep: nothing stood in line. All want to run: their share of the processors counts.
        let share = waited as f64 / (ran + waited) as f64;
        passed.saturating_sub(Duration::from_nanos(busiest).mul_f64(share))
    }
}

fn accounts() -> BTreeMap<u64, Account> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return BTreeMap::default() };
    let account = |name: &str| {
        let text = fs::read_to_string(format!("/proc/self/task/{name}/schedstat")).ok()?;
        let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
        Some((name.parse().ok()?, Account { ran: numbers.next()?.ok()?, waited: numbers.next()?.ok()? }))
    };
    threads.flatten().filter_map(|thread| account(thread.file_name().to_str()?)).collect()
}

/// Whether a thread runs or wants to.
fn is_ready(thread: u64) -> bool {
    let Ok(text) = fs::read_to_string(format!("/proc/self/task/{thread}/stat")) else { return false };
    // The name is in parentheses and may hold anything.
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Sleeping is a chance that was not taken; standing in line is none.
    #[test]
    fn time_in_line_does_not_count() {
        let idle = Opportunity::start();
        std::thread::sleep(Duration::from_millis(50));
        let had = idle.so_far();
        assert!(had > Duration::ZERO, "{had:?}");

        // Four times as many threads as processors: each has a quarter of the time at best.
        let stop = AtomicBool::new(false);
        let threads = 4 * std::thread::available_parallelism().map_or(1, |count| count.get());
        let (had, passed) = std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop()
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(100));
            let busy = Opportunity::start();
            std::thread::sleep(Duration::from_secs(1));
            let (had, passed) = (busy.so_far(), busy.since.elapsed());
            stop.store(true, Ordering::Relaxed);
            (had, passed)
        });
        if fs::metadata("/proc/self/schedstat").is_ok() {
            assert!(had < passed / 2, "{had:?} of {passed:?}");
        }
    }
}
