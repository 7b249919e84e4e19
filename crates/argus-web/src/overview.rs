//! What ran, what came of it, and what its kernels have in common.

use std::sync::{Mutex, PoisonError};

use argus_dump::LastVerdict;
use argus_dump::read::{Dump, Ending, Losses};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Content};
use crate::live;
use crate::session::{Served, Session, Verb};
use crate::shown::Shown;
use crate::table::TaskTable;

/// Numbers about the values of kernels, as soon as all values were looked at.
#[derive(Default)]
pub struct Statistics {
    counted: Mutex<Option<Counted>>,
}

#[derive(Clone, Default)]
pub struct Counted {
    /// By kernel, as in the table of tasks.
    kernels: Vec<Counts>,
    busy: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    busy_ns: u64,
    nan: u64,
    inf: u64,
    unwritten: u64,
}

/// Looks at all values of a dump.
pub fn count(session: &Session, served: &Served, shown: &Shown) {
    let kernels = shown.tasks.names.len();
    let each = |task: usize| {
        let mut counts = Counts::default();
        for &index in shown.tasks.records(task) {
            if session.is_stopped() {
                break;
            }
            let record = shown.dump().record(index as usize);
            if let Some(summary) = argus_text::object::summary(shown.dump(), &record) {
                counts.nan += summary.written_nan();
                counts.inf += summary.inf();
                counts.unwritten += summary.unwritten;
            }
        }
        counts
    };
    let counted: Vec<Counts> = (0..shown.tasks.len()).into_par_iter().map(each).collect();
    let mut by_kernel = vec![Counts::default(); kernels];
    for (task, counts) in counted.into_iter().enumerate() {
        if let Some(kernel) = by_kernel.get_mut(shown.tasks.kernels[task] as usize) {
            kernel.nan += counts.nan;
            kernel.inf += counts.inf;
            kernel.unwritten += counts.unwritten;
        }
    }
    let busy = busy(shown, &mut by_kernel);
    *shown.statistics.counted.lock().unwrap_or_else(PoisonError::into_inner) =
        Some(Counted { kernels: by_kernel, busy });
    served.tell();
}

/// Adds the time that cores spent on each kernel; false if the dump does not tell.
fn busy(shown: &Shown, by_kernel: &mut [Counts]) -> bool {
    let Ok(Some(times)) = shown.dump().times() else { return false };
    for part in times.cores.iter().flat_map(|core| &core.parts) {
        let task = shown.tasks.find(part.task);
        let kernel = task.and_then(|task| by_kernel.get_mut(shown.tasks.kernels[task] as usize));
        if let Some(kernel) = kernel {
            kernel.busy_ns += part.ended_ns.saturating_sub(part.started_ns);
        }
    }
    true
}

pub fn overview(session: &Session, shown: &Shown) -> Answer {
    let dump = shown.dump();
    let verdict = LastVerdict::read(dump.directory());
    let judged = shown.judging.done();
    let (judging, why) = shown.judging.state();
    let counted = shown.statistics.counted.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Content::Json(json!({
        "run": run(shown),
        "last_verdict": verdict.as_ref().map(|verdict| json!({
            "command": verdict.command,
            "verdict": verdict.verdict,
            "task_id": verdict.task_id,
            "kernel": verdict.kernel,
            "at": verdict.at,
            "text": verdict.to_string(),
        })),
        "verdict": judged.as_ref().map(|judged| &judged.findings.object),
        "judging": judging,
        "judging_why": why,
        "ledger": dump.run().map_or_else(Map::new, |facts| facts.ledger.clone()),
        "losses": losses(dump.losses()),
        "kernels": kernels(dump, &shown.tasks, &shown.judging.verdicts(), counted.as_ref()),
        "statistics": if counted.is_some() { "done" } else { "pending" },
        "next": next(session, shown),
        "said": judged.as_ref().map_or(&[][..], |judged| &judged.findings.said),
        "notes": dump.notes(),
    })))
}

