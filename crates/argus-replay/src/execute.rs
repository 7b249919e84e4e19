//! One execution of a task, alone on a chip of its own.
//!
//! What goes in: a task and the kernels of its program. What goes out: what its outputs hold, what was written
//! beside them, and on request each core's instructions. The runtime's scheduler dispatches it; a kernel that
//! never ends is given up after a time, a fault names kernel, core and instruction.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use argus_abi::{Role, Tensor};
use argus_chip::Chip;
use argus_gm::MemoryError;
use argus_gm::view::MoveError;
use argus_runtime::{Alone, Device, KernelEntry, KernelTable, Launch, RunConfig, RunError, RunReport, Shape};
use argus_tile::{Core, CoreLog, FaultKind, Kernel, KernelResult};

use crate::error::ReplayError;
use crate::observe::{LookError, Observers, Probe, Sighting, Watch};
use crate::rebuild::{Poison, Rebuilt};
use crate::task::CapturedTask;

/// What to do beside running.
#[derive(Clone, Debug)]
pub struct Options {
    /// Write down the instructions of every core, this many in all. Each core gets an equal share, so that where a log
    /// ends does not depend on timing.
    pub log_limit: Option<u64>,
    pub watches: Vec<Watch>,
    pub probes: Vec<Probe>,
    /// End at the first instruction that writes a NaN.
    pub break_on_nan: bool,
    /// How long nothing may happen before the task is given up.
    pub timeout: Duration,
    /// Ends the task when it is set.
    pub interrupt: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Options {
        let timeout = RunConfig::default().progress_timeout;
        Options {
            log_limit: None,
            watches: Vec::new(),
            probes: Vec::new(),
            break_on_nan: false,
            timeout,
            interrupt: Arc::default(),
        }
    }
}

/// An output before and after the task, in logical order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub slot: usize,
    pub initial: Vec<u8>,
    pub bytes: Vec<u8>,
}

/// Bytes that the task wrote outside of its views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    pub bytes: u64,
    /// The argument whose buffer they are in, and how far from its beginning the first one is.
    pub slot: usize,
    pub offset: u64,
}

/// A piece of global memory that held arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The arguments in it: several if they overlapped in the run.
    pub slots: Vec<usize>,
    pub addr: u64,
    pub bytes: u64,
}

/// How it ended.
#[derive(Debug)]
pub struct Outcome {
    pub result: Result<RunReport, RunError>,
    /// Of every output, also after a failure.
    pub outputs: Vec<Output>,
    /// By block and member.
    pub logs: Vec<CoreLog>,
    /// A core ran more instructions than its log may hold, and the task was ended there.
    pub log_full: bool,
    /// What the addresses in the logs mean.
    pub buffers: Vec<Buffer>,
    pub sightings: Vec<Sighting>,
    /// Sightings that were only counted.
    pub more_sightings: u64,
    pub stray: Option<Stray>,
    /// What was to be seen of a task that ended, and was not.
    pub silent: Vec<LookError>,
}

/// Runs a task once. Bytes that were not captured hold `poison`.
pub fn run(
    task: &CapturedTask,
    kernels: &KernelTable,
    chip: &'static Chip,
    poison: Poison,
    options: &Options,
) -> Result<Outcome, ReplayError> {
    let rebuilt = Rebuilt::new(task, poison)?;
    let observers =
        Arc::new(Observers::new(&rebuilt, &options.watches, &options.probes, options.break_on_nan)?);
    let logs = options.log_limit.map(|limit| Arc::new(Logs::new(limit, &rebuilt.launch)));
    let attended = attend(kernels, &observers, logs.as_ref());
    let writes: Vec<usize> =
        rebuilt.placed.iter().filter(|placed| placed.role != Role::Input).map(|placed| placed.slot).collect();
    let initial = writes.iter().map(|&slot| rebuilt.gather(slot)).collect::<Result<Vec<_>, MoveError>>()?;

    let (launch, clusters) = fit(&rebuilt.launch, chip);
    let config = RunConfig {
        block_dim: Some(clusters),
        control_threads: Some(1),
        fill: task.fill,
        progress_timeout: options.timeout,
        ..RunConfig::default()
    };
    let alone = Alone { id: task.id, launch, args: rebuilt.args.clone() };
    let result = Device::new(chip).interrupted_by(Arc::clone(&options.interrupt)).run_alone(
        &attended,
        alone,
        &rebuilt.memory,
        &config,
    );

    let mut outputs = Vec::new();
    for (slot, initial) in writes.into_iter().zip(initial) {
        outputs.push(Output { slot, initial, bytes: rebuilt.gather(slot)? });
    }
    let (logs, log_full) = logs.map_or_else(Default::default, |logs| logs.take());
    let silent =
        if result.is_ok() { observers.silent(|| first_changes(&rebuilt, &outputs)) } else { Vec::new() };
    let (sightings, more_sightings) = observers.close();
    let stray = strays(&rebuilt)?;
    let buffers = rebuilt.buffers.iter().map(|&(addr, bytes)| Buffer {
        slots: (rebuilt.placed.iter())
            .filter(|placed| (addr..addr + bytes).contains(&placed.tensor.addr))
            .map(|placed| placed.slot)
            .collect(),
        addr,
        bytes,
    });
    let buffers = buffers.collect();
    Ok(Outcome { result, outputs, logs, log_full, buffers, sightings, more_sightings, stray, silent })
}

