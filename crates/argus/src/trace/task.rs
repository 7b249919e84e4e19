//! From a task that is replayed to its timeline and its files.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use argus_chip::Chip;
use argus_facts::with_causes;
use argus_replay::{Buffer, CapturedTask, Options, Outcome, Proof};
use argus_runtime::KernelTable;
use argus_scene::Registry;
use argus_trace::{GlobalBuffer, Params, Sources, Stamp, Summary, TaskLog, Timeline, Written};
use serde_json::json;

use super::text;
use crate::cli::TraceArgs;
use crate::failure::{FAILED, Failure};
use crate::output;
use crate::replay::cannot_replay;
use crate::replay::source::{self, Source};
use crate::schema;

/// Tile instructions of a trace, unless the user says otherwise. MindStudio Insight shows a million machine instructions.
const MAX_INSTRUCTIONS: u64 = 1_000_000;

/// What a trace has to tell.
pub struct Report<'a> {
    pub source: &'a Source,
    pub proof: &'a Proof,
    pub summary: &'a Summary,
    pub written: &'a Written,
    /// The limit that cut the trace, if it is cut.
    pub cut: Option<u64>,
}

pub fn trace(args: &TraceArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    let source = source::open(args.what.as_deref(), &args.task, registry)?;
    let chip = source.chip;
    let directory = args.output.clone().unwrap_or_else(|| default_directory(&source.task));
    if !args.force && directory.join("simulator").exists() {
        return Err(Failure::usage(anyhow!("{} holds a trace", directory.display()))
            .hint("--force replaces it; -o names another directory".to_owned()));
    }
    let params = match &args.timing {
        Some(path) => Params::from_file(chip, path).map_err(Failure::usage)?,
        None => Params::for_chip(chip).map_err(Failure::failed)?,
    };
    let limit = args.max_instructions.unwrap_or(MAX_INSTRUCTIONS);
    let mut options = Options { log_limit: Some(limit), ..Options::default() };
    if let Some(seconds) = args.task.timeout {
        options.timeout = crate::run::timeout(seconds)?;
    }
    let kernels = &source.code.kernels;
    let mut proof = argus_replay::replay(&source.task, kernels, chip, &options, 1).map_err(cannot_replay)?;
    let log = task_log(&source.task, chip, &mut proof.outcome);
    let timeline = Timeline::new(&log, &params);
    if let Err(error) = &proof.outcome.result
        && !log.cut
    {
        // Where the model knows more than the machine, it says it too.
        let cause = with_causes(error);
        let failure = Failure::failed(anyhow!("the task failed, so there is no timeline of it: {cause}"));
        return Err(match timeline {
            Err(error @ argus_trace::ModelError::Deadlock { .. }) => failure.hint(with_causes(&error)),
            _ => failure,
        });
    }
    let timeline = timeline.map_err(Failure::failed)?;
    let sources = sources(kernels, &timeline);
    let written =
        argus_trace::write(&timeline, &directory, &sources, &Stamp::now()).map_err(Failure::failed)?;
    let summary = Summary::new(&timeline);
    let cut = log.cut.then_some(limit);
    let report = Report { source: &source, proof: &proof, summary: &summary, written: &written, cut };
    if args.json {
        output::print_json(&object(&report))?;
    } else {
        output::print(&text::text(&report))?;
    }
    let good = summary.hazards.is_empty() && proof.passed() && !log.cut;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// The logs of an outcome as the model takes them; they are moved, because they may be large.
fn task_log(task: &CapturedTask, chip: &'static Chip, outcome: &mut Outcome) -> TaskLog {
    let cores = std::mem::take(&mut outcome.logs);
    let buffers = outcome.buffers.iter().map(|Buffer { slots, addr, bytes }| {
        let names: Vec<String> = slots.iter().map(|slot| format!("arg{slot}")).collect();
        GlobalBuffer { name: names.join("+"), addr: *addr, bytes: *bytes }
    });
    TaskLog {
        name: task.identity.kernel_names(),
        chip,
        cores,
        buffers: buffers.collect(),
        cut: outcome.log_full,
    }
}

/// The texts that the kernels were compiled from, wherever the tool is called.
fn sources(kernels: &KernelTable, timeline: &Timeline<'_>) -> Sources {
    let mut sources = Sources::default();
    for file in kernels.iter().flat_map(|entry| entry.sources.iter()) {
        if timeline.files.iter().any(|name| **name == *file.path) {
            sources.add(&file.path, &file.text);
        }
    }
    sources
}

fn default_directory(task: &CapturedTask) -> PathBuf {
    let kernels = task.identity.kernel_names().replace(|sign: char| !sign.is_ascii_alphanumeric(), "_");
    PathBuf::from(format!("trace_{kernels}_{:#x}", task.id.raw()))
}

fn object(report: &Report<'_>) -> serde_json::Value {
    let Report { source, proof, summary, written, cut } = report;
    json!({
        "schema": schema::TRACE,
        "task_id": source.task.id.to_string(),
        "kernel": source.task.identity.kernel_names(),
        "platform": source.chip.name,
        "replay": if summary.cut { "cut" } else if !proof.passed() { "differs" } else if proof.compared() { "bit-equal" } else { "not-compared" },
        "cut_at_instructions": cut,
        "summary": summary,
        "directory": written.directory.display().to_string(),
        "slices": written.slices,
        "missing_sources": written.missing_sources,
    })
}
