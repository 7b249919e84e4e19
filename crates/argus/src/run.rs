//! `argus run`: from arguments to a played case.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use argus_abi::{FatalCode, FuncId, RuntimeKind};
use argus_chip::{CHIPS, Chip, ChipError, DEFAULT_CHIP};
use argus_record::Names;
use argus_runs::timeline::of_times;
use argus_runtime::{ConfigError, Injected, InjectionError, InjectionKind, RunError, Timed};
use argus_scene::faults::{FaultError, injections};
use argus_scene::play::{PlayError, PlayOptions, Played, Stage, play_with};
use argus_scene::registry::runtime;
use argus_scene::{Case, Registry, Scene, SceneError, Tolerance};

use crate::capture::{self, Kept, Recording};
use crate::cli::{Deps, RunArgs};
use crate::failure::{FAILED, Failure, did_you_mean};
use crate::interrupt::Interrupt;
use crate::marks::NOTE;
use crate::output;
use crate::progress::Progress;
use crate::settings::settings;
use crate::trace::run_timeline::Target;

/// A case that was played to its end.
pub struct Summary {
    /// The scene as the command named it.
    pub asked: String,
    pub scene: Arc<Scene>,
    pub case: Arc<Case>,
    pub runtime: RuntimeKind,
    pub chip: &'static Chip,
    pub played: Played,
    /// The dump of each round, if the run was captured.
    pub kept: Vec<Kept>,
    /// Faults that were made on purpose in the last round.
    pub injected: Vec<Injected>,
    /// Where the timeline of the last round is.
    pub timeline: Option<PathBuf>,
}

pub fn run(args: &RunArgs, registry: &Registry) -> Result<Summary, Failure> {
    if let Some(stray) = &args.stray {
        return Err(stray_word(args, stray));
    }
    let platform = args.platform.as_deref().or(settings().platform.as_deref()).unwrap_or(DEFAULT_CHIP.name);
    let chip = Chip::by_name(platform).map_err(no_chip)?;
    let scene = registry.scene(&args.scene).map_err(|error| no_scene(registry, &args.scene, error))?;
    let runtime = args.runtime.as_deref().map(runtime).transpose().map_err(Failure::usage)?;
    let (case, runtime) =
        scene.case(args.case.as_deref(), runtime).map_err(|error| no_case(&scene, error))?;
    let options = PlayOptions {
        block_dim: args.block_dim,
        control_threads: args.aicpu_threads,
        rounds: rounds(args.rounds)?,
        skip_golden: args.skip_golden,
        tolerance: tolerance(args, &case, runtime, chip)?,
        progress_timeout: args.timeout.or(settings().timeout).map(timeout).transpose()?,
        zero_fill: args.no_poison,
        reference_hazards: args.deps == Deps::Reference,
        ring_window: args.ring_window,
        ring_heap: args.ring_heap.as_deref().map(capture::size).transpose()?,
        injections: injections(&args.inject, &case, runtime).map_err(no_fault)?,
        timeline: args.timeline.is_some(),
        in_process: args.in_process,
        ..PlayOptions::default()
    };
    let target = args.timeline.as_deref().map(|path| Target::new(path, args.force)).transpose()?;
    let names = Names {
        scene: scene.name.clone(),
        case: case.name.clone(),
        runtime: runtime.name().into(),
        ..Names::default()
    };
    let mut recording = Recording::new(&args.dump, names, options.rounds, args.force)?;
    if let Some(recording) = &mut recording {
        recording.count_tasks(&case, runtime)?;
    }
    let interrupt = Interrupt::default();
    let mut progress = Progress::new(args.json, options.rounds);
    let mut injected = Vec::new();
    let mut drawn = Ok(());
    let played = play_with(&case, runtime, chip, &options, |stage| {
        let Stage { device, program, args, config, origin, round } = stage;
        interrupt.reaches(device);
        progress.round(device, round);
        let ended = match &mut recording {
            Some(recording) => {
                recording.run(Stage { device: &mut *device, program, args, config, origin, round })
            }
            None => device.run(program, args, config).map_err(Failure::run),
        };
        injected = device.injected().to_vec();
        if let (Some(target), Some(Timed { times, edges })) = (&target, device.timed()) {
            let name = |func| program.kernels.get(FuncId(func)).map(|entry| entry.name.to_string());
            let timeline = of_times(times, edges, &name);
            drawn = target.write(&timeline, &[]);
        }
        ended.map_err(explained)
    });
    drop(progress);
    let played = played.map_err(|failure| match failure.exit_code {
        FAILED if failure.next.is_none() && recording.is_none() => {
            failure.next(capturing(&args.scene, &case.name, runtime))
        }
        _ => failure,
    })?;
    drawn?;
    let kept = recording.map_or_else(Vec::new, |recording| recording.kept);
    if args.dump.artefacts {
        for kept in &kept {
            write_artefacts(&kept.summary.directory)?;
        }
    }
    let timeline = target.map(|target| target.path().to_owned());
    Ok(Summary { asked: args.scene.clone(), scene, case, runtime, chip, played, kept, injected, timeline })
}

