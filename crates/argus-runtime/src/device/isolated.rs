//! A run in a child process.
//!
//! The child is a copy of this process: it has the program, the staged memory and the recorders, runs as it would have
//! here, and answers with what the run left behind. This process keeps the collector and the sink, and watches. However
//! the child ends, what it had recorded by then is in rings that both share.

mod answer;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use argus_abi::{FuncId, TaskId};
use argus_capture::Recorder;
use argus_child::{Death, Ended, Exit, Page, Patience, Place, fork};

use super::{Device, Performed, Stage};
use crate::config::RunConfig;
use crate::error::{Crashed, KernelSite, RunError};
use crate::kernel_table::KernelTable;
use crate::program::{HostArgs, Program};
use crate::schedule::capture::Capture;

/// How long the child may show no sign of life beyond the run's own limit, which the child itself sees to.
const SILENCE: Duration = Duration::from_secs(10);
/// The same after a crash, whose other threads may be unable to do anything.
const SILENCE_AFTER_CRASH: Duration = Duration::from_secs(5);
/// Room in an answer for what is not the content of arguments.
const ANSWER_BYTES: u64 = 4 << 30;

impl Device {
    pub(super) fn execute_in_child(
        &mut self,
        stage: Stage,
        program: &Program,
        args: &mut HostArgs,
        config: &RunConfig,
        capture: Option<(Capture, Vec<Recorder>)>,
    ) -> Performed {
        let status = capture.as_ref().map(|(capture, _)| Arc::clone(&capture.status));
        let selection = capture.as_ref().map(|(capture, _)| Arc::clone(&capture.selection));
        // The child has this thread's stack and the heap. Stacks of other threads, where the caller may have its values, are
        // given to new threads there.
        let (chip, program, config) = (self.chip, program.clone(), config.clone());
        let mut own = std::mem::take(args);
        let mut given = Some((stage, capture));
        let mut work = || {
            let mut device = Device::new(chip);
            let (stage, capture) = given.take().expect("a process does its work once");
            let result = device.execute(stage, &program, &mut own, &config, capture);
            answer::encode(&device, result, &own, &program.orchestration, selection.as_deref())
        };
        let forked = fork(&mut work);
        *args = own;
        // The child has its own copies. Here nothing must end the rings, and pages that only the child has are cheap.
        if let Some((_, Some((capture, recorders)))) = given.take() {
            capture.leave_to_child();
            recorders.into_iter().for_each(Recorder::leave_to_child);
        }
        let mut child = match forked {
            Ok(child) => child,
            Err(source) => return Performed { result: Err(RunError::Fork { source }), child: None },
        };
        let page = child.page().clone();
        let seen = self.watch.show_child(page.clone(), status.clone());
        let mut life = Life { sign: None, since: Instant::now(), silence: None };
        let limit = args.tensors.iter().map(|tensor| tensor.bytes.len() as u64).sum::<u64>() + ANSWER_BYTES;
        let ended = child.wait(limit, |page| {
            if self.interrupt.swap(false, Ordering::Relaxed) {
                page.interrupt();
            }
            let captured = status.as_ref().map(|status| status.progress());
            life.look((page.beats(), captured), page, config.progress_timeout)
        });
        drop(seen);
        let result = match ended {
            Ended::Answered(bytes) => {
                answer::decode(self, &bytes, args, selection.as_deref()).map_err(RunError::resolved)
            }
            Ended::Panicked(message) => Err(RunError::SchedulerPanic { message }),
            Ended::Died(death) => Err(died(&death, &page, &program.kernels, life.silence).resolved()),
        };
        // After a failure a thread that was given up may still be at work: that process is gone before anything else happens.
        let child = result.is_ok().then_some(child);
        Performed { result, child }
    }
}

/// The signs of life of a child.
struct Life<T> {
    sign: Option<T>,
    since: Instant,
    /// How long it was silent when it was given up.
    silence: Option<Duration>,
}

impl<T: PartialEq> Life<T> {
    fn look(&mut self, sign: T, page: &Page, limit: Duration) -> Patience {
        if self.sign.as_ref() != Some(&sign) {
            self.sign = Some(sign);
            self.since = Instant::now();
            return Patience::Wait;
        }
        let allowed = match page.crash() {
            Some(_) => SILENCE_AFTER_CRASH,
            None => limit.saturating_add(SILENCE),
        };
        let silent = self.since.elapsed();
        if silent < allowed {
            return Patience::Wait;
        }
        self.silence = Some(silent);
        Patience::Kill
    }
}

/// What can be said of a child that gave no answer, from the page alone.
fn died(death: &Death, page: &Page, kernels: &KernelTable, silence: Option<Duration>) -> RunError {
    if let Some(crash) = death.crash.clone() {
        let site = match crash.place {
            Place::Core(core) => site(page, core as usize, kernels),
            Place::Orchestration | Place::Elsewhere => None,
        };
        return RunError::Crashed(Box::new(Crashed { site, crash, at: String::new(), frames: Vec::new() }));
    }
    let sites: Vec<_> = (0..argus_child::CORES).filter_map(|core| site(page, core, kernels)).collect();
    let running = match &sites[..] {
        [] => String::new(),
        [site] => format!(" while {site} was running"),
        [site, others @ ..] => format!(" while {site} and {} more were running", others.len()),
    };
    match (silence, death.how) {
        (Some(silence), Exit::Signal(_)) => RunError::Silent { silence, running },
        (_, how) => RunError::Died { how: how.to_string(), running },
    }
}

fn site(page: &Page, core: usize, kernels: &KernelTable) -> Option<KernelSite> {
    let (task, func, block) = page.activity(core)?;
    let entry = kernels.get(FuncId(func))?;
    let (kernel, core_type) = (entry.name.to_string(), entry.core_type);
    Some(KernelSite { task: TaskId::from_raw(task), kernel, core: core as u32, core_type, block })
}
