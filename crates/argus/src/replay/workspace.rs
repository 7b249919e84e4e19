//! `argus replay --workspace`: a task as a C++ project for people who have the vendor's toolkit.
//!
//! In: a task, found as for a replay, or arguments alone; and the C++ source of its kernel. Out: a directory
//! that builds and records it, and with `--collect` the record. Nothing is simulated here.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::anyhow;
use argus_chip::Chip;
use argus_dump_scene::From;
use argus_replay::{CapturedTask, Poison, Rebuilt};
use argus_scene::Registry;
use argus_workspace::collect::{build_of, missing};
use argus_workspace::config::Build;
use argus_workspace::{
    Backend, CollectOptions, Collected, Lack, Launch, Project, Request, TaskSpec, Toolkit, collect, generate,
    task_spec,
};
use serde_json::{Value, json};

use super::hints::{cannot_collect, cannot_generate, cannot_replay};
use super::{json as replay_json, text as replay_text};
use crate::cli::{ReplayArgs, TaskArgs};
use crate::failure::{FAILED, Failure};
use crate::interrupt::Interrupt;
use crate::marks::{GOOD, NOTE};
use crate::output;
use crate::{lookup, schema, table};

/// What was written.
struct Report<'a> {
    from: (&'static str, String),
    task: &'a CapturedTask,
    request: &'a Request,
    project: &'a Project<'a>,
    directory: &'a Path,
    build: Build,
    /// What building needs and this machine lacks.
    lacks: Vec<Lack>,
}

pub fn workspace(args: &ReplayArgs, directory: &Path, registry: &Registry) -> Result<ExitCode, Failure> {
    let typed = &args.workspace;
    let backend: Backend = typed.backend.parse().map_err(cannot_generate)?;
    check_elsewhere(directory)?;
    let options = collect_options(args)?;
    let (task, chip, from) = choose(args, registry)?;
    let rebuilt = Rebuilt::new(&task, Poison::of_run(&task)).map_err(cannot_replay)?;
    let mut spec = task_spec(&task, &rebuilt, &typed.kernel_source).map_err(cannot_generate)?;
    drop(rebuilt);
    name(&mut spec, &task, &args.task);
    let mut launch = Launch {
        device: typed.device,
        launch_count: typed.launch_count,
        msprof_minutes: typed.msprof_timeout,
        soc_version: typed.soc_version.clone(),
        ..Launch::default()
    };
    if !task.identity.runtime.is_empty() {
        launch.runtime.clone_from(&task.identity.runtime);
    }
    let request = Request { task: spec, chip, backend, launch, templates: None };
    let project = generate(&request, directory, typed.force).map_err(cannot_generate)?;
    let toolkit = Toolkit::of_this_process();
    let build = build_of(directory).map_err(cannot_collect)?;
    let lacks = missing(&build, &toolkit);
    let report = Report { from, task: &task, request: &request, project: &project, directory, build, lacks };
    if !args.json {
        output::print(&text(&report))?;
    }
    let collected = typed.collect.then(|| collect(directory, &toolkit, &options)).transpose();
    match collected.map_err(cannot_collect) {
        Ok(collected) if args.json => output::print_json(&object(&report, collected.as_ref(), None))?,
        Ok(collected) => collected.iter().try_for_each(|collected| output::print(&result(collected)))?,
        Err(failure) if args.json => {
            output::print_json(&object(&report, None, Some(&failure)))?;
            return Ok(ExitCode::from(FAILED));
        }
        Err(failure) => return Err(failure),
    }
    Ok(ExitCode::SUCCESS)
}

fn collect_options(args: &ReplayArgs) -> Result<CollectOptions, Failure> {
    let typed = &args.workspace;
    let mut options = CollectOptions { kernel_symbol: typed.kernel_symbol.clone(), ..Default::default() };
    match args.task.timeout {
        Some(_) if !typed.collect => {
            return Err(Failure::usage(anyhow!(
                "--timeout limits --collect; a workspace that is only written runs nothing"
            )));
        }
        Some(seconds) => options.max_time = crate::run::timeout(seconds)?,
        None => {}
    }
    if typed.collect {
        // Steps run in groups of their own, which a terminal does not interrupt.
        Interrupt::default().sets(Arc::clone(&options.interrupted));
    }
    Ok(options)
}

/// The task: described by an argument file alone, or found as for a replay.
fn choose(
    args: &ReplayArgs,
    registry: &Registry,
) -> Result<(CapturedTask, &'static Chip, (&'static str, String)), Failure> {
    let TaskArgs { task, func_id, scene, case, nth, arg_spec, .. } = &args.task;
    let selected = task.is_some() || !func_id.is_empty() || scene.is_some() || case.is_some() || *nth > 0;
    if let (None, Some(spec), false) = (&args.what, arg_spec, selected) {
        let (task, chip) = lookup::of_arguments(&args.task, registry)?;
        return Ok((task, chip, ("arguments", spec.display().to_string())));
    }
    let source = lookup::describe(args.what.as_deref(), &args.task, registry)?;
    let from = match source.from {
        From::Dump(path) => ("dump", path),
        From::Capsule(path) => ("capsule", path),
        From::Scene(scene) => ("scene", scene),
    };
    Ok((source.task, source.chip, from))
}

