//! From what was typed to a task and the code it runs: out of a dump, out of a capsule, or out of a run that is
//! made for it. Who only wants the task's arguments gets it without its code too, where that is not known.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use argus_abi::args::KernelAbi;
use argus_abi::{FuncId, RuntimeKind, TaskId};
use argus_chip::{Chip, ChipError, DEFAULT_CHIP};
use argus_dump::read::{Dump, RunFacts};
use argus_facts::TaskSelector;
use argus_record::RecordRequest;
use argus_replay::{
    Argument, Capsule, CapturedTask, Code, Identity, Listing, ReplayError, SelectError, Substitute,
    TaskChoice,
};
use argus_runtime::KernelTable;
use argus_scene::{Case, Scene};

use crate::Lookup;
use crate::carried;
use crate::error::LookupError;
use crate::fit;
use crate::recorded::record_case;

/// A task that can be run.
pub struct Source {
    pub task: CapturedTask,
    pub code: Code,
    pub chip: &'static Chip,
    /// What it was taken from, as it was typed or found.
    pub from: From,
    /// Sources of its kernels that a debugger can follow, under their full names.
    pub debugged: Vec<PathBuf>,
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
    /// Follow it with a debugger: its kernels are compiled again for that.
    Debug,
    /// Write it down: its arguments are enough, and its chip may be a real one.
    Describe,
}