/// How a run is captured, so that its tasks can be looked at. A scene in files is named by its path.
pub fn capturing(scene: &str, case: &str, runtime: RuntimeKind) -> String {
    let (scene, case) = (output::shell_word(scene), output::shell_word(case));
    format!("argus run {scene} --case {case} --runtime {} --dump-tensor", runtime.short())
}

/// The answer to a second word beside the scene.
fn stray_word(args: &RunArgs, stray: &str) -> Failure {
    let after_flag = || {
        let mut words = std::env::args().skip_while(|word| word != "--dump-args").skip(1);
        words.next().filter(|word| *word == stray || *word == args.scene)
    };
    match args.dump.dump_args.as_ref().and_then(|_| after_flag()) {
        Some(value) => capture::dump_args_value(&value),
        None => Failure::usage(anyhow!("'{stray}' is not expected: one scene is run at a time")),
    }
}

fn no_fault(error: FaultError) -> Failure {
    let hint = match &error {
        FaultError::Injection(InjectionError::Kind { kind, .. }) => {
            did_you_mean(kind, InjectionKind::ALL.map(InjectionKind::name))
        }
        _ => None,
    };
    match error {
        FaultError::Graph(error) => Failure::failed(error),
        other => Failure::usage(other),
    }
    .hint(hint)
}

pub fn no_chip(error: ChipError) -> Failure {
    let hint = match &error {
        ChipError::Hardware { twin, .. } => Some(format!("-p {twin}")),
        ChipError::Unknown { name } => did_you_mean(name, CHIPS.map(|chip| chip.name)),
    };
    Failure::usage(error).hint(hint)
}

/// The answer to a scene that is not there, or cannot be had.
pub fn no_scene(registry: &Registry, name: &str, error: SceneError) -> Failure {
    let hint = match &error {
        SceneError::Scene { .. } => {
            let hint = did_you_mean(name, registry.names());
            Some(hint.unwrap_or_else(|| "`argus list` shows the scenes and their cases".into()))
        }
        _ => None,
    };
    Failure::usage(error).hint(hint)
}

pub fn no_case(scene: &Scene, error: SceneError) -> Failure {
    let hint = match &error {
        SceneError::Case { name, .. } => did_you_mean(name, scene.cases.iter().flat_map(|case| case.names())),
        SceneError::NotOnRuntime { runtime, .. } => {
            let cases = scene.cases.iter().filter(|case| case.runtimes.contains(runtime));
            let names: Vec<&str> = cases.map(|case| &case.name[..]).collect();
            (!names.is_empty()).then(|| format!("cases written for {runtime}: {}", names.join(", ")))
        }
        _ => None,
    };
    Failure::usage(error).hint(hint)
}

fn rounds(rounds: u32) -> Result<u32, Failure> {
    if rounds == 0 {
        return Err(Failure::usage(anyhow!("rounds is 0; at least 1 is needed")));
    }
    Ok(rounds)
}