/// Puts what was typed in place of what was not recorded, and drops what does not hold for given arguments.
fn name(spec: &mut TaskSpec, task: &CapturedTask, args: &TaskArgs) {
    if let (true, Some(name)) = (task.identity.members.is_empty(), &args.kernel) {
        spec.name.clone_from(name);
        if let Some(kernel) = spec.kernels.first_mut() {
            kernel.name.clone_from(name);
        }
    }
    if args.arg_spec.is_some() {
        // These arguments are those of no task of any run.
        spec.origin.task_id = None;
    }
}

/// A workspace is moved into its place whole; a shell in that place would be left in one that is gone.
fn check_elsewhere(directory: &Path) -> Result<(), Failure> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    if here.is_some() && here == directory.canonicalize().ok() {
        let directory = directory.display();
        return Err(Failure::usage(anyhow!("{directory} is the current directory: name one inside of it")));
    }
    Ok(())
}

fn text(report: &Report<'_>) -> String {
    let Report { task, request, project, build, .. } = report;
    let mut text = String::new();
    let mut row = |name: &str, value: String| _ = writeln!(text, "{name:<10}{value}");
    if let Some(id) = &request.task.origin.task_id {
        row("task", id.clone());
    }
    let clusters = match project.width {
        1 => "1 cluster".to_owned(),
        width => format!("{width} clusters"),
    };
    row("kernel", format!("{} ({}, {clusters})", request.task.name, shape(report)));
    row("chip", format!("{} ({})", request.chip.hardware, request.soc_version()));
    row(report.from.0, report.from.1.clone());
    text += &format!("\n{}", table::lines(&replay_text::arguments(&task.arguments)));
    for note in &task.notes {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} {note}");
    }
    let mut files = table::plain(&["FILE", "BYTES"]);
    for file in &project.files {
        files.add_row([file.path.clone(), file.bytes.len().to_string()]);
    }
    _ = write!(text, "\n{}", table::lines(&files));
    let directory = report.directory.display();
    _ = writeln!(text, "\n{GOOD}WRITTEN{GOOD:#}  the workspace is {directory}");
    let needs: Vec<&str> = build.programs.iter().chain(&build.roots).map(String::as_str).collect();
    _ = writeln!(text, "{NOTE}needs:{NOTE:#} {}", needs.join(", "));
    if !report.lacks.is_empty() {
        _ = writeln!(text, "{NOTE}here:{NOTE:#} {}", lacks(report).join(", "));
    }
    _ = writeln!(text, "{NOTE}next:{NOTE:#} {directory}/run_collect.sh");
    text
}

fn result(collected: &Collected) -> String {
    let simulator = collected.export.simulator.display();
    format!("{GOOD}COLLECTED{GOOD:#}  {} is recorded in {simulator}\n", collected.symbol)
}

fn object(report: &Report<'_>, collected: Option<&Collected>, failure: Option<&Failure>) -> Value {
    let Report { task, request, project, build, .. } = report;
    let status = match (collected, failure) {
        (Some(_), _) => "collected",
        (None, Some(_)) => "not-collected",
        (None, None) => "written",
    };
    json!({
        "schema": schema::WORKSPACE,
        "verdict": status,
        "error": failure.map(Failure::message),
        "hint": failure.and_then(|failure| failure.hint.as_deref()),
        "workspace": shown(report.directory),
        "from": { "kind": report.from.0, "name": report.from.1 },
        "task_id": request.task.origin.task_id,
        "kernel": request.task.name,
        "shape": project.shape,
        "clusters": project.width,
        "blocks": task.blocks,
        "backend": request.backend.name(),
        "platform": request.chip.hardware,
        "soc_version": request.soc_version(),
        "arguments": task.arguments.iter().map(replay_json::argument).collect::<Vec<_>>(),
        "notes": task.notes,
        "files": project.files.iter().map(|file| json!({
            "path": file.path,
            "bytes": file.bytes.len(),
        })).collect::<Vec<_>>(),
        "needs": { "programs": build.programs, "variables": build.roots, "includes": build.external_includes },
        "missing": lacks(report),
        "collected": collected.map(|collected| json!({
            "symbol": collected.symbol,
            "simulator": shown(&collected.export.simulator),
            "instruction_tables": collected.export.instruction_tables.iter().map(|path| shown(path)).collect::<Vec<_>>(),
        })),
    })
}

/// What is missing, one phrase each.
fn lacks(report: &Report<'_>) -> Vec<String> {
    report.lacks.iter().map(Lack::to_string).collect()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The shape as the record of the workspace names it.
fn shape(report: &Report<'_>) -> String {
    json!(report.project.shape).as_str().unwrap_or_default().to_owned()
}