/// What a task is taken from.
#[derive(Clone, Copy)]
pub enum What<'a> {
    Dump(&'a Dump),
    Capsule(&'a Path),
    /// A scene by name or path: it is run, and the task captured.
    Scene(&'a str),
}

/// Which task, and what stands in for what a dump does not say.
#[derive(Clone, Debug, Default)]
pub struct Named {
    pub choice: TaskChoice,
    pub scene: Option<String>,
    pub case: Option<String>,
    pub runtime: Option<String>,
    pub platform: Option<String>,
    /// Other values for some arguments.
    pub substitutes: Vec<Substitute>,
    /// All arguments, instead of those that were captured.
    pub arguments: Option<Vec<Argument>>,
}

/// Finds a task that can be run.
pub fn open(what: What<'_>, named: &Named, lookup: &Lookup<'_>) -> Result<Source, LookupError> {
    find(what, named, Purpose::Run, lookup)
}

/// Finds a task that can be run, and compiles its kernels for a debugger.
pub fn open_for_debugger(what: What<'_>, named: &Named, lookup: &Lookup<'_>) -> Result<Source, LookupError> {
    find(what, named, Purpose::Debug, lookup)
}

/// Finds a task of which only the arguments are needed. Its code holds no kernels where they are not known.
pub fn describe(what: What<'_>, named: &Named, lookup: &Lookup<'_>) -> Result<Source, LookupError> {
    find(what, named, Purpose::Describe, lookup)
}

/// A task of which nothing is known but the arguments that were given, and the chip that it is for.
pub fn of_arguments(named: &Named) -> Result<(CapturedTask, &'static Chip), LookupError> {
    let chip = chip(named, "", Purpose::Describe)?;
    let runtime = runtime(named)?;
    let identity = Identity {
        runtime: runtime.map_or(String::new(), |runtime| runtime.name().into()),
        platform: chip.name.into(),
        ..Identity::default()
    };
    let mut task = CapturedTask::of_kernel(identity, abi(runtime));
    task.id = TaskId::INVALID;
    task.arguments = named.arguments.clone().unwrap_or_default();
    task.substitute(&named.substitutes)?;
    Ok((task, chip))
}

fn find(what: What<'_>, named: &Named, purpose: Purpose, lookup: &Lookup<'_>) -> Result<Source, LookupError> {
    let mut source = match what {
        What::Scene(name) => of_scene(name, named, purpose, lookup)?,
        What::Capsule(path) => of_capsule(path, named, purpose, lookup)?,
        What::Dump(dump) => of_dump(dump, named, purpose, lookup)?,
    };
    if let Some(arguments) = &named.arguments {
        source.task.arguments.clone_from(arguments);
    }
    source.task.substitute(&named.substitutes)?;
    source.task.check_complete().map_err(|error| match (&error, what) {
        (ReplayError::MissingPayload { .. } | ReplayError::MissingSlot { .. }, What::Dump(dump)) => {
            LookupError::Incomplete { error: Box::new(error), dump: dump.directory().to_path_buf() }
        }
        _ => error.into(),
    })?;
    Ok(source)
}

fn of_dump(dump: &Dump, args: &Named, purpose: Purpose, lookup: &Lookup<'_>) -> Result<Source, LookupError> {
    let (registry, selection) = (lookup.registry, &args.choice);
    let facts = dump.run().cloned().unwrap_or_default();
    // Whether the dump says itself which scene it is of.
    let own = args.scene.is_none();
    let name = match &args.scene {
        Some(name) => Some(name.clone()),
        None => carried::scene(dump, lookup)?
            .or_else(|| Some(facts.scene.clone()).filter(|name| !name.is_empty())),
    };
    if purpose == Purpose::Describe && own && name.as_ref().is_none_or(|name| registry.scene(name).is_err()) {
        return without_code(dump, args, &facts);
    }
    let Some(name) = &name else {
        return Err(LookupError::UnknownCode);
    };
    let recorded = |text: &'_ str| Some(text.to_owned()).filter(|text| own && !text.is_empty());
    let case = args.case.clone().or_else(|| recorded(&facts.case));
    let runtime = args.runtime.clone().or_else(|| recorded(&facts.runtime));
    let (scene, mut case, mut runtime) = find_case(name, case.as_deref(), runtime.as_deref(), own, lookup)?;
    // A dump that does not say that it is a run of this scene must look like one.
    let fit = if crate::is_bare(dump) || !own && facts.scene != scene.name {
        let typed = args.runtime.is_some().then_some(runtime);
        let fit = fit::fit(&scene, Some(&case.name), typed, dump)?;
        (case, runtime) = (Arc::clone(&fit.case), fit.runtime);
        Some(fit)
    } else {
        None
    };
    let chip = chip(args, &facts.platform, purpose)?;
    let code = Code::from_program(&case.program(runtime, chip)?);
    let mut listing = Listing::from_dump(dump);
    listing.name(&code);
    if let Some(fit) = fit.as_ref().filter(|_| crate::is_bare(dump)) {
        listing.supply(&fit.model.graph);
    }
    let listed = listing.select(selection).map_err(|error| unselected(error, dump))?;
    if let Some(fit) = fit.filter(|_| purpose != Purpose::Describe)
        && let Some(how) = fit.model.misfit_in(dump, listed.task)
    {
        let (task, scene, better) = (listed.task, fit.model.name, fit.better.map(Box::new));
        return Err(LookupError::Misfit { task, scene, how, better });
    }
    let mut task = CapturedTask::from_dump(dump, &listed, &code, selection.kernel.as_deref())?;
    task.identity = Identity {
        scene: scene.name.clone(),
        case: case.name.clone(),
        runtime: runtime.name().into(),
        platform: chip.name.into(),
        members: task.identity.members,
    };
    let from = From::Dump(dump.directory().display().to_string());
    let (code, debugged) = for_purpose(purpose, code, &case, runtime, chip, &task)?;
    Ok(Source { task, code, chip, from, debugged })
}

/// The code of a task as it is needed: a debugger wants the task's own kernels compiled for it.
fn for_purpose(
    purpose: Purpose,
    code: Code,
    case: &Case,
    runtime: RuntimeKind,
    chip: &'static Chip,
    task: &CapturedTask,
) -> Result<(Code, Vec<PathBuf>), LookupError> {
    if purpose != Purpose::Debug {
        return Ok((code, Vec::new()));
    }
    let members = &task.identity.members;
    let kernels: Vec<FuncId> = members.iter().map(|member| member.func_id).collect();
    let Some(made) = case.debug_program(runtime, chip, &kernels) else {
        let names: Vec<&str> = members.iter().map(|member| &member.name[..]).collect();
        return Err(LookupError::NotCompiled { kernel: names.join("+") });
    };
    let made = made?;
    Ok((Code::from_program(&made.program), made.sources))
}

/// A task of a dump whose kernels are not known here.
fn without_code(dump: &Dump, args: &Named, facts: &RunFacts) -> Result<Source, LookupError> {
    let runtime = runtime(args)?.or_else(|| RuntimeKind::by_name(&facts.runtime));
    let code = Code::unknown(dump, abi(runtime));
    let mut selection = args.choice.clone();
    if dump.graph().is_none() && (selection.task.is_some() || selection.func_ids.is_some()) {
        // No kernel has a name here, so none can contradict the one that was typed.
        selection.kernel = None;
    }
    let listed = Listing::from_dump(dump).select(&selection).map_err(|error| unselected(error, dump))?;
    let chip = chip(args, &facts.platform, Purpose::Describe)?;
    let mut task = CapturedTask::from_dump(dump, &listed, &code, None)?;
    task.identity.runtime = runtime.map_or(String::new(), |runtime| runtime.name().into());
    task.identity.platform = chip.name.into();
    let from = From::Dump(dump.directory().display().to_string());
    Ok(Source { task, code, chip, from, debugged: Vec::new() })
}

fn unselected(error: SelectError, dump: &Dump) -> LookupError {
    LookupError::Select { error: Box::new(error), dump: dump.directory().to_path_buf() }
}

fn of_capsule(
    path: &Path,
    args: &Named,
    purpose: Purpose,
    lookup: &Lookup<'_>,
) -> Result<Source, LookupError> {
    let Capsule { task, .. } = Capsule::load(path).map_err(ReplayError::from)?;
    let chip = chip(args, &task.identity.platform, purpose)?;
    let from = From::Capsule(path.display().to_string());
    if purpose == Purpose::Describe {
        // It holds the names and places of its kernels; more is not needed.
        let code = Code { kernels: KernelTable::default(), abi: task.abi };
        return Ok(Source { task, code, chip, from, debugged: Vec::new() });
    }
    let known = |typed: &Option<String>, own: &str| typed.clone().or_else(|| Some(own.to_owned()));
    let Identity { scene, case, runtime, .. } = &task.identity;
    let name = args.scene.as_deref().unwrap_or(scene);
    let (case, runtime) = (known(&args.case, case), known(&args.runtime, runtime));
    let (_, case, runtime) =
        find_case(name, case.as_deref(), runtime.as_deref(), args.scene.is_none(), lookup)?;
    let code = Code::from_program(&case.program(runtime, chip)?);
    task.check_code(&code)?;
    let (code, debugged) = for_purpose(purpose, code, &case, runtime, chip, &task)?;
    Ok(Source { task, code, chip, from, debugged })
}

/// Runs the scene and captures the task, or runs nothing if all arguments are given.
fn of_scene(name: &str, args: &Named, purpose: Purpose, lookup: &Lookup<'_>) -> Result<Source, LookupError> {
    let selection = &args.choice;
    let (scene, case, runtime) =
        find_case(name, args.case.as_deref(), args.runtime.as_deref(), false, lookup)?;
    let chip = chip(args, "", purpose)?;
    if args.arguments.is_some() {
        let code = Code::from_program(&case.program(runtime, chip)?);
        let Some(kernel) = &selection.kernel else {
            return Err(LookupError::KernelWanted { known: code.known() });
        };
        let identity = Identity {
            scene: scene.name.clone(),
            case: case.name.clone(),
            runtime: runtime.name().into(),
            platform: chip.name.into(),
            members: vec![code.kernel(kernel).map_err(ReplayError::from)?],
        };
        let task = CapturedTask::of_kernel(identity, code.abi);
        let (code, debugged) = for_purpose(purpose, code, &case, runtime, chip, &task)?;
        return Ok(Source { task, code, chip, from: From::Scene(name.into()), debugged });
    }
    if selection.task.is_none() && selection.kernel.is_none() && selection.func_ids.is_none() {
        let code = Code::from_program(&case.program(runtime, chip)?);
        return Err(LookupError::TaskWanted { known: code.known() });
    }
    let directory = tempfile::tempdir().map_err(|source| LookupError::Temporary { source })?;
    capture(&scene, &case, runtime, chip, selection, directory.path())?;
    let dump = Dump::open(directory.path())?;
    // The dump knows the scene by its plain name, under which the registry need not have it.
    let named = Named {
        scene: Some(name.to_owned()),
        case: Some(case.name.clone()),
        runtime: Some(runtime.name().to_owned()),
        ..args.clone()
    };
    let source = of_dump(&dump, &named, purpose, lookup)?;
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
) -> Result<(), LookupError> {
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
    let run = record_case(scene, (case, runtime), chip, &request, directory);
    match (run.result, run.problems.into_iter().next()) {
        (_, Some(problem)) => Err(problem.into()),
        // A task that failed is one that people want to replay.
        (Err(LookupError::Run(_)), None) if run.kept => Ok(()),
        (result, None) => result,
    }
}

fn find_case(
    name: &str,
    case: Option<&str>,
    runtime: Option<&str>,
    recorded: bool,
    lookup: &Lookup<'_>,
) -> Result<(Arc<Scene>, Arc<Case>, RuntimeKind), LookupError> {
    let missing = if recorded { LookupError::Recorded } else { LookupError::Scene };
    let scene = lookup.registry.scene(name).map_err(missing)?;
    let runtime = runtime.map(argus_scene::registry::runtime).transpose().map_err(LookupError::Runtime)?;
    let (case, runtime) = (scene.case(case, runtime))
        .map_err(|error| LookupError::Case { scene: Arc::clone(&scene), error })?;
    Ok((scene, case, runtime))
}

/// The runtime that was typed.
fn runtime(args: &Named) -> Result<Option<RuntimeKind>, LookupError> {
    args.runtime.as_deref().map(argus_scene::registry::runtime).transpose().map_err(LookupError::Runtime)
}

/// How kernels of a runtime take their arguments; all but one pass descriptors.
fn abi(runtime: Option<RuntimeKind>) -> KernelAbi {
    match runtime {
        Some(RuntimeKind::Hbg) => KernelAbi::Raw,
        Some(RuntimeKind::Abg | RuntimeKind::Trb) | None => KernelAbi::Tensors,
    }
}

/// The chip; where nothing is run on it, a real one stands for its simulated twin.
fn chip(args: &Named, recorded: &str, purpose: Purpose) -> Result<&'static Chip, LookupError> {
    let name = match (&args.platform, recorded) {
        (Some(name), _) => name,
        (None, "") => DEFAULT_CHIP.name,
        (None, recorded) => recorded,
    };
    match Chip::by_name(name) {
        Err(ChipError::Hardware { twin, .. }) if purpose == Purpose::Describe => Chip::by_name(twin),
        found => found,
    }
    .map_err(LookupError::from)
}
