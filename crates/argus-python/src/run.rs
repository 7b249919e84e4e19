//! `argus.run`: a scene played on a simulated chip, captured or not.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use argus_chip::{Chip, DEFAULT_CHIP};
use argus_dump::directory::remove_empty;
use argus_dump::{DumpSummary, LastVerdict, RunDirectory, StatsMode};
use argus_facts::select::by_id;
use argus_facts::{Level, SelectorError, with_causes};
use argus_record::{Hint, Names, RecordProblem, RecordRequest, record};
use argus_runtime::Watch;
use argus_scene::compare::OutputMismatch;
use argus_scene::faults::{FaultError, injections};
use argus_scene::play::{PlayError, PlayOptions, Played, Stage, play_with};
use argus_scene::registry::runtime;
use argus_scene::{PrepareError, Tolerance};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::errors::{Class, Refusal};
use crate::{long, scenes};

/// What is said about a run; everything else comes from the case and the chip.
#[derive(Clone, Debug, FromPyObject)]
pub struct Settings {
    #[pyo3(item)]
    case: Option<String>,
    #[pyo3(item)]
    platform: Option<String>,
    #[pyo3(item)]
    runtime: Option<String>,
    #[pyo3(item)]
    rounds: u32,
    #[pyo3(item)]
    block_dim: Option<u32>,
    #[pyo3(item)]
    control_threads: Option<u32>,
    #[pyo3(item)]
    skip_golden: bool,
    #[pyo3(item)]
    rtol: Option<f64>,
    #[pyo3(item)]
    atol: Option<f64>,
    #[pyo3(item)]
    timeout: Option<f64>,
    #[pyo3(item)]
    inject: Vec<String>,
    /// Nothing is captured without a level.
    #[pyo3(item)]
    level: Option<String>,
    #[pyo3(item)]
    select: Vec<String>,
    /// Where the dump goes; below `outputs` under a name of its own if nothing is said.
    #[pyo3(item)]
    directory: Option<PathBuf>,
    #[pyo3(item)]
    outputs: PathBuf,
}

