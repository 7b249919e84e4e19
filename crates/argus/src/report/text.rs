//! The summary for people.

use argus_dump::DumpSummary;
use argus_runtime::Injected;
use argus_scene::compare::{OutputVerdict, Tolerance};
use argus_scene::play::Round;
use comfy_table::{CellAlignment, Table};

use super::{Times, Verdict, shown_round};
use crate::capture::Kept;
use crate::marks::{BAD, GOOD, NOTE};
use crate::output::shell_word;
use crate::run::{Summary, capturing};
use crate::table;

pub fn text(summary: &Summary) -> String {
    let shown = shown_round(&summary.played.rounds);
    let mut text = facts(summary);
    let outputs = shown.map_or(&[][..], |(_, round)| &round.outputs);
    if !outputs.is_empty() {
        text += &format!("\n{}", table::lines(&outputs_table(outputs)));
    }
    text + "\n" + &verdict(summary)
}

fn facts(summary: &Summary) -> String {
    let Summary { asked: _, scene, case, runtime, chip, played, kept, injected, timeline } = summary;
    let mut text = String::new();
    let mut row = |name: &str, value: String| text += &format!("{name:<10}{value}\n");
    row("scene", format!("{}, case {}", scene.name, case.name));
    row("runtime", format!("{} ({})", runtime.name(), runtime.short()));
    if let Some((_, Round { report, .. })) = shown_round(&played.rounds) {
        let (clusters, threads) = (report.clusters, report.control_threads);
        row("platform", format!("{}, {clusters} clusters, {threads} control threads", chip.name));
        row("tasks", report.tasks.to_string());
    }
    row("time", time(&played.rounds));
    for Injected { injection, task, argument, elements, changed, max_change, what } in injected {
        let place = task.map_or_else(String::new, |task| format!("task {task}, "));
        let argument = argument.map_or_else(String::new, |slot| format!("argument {slot}: "));
        let size = format!("{changed} of {elements} elements, largest change {}", error_size(*max_change));
        row("injected", format!("{injection} in {place}{argument}{what}; {size}"));
    }
    if let Some(Kept { summary, waits, wait_ns }) = kept.last() {
        let DumpSummary { records, tensors, scalars, payload_bytes, stored_bytes, .. } = summary;
        row("dump", summary.directory.display().to_string());
        row("records", format!("{records} ({tensors} tensors, {scalars} scalars), none lost"));
        row("payload", format!("{payload_bytes} bytes, {stored_bytes} stored"));
        if *waits > 0 {
            let waited = std::time::Duration::from_nanos(*wait_ns);
            row("waits", format!("{waits} for the collector, {waited:.1?} together"));
        }
    }
    if let Some(path) = timeline {
        row("timeline", path.display().to_string());
    }
    text
}

