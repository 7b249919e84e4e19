//! How the two sides pass the time on this host: the only place that knows of threads and clocks.
//!
//! There are usually more threads than processors here, where a pure spin costs milliseconds per hand-off.
//! So: spin briefly, yield a few times, then sleep.

use std::hint;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use argus_sync::ring::Backoff;

const SPINS: u32 = 64;
/// Spins and yields before the first sleep.
const BUSY: u32 = SPINS + 16;

/// A producer's wait for room: rings for the collector once, then spin, yield, sleep.
#[derive(Debug)]
pub struct HostBackoff {
    /// Who makes room, if that is a thread that may be asleep.
    collector: Option<Thread>,
    since: Instant,
}

impl HostBackoff {
    /// Short, because what is waited for takes microseconds once the collector runs.
    const SLEEP: Duration = Duration::from_micros(50);

    pub fn new(collector: Option<Thread>) -> HostBackoff {
        HostBackoff { collector, since: Instant::now() }
    }
}

impl Backoff for HostBackoff {
    fn begin(&mut self) {
        self.since = Instant::now();
        if let Some(collector) = &self.collector {
            collector.unpark();
        }
    }

    fn pause(&mut self, round: u32) {
        match round {
            0..SPINS => hint::spin_loop(),
            SPINS..BUSY => thread::yield_now(),
            // Not a park: the thread is not ours, and a wake-up meant for its owner must not end here.
            _ => thread::sleep(Self::SLEEP),
        }
    }

    fn end(&mut self) -> u64 {
        u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// The collector's idle time: longer and longer naps, which a ring or news ends.
///
/// It never spins: what it would wait for that way are single entries, and many at once cost it less. A producer does
/// not wait meanwhile, and rings if it must.
#[derive(Debug, Default)]
pub struct Idle {
    rounds: u32,
}

impl Idle {
    const FIRST_NAP: Duration = Duration::from_micros(250);
    /// A ring of 4 MiB takes longer than this to fill at the speed of memory; and a producer that does wait
    /// rings.
    const LONGEST_NAP: Duration = Duration::from_millis(1);

    /// There was something to do.
    pub fn reset(&mut self) {
        self.rounds = 0;
    }

    /// Whether the next pause is one of the longest: nothing has come for some milliseconds.
    pub fn is_long(&self) -> bool {
        self.nap() == Self::LONGEST_NAP
    }

    /// Passes some time, at most `longest`. Whether the bell rang.
    pub fn pause(&mut self, longest: Duration) -> bool {
        let nap = self.nap().min(longest);
        self.rounds = self.rounds.saturating_add(1);
        let since = Instant::now();
        thread::park_timeout(nap);
        since.elapsed() < nap
    }

    fn nap(&self) -> Duration {
        (Self::FIRST_NAP * (1 << self.rounds.min(5))).min(Self::LONGEST_NAP)
    }
}