/// An argument of the scene after the last round: name, element type, shape, elements.
type Tensor = (String, &'static str, Vec<u32>, Py<PyBytes>);

/// Argument of the scene before it is a Python object.
type Held = (String, &'static str, Vec<u32>, Vec<u8>);

struct Done {
    answer: Value,
    tensors: Vec<Held>,
}

/// What stops a run: an error of ours or one of the libraries.
enum Stop {
    Refused(Refusal),
    Play(PlayError),
}

impl From<OutputMismatch> for Stop {
    fn from(error: OutputMismatch) -> Stop {
        Stop::Play(error.into())
    }
}

impl From<PrepareError> for Stop {
    fn from(error: PrepareError) -> Stop {
        Stop::Play(error.into())
    }
}

impl From<SelectorError> for Refusal {
    fn from(error: SelectorError) -> Refusal {
        Refusal::new(Class::Usage, &error)
    }
}

/// Runs a case of a scene. The answer is what `argus run --json` tells, as JSON, and the arguments afterwards.
#[pyfunction]
pub fn run_scene(py: Python<'_>, scene: &str, settings: Settings) -> PyResult<(String, Vec<Tensor>)> {
    let running = Mutex::new(None);
    let line = || {
        let look = hold(&running).as_ref()?.1.look()?;
        let so_far = if look.orchestrated { "" } else { " so far" };
        Some(format!("running: {} of {} tasks{so_far}", look.completed, look.submitted))
    };
    let stop = || {
        if let Some((interrupt, _)) = &*hold(&running) {
            interrupt.store(true, Relaxed);
        }
    };
    let ended = long::attended(py, stop, line, || play(scene, &settings, &running))?;
    let Done { answer, tensors } = ended.map_err(|refusal| refusal.raise(py))?;
    let tensors = tensors.into_iter();
    let tensors =
        tensors.map(|(name, dtype, shape, bytes)| (name, dtype, shape, PyBytes::new(py, &bytes).unbind()));
    Ok((answer.to_string(), tensors.collect()))
}

/// What ends the run that is active, and what shows how far it is.
type Running = Mutex<Option<(Arc<AtomicBool>, Watch)>>;

fn hold(running: &Running) -> MutexGuard<'_, Option<(Arc<AtomicBool>, Watch)>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn play(scene: &str, settings: &Settings, running: &Running) -> Result<Done, Refusal> {
    let chip = Chip::by_name(settings.platform.as_deref().unwrap_or(DEFAULT_CHIP.name))?;
    let scene = scenes::registry()?.scene(scene)?;
    let runtime = settings.runtime.as_deref().map(runtime).transpose()?;
    let (case, runtime) = scene.case(settings.case.as_deref(), runtime)?;
    let options = PlayOptions {
        block_dim: settings.block_dim,
        control_threads: settings.control_threads,
        rounds: settings.rounds,
        skip_golden: settings.skip_golden,
        tolerance: tolerance(settings)?,
        progress_timeout: settings.timeout.map(timeout).transpose()?,
        injections: injections(&settings.inject, &case, runtime).map_err(|error| fault(&error))?,
        ..PlayOptions::default()
    };
    let request = request(settings)?;
    let request = match request {
        None => None,
        Some(request) => {
            let graph = || argus_scene::graph::graph(&case, runtime).map_err(Refusal::from);
            Some(RecordRequest { selectors: by_id(&request.selectors, graph)?, ..request })
        }
    };
    let mut names = Names {
        scene: scene.name.clone(),
        case: case.name.clone(),
        runtime: runtime.name().into(),
        ..Names::default()
    };
    let mut directory: Option<RunDirectory> = None;
    let mut kept: Vec<DumpSummary> = Vec::new();
    let mut tensors = Vec::new();
    let mut injected = Vec::new();
    let played = play_with(&case, runtime, chip, &options, |stage: Stage<'_>| -> Result<_, Stop> {
        let Stage { device, program, args, config, origin, round } = stage;
        *hold(running) = Some((device.interrupt_flag(), device.watch()));
        let report = match &request {
            None => device.run(program, args, config).map_err(|error| Stop::Play(error.into()))?,
            Some(request) => {
                names.origin = origin.cloned();
                let path = place(&mut directory, settings, &names, round).map_err(Stop::Refused)?;
                let run = record(device, program, args, config, request, &names, &path);
                if run.dump.is_none() {
                    remove_empty(&path);
                }
                let summary = run.dump;
                let problem = problems(run.result.as_ref().err(), &run.problems, summary.as_ref());
                if let Some(refusal) = problem {
                    return Err(Stop::Refused(refusal));
                }
                kept.extend(summary);
                run.result.map_err(|error| Stop::Play(error.into()))?
            }
        };
        let held = args.tensors.iter();
        tensors = held
            .map(|tensor| {
                (tensor.name.clone(), tensor.dtype.name(), tensor.shape.clone(), tensor.bytes.clone())
            })
            .collect();
        injected = device.injected().iter().map(|done| done.what.clone()).collect::<Vec<String>>();
        Ok(report)
    });
    let played = played.map_err(|stop| match stop {
        Stop::Refused(refusal) => refusal,
        Stop::Play(error) => error.into(),
    })?;
    keep_verdicts(&played, &kept);
    let rounds: Vec<Value> = played
        .rounds
        .iter()
        .map(|round| {
            json!({
                "elapsed_ms": round.report.elapsed.as_secs_f64() * 1e3,
                "tasks": round.report.tasks,
                "outputs": round.outputs,
            })
        })
        .collect();
    let dumps: Vec<String> = kept.iter().map(|kept| kept.directory.display().to_string()).collect();
    let answer = json!({
        "scene": scene.name,
        "case": case.name,
        "platform": chip.name,
        "runtime": runtime.short(),
        "passed": played.passed(),
        "compared": played.rounds.iter().any(|round| !round.outputs.is_empty()),
        "rounds": rounds,
        "dumps": dumps,
        "injected": injected,
    });
    Ok(Done { answer, tensors })
}

