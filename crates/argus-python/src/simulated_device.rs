//! A simulated device for scene tests: one run after the other, each with its own memory, captured or not.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use argus_abi::{ArgDirection, DType, FatalCode};
use argus_facts::{Level, with_causes};
use argus_record::{Names, RecordProblem, RecordRequest, record};
use argus_runtime::{Device, Hazards, HostArgs, HostTensor, RunConfig, RunError, RunReport};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::compile::chip;
use crate::errors::{self, Class};
use crate::long;
use crate::scene_program::SceneProgram;

/// One simulated device.
#[pyclass(frozen, module = "argus._native")]
pub struct SimulatedDevice {
    device: Mutex<Device>,
    interrupt: Arc<AtomicBool>,
}

/// What to capture, and where to.
#[derive(Clone, Debug, FromPyObject)]
struct Capture {
    #[pyo3(item)]
    directory: PathBuf,
    /// `full`, `partial`, `hybrid` or `off`.
    #[pyo3(item)]
    level: String,
    #[pyo3(item)]
    scene: String,
    #[pyo3(item)]
    case: String,
}

/// What is said about a run; everything else comes from the chip.
#[derive(Clone, Debug, FromPyObject)]
struct Settings {
    #[pyo3(item)]
    block_dim: Option<u32>,
    #[pyo3(item)]
    control_threads: Option<u32>,
    #[pyo3(item)]
    ring_task_window: Option<[u32; 4]>,
    #[pyo3(item)]
    ring_heap: Option<[u64; 4]>,
    #[pyo3(item)]
    ring_dep_pool: Option<[u32; 4]>,
    /// Edges for every hazard, not only for those that the reference tracks.
    #[pyo3(item)]
    complete_hazards: bool,
    /// Longest time without a task completing.
    #[pyo3(item)]
    timeout_ms: Option<u64>,
}

/// A tensor of a run: name, element type, shape, elements.
type Argument<'py> = (String, String, Vec<u32>, Bound<'py, PyBytes>);

/// How a run ended, before it is turned into Python's values.
struct Ended {
    result: Result<RunReport, RunError>,
    /// Whether something was lost, and the words for it.
    problems: Vec<(bool, String)>,
    records: Option<u64>,
    host: Duration,
}

#[pymethods]
impl SimulatedDevice {
    #[new]
    fn new(py: Python<'_>, platform: &str) -> PyResult<SimulatedDevice> {
        let device = Device::new(chip(py, platform)?);
        let interrupt = device.interrupt_flag();
        Ok(SimulatedDevice { device: Mutex::new(device), interrupt })
    }

    /// Runs a program. The answer holds `tensors` (the elements afterwards, None where nothing changed), `error` (None
    /// if it ended well), `code`, `detail`, `host_ns`, `device_ns`, `tasks`, `records`, `problems` and
    /// `rings`.
    ///
    /// What the orchestration asks for is written to the file `journal`.
    #[pyo3(signature = (program, tensors, scalars, settings, capture=None, journal=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords on the other side")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        program: &SceneProgram,
        tensors: Vec<Argument<'py>>,
        scalars: Vec<u64>,
        settings: Settings,
        capture: Option<Capture>,
        journal: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let config = config(&settings);
        let mut request = None;
        if let Some(Capture { level, directory, scene, case }) = capture {
            let level = match &level[..] {
                "off" => None,
                name => Some(Level::from_name(name).ok_or_else(|| {
                    errors::raise_text(py, Class::Usage, &format!("there is no capture level '{name}'"), None)
                })?),
            };
            let names =
                Names { scene, case, runtime: program.runtime.into(), origin: program.origin.clone() };
            let asked = RecordRequest { level, orchestration_args: true, ..RecordRequest::default() };
            request = Some((asked, names, directory));
        }
        let mut args = HostArgs { tensors: Vec::with_capacity(tensors.len()), scalars };
        for (name, dtype, shape, bytes) in &tensors {
            let dtype = DType::from_name(dtype).ok_or_else(|| {
                errors::raise_text(py, Class::Usage, &format!("there is no element type '{dtype}'"), None)
            })?;
            // The reference brings every argument back, whatever its direction.
            let direction = ArgDirection::Inout;
            let (name, shape, bytes) = (name.clone(), shape.clone(), bytes.as_bytes().to_vec());
            args.tensors.push(HostTensor { name, direction, dtype, shape, bytes });
        }
        let journal = journal.map(File::create).transpose()?;
        let ended = self.while_signals_are_seen(py, || {
            let mut device = self.device.lock().unwrap_or_else(PoisonError::into_inner);
            program.journal.write_to(journal);
            let started = Instant::now();
            let (result, problems, records) = match &request {
                None => (device.run(&program.program, &mut args, &config), Vec::new(), None),
                Some((request, names, directory)) => {
                    let run =
                        record(&mut device, &program.program, &mut args, &config, request, names, directory);
                    let problems =
                        run.problems.iter().map(|problem| (is_loss(problem), with_causes(problem))).collect();
                    (run.result, problems, run.dump.map(|dump| dump.records))
                }
            };
            program.journal.write_to(None);
            Ended { result, problems, records, host: started.elapsed() }
        })?;
        let answer = answer(py, &ended, &tensors, &args)?;
        answer.set_item("rings", rings(py, &config)?)?;
        Ok(answer)
    }
}

