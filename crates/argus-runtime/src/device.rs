//! A device: global memory of a chip, and the runs on it.

mod alone;
mod isolated;

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use argus_abi::{ArgDirection, Tensor};
use argus_capture::{Account, CaptureConfig, Recorder, Session, TransportKind};
use argus_child::{Child, Place};
use argus_chip::{CapturePath, Chip};
use argus_facts::{Edge, RunTimes, Selection, Sink};
use argus_gm::{Buffer, Fill, GlobalMemory, MemoryError};
use argus_sync::relock;
use serde::{Deserialize, Serialize};

use crate::config::RunConfig;
use crate::error::{ConfigError, Fatal, RunError};
use crate::graph::abg::Abg;
use crate::graph::frame::{Frame, ScopeMode};
use crate::graph::hbg::{Hbg, TensorPair};
use crate::graph::trb::Trb;
use crate::inject::{self, Injected, Injector};
use crate::monitor::Monitor;
use crate::program::{EntryArgs, HostArgs, Orchestration, Program};
use crate::schedule::Scheduler;
use crate::schedule::capture::Capture;
use crate::schedule::clock::Clock;
use crate::schedule::cores::Cores;
use crate::schedule::crew::{Crew, panic_message};
use crate::schedule::hooks::Hooks;
use crate::schedule::task::Task;
use crate::schedule::task_ring::Ring;
use crate::watch::Watch;

pub use alone::Alone;

/// One simulated device. Several live side by side in one process; they share nothing.
#[derive(Debug)]
pub struct Device {
    chip: &'static Chip,
    /// Set when a kernel never gave its thread back: that thread may still touch this device's memory.
    abandoned: bool,
    /// Set by any thread to end the current run.
    interrupt: Arc<AtomicBool>,
    watch: Watch,
    injected: Vec<Injected>,
    timed: Option<Timed>,
    marked_only: bool,
}

/// When things happened in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timed {
    pub times: Arc<RunTimes>,
    pub edges: Vec<Edge>,
}

/// What a finished run tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    /// Tasks of the graph, those without kernels included.
    pub tasks: u64,
    /// From the first thread's start to the last task's completion.
    pub elapsed: Duration,
    pub clusters: u32,
    pub control_threads: u32,
}

/// When captured entries leave the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collect {
    /// During the run, through rings of this many entries and payload bytes each.
    Streaming { entries: usize, payload_bytes: usize },
    /// When it has ended, out of this much memory per ring.
    AfterSync { memory_per_ring: usize },
}

impl Default for Collect {
    fn default() -> Collect {
        Collect::Streaming { entries: CaptureConfig::RING_ENTRIES, payload_bytes: CaptureConfig::RING_BYTES }
    }
}

/// What to capture of a run, and how.
#[derive(Clone, Debug)]
pub struct CaptureRequest {
    pub selection: Arc<Selection>,
    /// Payloads are only passed through for their statistics.
    pub stats_only: bool,
    pub collect: Collect,
}

/// What is known of a run when its sink is opened.
#[derive(Debug)]
pub struct Opening<'a> {
    pub clusters: u32,
    pub control_threads: u32,
    pub entry: &'a EntryArgs,
}

/// How a captured run ended.
pub struct CapturedRun<S> {
    pub result: Result<RunReport, RunError>,
    /// Missing if the run failed before anything could be captured.
    pub captured: Option<Captured<S>>,
}

/// What was captured.
pub struct Captured<S> {
    /// Missing if the collector panicked.
    pub sink: Option<S>,
    pub account: Account,
}

/// Everything a run needs before its threads start.
struct Stage {
    memory: Arc<GlobalMemory>,
    rings: Vec<Ring>,
    schedulers: usize,
    entry: Arc<EntryArgs>,
    clusters: u32,
    control_threads: u32,
}

/// A run that has ended.
struct Performed {
    result: Result<RunReport, RunError>,
    /// The process that it was in. Giving its memory back takes the system a moment, which this process need not stand by.
    child: Option<Child>,
}

impl Device {
    pub fn new(chip: &'static Chip) -> Device {
        chip.check();
        Device {
            chip,
            abandoned: false,
            interrupt: Arc::default(),
            watch: Watch::default(),
            injected: Vec::new(),
            timed: None,
            marked_only: false,
        }
    }