fn time(rounds: &[Round]) -> String {
    let Times { min, median, max } = Times::new(rounds);
    match rounds {
        [_] => format!("{median:.3?}"),
        _ => format!("min {min:.3?}, median {median:.3?}, max {max:.3?} over {} rounds", rounds.len()),
    }
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
            error_size(output.max_abs_error),
            output.worst_index.map_or_else(|| "-".into(), |index| index.to_string()),
            error_size(output.max_rel_error),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn verdict(summary: &Summary) -> String {
    let rounds = &summary.played.rounds;
    let tolerance = tolerance(summary.played.tolerance);
    match (Verdict::new(summary), shown_round(rounds)) {
        (Verdict::Pass, _) => match &summary.played.uncompared[..] {
            [] => format!("{GOOD}PASS{GOOD:#}  every element is within {tolerance}\n"),
            without => format!(
                "{GOOD}PASS{GOOD:#}  every compared element is within {tolerance}; not compared, because there are no \
                 expected values: {}\n",
                without.join(", ")
            ),
        },
        (Verdict::Fail, Some((number, round))) => {
            let place = match rounds.len() {
                1 => String::new(),
                count => format!(", first in round {number} of {count}"),
            };
            let wrong = round.outputs.iter().filter(|output| !output.pass).map(mismatches);
            format!("{BAD}FAIL{BAD:#}  outputs differ by more than {tolerance}{place}\n")
                + &wrong.collect::<String>()
                + &next(summary)
        }
        _ => format!("{NOTE}DONE{NOTE:#}  the run ended; its outputs were not compared\n"),
    }
}

/// The command that finds the task, or that captures what it needs.
fn next(summary: &Summary) -> String {
    let command = match summary.kept.last() {
        Some(kept) => format!("argus find {}", shell_word(&kept.summary.directory)),
        None => capturing(&summary.asked, &summary.case.name, summary.runtime),
    };
    format!("{NOTE}next:{NOTE:#} {command}\n")
}

fn mismatches(output: &OutputVerdict) -> String {
    let OutputVerdict { name, mismatches, elements, .. } = output;
    let mut text = String::new();
    if let Some(first) = output.first_mismatch {
        let (actual, expected) = (value(first.actual), value(first.expected));
        text += &format!("      first: {name}[{}] is {actual}, expected {expected}\n", first.index);
    }
    text += &format!("      {mismatches} of the {elements} elements of {name} differ");
    for (count, whose) in [(output.nan_actual, "output"), (output.nan_expected, "reference")] {
        if count > 0 {
            text += &format!("; {count} NaN in the {whose}");
        }
    }
    text + "\n"
}

fn tolerance(tolerance: Tolerance) -> String {
    format!("rtol {:e}, atol {:e}", tolerance.rtol(), tolerance.atol())
}

fn error_size(error: f64) -> String {
    if error == 0.0 || error.is_infinite() { error.to_string() } else { format!("{error:.2e}") }
}

/// The shortest text that stands for this value alone. Outputs are mostly f32, which need fewer digits.
fn value(value: f64) -> String {
    let narrow = value as f32;
    if f64::from(narrow) == value { narrow.to_string() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RIGHT, WRONG, summary};
    use super::*;
    use crate::marks::printable;

    fn plain(summary: &Summary) -> String {
        printable(&text(summary)).into_owned()
    }

    #[test]
    fn a_pass_reads_well() {
        let expected = "\
scene     vector_example, case default
runtime   tensormap_and_ringbuffer (trb)
platform  a2a3sim, 3 clusters, 4 control threads
tasks     7
time      3.000ms

OUTPUT  VERDICT  ELEMENTS  MISMATCHES  MAX ABS ERROR  AT INDEX  MAX REL ERROR
out     pass            3           0        5.00e-1         1        2.50e-1

PASS  every element is within rtol 2.5e-1, atol 0e0
";
        assert_eq!(plain(&summary(&[(3, RIGHT)])), expected);
    }

    #[test]
    fn a_failure_shows_the_first_mismatch() {
        let text = plain(&summary(&[(3, RIGHT), (5, WRONG)]));
        let expected = "\
OUTPUT  VERDICT  ELEMENTS  MISMATCHES  MAX ABS ERROR  AT INDEX  MAX REL ERROR
out     FAIL            3           2            inf         2            inf

FAIL  outputs differ by more than rtol 2.5e-1, atol 0e0, first in round 2 of 2
      first: out[1] is 2.75, expected 2
      2 of the 3 elements of out differ; 1 NaN in the output
next: argus run vector_example --case default --runtime trb --dump-tensor
";
        assert!(text.ends_with(expected), "{text}");
        assert!(text.contains("time      min 3.000ms, median 4.000ms, max 5.000ms over 2 rounds"), "{text}");
    }

    #[test]
    fn without_a_comparison_there_is_no_pass() {
        let text = plain(&summary(&[(3, None)]));
        assert!(text.ends_with("\nDONE  the run ended; its outputs were not compared\n"), "{text}");
    }

    #[test]
    fn values_are_as_short_as_their_type_allows() {
        assert_eq!(value(f64::from(0.1f32)), "0.1");
        assert_eq!(value(0.1), "0.1");
        assert_eq!(value(f64::from(1 << 30) + 1.0), "1073741825");
        assert_eq!(value(f64::NAN), "NaN");
    }
}
