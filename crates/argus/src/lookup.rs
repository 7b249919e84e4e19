//! From what was typed to the scene of a dump and to one task with its code; and what to say when there is none.

use std::path::Path;

use anyhow::anyhow;
use argus_chip::Chip;
use argus_dump_scene::{Better, Lookup, LookupError, Named, SceneChoice, Source, What};
use argus_replay::{Argument, Capsule, CapturedTask, ReplayError, SelectError, Substitute, TaskChoice, spec};
use argus_scene::Registry;

use crate::cli::{SceneArgs, TaskArgs};
use crate::failure::{Failure, did_you_mean};
use crate::replay::cannot_replay;
use crate::run::{no_case, no_chip, no_scene};
use crate::{input, output};

/// Scenes are looked for in this registry.
pub fn lookup(registry: &Registry) -> Lookup<'_> {
    Lookup { registry, changed: &changed }
}

fn changed(files: &[&str]) {
    let files = files.join(", ");
    // A closed stderr is no reason to stop.
    let _ = output::remark(&format!("{files}: changed since the run; the dump's own copy is used\n"));
}

/// A task that can be run.
pub fn open(what: Option<&str>, args: &TaskArgs, registry: &Registry) -> Result<Source, Failure> {
    task(what, args, registry, argus_dump_scene::open)
}

/// A task that can be run, with its kernels compiled for a debugger.
pub fn open_for_debugger(
    what: Option<&str>,
    args: &TaskArgs,
    registry: &Registry,
) -> Result<Source, Failure> {
    task(what, args, registry, argus_dump_scene::open_for_debugger)
}

/// A task of which only the arguments are needed.
pub fn describe(what: Option<&str>, args: &TaskArgs, registry: &Registry) -> Result<Source, Failure> {
    task(what, args, registry, argus_dump_scene::describe)
}

/// A task of which nothing is known but the arguments that were given.
pub fn of_arguments(args: &TaskArgs, registry: &Registry) -> Result<(CapturedTask, &'static Chip), Failure> {
    argus_dump_scene::of_arguments(&named(args)?).map_err(|error| failure(error, registry))
}

type Find = fn(What<'_>, &Named, &Lookup<'_>) -> Result<Source, LookupError>;

fn task(what: Option<&str>, args: &TaskArgs, registry: &Registry, find: Find) -> Result<Source, Failure> {
    let named = named(args)?;
    let found = |what: What<'_>| find(what, &named, &lookup(registry)).map_err(|e| failure(e, registry));
    match what {
        Some(what) if !Path::new(what).exists() && registry.scene(what).is_ok() => found(What::Scene(what)),
        Some(what) if Capsule::is_one(Path::new(what)) => found(What::Capsule(Path::new(what))),
        Some(what) if !Path::new(what).exists() => Err(nothing_there(what, registry)),
        what => found(What::Dump(&input::open(what.map(Path::new))?)),
    }
}

fn named(args: &TaskArgs) -> Result<Named, Failure> {
    Ok(Named {
        choice: TaskChoice {
            task: args.task.as_deref().map(input::task).transpose()?,
            kernel: args.kernel.clone(),
            func_ids: (!args.func_id.is_empty()).then(|| args.func_id.clone()),
            nth: args.nth,
        },
        scene: args.scene.clone(),
        case: args.case.clone(),
        runtime: args.runtime.clone(),
        platform: args.platform.clone(),
        substitutes: Substitute::parse_all(args.set_arg.iter().map(String::as_str)).map_err(cannot_replay)?,
        arguments: args.arg_spec.as_deref().map(read_spec).transpose()?,
    })
}

fn read_spec(path: &Path) -> Result<Vec<Argument>, Failure> {
    let context = |error: anyhow::Error| Failure::usage(error.context(format!("{}", path.display())));
    let text = argus_files::read(path, argus_files::LARGEST_TEXT).map_err(|error| context(error.into()))?;
    spec::parse(&text).map_err(|error| context(error.into()))
}

/// What was typed about the scene of a dump.
pub fn scene_choice(args: &SceneArgs) -> SceneChoice {
    SceneChoice { scene: args.scene.clone(), case: args.case.clone(), runtime: args.runtime.clone() }
}