    pub fn chip(&self) -> &'static Chip {
        self.chip
    }

    /// The same device with a flag of the caller's in place of its own: one flag may end the runs of several devices.
    pub fn interrupted_by(self, flag: Arc<AtomicBool>) -> Device {
        Device { interrupt: flag, ..self }
    }

    /// Setting the flag ends the current run, soon and in order.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupt)
    }

    /// Shows how far the current run is.
    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }

    /// What the injections of the last run did, in the order of its configuration.
    pub fn injected(&self) -> &[Injected] {
        &self.injected
    }

    /// Whether the orchestration of the last run asked the capture for marked arguments only.
    pub fn marked_only(&self) -> bool {
        self.marked_only
    }

    /// When things happened in the last run, if its configuration asked for that.
    pub fn timed(&self) -> Option<&Timed> {
        self.timed.as_ref()
    }

    /// Runs a program to its end. On success the output arguments hold the results; on failure arguments
    /// are as they were.
    pub fn run(
        &mut self,
        program: &Program,
        args: &mut HostArgs,
        config: &RunConfig,
    ) -> Result<RunReport, RunError> {
        let stage = self.prepare(program, args, config)?;
        self.perform(stage, program, args, config, None).result
    }

    /// Runs a program and captures what `request` says into the sink that `open` makes.
    pub fn run_captured<S: Sink + 'static>(
        &mut self,
        program: &Program,
        args: &mut HostArgs,
        config: &RunConfig,
        request: &CaptureRequest,
        open: impl FnOnce(&Opening<'_>) -> Result<S, Box<dyn Error + Send + Sync>>,
    ) -> CapturedRun<S> {
        let started = self.prepare(program, args, config).and_then(|stage| {
            let Stage { entry, clusters, control_threads, .. } = &stage;
            let opening = Opening { clusters: *clusters, control_threads: *control_threads, entry };
            let sink = open(&opening).map_err(RunError::Capture)?;
            // One ring per control thread that schedules, and one for the orchestration.
            let capture = self.capture_config(request.collect, stage.schedulers + 1);
            let started = match config.isolated {
                true => Session::start_for_child(capture, sink),
                false => Session::start(capture, sink),
            };
            let (session, recorders) = started.map_err(|error| RunError::Capture(error.into()))?;
            Ok((stage, session, recorders))
        });
        let (stage, session, mut recorders) = match started {
            Ok(started) => started,
            Err(error) => return CapturedRun { result: Err(error), captured: None },
        };
        let orchestration = recorders.pop().expect("a session has as many recorders as rings");
        let capture = Capture::new(
            Arc::clone(&request.selection),
            request.stats_only,
            session.status(),
            orchestration,
            Arc::clone(&stage.memory),
        );
        let Performed { result, child } =
            self.perform(stage, program, args, config, Some((capture, recorders)));
        let (sink, account) = session.finish();
        drop(child);
        CapturedRun { result, captured: Some(Captured { sink, account }) }
    }

    fn capture_config(&self, collect: Collect, rings: usize) -> CaptureConfig {
        match collect {
            Collect::Streaming { entries, payload_bytes } => CaptureConfig {
                rings,
                entries_per_ring: entries,
                payload_bytes_per_ring: payload_bytes,
                transport: match self.chip.capture_path {
                    CapturePath::Mapped => TransportKind::Mapped,
                    CapturePath::Copied => TransportKind::Copied,
                },
            },
            Collect::AfterSync { memory_per_ring } => CaptureConfig::after_sync(rings, memory_per_ring),
        }
    }

    fn prepare(&mut self, program: &Program, args: &HostArgs, config: &RunConfig) -> Result<Stage, RunError> {
        self.injected.clear();
        self.timed = None;
        self.marked_only = false;
        if self.abandoned {
            return Err(ConfigError::Abandoned.into());
        }
        let (clusters, control_threads) = config.resolve(self.chip)?;
        args.check()?;
        inject::check(&config.injections, &program.kernels)?;
        // Memory of its own for each run: what a run leaves behind cannot reach the next.
        let memory = Arc::new(GlobalMemory::new());
        let rings = match program.orchestration {
            Orchestration::HostBuildGraph(_) => Vec::new(),
            _ => make_rings(&memory, config)?,
        };
        let schedulers = match program.orchestration {
            // Every control thread schedules.
            Orchestration::HostBuildGraph(_) | Orchestration::HostBuildTensorGraph(_) => {
                control_threads as usize
            }
            // One orchestrates; if there is no other, it schedules too.
            _ => (control_threads as usize - 1).max(1),
        };
        let entry = Arc::new(bind(&memory, args, &program.orchestration)?);
        Ok(Stage { memory, rings, schedulers, entry, clusters, control_threads })
    }

    /// Runs what is staged, in this process or in a child.
    fn perform(
        &mut self,
        stage: Stage,
        program: &Program,
        args: &mut HostArgs,
        config: &RunConfig,
        capture: Option<(Capture, Vec<Recorder>)>,
    ) -> Performed {
        if config.isolated {
            return self.execute_in_child(stage, program, args, config, capture);
        }
        let result = self.execute(stage, program, args, config, capture).map_err(RunError::resolved);
        Performed { result, child: None }
    }

    fn execute(
        &mut self,
        stage: Stage,
        program: &Program,
        args: &mut HostArgs,
        config: &RunConfig,
        capture: Option<(Capture, Vec<Recorder>)>,
    ) -> Result<RunReport, RunError> {
        let Stage { memory, rings, schedulers, entry, clusters, control_threads } = stage;
        let (capture, recorders) = capture.unzip();
        let mut recorders = recorders.unwrap_or_default().into_iter();
        let recorders: Vec<_> = (0..schedulers).map(|_| recorders.next()).collect();
        let injector = (!config.injections.is_empty())
            .then(|| Injector::new(&config.injections, &program.kernels, &memory));
        // One zero for both, so that times of records and of cores can be compared.
        let zero = capture.as_ref().map_or_else(Instant::now, |capture| capture.started);
        // A capture records the edges itself.
        let clock = (config.timeline || capture.is_some()).then(|| Clock::new(zero, config.timeline));
        let hooks = (capture.is_some() || injector.is_some() || clock.is_some()).then_some(Hooks {
            capture,
            injector,
            clock,
        });
        let stop = Arc::new(AtomicBool::new(false));
        let scheduler = Arc::new_cyclic(|this| {
            let cores = Cores::new(self.chip, clusters as usize, config.fill, Arc::clone(&memory), &stop);
            let (kernels, crew) = (program.kernels.clone(), Crew::new(this.clone()));
            Scheduler::new(cores, kernels, rings, recorders, Arc::clone(&stop), crew, hooks)
        });
        let seen = self.watch.show(&scheduler);
        let started = Instant::now();
        let built = Arc::new(Mutex::new(Built::default()));
        let job = Job {
            orchestration: program.orchestration.clone(),
            config: config.clone(),
            memory: Arc::clone(&memory),
            entry: Arc::clone(&entry),
            built: Arc::clone(&built),
        };
        let monitor = Monitor::new(config.progress_timeout, &self.interrupt);
        match scheduler.crew.hire(move |scheduler, worker| job.orchestrate(scheduler, worker)) {
            Err(source) => scheduler.end(Some(RunError::Thread { source })),
            Ok(()) => {
                let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
                for _ in 1..config.host_threads.unwrap_or(cpus).max(1) {
                    // One thread is enough to finish; kernels that need a second one say so themselves.
                    _ = scheduler.crew.hire(|_, _| ());
                }
            }
        }
        let ended = monitor.watch(&scheduler);
        let elapsed = started.elapsed();
        drop(seen);
        if ended.abandoned {
            self.abandoned = true;
        }
        let built = std::mem::take(&mut *relock(built.lock()));
        let on_rings = scheduler.rings.iter().flat_map(Ring::live);
        scheduler.end_capture(built.tasks.iter().cloned().chain(on_rings));
        self.marked_only = scheduler.capture().is_some_and(Capture::is_marked_only);
        self.timed = scheduler.take_times().map(|(times, edges)| Timed { times: Arc::new(times), edges });
        for task in &built.tasks {
            task.unlink();
        }
        scheduler.dismantle();
        let injector = scheduler.hooks.as_ref().and_then(|hooks| hooks.injector.as_ref());
        let (injected, missed) = injector.map_or_else(Default::default, Injector::finish);
        self.injected = injected;
        if let Some(error) = ended.error {
            return Err(error);
        }
        if let Some(missed) = missed {
            return Err(missed.into());
        }
        collect(&memory, &entry, &built.pairs, args)?;
        Ok(RunReport { tasks: scheduler.completed(), elapsed, clusters, control_threads })
    }
}