fn request(settings: &Settings) -> Result<Option<RecordRequest>, Refusal> {
    let Some(level) = &settings.level else { return Ok(None) };
    let level = Level::from_name(level).ok_or_else(|| {
        let message = format!("there is no level '{level}'; there are full, partial and hybrid");
        Refusal::text(Class::Usage, message)
    })?;
    let (selectors, stats) = (settings.select.clone(), StatsMode::Off);
    Ok(Some(RecordRequest { level: Some(level), selectors, stats, ..RecordRequest::default() }))
}

fn place(
    directory: &mut Option<RunDirectory>,
    settings: &Settings,
    names: &Names,
    round: u32,
) -> Result<PathBuf, Refusal> {
    let refused = |error| Refusal::new(Class::Run, &error);
    if directory.is_none() {
        let made = match &settings.directory {
            Some(path) => RunDirectory::at(path),
            None => RunDirectory::create(&settings.outputs, &names.scene, &names.case),
        };
        *directory = Some(made.map_err(refused)?);
    }
    let Some(directory) = directory else { unreachable!("made above") };
    if settings.rounds == 1 { directory.dump() } else { directory.round(round + 1) }.map_err(refused)
}

/// What is wrong with a capture, and with the run beside it.
fn problems(
    failed: Option<&argus_runtime::RunError>,
    problems: &[RecordProblem],
    dump: Option<&DumpSummary>,
) -> Option<Refusal> {
    if let [problem @ (RecordProblem::Selector(_) | RecordProblem::UnknownKernel { .. }), ..] = problems {
        return Some(Refusal::new(Class::Usage, problem));
    }
    if failed.is_none() && problems.is_empty() {
        return None;
    }
    let failed = failed.map(|error| with_causes(error));
    let said: Vec<String> =
        failed.into_iter().chain(problems.iter().map(|problem| with_causes(problem))).collect();
    let help = problems.iter().filter_map(RecordProblem::hint).map(|hint| match hint {
        Hint::CaptureUnmarked => "use level \"full\", or select what is captured".to_owned(),
        Hint::MoreMemory => "collect during the run, which is the default".to_owned(),
    });
    let find =
        dump.map(|dump| format!("argus.find(\"{}\") looks at what was captured", dump.directory.display()));
    let hints: Vec<String> = help.chain(find).collect();
    let hint = (!hints.is_empty()).then(|| hints.join("; "));
    Some(Refusal::text(Class::Run, said.join("; ")).hint(hint))
}

/// Writes beside each dump whether its outputs agree, for listings. A place that cannot be written has none.
fn keep_verdicts(played: &Played, kept: &[DumpSummary]) {
    for (round, dump) in played.rounds.iter().zip(kept) {
        let word = match (round.outputs.is_empty(), round.outputs.iter().all(|output| output.pass)) {
            (true, _) => "not_compared",
            (false, true) => "pass",
            (false, false) => "fail",
        };
        let _ = LastVerdict::new("run", word).write(&dump.directory);
    }
}

fn tolerance(settings: &Settings) -> Result<Option<Tolerance>, Refusal> {
    match (settings.rtol, settings.atol) {
        (None, None) => Ok(None),
        (rtol, atol) => Tolerance::new(rtol.unwrap_or(0.0), atol.unwrap_or(0.0))
            .map(Some)
            .map_err(|error| Refusal::new(Class::Usage, &error)),
    }
}

/// A number of seconds that can be waited for.
pub fn timeout(seconds: f64) -> Result<Duration, Refusal> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => {
            let message = format!("timeout is {seconds}; it must be a number of seconds above 0");
            Err(Refusal::text(Class::Usage, message))
        }
    }
}

fn fault(error: &FaultError) -> Refusal {
    let class = match error {
        FaultError::Graph(_) => Class::Run,
        FaultError::Injection(_) | FaultError::Selector(_) | FaultError::NotOneTask { .. } => Class::Usage,
    };
    Refusal::new(class, error)
}
