//! The thread that called `run` watches the run: it ends a run that makes no progress, tells a deadlock from
//! a kernel that does not end, and gives up on a thread that does not come back.

mod opportunity;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use argus_abi::TaskId;
use argus_capture::Progress as Captured;
use argus_child::{Crash, Page, Place, Shown, resolve};
use argus_facts::{Stall, StallClass};
use argus_sync::Condition;
use opportunity::Opportunity;

use crate::error::{Crashed, KernelSite, RunError, authors};
use crate::schedule::Scheduler;
use crate::schedule::outcome::last_instruction;

/// How often progress is looked at. The end of a run is noticed at once, not at the next look.
const TICK: Duration = Duration::from_millis(20);
/// How long a run stands still before another thread helps.
const HELP_AFTER: Duration = Duration::from_millis(40);
/// How long kernels that were told to stop may take to reach a tile instruction, and a handler of crashes to its end.
const GRACE: Duration = Duration::from_secs(1);

/// How a run ended.
pub struct Ended {
    pub error: Option<RunError>,
    /// A thread did not come back; it and what it can reach must be left alone.
    pub abandoned: bool,
}

/// Watches one run. Made before the first thread of the run starts: from then on a crash belongs to this run.
pub struct Monitor<'a> {
    limit: Duration,
    interrupt: &'a AtomicBool,
}

impl<'a> Monitor<'a> {
    /// For a run that is stuck after `limit` without progress, and ends when `interrupt` is set.
    pub fn new(limit: Duration, interrupt: &'a AtomicBool) -> Monitor<'a> {
        // What an earlier run left behind is not this one's.
        argus_child::crash_told();
        Monitor { limit, interrupt }
    }

    /// Waits for the end of the run, or ends it.
    pub fn watch(self, scheduler: &Scheduler) -> Ended {
        watch(scheduler, self.limit, self.interrupt)
    }
}

fn watch(scheduler: &Scheduler, limit: Duration, interrupt: &AtomicBool) -> Ended {
    let mut progress = Progress::now(scheduler);
    // Since the last progress; begun when a look finds none, because it costs some system calls.
    let mut chance: Option<Opportunity> = None;
    let mut next_help = HELP_AFTER;
    let mut stuck_core = None;
    // Threads that crashed and stay in their handlers.
    let mut lost = 0;
    while !scheduler.outcome.wait(TICK.min(limit)) {
        let page = argus_child::page();
        if let Some(page) = page {
            page.beat();
            page.show(Shown {
                submitted: scheduler.submitted(),
                completed: scheduler.completed(),
                orchestrated: scheduler.is_orchestrated(),
            });
            if let Some(crash) = page.crash() {
                if lost == 0 {
                    // Its handler may still be walking the stack; if that fails, there is no more than this.
                    let walk = Opportunity::start();
                    while !page.crash_is_whole() && walk.so_far() < GRACE && !scheduler.outcome.wait(TICK) {
                        page.beat();
                    }
                }
                lost = 1;
                scheduler.end(Some(crashed(scheduler, page.crash().unwrap_or(crash))));
                argus_child::crash_told();
                continue;
            }
        }
        // Cleared when it is seen, so that it ends one run and not the next.
        if interrupt.swap(false, Ordering::Relaxed) || page.is_some_and(Page::take_interrupt) {
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
            next_help = HELP_AFTER;
            continue;
        }
        let stood_still = chance.get_or_insert_with(Opportunity::start).so_far();
        if stood_still >= next_help && scheduler.lacks_a_thread() {
            scheduler.crew.reinforce(scheduler.cores.cells().count());
            next_help = stood_still + HELP_AFTER;
        }
        if stood_still >= limit {
            stuck_core = scheduler.cores.cells().find(|(_, cell)| cell.activity.current().is_some());
            let site = stuck_core.and_then(|(core, _)| site_of(scheduler, core));
            let place = stuck_core.map_or(Place::Orchestration, |(core, _)| Place::Core(core as u32));
            let stack = page.map(|page| page.stack_at(place)).unwrap_or_default();
            let (frames, stall) = (authors(resolve(&stack)).into(), stall(scheduler));
            scheduler.end(Some(match (site, scheduler.deferrals.first()) {
                (Some(site), _) => {
                    RunError::Stuck { site, at: Box::default(), limit, abandoned: false, frames, stall }
                }
                (None, Some((site, waits))) => {
                    RunError::NotNotified { site, waits: waits.into(), limit, stall }
                }
                (None, None) => RunError::OrchestrationStuck { limit, frames, stall },
            }));
        }
    }
    // Begun when a look finds a thread, for the same reason. In a child it costs more than that: a process that has looked
    // at its threads under `/proc` takes its parent two milliseconds to bury.
    let mut grace: Option<Opportunity> = None;
    let gone = loop {
        if let Some(page) = argus_child::page() {
            page.beat();
        }
        if scheduler.crew.wait_until_gone(lost, TICK) {
            break true;
        }
        if grace.get_or_insert_with(Opportunity::start).so_far() >= GRACE {
            break false;
        }
    };
    let mut error = scheduler.outcome.take_error();
    if let (Some(RunError::Stuck { at, abandoned, .. }), Some((core, cell))) = (&mut error, stuck_core) {
        match scheduler.outcome.stopped_at(core) {
            Some(stopped) => *at = format!("; it was stopped: {stopped}").into(),
            None => *at = last_instruction(&cell.status).into(),
        }
        if !gone {
            *abandoned = true;
        }
    }
    // After a success every kernel and the orchestration have returned: who is late only has to leave.
    let abandoned = (!gone || lost > 0) && error.is_some();
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
    (done != total).then(|| RunError::Deadlock { left: total - done, total, stall: stall(scheduler) })
}

/// What the run stands still with. Nothing moves while this looks, or it would not stand still.
fn stall(scheduler: &Scheduler) -> Box<Stall> {
    let on_cores =
        scheduler.cores.cells().filter_map(|(core, cell)| Some((cell.activity.current()?.0, core)));
    let mut on_cores: Vec<(TaskId, usize)> = on_cores.collect();
    on_cores.sort_unstable();
    let first = on_cores.first().copied();
    on_cores.dedup_by_key(|(task, _)| *task);
    let (completed, submitted) = (scheduler.completed(), scheduler.submitted());
    let running = (on_cores.len() + scheduler.deferrals.count()) as u64;
    let in_flight = scheduler.in_flight();
    let ready = in_flight.saturating_sub(running);
    let waiting = submitted.saturating_sub(completed).saturating_sub(in_flight.max(running));
    let orchestrator_done = scheduler.is_orchestrated();
    Box::new(Stall {
        class: StallClass::of(running, ready, waiting, orchestrator_done),
        completed,
        submitted,
        running,
        ready,
        waiting,
        orchestrator_done,
        task: first.map(|(task, _)| task),
        core: first.map(|(_, core)| core as u32),
    })
}

/// What happened, with what this process knows of the thread.
fn crashed(scheduler: &Scheduler, crash: Crash) -> RunError {
    let core = match crash.place {
        Place::Core(core) => Some(core as usize),
        Place::Orchestration | Place::Elsewhere => None,
    };
    let site = core.and_then(|core| site_of(scheduler, core));
    let at = core.map(|core| last_instruction(&scheduler.cores.cell(core).status)).unwrap_or_default();
    RunError::Crashed(Box::new(Crashed { site, crash, at, frames: Vec::new() }))
}

fn site_of(scheduler: &Scheduler, core: usize) -> Option<KernelSite> {
    let cell = scheduler.cores.cell(core);
    let (task, func, block) = cell.activity.current()?;
    let entry = scheduler.kernels.get(func)?;
    let (kernel, core_type) = (entry.name.to_string(), entry.core_type);
    Some(KernelSite { task, kernel, core: core as u32, core_type, block })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Weak};