fn make_rings(memory: &GlobalMemory, config: &RunConfig) -> Result<Vec<Ring>, MemoryError> {
    let rings = config.rings.iter().enumerate().map(|(index, ring)| {
        // Backed lazily and filled buffer by buffer as tasks take it.
        let heap: Buffer = memory.allocate(ring.heap, Fill::Untouched)?;
        Ok(Ring::new(index as u8, *ring, heap))
    });
    rings.collect()
}

/// Moves the arguments to where the orchestration expects them.
fn bind(
    memory: &GlobalMemory,
    args: &HostArgs,
    orchestration: &Orchestration,
) -> Result<EntryArgs, RunError> {
    let scalars = args.scalars.clone();
    if matches!(orchestration, Orchestration::HostBuildGraph(_)) {
        return Ok(EntryArgs { device: Vec::new(), host: args.tensors.clone(), scalars });
    }
    let mut device = Vec::with_capacity(args.tensors.len());
    for host in &args.tensors {
        let buffer = memory.allocate(host.bytes.len() as u64, Fill::Untouched)?;
        memory.write(buffer.addr, &host.bytes)?;
        let tensor = Tensor::contiguous(buffer.addr, host.dtype, &host.shape)
            .map_err(|error| Fatal::invalid(format!("argument '{}': {error}", host.name)))?;
        device.push(tensor);
    }
    Ok(EntryArgs { device, host: Vec::new(), scalars })
}

