//! What `argus run` tells about a played case, as text and as JSON.

use std::fmt::Write;
use std::time::Duration;

use argus_scenes::compare::{OutputVerdict, Tolerance};
use argus_scenes::play::Round;
use comfy_table::{CellAlignment, Table};
use serde_json::{Value, json};

use crate::output::{BAD, GOOD, NOTE};
use crate::run::Summary;
use crate::table;

/// What the comparison of all rounds came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pass,
    Fail,
    /// Nothing was compared, so nothing was found right or wrong.
    NotCompared,
}

impl Verdict {
    fn of(summary: &Summary) -> Verdict {
        if !summary.played.passed() {
            Verdict::Fail
        } else if summary.played.rounds.iter().any(|round| round.outputs.is_empty()) {
            Verdict::NotCompared
        } else {
            Verdict::Pass
        }
    }

    fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::NotCompared => "not_compared",
        }
    }
}

/// The fastest, the middle and the slowest round.
struct Times {
    min: Duration,
    median: Duration,
    max: Duration,
}

impl Times {
    fn of(rounds: &[Round]) -> Times {
        let mut sorted: Vec<Duration> = rounds.iter().map(|round| round.report.elapsed).collect();
        sorted.sort();
        let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
        let last = sorted.len().saturating_sub(1);
        Times { min: at(0), median: (at(last / 2) + at(last.div_ceil(2))) / 2, max: at(last) }
    }
}

/// The round whose outputs are shown: the first that failed, else the last. Counted from 1.
fn shown_round(rounds: &[Round]) -> Option<(usize, &Round)> {
    let failed = rounds.iter().position(|round| !passed(round));
    let index = failed.unwrap_or(rounds.len().saturating_sub(1));
    rounds.get(index).map(|round| (index + 1, round))
}

fn passed(round: &Round) -> bool {
    round.outputs.iter().all(|output| output.pass)
}

/// The summary for people.
pub fn text(summary: &Summary) -> String {
    let Summary { scene, case, runtime, platform, played } = summary;
    let mut text = String::new();
    let mut row = |name: &str, value: String| text += &format!("{name:<10}{value}\n");
    row("scene", format!("{}, case {}", scene.name, case.name));
    row("runtime", format!("{} ({})", runtime.name(), runtime.short()));
    let shown = shown_round(&played.rounds);
    if let Some((_, Round { report, .. })) = shown {
        let (clusters, threads) = (report.clusters, report.control_threads);
        row("platform", format!("{}, {clusters} clusters, {threads} control threads", platform.name));
        row("tasks", report.tasks.to_string());
    }
    row("time", time_text(&played.rounds));
    let outputs = shown.map_or(&[][..], |(_, round)| &round.outputs);
    if !outputs.is_empty() {
        text += &format!("\n{}", table::lines(&outputs_table(outputs)));
    }
    text += "\n";
    let tolerance = tolerance_text(played.tolerance);
    match (Verdict::of(summary), shown) {
        (Verdict::Pass, _) => text += &format!("{GOOD}PASS{GOOD:#}  every element is within {tolerance}\n"),
        (Verdict::Fail, Some((number, round))) => {
            text += &format!("{BAD}FAIL{BAD:#}  outputs differ by more than {tolerance}");
            if played.rounds.len() > 1 {
                text += &format!(", first in round {number} of {}", played.rounds.len());
            }
            text += "\n";
            for output in round.outputs.iter().filter(|output| !output.pass) {
                text += &mismatch_text(output);
            }
        }
        _ => text += &format!("{NOTE}DONE{NOTE:#}  the run ended; its outputs were not compared\n"),
    }
    text
}

fn time_text(rounds: &[Round]) -> String {
    let Times { min, median, max } = Times::of(rounds);
    match rounds {
        [_] => format!("{median:.3?}"),
        _ => {
            format!("min {min:.3?}, median {median:.3?}, max {max:.3?} over {} rounds", rounds.len())
        }
    }
}

fn tolerance_text(tolerance: Tolerance) -> String {
    if tolerance == Tolerance::EXACT {
        return "tolerance 0 (exact)".into();
    }
    format!("rtol {:e}, atol {:e}", tolerance.rtol(), tolerance.atol())
}

fn outputs_table(outputs: &[OutputVerdict]) -> Table {
    let mut table = table::plain(&[
        "OUTPUT",
        "VERDICT",
        "ELEMENTS",
        "MISMATCHES",
        "MAX ABS ERROR",
        "AT INDEX",
        "MAX REL ERROR",
    ]);
    for output in outputs {
        table.add_row([
            output.name.clone(),
            if output.pass { "pass" } else { "FAIL" }.into(),
            output.elements.to_string(),
            output.mismatches.to_string(),
            error_text(output.max_abs_error),
            output.worst_index.map_or_else(|| "-".into(), |index| index.to_string()),
            error_text(output.max_rel_error),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn mismatch_text(output: &OutputVerdict) -> String {
    let mut text = String::new();
    let OutputVerdict { name, mismatches, elements, .. } = output;
    if let Some(first) = output.first_mismatch {
        let (actual, expected) = (value_text(first.actual), value_text(first.expected));
        text += &format!("      first: {name}[{}] is {actual}, expected {expected}\n", first.index);
    }
    text += &format!("      {mismatches} of the {elements} elements of {name} differ");
    for (count, whose) in [(output.nan_actual, "output"), (output.nan_expected, "reference")] {
        if count > 0 {
            // Writing to a String does not fail.
            write!(text, "; {count} are NaN in the {whose}").ok();
        }
    }
    text + "\n"
}

fn error_text(error: f64) -> String {
    if error == 0.0 || error.is_infinite() { error.to_string() } else { format!("{error:.2e}") }
}

/// The shortest text that stands for this value alone. Outputs are mostly f32, which need fewer digits.
fn value_text(value: f64) -> String {
    let narrow = value as f32;
    if f64::from(narrow) == value { narrow.to_string() } else { value.to_string() }
}

/// The summary for programs.
pub fn json(summary: &Summary) -> Value {
    let Summary { scene, case, runtime, platform, played } = summary;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let times = Times::of(&played.rounds);
    let shown = shown_round(&played.rounds);
    let report = shown.map(|(_, round)| &round.report);
    let rounds: Vec<Value> = played
        .rounds
        .iter()
        .map(|round| {
            let pass = (!round.outputs.is_empty()).then(|| passed(round));
            json!({ "elapsed_ms": milliseconds(round.report.elapsed), "pass": pass })
        })
        .collect();
    json!({
        "status": Verdict::of(summary).name(),
        "scene": scene.name,
        "case": case.name,
        "platform": platform.name,
        "runtime": runtime.name(),
        "clusters": report.map(|report| report.clusters),
        "control_threads": report.map(|report| report.control_threads),
        "tasks": report.map(|report| report.tasks),
        "elapsed_ms": {
            "min": milliseconds(times.min),
            "median": milliseconds(times.median),
            "max": milliseconds(times.max),
        },
        "rounds": rounds,
        "tolerance": played.tolerance,
        "outputs_of_round": shown.map(|(number, _)| number),
        "outputs": shown.map_or(&[][..], |(_, round)| &round.outputs),
    })
}
