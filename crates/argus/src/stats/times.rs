//! `argus stats --times`: kernels, cores, the critical path, and what to shorten first.

use std::fmt::Write;
use std::process::ExitCode;

use argus_artefacts::directory::Kind;
use argus_runs::Capture;
use argus_runs::timing::{PathStep, Timing, timing};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::marks::{GOOD, NOTE};
use crate::output::counted;
use crate::{output, schema, table};

/// Steps of a path that are listed; `--json` has all of them.
const STEPS: usize = 20;

pub fn show(capture: &Capture, as_json: bool) -> Result<ExitCode, Failure> {
    let timing = timing(capture).ok_or_else(|| none(capture))?;
    if as_json {
        output::print_json(&object(capture, &timing))?;
    } else {
        output::print(&text(capture, &timing))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn none(capture: &Capture) -> Failure {
    let directory = capture.artefacts.directory.display();
    let why = capture.artefacts.not_used(Kind::Times);
    let why = why.unwrap_or_else(|| "no swimlane records lie beside the dump".to_owned());
    let error = anyhow::anyhow!("{directory} has no times: {why}");
    let own = capture.dump.own_graph().is_some();
    Failure::usage(error).hint(match own {
        true => "`argus run --artefacts` writes them; `argus trace RUN` draws the timeline that the dump has"
            .to_owned(),
        false => {
            "the reference writes them with --enable-chip-swimlane (June: --enable-l2-swimlane)".to_owned()
        }
    })
}

fn micro(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}

fn text(capture: &Capture, timing: &Timing) -> String {
    let mut text = String::new();
    let calls: u64 = timing.kernels.iter().map(|kernel| kernel.calls).sum();
    _ = writeln!(
        text,
        "{}: {calls} kernel calls on {} cores in {} us",
        capture.artefacts.directory.display(),
        timing.cores.len(),
        micro(timing.wall_ns)
    );
    let mut rows = table::plain(&[
        "KERNEL", "CORE", "CALLS", "TOTAL us", "MEAN us", "MIN us", "MAX us", "WAY us", "SEEN us",
    ]);
    for kernel in &timing.kernels {
        let optional = |ns: Option<u64>| ns.map_or(String::new(), micro);
        rows.add_row([
            kernel.kernel.clone(),
            kernel.core_type.map_or(String::new(), |core| core.name().to_owned()),
            kernel.calls.to_string(),
            micro(kernel.total_ns),
            micro(kernel.total_ns / kernel.calls.max(1)),
            micro(kernel.min_ns),
            micro(kernel.max_ns),
            optional(kernel.way_ns),
            optional(kernel.seen_ns),
        ]);
    }
    text += &format!("\n{}", table::lines(&rows));
    let mut rows = table::plain(&["CORE", "TYPE", "CALLS", "BUSY us", "BUSY"]);
    for core in &timing.cores {
        rows.add_row([
            core.core.to_string(),
            core.core_type.map_or(String::new(), |core| core.name().to_owned()),
            core.calls.to_string(),
            micro(core.busy_ns),
            share(core.busy_ns, timing.wall_ns),
        ]);
    }
    text += &format!("\n{}", table::lines(&rows));
    if !timing.phases.is_empty() {
        let mut rows = table::plain(&["CONTROL THREAD", "PHASE", "COUNT", "TOTAL us"]);
        for phase in &timing.phases {
            rows.add_row([
                phase.thread.to_string(),
                phase.kind.clone(),
                phase.count.to_string(),
                micro(phase.total_ns),
            ]);
        }
        text += &format!("\n{}", table::lines(&rows));
    }
    for (name, path) in [("static", &timing.longest), ("observed", &timing.observed)] {
        if !path.is_empty() {
            path_lines(&mut text, name, path);
        }
    }
    text.push('\n');
    for remark in &timing.remarks {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} {remark}");
    }
    if let Some(first) = timing.shorten.first() {
        let total = timing.shorten.iter().fold(0, |sum: u64, part| sum.saturating_add(part.total_ns));
        let part = share(first.total_ns, total);
        _ = match &first.kernel {
            Some(kernel) => writeln!(
                text,
                "{GOOD}shorten first:{GOOD:#} {kernel}, {} us in {}, {part} of the observed critical path",
                micro(first.total_ns),
                counted(first.tasks, "task")
            ),
            None => writeln!(
                text,
                "{GOOD}shorten first:{GOOD:#} the time between tasks, {} us in {}, {part} of the observed critical path",
                micro(first.total_ns),
                counted(first.tasks, "gap")
            ),
        };
    }
    let directory = capture.artefacts.directory.display();
    _ = writeln!(text, "{NOTE}next:{NOTE:#} argus trace {directory} -o run.pftrace");
    text
}

fn path_lines(text: &mut String, name: &str, path: &[PathStep]) {
    let busy = path.iter().fold(0, |sum: u64, step| sum.saturating_add(step.duration_ns));
    let gaps = path.iter().fold(0, |sum: u64, step| sum.saturating_add(step.gap_ns));
    _ = writeln!(
        text,
        "\ncritical path, {name}: {} tasks, {} us of work, {} us between them",
        path.len(),
        micro(busy),
        micro(gaps)
    );
    let mut rows = table::plain(&["TASK", "KERNEL", "START us", "RAN us", "GAP us", "BECAUSE OF"]);
    for step in path.iter().take(STEPS) {
        rows.add_row([
            step.task.to_string(),
            step.kernel.clone(),
            micro(step.start_ns),
            micro(step.duration_ns),
            micro(step.gap_ns),
            step.cause.name().to_owned(),
        ]);
    }
    *text += &table::lines(&rows);
    if path.len() > STEPS {
        _ = writeln!(text, "and {} more; --json has all of them", path.len() - STEPS);
    }
}

fn object(capture: &Capture, timing: &Timing) -> Value {
    let step = |step: &PathStep| {
        json!({
            "task_id": step.task.to_string(),
            "kernel": step.kernel,
            "start_ns": step.start_ns,
            "duration_ns": step.duration_ns,
            "gap_ns": step.gap_ns,
            "because_of": step.cause.name(),
        })
    };
    json!({
        "schema": schema::TIMES,
        "run": capture.artefacts.directory.display().to_string(),
        "wall_ns": timing.wall_ns,
        "kernels": timing.kernels.iter().map(|kernel| json!({
            "kernel": kernel.kernel,
            "core_type": kernel.core_type.map(|core| core.name()),
            "calls": kernel.calls,
            "total_ns": kernel.total_ns,
            "min_ns": kernel.min_ns,
            "max_ns": kernel.max_ns,
            "way_ns": kernel.way_ns,
            "seen_ns": kernel.seen_ns,
        })).collect::<Vec<_>>(),
        "cores": timing.cores.iter().map(|core| json!({
            "core": core.core,
            "core_type": core.core_type.map(|core| core.name()),
            "calls": core.calls,
            "busy_ns": core.busy_ns,
        })).collect::<Vec<_>>(),
        "phases": timing.phases.iter().map(|phase| json!({
            "thread": phase.thread,
            "phase": phase.kind,
            "count": phase.count,
            "total_ns": phase.total_ns,
        })).collect::<Vec<_>>(),
        "critical_path": {
            "static": timing.longest.iter().map(step).collect::<Vec<_>>(),
            "observed": timing.observed.iter().map(step).collect::<Vec<_>>(),
        },
        "shorten": timing.shorten.iter().map(|part| json!({
            "kernel": part.kernel,
            "tasks": part.tasks,
            "total_ns": part.total_ns,
        })).collect::<Vec<_>>(),
        "scopes": scopes(capture),
        "host": host(capture),
        "remarks": timing.remarks,
        "notes": capture.dump.notes(),
    })
}

/// What each scope took, as the file beside the dump says.
fn scopes(capture: &Capture) -> Value {
    let Some(stats) = &capture.artefacts.scopes else { return Value::Null };
    let scope = |scope: argus_artefacts::scopes::Scope| {
        json!({
            "site": scope.site,
            "depth": scope.depth,
            "ring": scope.ring,
            "tasks": scope.taken.map(|taken| taken.tasks.high_water),
            "heap": scope.taken.and_then(|taken| taken.heap).map(|heap| heap.high_water),
        })
    };
    json!({
        "fatal": stats.fatal,
        "dropped": stats.dropped,
        "shortcomings": stats.shortcomings(),
        "scopes": stats.scopes().into_iter().map(scope).collect::<Vec<_>>(),
    })
}

/// What the host did, by the records of its phases and the spans of its log.
fn host(capture: &Capture) -> Value {
    let passes = capture.artefacts.host_phases.iter().map(|pass| {
        json!({
            "pid": pass.pid,
            "inv": pass.inv,
            "dropped": pass.dropped,
            "phases": pass.records.iter().map(|phase| json!({
                "phase": phase.phase,
                "start_ns": phase.start_ns,
                "end_ns": phase.end_ns,
                "detail": phase.detail,
            })).collect::<Vec<_>>(),
        })
    });
    let spans = capture.artefacts.log.iter().flat_map(|log| &log.spans).map(|span| {
        json!({
            "name": span.name,
            "pid": span.pid,
            "inv": span.inv,
            "depth": span.depth,
            "start_ns": span.start_ns,
            "duration_ns": span.duration_ns,
            "device_clock": span.device,
        })
    });
    json!({ "passes": passes.collect::<Vec<_>>(), "spans": spans.collect::<Vec<_>>() })
}