/// Copies results back to the host: all of them, or none.
fn collect(
    memory: &GlobalMemory,
    entry: &EntryArgs,
    pairs: &[TensorPair],
    args: &mut HostArgs,
) -> Result<(), RunError> {
    for pair in pairs {
        // An orchestration may have freed what it recorded.
        memory.window(pair.device_addr, pair.bytes)?;
    }
    for (tensor, host) in entry.device.iter().zip(&mut args.tensors) {
        if matches!(host.direction, ArgDirection::Out | ArgDirection::Inout) {
            memory.read(tensor.addr, &mut host.bytes)?;
        }
    }
    for TensorPair { argument, offset, device_addr, bytes } in pairs {
        let place = &mut args.tensors[*argument].bytes[*offset as usize..][..*bytes as usize];
        memory.read(*device_addr, place)?;
    }
    Ok(())
}

/// What a host-built graph leaves to be looked after when the run is over.
#[derive(Debug, Default)]
struct Built {
    tasks: Vec<Arc<Task>>,
    pairs: Vec<TensorPair>,
}

/// The orchestration's share of a run, done by the first thread of the crew.
struct Job {
    orchestration: Orchestration,
    config: RunConfig,
    memory: Arc<GlobalMemory>,
    entry: Arc<EntryArgs>,
    built: Arc<Mutex<Built>>,
}

impl Job {
    fn orchestrate(&self, scheduler: &Arc<Scheduler>, worker: usize) {
        let away = scheduler.crew.orchestrate();
        let before = argus_child::enter(Place::Orchestration);
        if let Some(page) = argus_child::page() {
            page.begin_orchestration();
        }
        let result = catch_unwind(AssertUnwindSafe(|| self.build(scheduler, worker)));
        argus_child::enter(before);
        drop(away);
        match result {
            Ok(Ok(())) => scheduler.end_orchestration(),
            Ok(Err(error)) => scheduler.end(Some(error)),
            Err(panic) => {
                let message = panic_message(panic.as_ref());
                scheduler.end(Some(RunError::OrchestrationPanic { message }));
            }
        }
    }

    fn build(&self, scheduler: &Arc<Scheduler>, worker: usize) -> Result<(), RunError> {
        let ahead = matches!(self.orchestration, Orchestration::HostBuildTensorGraph(_));
        let frame = || {
            Frame::new(Arc::clone(scheduler), self.config.clone(), Arc::clone(&self.memory), worker, ahead)
        };
        match &self.orchestration {
            Orchestration::TensormapAndRingbuffer(entry) | Orchestration::HostBuildTensorGraph(entry) => {
                let mut trb = Trb::new(frame()?);
                trb.scope(ScopeMode::Auto, |trb| entry(trb, &self.entry))?;
                trb.finish();
            }
            Orchestration::AicpuBuildGraph(entry) => {
                let mut abg = Abg::new(frame()?);
                abg.scope(|abg| entry(abg, &self.entry))?;
            }
            Orchestration::HostBuildGraph(entry) => {
                let (memory, entry_args) = (Arc::clone(&self.memory), Arc::clone(&self.entry));
                let mut hbg = Hbg::new(Arc::clone(scheduler), memory, self.config.fill, entry_args);
                entry(&mut hbg, &self.entry)?;
                let (tasks, pairs) = hbg.finish();
                *relock(self.built.lock()) = Built { tasks, pairs };
            }
        }
        Ok(())
    }
}
