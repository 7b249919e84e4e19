//! From a task that is replayed to its timeline and its files.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use argus_dump_scene::{MAX_INSTRUCTIONS, Source, TraceError, Traced};
use argus_facts::with_causes;
use argus_replay::{CapturedTask, Options, Proof};
use argus_scene::Registry;
use argus_trace::{Params, Stamp, Summary, Timeline, Written};
use serde_json::json;

use super::text;
use crate::cli::TraceArgs;
use crate::failure::{FAILED, Failure};
use crate::replay::cannot_replay;
use crate::schema;
use crate::{lookup, output};

/// What a trace has to tell.
pub struct Report<'a> {
    pub source: &'a Source,
    pub proof: &'a Proof,
    /// How the replay compares, in one word.
    pub replay: &'static str,
    pub summary: &'a Summary,
    pub written: &'a Written,
    /// The limit that cut the trace, if it is cut.
    pub cut: Option<u64>,
}

pub fn trace(args: &TraceArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    crate::replay::guard()?;
    let source = lookup::open(args.what.as_deref(), &args.task, registry)?;
    let directory = args.output.clone().unwrap_or_else(|| default_directory(&source.task));
    if !args.force && directory.join("simulator").exists() {
        return Err(Failure::usage(anyhow!("{} holds a trace", directory.display()))
            .hint(output::REPLACE_DIRECTORY.to_owned()));
    }
    argus_files::check_directory(&directory).map_err(|error| {
        let about = format!("cannot write {}", directory.display());
        Failure::usage(anyhow::Error::new(error).context(about))
    })?;
    let params = params(args, &source)?;
    let limit = limit(args);
    let traced = run(args, &source)?;
    let (proof, log) = (&traced.proof, &traced.log);
    let timeline = traced.timeline(&params).map_err(no_timeline)?;
    let sources = source.sources(&timeline);
    let written =
        argus_trace::write(&timeline, &directory, &sources, &Stamp::now()).map_err(Failure::failed)?;
    let summary = Summary::new(&timeline);
    let cut = log.cut.then_some(limit);
    let report = Report {
        source: &source,
        proof,
        replay: traced.replay_word(),
        summary: &summary,
        written: &written,
        cut,
    };
    if args.json {
        output::print_json(&object(&report))?;
    } else {
        output::print(&text::text(&report))?;
    }
    let good = summary.hazards.is_empty() && proof.passed() && !log.cut;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Replays the task that the arguments name, and shows its timeline to `look`.
pub fn with_timeline<T>(
    args: &TraceArgs,
    registry: &Registry,
    look: impl FnOnce(&Source, &Traced, &Timeline<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    crate::replay::guard()?;
    let source = lookup::open(args.what.as_deref(), &args.task, registry)?;
    let params = params(args, &source)?;
    let traced = run(args, &source)?;
    let timeline = traced.timeline(&params).map_err(no_timeline)?;
    look(&source, &traced, &timeline)
}

fn params(args: &TraceArgs, source: &Source) -> Result<Params, Failure> {
    match &args.timing {
        Some(path) => Params::from_file(source.chip, path).map_err(Failure::usage),
        None => Params::for_chip(source.chip).map_err(Failure::failed),
    }
}

fn limit(args: &TraceArgs) -> u64 {
    args.max_instructions.unwrap_or(MAX_INSTRUCTIONS)
}

fn run(args: &TraceArgs, source: &Source) -> Result<Traced, Failure> {
    let mut options = Options::default();
    if let Some(seconds) = args.task.timeout {
        options.timeout = crate::run::timeout(seconds)?;
    }
    Traced::run(source, &options, limit(args)).map_err(cannot_replay)
}

fn no_timeline(error: TraceError) -> Failure {
    match &error {
        TraceError::Task { model, .. } => {
            let hint = model.as_ref().map(|model| with_causes(model));
            Failure::failed(error).hint(hint)
        }
        TraceError::Model(_) => Failure::failed(error),
    }
}

fn default_directory(task: &CapturedTask) -> PathBuf {
    let kernels = task.identity.kernel_names().replace(|sign: char| !sign.is_ascii_alphanumeric(), "_");
    PathBuf::from(format!("trace_{kernels}_{:#x}", task.id.raw()))
}

fn object(report: &Report<'_>) -> serde_json::Value {
    let Report { source, replay, summary, written, cut, .. } = report;
    json!({
        "schema": schema::TRACE,
        "task_id": source.task.id.to_string(),
        "kernel": source.task.identity.kernel_names(),
        "platform": source.chip.name,
        "replay": replay,
        "cut_at_instructions": cut,
        "summary": summary,
        "directory": written.directory.display().to_string(),
        "slices": written.slices,
        "missing_sources": written.missing_sources,
    })
}
