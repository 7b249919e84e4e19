//! The thread that called `run` watches the run: it ends a run that makes no progress, tells a deadlock from
//! a kernel that does not end, and gives up on a thread that does not come back.

mod opportunity;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use argus_capture::Progress as Captured;
use argus_sync::Condition;
use opportunity::Opportunity;

use crate::error::{KernelSite, RunError};
use crate::schedule::Scheduler;
use crate::schedule::outcome::last_instruction;

/// How often progress is looked at. The end of a run is noticed at once, not at the next look.
const TICK: Duration = Duration::from_millis(20);
/// How long kernels that were told to stop may take to reach a tile instruction.
const GRACE: Duration = Duration::from_secs(1);

/// How a run ended.
pub struct Ended {
    pub error: Option<RunError>,
    /// A thread did not come back; it and what it can reach must be left alone.
    pub abandoned: bool,
}

/// Waits for the end of a run, or ends it when `interrupt` is set.
pub fn watch(scheduler: &Scheduler, limit: Duration, interrupt: &AtomicBool) -> Ended {
    let mut progress = Progress::now(scheduler);
    // Since the last progress; begun when a look finds none, because it costs some system calls.
    let mut chance: Option<Opportunity> = None;
    let mut stuck_core = None;
    while !scheduler.outcome.wait(TICK.min(limit)) {
        // Cleared when it is seen, so that it ends one run and not the next.
        if interrupt.swap(false, Ordering::Relaxed) {
            scheduler.end(Some(RunError::Interrupted));
            continue;
        }
        if let Some(deadlock) = find_deadlock(scheduler) {
            scheduler.end(Some(deadlock));
            continue;
        }
        let now = Progress::now(scheduler);
        // A producer that waits for the collector is not stuck: it continues as soon as there is room.
        let capturing = scheduler.capture().is_some_and(|capture| capture.status.is_waiting());
        if now != progress || capturing {
            progress = now;
            chance = None;
        } else if chance.get_or_insert_with(Opportunity::start).so_far() >= limit {
            stuck_core = scheduler.cores.cells().find(|(_, cell)| cell.activity.current().is_some());
            let site = stuck_core.and_then(|(core, _)| site_of(scheduler, core));
            scheduler.end(Some(match site {
                Some(site) => RunError::Stuck { site, at: String::new(), limit, abandoned: false },
                None => RunError::OrchestrationStuck { limit },
            }));
        }
    }
    let grace = Opportunity::start();
    let gone = loop {
        if scheduler.crew.wait_until_gone(TICK) {
            break true;
        }
        if grace.so_far() >= GRACE {
            break false;
        }
    };
    let mut error = scheduler.outcome.take_error();
    if let (Some(RunError::Stuck { at, abandoned, .. }), Some((core, cell))) = (&mut error, stuck_core) {
        match scheduler.outcome.stopped_at(core) {
            Some(stopped) => *at = format!("; it was stopped: {stopped}"),
            None => *at = last_instruction(&cell.status),
        }
        if !gone {
            *abandoned = true;
        }
    }
    // After a success every kernel and the orchestration have returned: who is late only has to leave.
    let abandoned = !gone && error.is_some();
    Ended { error, abandoned }
}

#[derive(PartialEq)]
struct Progress {
    counts: (u64, u64),
    /// What every core reports: blocks of one long task are progress too.
    cores: Vec<Condition>,
    /// So is each piece of a large argument that is being captured.
    captured: Option<Captured>,
}

impl Progress {
    fn now(scheduler: &Scheduler) -> Progress {
        let counts = (scheduler.submitted(), scheduler.completed());
        let cores = scheduler.cores.cells().map(|(_, cell)| cell.mailbox.condition()).collect();
        let captured = scheduler.capture().map(|capture| capture.status.progress());
        Progress { counts, cores, captured }
    }
}

/// The graph is whole, nothing is in flight, and yet tasks are left: they wait for each other.
fn find_deadlock(scheduler: &Scheduler) -> Option<RunError> {
    // The order matters: once the graph is whole, silence is final, and completions count before silence.
    if !scheduler.is_orchestrated() || !scheduler.is_quiet() {
        return None;
    }
    let (total, done) = (scheduler.submitted(), scheduler.completed());
    (done != total).then(|| RunError::Deadlock { left: total - done, total })
}

fn site_of(scheduler: &Scheduler, core: usize) -> Option<KernelSite> {
    let cell = scheduler.cores.cell(core);
    let (task, func, block) = cell.activity.current()?;
    let entry = scheduler.kernels.get(func)?;
    let (kernel, core_type) = (entry.name.to_string(), entry.core_type);
    Some(KernelSite { task, kernel, core: core as u32, core_type, block })
}
