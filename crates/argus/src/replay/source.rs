//! From what was typed to a task and the code it runs: out of a dump, out of a capsule, or out of a run that is
//! made for it. Who only wants the task's arguments gets it without its code too, where that is not known.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use argus_abi::args::KernelAbi;
use argus_abi::{RuntimeKind, TaskId};
use argus_chip::{Chip, ChipError, DEFAULT_CHIP};
use argus_dump::read::{Dump, RunFacts};
use argus_facts::TaskSelector;
use argus_record::{Names, RecordRequest, record};
use argus_replay::{
    Capsule, CapturedTask, Code, Identity, Listing, ReplayError, SelectError, Substitute, TaskChoice, spec,
};
use argus_runtime::{KernelTable, RunError};
use argus_scene::play::{PlayOptions, play_with};
use argus_scene::{Case, Registry, Scene};

use super::hints::cannot_replay;
use crate::carried;
use crate::cli::TaskArgs;
use crate::failure::{Failure, did_you_mean};
use crate::fit;
use crate::input;
use crate::run::{no_case, no_chip};

/// A task that can be run.
pub struct Source {
    pub task: CapturedTask,
    pub code: Code,
    pub chip: &'static Chip,
    /// What it was taken from, as it was typed or found.
    pub from: From,
}

/// Where a task comes from.
pub enum From {
    Dump(String),
    Capsule(String),
    /// A run that was made for it, or none at all if all arguments were given.
    Scene(String),
}

/// What is to be done with a task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Run it: its code must be there.
    Run,
    /// Write it down: its arguments are enough, and its chip may be a real one.
    Describe,
}

/// Finds a task that can be run.
pub fn open(what: Option<&str>, args: &TaskArgs, registry: &Registry) -> Result<Source, Failure> {
    find(what, args, Purpose::Run, registry)
}

/// Finds a task of which only the arguments are needed. Its code holds no kernels where they are not known.
pub fn describe(what: Option<&str>, args: &TaskArgs, registry: &Registry) -> Result<Source, Failure> {
    find(what, args, Purpose::Describe, registry)
}

/// A task of which nothing is known but the arguments that were given, and the chip that it is for.
pub fn of_arguments(spec: &Path, args: &TaskArgs) -> Result<(CapturedTask, &'static Chip), Failure> {
    let substitutes = substitutes(args)?;
    let chip = chip(args, "", Purpose::Describe)?;
    let runtime = runtime(args)?;
    let identity = Identity {
        runtime: runtime.map_or(String::new(), |runtime| runtime.name().into()),
        platform: chip.name.into(),
        ..Identity::default()
    };
    let mut task = CapturedTask::of_kernel(identity, abi(runtime));
    task.id = TaskId::INVALID;
    task.arguments = read_spec(spec)?;
    task.substitute(&substitutes).map_err(cannot_replay)?;
    Ok((task, chip))
}

fn find(
    what: Option<&str>,
    args: &TaskArgs,
    purpose: Purpose,
    registry: &Registry,
) -> Result<Source, Failure> {
    let substitutes = substitutes(args)?;
    let arguments = args.arg_spec.as_deref().map(read_spec).transpose()?;
    let selection = selection(args)?;
    let given = arguments.is_some();
    let mut source = match what {
        Some(what) if !Path::new(what).exists() && registry.scene(what).is_ok() => {
            of_scene(what, args, &selection, given, purpose, registry)?
        }
        Some(what) if Capsule::is_one(Path::new(what)) => of_capsule(what, args, purpose, registry)?,
        Some(what) if !Path::new(what).exists() => return Err(nothing_there(what, registry)),
        what => of_dump(input::open(what.map(Path::new))?, args, &selection, purpose, registry)?,
    };
    if let Some(arguments) = arguments {
        source.task.arguments = arguments;
    }
    source.task.substitute(&substitutes).map_err(cannot_replay)?;
    source.task.check_complete().map_err(|error| incomplete(error, &source))?;
    Ok(source)
}

fn substitutes(args: &TaskArgs) -> Result<Vec<Substitute>, Failure> {
    Substitute::parse_all(args.set_arg.iter().map(String::as_str)).map_err(cannot_replay)
}