    use argus_chip::CHIPS;
    use argus_gm::{Fill, GlobalMemory};

    use super::*;
    use crate::kernel_table::KernelTable;
    use crate::schedule::cores::Cores;
    use crate::schedule::crew::Crew;

    /// A kernel can crash before the thread that called `run` gets to watch, on a busy machine more often than not.
    #[test]
    fn a_crash_before_the_first_look_is_told() {
        argus_child::guard().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let scheduler = Arc::new_cyclic(|this: &Weak<Scheduler>| {
            let cores = Cores::new(CHIPS[0], 1, Fill::Zero, Arc::new(GlobalMemory::new()), &stop);
            let (kernels, crew) = (KernelTable::default(), Crew::new(this.clone()));
            Scheduler::new(cores, kernels, Vec::new(), vec![None], Arc::clone(&stop), crew, None)
        });
        let interrupt = AtomicBool::new(false);
        let monitor = Monitor::new(Duration::from_secs(1), &interrupt);
        let kernel = |_: &Arc<Scheduler>, _| {
            argus_child::enter(Place::Core(0));
            std::process::abort()
        };
        scheduler.crew.hire(kernel).unwrap();
        while !argus_child::page().unwrap().crash_is_whole() {
            std::thread::yield_now();
        }
        let ended = monitor.watch(&scheduler);
        let Some(RunError::Crashed(crashed)) = ended.error else { panic!("{:?}", ended.error) };
        assert_eq!(crashed.crash.place, Place::Core(0));
        assert_eq!(crashed.crash.cause.signal_name(), Some("SIGABRT"));
    }
}