impl SimulatedDevice {
    /// Does the work while signals are looked for, so that Ctrl-C ends a run.
    fn while_signals_are_seen<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> T + Send,
    ) -> PyResult<T> {
        self.interrupt.store(false, Ordering::Relaxed);
        long::attended(py, || self.interrupt.store(true, Ordering::Relaxed), || None, work)
    }
}

/// Whether records are missing that were asked for. Nothing marked, or a task that cannot be described, is said in the
/// files themselves.
fn is_loss(problem: &RecordProblem) -> bool {
    !matches!(
        problem,
        RecordProblem::NothingMarked { .. } | RecordProblem::Nothing | RecordProblem::Skipped { .. }
    )
}

fn config(settings: &Settings) -> RunConfig {
    let mut config = RunConfig {
        block_dim: settings.block_dim,
        control_threads: settings.control_threads,
        isolated: true,
        ..RunConfig::default()
    };
    if !settings.complete_hazards {
        config.hazards = Hazards::Reference;
    }
    for (index, ring) in config.rings.iter_mut().enumerate() {
        ring.window = settings.ring_task_window.map_or(ring.window, |sizes| sizes[index]);
        ring.heap = settings.ring_heap.map_or(ring.heap, |sizes| sizes[index]);
        ring.dep_pool = settings.ring_dep_pool.map_or(ring.dep_pool, |sizes| sizes[index]);
    }
    if let Some(timeout) = settings.timeout_ms {
        config.progress_timeout = Duration::from_millis(timeout);
    }
    config
}

/// How much each ring of the run could hold.
fn rings<'py>(py: Python<'py>, config: &RunConfig) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let ring = |ring: &argus_runtime::RingConfig| {
        let told = PyDict::new(py);
        told.set_item("window", ring.window)?;
        told.set_item("heap", ring.heap)?;
        told.set_item("dep_pool", ring.dep_pool)?;
        Ok(told)
    };
    config.rings.iter().map(ring).collect()
}

fn answer<'py>(
    py: Python<'py>,
    ended: &Ended,
    given: &[Argument<'_>],
    args: &HostArgs,
) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    let after: Vec<Option<Bound<'py, PyBytes>>> = (given.iter().zip(&args.tensors))
        .map(|((.., before), now)| (before.as_bytes() != now.bytes).then(|| PyBytes::new(py, &now.bytes)))
        .collect();
    answer.set_item("tensors", after)?;
    let error = ended.result.as_ref().err();
    answer.set_item("error", error.map(|error| with_causes(error)))?;
    let code = error.map(|error| error.fatal_code());
    answer.set_item("code", code.flatten().map(FatalCode::raw))?;
    answer.set_item("code_name", code.flatten().map(|code| code.name()))?;
    let report = ended.result.as_ref().ok();
    answer.set_item("device_ns", report.map(|report| report.elapsed.as_nanos() as u64))?;
    answer.set_item("host_ns", ended.host.as_nanos() as u64)?;
    answer.set_item("tasks", report.map(|report| report.tasks))?;
    answer.set_item("records", ended.records)?;
    answer.set_item("problems", &ended.problems)?;
    Ok(answer)
}