/// A task without some of its arguments.
fn incomplete(error: ReplayError, source: &Source) -> Failure {
    match (&error, &source.from) {
        (ReplayError::MissingPayload { .. } | ReplayError::MissingSlot { .. }, From::Dump(dump)) => {
            let more = format!("`argus view {dump}` shows what the dump has");
            cannot_replay(error).also(more)
        }
        _ => cannot_replay(error),
    }
}

fn nothing_there(what: &str, registry: &Registry) -> Failure {
    Failure::usage(anyhow!("'{what}' is neither a dump, nor a capsule, nor a scene"))
        .hint(did_you_mean(what, registry.names()).or_else(|| Some("`argus list` shows the scenes".into())))
}

fn read_spec(path: &Path) -> Result<Vec<argus_replay::Argument>, Failure> {
    let context = |error: anyhow::Error| Failure::usage(error.context(format!("{}", path.display())));
    let text = argus_files::read(path, argus_files::LARGEST_TEXT).map_err(|error| context(error.into()))?;
    spec::parse(&text).map_err(|error| context(error.into()))
}

fn selection(args: &TaskArgs) -> Result<TaskChoice, Failure> {
    Ok(TaskChoice {
        task: args.task.as_deref().map(input::task).transpose()?,
        kernel: args.kernel.clone(),
        func_ids: (!args.func_id.is_empty()).then(|| args.func_id.clone()),
        nth: args.nth,
    })
}

fn of_dump(
    dump: Dump,
    args: &TaskArgs,
    selection: &TaskChoice,
    purpose: Purpose,
    registry: &Registry,
) -> Result<Source, Failure> {
    let facts = dump.run().cloned().unwrap_or_default();
    let own = match &args.scene {
        Some(_) => None,
        None => carried::scene(&dump)?.or_else(|| Some(facts.scene.clone()).filter(|name| !name.is_empty())),
    };
    let name = args.scene.as_deref().or(own.as_deref());
    if purpose == Purpose::Describe
        && args.scene.is_none()
        && own.as_ref().is_none_or(|own| registry.scene(own).is_err())
    {
        return without_code(&dump, args, selection, &facts);
    }
    let Some(name) = name else {
        return Err(Failure::usage(anyhow!("the dump does not say whose kernels it ran"))
            .hint("name the scene and case that made it: --scene S --case C".to_owned()));
    };
    let own = args.scene.is_none();
    let recorded = |text: &'_ str| Some(text.to_owned()).filter(|text| own && !text.is_empty());
    let case = args.case.clone().or_else(|| recorded(&facts.case));
    let runtime = args.runtime.clone().or_else(|| recorded(&facts.runtime));
    let (scene, mut case, mut runtime) = find_case(name, case.as_deref(), runtime.as_deref(), own, registry)?;
    // A dump that does not say that it is a run of this scene must look like one.
    let fit = if dump.graph().is_none() || !own && facts.scene != scene.name {
        let typed = args.runtime.is_some().then_some(runtime);
        let fit = fit::fit(&scene, Some(&case.name), typed, &dump)?;
        (case, runtime) = (Arc::clone(&fit.case), fit.runtime);
        Some(fit)
    } else {
        None
    };
    let chip = chip(args, &facts.platform, purpose)?;
    let code = Code::from_program(&case.program(runtime, chip)?);
    let mut listing = Listing::from_dump(&dump);
    listing.name(&code);
    if let Some(fit) = fit.as_ref().filter(|_| dump.graph().is_none()) {
        listing.supply(&fit.model.graph);
    }
    let listed = listing.select(selection).map_err(|error| unselected(error, &dump))?;
    if let Some(fit) = fit.filter(|_| purpose == Purpose::Run)
        && let Some(how) = fit.model.misfit_in(&dump, listed.task)
    {
        let message = anyhow!("task {} does not fit {}: {how}", listed.task, fit.model.name);
        let better = fit.better.map(|options| format!("{options} fits all tasks of the dump"));
        return Err(Failure::usage(message).hint(better));
    }
    let mut task =
        CapturedTask::from_dump(&dump, &listed, &code, selection.kernel.as_deref()).map_err(cannot_replay)?;
    task.identity = Identity {
        scene: scene.name.clone(),
        case: case.name.clone(),
        runtime: runtime.name().into(),
        platform: chip.name.into(),
        members: task.identity.members,
    };
    let from = From::Dump(dump.directory().display().to_string());
    Ok(Source { task, code, chip, from })
}

