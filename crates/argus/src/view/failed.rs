//! A run that did not finish: what is left of it, and what its log says.

use std::fmt::Write;

use argus_artefacts::directory::Found;
use argus_artefacts::log::{RunFailure, StallReport};
use argus_facts::with_causes;
use argus_runs::Holdings;
use serde_json::{Value, json};

use crate::marks::{BAD, NOTE};
use crate::schema;

pub fn text(holdings: &Holdings) -> String {
    let mut text = String::new();
    let how = if holdings.is_broken() { "is of a run that did not finish" } else { "holds no dump" };
    _ = writeln!(text, "{} {how}", holdings.directory.display());
    if let Some(payload) = &holdings.payload {
        let bytes = holdings.payload_bytes;
        _ = writeln!(
            text,
            "{:<10}{} ({bytes} bytes of payload that no manifest describes)",
            "holds",
            payload.display()
        );
    }
    for Found { kind, path } in &holdings.artefacts.found {
        _ = writeln!(text, "{:<10}{} ({})", "holds", path.display(), kind.name());
    }
    for problem in &holdings.artefacts.problems {
        _ = writeln!(
            text,
            "{NOTE}note:{NOTE:#} {} is not used: {}",
            problem.path.display(),
            with_causes(&problem.error)
        );
    }
    for lost in holdings.lost().into_iter().filter(|_| holdings.is_broken()) {
        _ = writeln!(text, "{:<10}{lost}", "lost");
    }
    if let Some(failure) = holdings.failure() {
        _ = writeln!(text, "{BAD}failed:{BAD:#} {}", failure.reason());
        if let Some(hint) = &failure.hint {
            _ = writeln!(text, "{NOTE}hint:{NOTE:#} {hint}");
        }
    }
    if let Some(report) = holdings.stall() {
        stall_lines(&mut text, report);
    }
    text
}

/// The class of a run that stood still, what it means, and the counts that it rests on.
pub fn stall_lines(text: &mut String, report: &StallReport) {
    _ = writeln!(text, "{BAD}stood still:{BAD:#} {}: {}", report.class_name(), report.meaning());
    if let Some(stall) = &report.stall {
        _ = writeln!(text, "{:<10}{}", "tasks", stall.counts());
        if let Some(task) = stall.task {
            let core = stall.core.map_or(String::new(), |core| format!(" on core {core}"));
            _ = writeln!(text, "{:<10}task {task}{core}", "stuck");
        }
    }
    if let Some(summary) = &report.summary {
        _ = writeln!(text, "{:<10}{summary}", "device");
    }
    for task in &report.tasks {
        let missing = task.missing.map_or(String::new(), |missing| format!(", waits for {missing}"));
        let place = task.running_on.as_ref().map_or(String::new(), |place| format!(", {place}"));
        _ = writeln!(text, "{:<10}task {} {}{missing}{place}", "", task.id, task.state);
    }
    for cluster in &report.clusters {
        _ = writeln!(text, "{:<10}{cluster}", "");
    }
}

pub fn object(holdings: &Holdings) -> Value {
    let found =
        |found: &Found| json!({ "kind": found.kind.name(), "path": found.path.display().to_string() });
    json!({
        "schema": schema::FAILED_RUN,
        "run": holdings.directory.display().to_string(),
        "payload": holdings.payload.as_ref().map(|path| path.display().to_string()),
        "payload_bytes": holdings.payload_bytes,
        "files": holdings.artefacts.found.iter().map(found).collect::<Vec<_>>(),
        "lost": holdings.lost(),
        "failure": holdings.failure().map(failure_object),
        "stall": holdings.stall().map(stall_object),
    })
}

fn failure_object(failure: &RunFailure) -> Value {
    json!({
        "reason": failure.reason(),
        "orchestrator_code": failure.orchestrator_code,
        "scheduler_code": failure.scheduler_code,
        "status": failure.status,
        "detail": failure.detail,
        "hint": failure.hint,
    })
}

fn stall_object(report: &StallReport) -> Value {
    let task = |task: &argus_artefacts::log::StalledTask| {
        json!({
            "task_id": task.id.to_string(),
            "state": task.state,
            "missing": task.missing,
            "running_on": task.running_on,
        })
    };
    let mut object = match &report.stall {
        Some(stall) => crate::failure::stall_object(stall),
        None => json!({ "class": null, "meaning": report.meaning() }),
    };
    if let Value::Object(fields) = &mut object {
        fields.insert("thread".into(), report.thread.into());
        fields.insert("idle_iterations".into(), report.idle_iterations.into());
        fields.insert("tasks".into(), report.tasks.iter().map(task).collect());
        fields.insert("clusters".into(), report.clusters.clone().into());
        fields.insert("summary".into(), report.summary.clone().into());
    }
    object
}
