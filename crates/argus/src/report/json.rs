//! The summary for programs.

use std::path::Path;
use std::time::Duration;

use argus_runtime::Injected;
use argus_scene::compare::{OutputVerdict, Tolerance, number_or_name};
use serde::Serialize;

use super::{Times, Verdict, passed, shown_round};
use crate::capture::Kept;
use crate::run::Summary;
use crate::schema;

/// The object that `argus run --json` prints when a run came to its end.
#[derive(Serialize)]
pub struct Report<'a> {
    schema: &'static str,
    /// `pass`, `fail`, or `not_compared`. A run that failed has `error` and other keys.
    verdict: &'static str,
    scene: &'a str,
    case: &'a str,
    platform: &'static str,
    runtime: &'static str,
    clusters: Option<u32>,
    control_threads: Option<u32>,
    tasks: Option<u64>,
    elapsed_ms: Elapsed,
    rounds: Vec<RoundReport>,
    tolerance: Tolerance,
    /// The round, counted from 1, that `outputs` belongs to: the first that failed, else the last.
    outputs_of_round: Option<usize>,
    outputs: &'a [OutputVerdict],
    /// Outputs without expected values.
    uncompared: &'a [String],
    /// One object per round of a captured run.
    dumps: Vec<DumpReport>,
    /// Faults that were made on purpose in the last round.
    injections: Vec<InjectionReport>,
    /// Where the timeline of the last round is.
    timeline: Option<&'a Path>,
}

#[derive(Serialize)]
struct DumpReport {
    directory: String,
    records: u64,
    tensors: u64,
    scalars: u64,
    tasks: u64,
    edges: u64,
    payload_bytes: u64,
    stored_bytes: u64,
    skipped: u64,
    lost_entries: u64,
    waits: u64,
    wait_ns: u64,
}

#[derive(Serialize)]
struct InjectionReport {
    kernel: String,
    n: u64,
    kind: &'static str,
    task_id: Option<String>,
    arg_index: Option<u16>,
    elements: u64,
    changed: u64,
    #[serde(serialize_with = "number_or_name")]
    max_change: f64,
    what: String,
}

impl InjectionReport {
    fn new(done: &Injected) -> InjectionReport {
        InjectionReport {
            kernel: done.injection.kernel.clone(),
            n: done.injection.nth,
            kind: done.injection.kind.name(),
            task_id: done.task.map(|task| task.to_string()),
            arg_index: done.argument,
            elements: done.elements,
            changed: done.changed,
            max_change: done.max_change,
            what: done.what.clone(),
        }
    }
}

impl DumpReport {
    fn new(kept: &Kept) -> DumpReport {
        let Kept { summary, waits, wait_ns } = kept;
        DumpReport {
            directory: summary.directory.display().to_string(),
            records: summary.records,
            tensors: summary.tensors,
            scalars: summary.scalars,
            tasks: summary.tasks,
            edges: summary.edges,
            payload_bytes: summary.payload_bytes,
            stored_bytes: summary.stored_bytes,
            skipped: summary.skipped,
            lost_entries: summary.lost_entries,
            waits: *waits,
            wait_ns: *wait_ns,
        }
    }
}

#[derive(Serialize)]
struct Elapsed {
    min: f64,
    median: f64,
    max: f64,
}

#[derive(Serialize)]
struct RoundReport {
    elapsed_ms: f64,
    /// Null when nothing was compared.
    pass: Option<bool>,
}

pub fn json(summary: &Summary) -> Report<'_> {
    let Summary { asked: _, scene, case, runtime, chip, played, kept, injected, timeline } = summary;
    let times = Times::new(&played.rounds);
    let shown = shown_round(&played.rounds);
    let report = shown.map(|(_, round)| &round.report);
    let rounds = played.rounds.iter().map(|round| RoundReport {
        elapsed_ms: milliseconds(round.report.elapsed),
        pass: (!round.outputs.is_empty()).then(|| passed(round)),
    });
    Report {
        schema: schema::RUN,
        verdict: Verdict::new(summary).name(),
        scene: &scene.name,
        case: &case.name,
        platform: chip.name,
        runtime: runtime.name(),
        clusters: report.map(|report| report.clusters),
        control_threads: report.map(|report| report.control_threads),
        tasks: report.map(|report| report.tasks),
        elapsed_ms: Elapsed {
            min: milliseconds(times.min),
            median: milliseconds(times.median),
            max: milliseconds(times.max),
        },
        rounds: rounds.collect(),
        tolerance: played.tolerance,
        outputs_of_round: shown.map(|(number, _)| number),
        outputs: shown.map_or(&[], |(_, round)| &round.outputs),
        uncompared: &summary.played.uncompared,
        dumps: kept.iter().map(DumpReport::new).collect(),
        injections: injected.iter().map(InjectionReport::new).collect(),
        timeline: timeline.as_deref(),
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RIGHT, WRONG, summary};
    use super::*;

    fn object(summary: &Summary) -> serde_json::Value {
        serde_json::to_value(json(summary)).unwrap()
    }

    #[test]
    fn a_failure_names_its_round_and_its_first_mismatch() {
        let object = object(&summary(&[(1, RIGHT), (2, WRONG)]));
        assert_eq!(object["verdict"], "fail");
        assert_eq!(object["rounds"][0]["pass"], true);
        assert_eq!(object["rounds"][1]["pass"], false);
        assert_eq!(object["outputs_of_round"], 2);
        assert_eq!(object["outputs"][0]["first_mismatch"]["index"], 1);
        assert_eq!(object["outputs"][0]["max_abs_error"], "inf");
    }

    #[test]
    fn a_round_that_was_not_compared_neither_passed_nor_failed() {
        let object = object(&summary(&[(1, None)]));
        assert_eq!(object["verdict"], "not_compared");
        assert!(object["rounds"][0]["pass"].is_null());
    }
}