/// A task of a dump whose kernels are not known here.
fn without_code(
    dump: &Dump,
    args: &TaskArgs,
    selection: &TaskChoice,
    facts: &RunFacts,
) -> Result<Source, Failure> {
    let runtime = runtime(args)?.or_else(|| RuntimeKind::by_name(&facts.runtime));
    let code = Code::unknown(dump, abi(runtime));
    let mut selection = selection.clone();
    if dump.graph().is_none() && (selection.task.is_some() || selection.func_ids.is_some()) {
        // No kernel has a name here, so none can contradict the one that was typed.
        selection.kernel = None;
    }
    let listed = Listing::from_dump(dump).select(&selection).map_err(|error| unselected(error, dump))?;
    let chip = chip(args, &facts.platform, Purpose::Describe)?;
    let mut task = CapturedTask::from_dump(dump, &listed, &code, None).map_err(cannot_replay)?;
    task.identity.runtime = runtime.map_or(String::new(), |runtime| runtime.name().into());
    task.identity.platform = chip.name.into();
    Ok(Source { task, code, chip, from: From::Dump(dump.directory().display().to_string()) })
}

fn unselected(error: SelectError, dump: &Dump) -> Failure {
    let meant = match &error {
        SelectError::NoKernel { name, known } => did_you_mean(name, known.split(", ")),
        _ => None,
    };
    let failure = cannot_replay(error);
    let failure = meant.into_iter().fold(failure, Failure::also);
    failure.also(format!("`argus view {}` lists the tasks", dump.directory().display()))
}

fn of_capsule(what: &str, args: &TaskArgs, purpose: Purpose, registry: &Registry) -> Result<Source, Failure> {
    let Capsule { task, .. } = Capsule::load(Path::new(what)).map_err(cannot_replay)?;
    let chip = chip(args, &task.identity.platform, purpose)?;
    let from = From::Capsule(what.into());
    if purpose == Purpose::Describe {
        // It holds the names and places of its kernels; more is not needed.
        let code = Code { kernels: KernelTable::default(), abi: task.abi };
        return Ok(Source { task, code, chip, from });
    }
    let known = |typed: &Option<String>, own: &str| typed.clone().or_else(|| Some(own.to_owned()));
    let Identity { scene, case, runtime, .. } = &task.identity;
    let name = args.scene.as_deref().unwrap_or(scene);
    let (case, runtime) = (known(&args.case, case), known(&args.runtime, runtime));
    let (_, case, runtime) =
        find_case(name, case.as_deref(), runtime.as_deref(), args.scene.is_none(), registry)?;
    let code = Code::from_program(&case.program(runtime, chip)?);
    task.check_code(&code).map_err(cannot_replay)?;
    Ok(Source { task, code, chip, from })
}

/// Runs the scene and captures the task, or runs nothing if all arguments are given.
fn of_scene(
    name: &str,
    args: &TaskArgs,
    selection: &TaskChoice,
    given: bool,
    purpose: Purpose,
    registry: &Registry,
) -> Result<Source, Failure> {
    let (scene, case, runtime) =
        find_case(name, args.case.as_deref(), args.runtime.as_deref(), false, registry)?;
    let chip = chip(args, "", purpose)?;
    if given {
        let code = Code::from_program(&case.program(runtime, chip)?);
        let Some(kernel) = &selection.kernel else {
            return Err(Failure::usage(anyhow!(
                "name the kernel that takes these arguments with --kernel NAME"
            ))
            .hint(format!("the scene has {}", code.known())));
        };
        let identity = Identity {
            scene: scene.name.clone(),
            case: case.name.clone(),
            runtime: runtime.name().into(),
            platform: chip.name.into(),
            members: vec![code.kernel(kernel).map_err(cannot_replay)?],
        };
        let task = CapturedTask::of_kernel(identity, code.abi);
        return Ok(Source { task, code, chip, from: From::Scene(name.into()) });
    }
    if selection.task.is_none() && selection.kernel.is_none() && selection.func_ids.is_none() {
        let code = Code::from_program(&case.program(runtime, chip)?);
        return Err(Failure::usage(anyhow!("name a task with --kernel NAME, --func-id N[,N] or --task ID"))
            .hint(format!("the scene has {}", code.known())));
    }
    let directory = tempfile::tempdir().map_err(Failure::failed)?;
    capture(&scene, &case, runtime, chip, selection, directory.path())?;
    let dump = Dump::open(directory.path()).map_err(Failure::failed)?;
    let source = of_dump(dump, args, selection, purpose, registry)?;
    Ok(Source { from: From::Scene(name.into()), ..source })
}