fn run(shown: &Shown) -> Value {
    let dump = shown.dump();
    let mut facts = shown.facts();
    facts.insert("directory".into(), dump.directory().display().to_string().into());
    facts.insert("name".into(), shown.name().into());
    facts.insert("live".into(), live::is_live(shown).into());
    let why = match dump.ending() {
        Ending::Failed { error } => Some(error.clone()),
        Ending::Unfinished { why } => Some(why.clone()),
        Ending::Complete | Ending::Unknown => None,
    };
    facts.insert("why".into(), json!(why));
    add_run(dump, &mut facts);
    facts.into()
}

/// What the run's own file says.
pub fn add_run(dump: &Dump, facts: &mut Map<String, Value>) {
    if let Some(run) = dump.run() {
        for (key, value) in [
            ("level", &run.level),
            ("run_id", &run.run_id),
            ("started", &run.started),
            ("ended", &run.ended),
            ("status", &run.status),
        ] {
            facts.insert(key.into(), value.as_str().into());
        }
        facts.insert("configuration".into(), run.configuration.clone().into());
        facts.insert("versions".into(), run.versions.clone().into());
        facts.insert("injections".into(), run.injections.clone().into());
    }
}

pub fn losses(losses: &Losses) -> Value {
    json!({
        "dropped_records": losses.dropped_records,
        "dropped_bytes": losses.dropped_bytes,
        "overwritten": losses.overwritten,
        "truncated": losses.truncated,
        "skipped": losses.skipped.len(),
    })
}

/// A row for each kernel: its tasks, and what is wrong with them.
pub fn kernels(dump: &Dump, table: &TaskTable, verdicts: &[u8], counted: Option<&Counted>) -> Vec<Value> {
    let mut rows: Vec<(u64, u64, u64, u64, Option<usize>)> = vec![(0, 0, 0, 0, None); table.names.len()];
    for task in 0..table.len() {
        let Some(row) = rows.get_mut(table.kernels[task] as usize) else { continue };
        row.0 += 1;
        row.1 += table.records(task).len() as u64;
        row.2 += table.bytes[task];
        row.3 += u64::from(matches!(verdicts.get(task), Some(2..=4)));
        row.4.get_or_insert(task);
    }
    let graph = dump.graph();
    let object = |(kernel, (tasks, records, bytes, wrong, first)): (usize, _)| {
        let first: Option<usize> = first;
        let func_ids = first.map(|task| table.func_ids(task)).unwrap_or_default();
        let cores = func_ids.iter().filter_map(|&id| Some(graph?.kernel(id)?.core_type.name()));
        let mut cores: Vec<&str> = cores.collect();
        cores.dedup();
        let counts = counted.and_then(|counted| counted.kernels.get(kernel));
        let busy = counts.filter(|_| counted.is_some_and(|counted| counted.busy));
        let (tasks, records, bytes, wrong): (u64, u64, u64, u64) = (tasks, records, bytes, wrong);
        json!({
            "name": table.names[kernel],
            "func_ids": *func_ids,
            "core_type": (!cores.is_empty()).then(|| cores.join("+")),
            "tasks": tasks,
            "records": records,
            "bytes": bytes,
            "busy_ns": busy.map(|counts| counts.busy_ns),
            "nan": counts.map(|counts| counts.nan),
            "inf": counts.map(|counts| counts.inf),
            "unwritten": counts.map(|counts| counts.unwritten),
            "wrong": wrong,
        })
    };
    rows.into_iter().enumerate().map(object).collect()
}

/// Commands that are worth typing now.
fn next(session: &Session, shown: &Shown) -> Vec<String> {
    let command = |verb, task| (session.commands)(verb, shown.dump().directory(), task);
    let first = shown.judging.done().and_then(|judged| judged.findings.first);
    let mut commands = match first {
        Some(_) => [Verb::Replay, Verb::Trace, Verb::View].map(|verb| command(verb, first)).to_vec(),
        None => [Verb::Find, Verb::View].map(|verb| command(verb, None)).to_vec(),
    };
    if !matches!(shown.dump().ending(), Ending::Complete) {
        commands.push(command(Verb::Verify, None));
    }
    commands
}