/// The first element of each output that the task changed, as a watch is written.
fn first_changes(rebuilt: &Rebuilt, outputs: &[Output]) -> String {
    let changed = outputs.iter().filter_map(|output| {
        let placed = rebuilt.placed.iter().find(|placed| placed.slot == output.slot)?;
        let width = placed.tensor.dtype()?.size();
        let at = output.initial.iter().zip(&output.bytes).position(|(before, after)| before != after)?;
        Some(format!("{}[{}]", output.slot, at / width))
    });
    match changed.collect::<Vec<_>>() {
        none if none.is_empty() => "the task changed no element of an output".to_owned(),
        first => format!("the first elements that the task changed are {}", first.join(", ")),
    }
}

/// How many clusters a launch gets. Whether its blocks started together is not captured. If they all fit the
/// chip, starting them together is right for kernels that wait for each other and harmless for others; if they
/// do not, they cannot have waited for each other in the run either.
fn fit(launch: &Launch, chip: &Chip) -> (Launch, u32) {
    let per_cluster = if launch.shape() == Shape::Aiv { 2 } else { 1 };
    let needed = launch.blocks.div_ceil(per_cluster).max(1);
    let mut launch = launch.clone();
    launch.sync_start = launch.blocks > 1 && needed <= chip.clusters;
    (launch, needed.min(chip.clusters))
}

/// The same kernels, each with an observer that writes down what it does.
fn attend(kernels: &KernelTable, observers: &Arc<Observers>, logs: Option<&Arc<Logs>>) -> KernelTable {
    if !observers.is_open() && logs.is_none() {
        return kernels.clone();
    }
    let entries = kernels.iter().map(|entry| KernelEntry {
        kernel: Arc::new(Attended {
            kernel: Arc::clone(&entry.kernel),
            name: entry.name.clone(),
            observers: Arc::clone(observers),
            logs: logs.cloned(),
        }),
        ..entry.clone()
    });
    KernelTable::new(entries).expect("the same numbers as before")
}

struct Attended {
    kernel: Arc<dyn Kernel>,
    name: Arc<str>,
    observers: Arc<Observers>,
    logs: Option<Arc<Logs>>,
}

/// The logs of a task, while its cores run.
struct Logs {
    /// Instructions of one core.
    share: usize,
    done: Mutex<Vec<CoreLog>>,
    full: AtomicBool,
}

impl Logs {
    fn new(limit: u64, launch: &Launch) -> Logs {
        let cores = u64::from(launch.blocks) * launch.members().count() as u64;
        let share = usize::try_from((limit / cores.max(1)).max(1)).unwrap_or(usize::MAX);
        Logs { share, done: Mutex::default(), full: AtomicBool::new(false) }
    }

    fn add(&self, log: CoreLog, result: &KernelResult) {
        if result.as_ref().is_err_and(|fault| fault.kind == FaultKind::LogFull) {
            self.full.store(true, Relaxed);
        }
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(log);
    }

    /// By block and member, and whether one of them is full.
    fn take(&self) -> (Vec<CoreLog>, bool) {
        let mut logs = std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner));
        logs.sort_by_key(|log: &CoreLog| (log.block, log.member));
        (logs, self.full.load(Relaxed))
    }
}

impl Kernel for Attended {
    fn run(&self, core: &mut Core, args: &argus_abi::KernelArgs<'_>) -> KernelResult {
        let block = args.block_idx() as u32;
        if let Some(logs) = &self.logs {
            core.start_limited_log(logs.share);
        }
        if self.observers.is_open() {
            core.observe(self.observers.lookout(&self.name, block));
        }
        let result = self.kernel.run(core, args);
        core.take_observer();
        if let (Some(logs), Some(log)) = (&self.logs, core.take_log()) {
            let member = core.member();
            logs.add(CoreLog { member, block, log }, &result);
        }
        result
    }
}

/// Looks for bytes outside of all views that no longer hold the pattern.
fn strays(rebuilt: &Rebuilt) -> Result<Option<Stray>, MemoryError> {
    let poison = rebuilt.poison.0;
    for range in &rebuilt.filled {
        let address = range.start;
        let mut bytes = vec![0; (range.end - address) as usize];
        rebuilt.memory.read(address, &mut bytes)?;
        let views = || rebuilt.placed.iter().filter(|placed| overlaps(&placed.tensor, range));
        for placed in views() {
            let tensor = &placed.tensor;
            let bits = tensor.dtype().map_or(8, |dtype| u64::from(dtype.bits()));
            let runs = tensor.runs();
            let length = (runs.run_len() * bits).div_ceil(8) as usize;
            for offset in runs {
                let start = (tensor.addr + offset * bits / 8 - address) as usize;
                bytes[start..start + length].fill(poison);
            }
        }
        let Some(first) = bytes.iter().position(|&byte| byte != poison) else { continue };
        let count = bytes[first..].iter().filter(|&&byte| byte != poison).count() as u64;
        // The view after which the first stray byte lies, or else the first of the buffer.
        let at = address + first as u64;
        let behind = |tensor: &Tensor| tensor.data_addr().is_some_and(|start| start <= at);
        let near =
            views().filter(|placed| behind(&placed.tensor)).max_by_key(|placed| placed.tensor.data_addr());
        let Some(near) = near.or_else(|| views().next()) else { continue };
        let offset = at.saturating_sub(near.tensor.addr);
        return Ok(Some(Stray { bytes: count, slot: near.slot, offset }));
    }
    Ok(None)
}

fn overlaps(tensor: &Tensor, range: &Range<u64>) -> bool {
    tensor.byte_range().is_some_and(|view| view.start < range.end && range.start < view.end)
}