/// The options that a command on the same dump needs again.
pub fn repeat(args: &SceneArgs) -> String {
    let options = [("scene", &args.scene), ("case", &args.case), ("runtime", &args.runtime)];
    let given = options.iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
    given.map(|(name, value)| format!(" --{name} {value}")).collect()
}

/// The options that would fit better, or that none would.
pub fn better(better: Option<&Better>) -> String {
    let Some(better) = better else {
        return "no case and runtime of the scene fits all tasks of the dump".to_owned();
    };
    let case = better.case.as_ref().map(|case| format!("--case {case}"));
    let runtime = better.runtime.map(|runtime| format!("--runtime {}", runtime.short()));
    let options: Vec<String> = case.into_iter().chain(runtime).collect();
    format!("{} fits all tasks of the dump", options.join(" "))
}

fn nothing_there(what: &str, registry: &Registry) -> Failure {
    Failure::usage(anyhow!("'{what}' is neither a dump, nor a capsule, nor a scene"))
        .hint(did_you_mean(what, registry.names()).or_else(|| Some("`argus list` shows the scenes".into())))
}

/// Why there is no scene or no task, with what helps in flags of this command line.
pub fn failure(error: LookupError, registry: &Registry) -> Failure {
    match error {
        LookupError::Chip(error) => no_chip(error),
        LookupError::Scene(error) => {
            let name = match &error {
                argus_scene::SceneError::Scene { name, .. } => name.clone(),
                _ => String::new(),
            };
            no_scene(registry, &name, error)
        }
        LookupError::Recorded(error) => {
            Failure::usage(error).hint("name a scene with the same kernels: --scene S --case C".to_owned())
        }
        LookupError::Case { scene, error } => no_case(&scene, error),
        LookupError::Prepare(error) => error.into(),
        LookupError::Output(error) => error.into(),
        LookupError::Run(error) => Failure::run(*error),
        LookupError::UnknownCode => Failure::usage(LookupError::UnknownCode)
            .hint("name the scene and case that made it: --scene S --case C".to_owned()),
        LookupError::Misfit { better: ref options, .. } => {
            let hint = better(options.as_deref());
            Failure::usage(error).hint(hint)
        }
        LookupError::Foreign { better: ref options, .. } => {
            let hint = better(options.as_deref());
            let instead = "--against DUMP and --golden DIR compare without a scene".to_owned();
            Failure::usage(error).hint(hint).also(instead)
        }
        LookupError::Select { error, dump } => unselected(*error, &dump),
        LookupError::Incomplete { error, dump } => {
            cannot_replay(*error).also(format!("`argus view {}` shows what the dump has", dump.display()))
        }
        LookupError::KernelWanted { known } => {
            Failure::usage(anyhow!("name the kernel that takes these arguments with --kernel NAME"))
                .hint(format!("the scene has {known}"))
        }
        LookupError::TaskWanted { known } => {
            Failure::usage(anyhow!("name a task with --kernel NAME, --func-id N[,N] or --task ID"))
                .hint(format!("the scene has {known}"))
        }
        LookupError::NotCompiled { .. } => Failure::usage(error)
            .hint("--probe, --watch and --break-on look into such a kernel; --gdb is for C++".to_owned()),
        LookupError::Replay(error) => cannot_replay(*error),
        LookupError::Runtime(_) | LookupError::Capture(_) | LookupError::NoCase { .. } => {
            Failure::usage(error)
        }
        LookupError::Open(_)
        | LookupError::Origin(_)
        | LookupError::Temporary { .. }
        | LookupError::NoTasks { .. } => Failure::failed(error),
    }
}

fn unselected(error: SelectError, dump: &Path) -> Failure {
    let meant = match &error {
        SelectError::NoKernel { name, known } => did_you_mean(name, known.split(", ")),
        _ => None,
    };
    let failure = cannot_replay(ReplayError::from(error));
    let failure = meant.into_iter().fold(failure, Failure::also);
    failure.also(format!("`argus view {}` lists the tasks", dump.display()))
}