/// Runs a case and keeps what concerns the task.
fn capture(
    scene: &Scene,
    case: &Case,
    runtime: RuntimeKind,
    chip: &'static Chip,
    selection: &TaskChoice,
    directory: &Path,
) -> Result<(), Failure> {
    let kernel = selection.kernel.as_deref().and_then(|names| names.split('+').next());
    let selector = match (&selection.task, kernel, selection.func_ids.as_deref()) {
        // Tasks are counted in the finished graph: until then any may be the one.
        (Some(TaskSelector::Numbers(_)), ..) => None,
        (Some(TaskSelector::OfKernel { kernel, .. }), ..) => {
            kernel.split('+').next().map(|kernel| format!("kernel={kernel}"))
        }
        (Some(task), ..) => Some(format!("task={task}")),
        (None, Some(kernel), _) => Some(format!("kernel={kernel}")),
        (None, None, Some([first, ..])) => Some(format!("func-id={first}")),
        _ => return Ok(()),
    };
    let request = RecordRequest { selectors: selector.into_iter().collect(), ..RecordRequest::default() };
    let names = Names {
        scene: scene.name.clone(),
        case: case.name.clone(),
        runtime: runtime.name().into(),
        ..Names::default()
    };
    let options = PlayOptions { skip_golden: true, ..PlayOptions::default() };
    let mut problems = Vec::new();
    let mut failed: Option<RunError> = None;
    play_with(case, runtime, chip, &options, |stage| {
        let run = record(stage.device, stage.program, stage.args, stage.config, &request, &names, directory);
        problems = run.problems;
        match run.result {
            Ok(report) => Ok(report),
            // A task that failed is one that people want to replay.
            Err(error) if run.dump.is_some() => {
                failed = Some(error);
                Err(Failure::failed(anyhow!("captured")))
            }
            Err(error) => Err(match problems.drain(..).next() {
                Some(problem) => Failure::usage(problem),
                None => Failure::run(error),
            }),
        }
    })
    .map(|_| ())
    .or_else(|failure| if failed.is_some() { Ok(()) } else { Err(failure) })?;
    match problems.into_iter().next() {
        Some(problem) => Err(Failure::usage(problem)),
        None => Ok(()),
    }
}

fn find_case(
    name: &str,
    case: Option<&str>,
    runtime: Option<&str>,
    recorded: bool,
    registry: &Registry,
) -> Result<(Arc<Scene>, Arc<Case>, RuntimeKind), Failure> {
    let scene = registry.scene(name).map_err(|error| {
        let failure = Failure::usage(error);
        match recorded {
            true => failure.hint("name a scene with the same kernels: --scene S --case C".to_owned()),
            false => failure.hint(did_you_mean(name, registry.names())),
        }
    })?;
    let runtime = runtime.map(argus_scene::registry::runtime).transpose().map_err(Failure::usage)?;
    let (case, runtime) = scene.case(case, runtime).map_err(|error| no_case(&scene, error))?;
    Ok((scene, case, runtime))
}

/// The runtime that was typed.
fn runtime(args: &TaskArgs) -> Result<Option<RuntimeKind>, Failure> {
    args.runtime.as_deref().map(argus_scene::registry::runtime).transpose().map_err(Failure::usage)
}

/// How kernels of a runtime take their arguments; all but one pass descriptors.
fn abi(runtime: Option<RuntimeKind>) -> KernelAbi {
    match runtime {
        Some(RuntimeKind::Hbg) => KernelAbi::Raw,
        Some(RuntimeKind::Abg | RuntimeKind::Trb) | None => KernelAbi::Tensors,
    }
}

/// The chip; where nothing is run on it, a real one stands for its simulated twin.
fn chip(args: &TaskArgs, recorded: &str, purpose: Purpose) -> Result<&'static Chip, Failure> {
    let name = match (&args.platform, recorded) {
        (Some(name), _) => name,
        (None, "") => DEFAULT_CHIP.name,
        (None, recorded) => recorded,
    };
    match Chip::by_name(name) {
        Err(ChipError::Hardware { twin, .. }) if purpose == Purpose::Describe => Chip::by_name(twin),
        found => found,
    }
    .map_err(no_chip)
}