pub fn timeout(seconds: f64) -> Result<Duration, Failure> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(Failure::usage(anyhow!("timeout is {seconds}; it must be a number of seconds above 0"))),
    }
}

/// The tolerance asked for; what is not said about it comes from the case.
fn tolerance(
    args: &RunArgs,
    case: &Case,
    runtime: RuntimeKind,
    chip: &'static Chip,
) -> Result<Option<Tolerance>, Failure> {
    let (rtol, atol) = match (args.rtol, args.atol) {
        (None, None) => return Ok(None),
        (Some(rtol), Some(atol)) => (rtol, atol),
        (rtol, atol) => {
            // Only a prepared case knows its tolerance. Bad numbers should not have to wait for that.
            Tolerance::new(rtol.unwrap_or(0.0), atol.unwrap_or(0.0)).map_err(Failure::usage)?;
            let own = case.prepare(runtime, chip)?.tolerance;
            (rtol.unwrap_or(own.rtol()), atol.unwrap_or(own.atol()))
        }
    };
    Tolerance::new(rtol, atol).map(Some).map_err(Failure::usage)
}

/// Writes the reference's files beside a dump, and says which.
fn write_artefacts(dump: &Path) -> Result<(), Failure> {
    let dump = argus_dump::read::Dump::open(dump).map_err(Failure::failed)?;
    let written =
        argus_runs::write::artefacts(&dump, argus_runs::write::Wanted::ALL).map_err(Failure::failed)?;
    written.files.iter().for_each(|path| output::wrote(path));
    if written.edges_left_out > 0 {
        let count = output::counted(written.edges_left_out as u64, "edge");
        output::remark(&format!(
            "{NOTE}note:{NOTE:#} {count} left out of deps.json: the reference has none for a write that waits for reads\n"
        ))?;
    }
    Ok(())
}

/// Gives a failed run the exit code and the hint it deserves.
fn explained(failure: Failure) -> Failure {
    use ConfigError::{
        DepPool, Heap, NoBlocks, NoControlThreads, TooManyBlocks, TooManyControlThreads, Window, ZeroTime,
    };
    let Some(PlayError::Run(error)) = failure.error.downcast_ref::<PlayError>() else { return failure };
    let larger = |enough: &dyn Fn(&Chip) -> bool| CHIPS.into_iter().find(|chip| enough(chip));
    match *error {
        RunError::Config(
            NoBlocks | NoControlThreads | ZeroTime { .. } | Window { .. } | Heap { .. } | DepPool { .. },
        ) => failure.blamed_on_usage(),
        RunError::Injection(InjectionError::NoKernel { ref injection, ref known }) => {
            let meant = did_you_mean(&injection.kernel, known.split(", "));
            failure.blamed_on_usage().hint(meant)
        }
        RunError::Config(TooManyBlocks { asked, .. }) => {
            let chip = larger(&|chip| chip.clusters >= asked);
            failure.blamed_on_usage().hint(chip.map(|chip| format!("{} has {}", chip.name, chip.clusters)))
        }
        RunError::Config(TooManyControlThreads { asked, .. }) => {
            let chip = larger(&|chip| chip.control_threads >= asked);
            failure
                .blamed_on_usage()
                .hint(chip.map(|chip| format!("{} has {}", chip.name, chip.control_threads)))
        }
        RunError::Stuck { .. } | RunError::NotNotified { .. } | RunError::OrchestrationStuck { .. } => {
            failure.also("--timeout SECONDS allows more time without progress".into())
        }
        RunError::Fatal(ref fatal) if fatal.code == FatalCode::ScopeDeadlock => {
            failure.also("--ring-window N gives the rings more task slots".into())
        }
        RunError::Fatal(ref fatal) if fatal.code == FatalCode::HeapRingDeadlock => {
            failure.also("--ring-heap SIZE gives the rings more memory".into())
        }
        _ => failure,
    }
}
