//! What `argus find` and `argus diff` tell, for people.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use argus_find::pattern::Finding;
use argus_find::report::{Closer, Compared, FirstWrong, Overall, Report, TaskReport};
use argus_find::search::EndResult;

use crate::output::{BAD, GOOD, NOTE};
use crate::table;

const DIM: Style = AnsiColor::BrightBlack.on_default();
/// Tasks that are listed by name before the rest is only counted.
const LISTED: usize = 12;

/// The summary: the first wrong tasks, what is wrong with them, and what to type next.
pub fn summary(report: &Report) -> String {
    let mut text = String::new();
    let counts = &report.counts;
    let with = report.other.as_deref().map_or(String::new(), |other| format!(": {other}"));
    _ = writeln!(text, "{} compared with {}{with}", report.dump, report.compared_with);
    _ = writeln!(
        text,
        "{} tasks: {} clean, {} introduced an error, {} inherited one, {} unknown",
        report.tasks.len(),
        counts.clean,
        counts.introduced,
        counts.inherited,
        counts.unknown,
    );
    for tolerance in &report.tolerances {
        _ = writeln!(text, "{DIM}agreement: {tolerance}{DIM:#}");
    }
    unaligned(&mut text, report);
    for first in &report.first_wrong {
        first_wrong(&mut text, report, first);
    }
    inherited(&mut text, report);
    unknown(&mut text, report);
    for note in &report.notes {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} {note}");
    }
    _ = writeln!(text, "\n{}", verdict(report));
    if let Some(first) = report.first_wrong.first() {
        for command in ["replay", "trace"] {
            _ = writeln!(text, "{NOTE}next:{NOTE:#} argus {command} {} --task {}", report.dump, first.id);
        }
    }
    text
}

fn verdict(report: &Report) -> String {
    let end = match report.end_result {
        EndResult::Agrees => "the end result agrees",
        EndResult::Differs => "the end result differs",
        EndResult::Unknown => "the end result was not compared",
    };
    match report.verdict {
        Overall::Agree => format!("{GOOD}AGREE{GOOD:#}  {end}"),
        Overall::Differ => format!("{BAD}DIFFER{BAD:#}  {end}"),
        Overall::Unjudged => format!("{NOTE}NOT JUDGED{NOTE:#}  nothing is known to be wrong; {end}"),
    }
}

fn unaligned(text: &mut String, report: &Report) {
    let unaligned = &report.unaligned;
    if !unaligned.by.is_empty() {
        _ = writeln!(text, "{DIM}tasks matched by {}{DIM:#}", unaligned.by);
    }
    for (side, tasks) in [("here", &unaligned.here), ("in the other dump", &unaligned.there)] {
        if !tasks.is_empty() {
            _ = writeln!(text, "{NOTE}only {side}:{NOTE:#} {}", listed(tasks));
        }
    }
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn named(task: &TaskReport) -> String {
    if task.kernel.is_empty() { task.id.clone() } else { format!("{} ({})", task.id, task.kernel) }
}

fn first_wrong(text: &mut String, report: &Report, first: &FirstWrong) {
    let Some(task) = report.tasks.get(first.task) else { return };
    let behind = match first.downstream {
        0 => "no other wrong task lies behind it".to_owned(),
        1 => "1 wrong task lies behind it".to_owned(),
        count => format!("{count} wrong tasks lie behind it"),
    };
    _ = writeln!(text, "\n{BAD}first wrong task{BAD:#} {}: {behind}", named(task));
    for (role, list) in [("input", &task.inputs), ("output", &task.outputs)] {
        for compared in list {
            _ = writeln!(text, "  {role:<6} {}", comparison(compared));
        }
    }
    for why in &task.why {
        _ = writeln!(text, "  {NOTE}note:{NOTE:#} {why}");
    }
    for output in &first.outputs {
        closer(text, output);
    }
}

/// How one record compares, in colour.
pub fn comparison(compared: &Compared) -> String {
    let what = match compared.agreement {
        "equal" => "equal bit for bit".to_owned(),
        "within" => format!("within the tolerance, at most {:.3e} off", compared.max_abs.unwrap_or(0.0)),
        "beyond" => match compared.max_abs {
            Some(most) => format!("{BAD}{} elements beyond{BAD:#}, at most {most:.3e} off", compared.beyond),
            None => format!("{BAD}differs{BAD:#}"),
        },
        _ => format!("unknown: {}", compared.why.as_deref().unwrap_or("nobody knows")),
    };
    let unchecked = match compared.unchecked {
        0 => String::new(),
        count => format!(", {count} elements are not defined by the task and were left out"),
    };
    format!("argument {}: {what}{unchecked}", compared.argument)
}

fn closer(text: &mut String, output: &Closer) {
    _ = writeln!(text, "  argument {}, {} {:?}", output.argument, output.dtype, output.shape);
    for element in &output.detail.worst {
        _ = writeln!(text, "    {element}");
    }
    let map = &output.detail.map;
    if map.rows > 1 || map.columns > 1 {
        let cell = if map.cell > 1 { format!(", a cell is {} elements", map.cell) } else { String::new() };
        _ = writeln!(text, "  {DIM}where, {} rows of {}{cell}{DIM:#}", map.tensor[0], map.tensor[1]);
        for line in map.lines() {
            _ = writeln!(text, "    {line}");
        }
    }
    for finding in &output.looks_like {
        _ = writeln!(text, "  looks like: {}", sentence(finding));
    }
}

/// A pattern and its evidence.
pub fn sentence(finding: &Finding) -> String {
    format!("{}: {}", finding.pattern, finding.evidence)
}

fn inherited(text: &mut String, report: &Report) {
    let of = |verdict: &str| {
        report.tasks.iter().filter(|task| task.verdict == verdict).map(named).collect::<Vec<_>>()
    };
    let firsts: Vec<String> =
        report.first_wrong.iter().filter_map(|f| report.tasks.get(f.task)).map(named).collect();
    let later: Vec<String> = of("introduced").into_iter().filter(|name| !firsts.contains(name)).collect();
    if !later.is_empty() {
        _ = writeln!(text, "\nfurther errors behind the first: {}", listed(&later));
    }
    let inherited = of("inherited");
    if !inherited.is_empty() {
        _ = writeln!(text, "\ninherited: {}", listed(&inherited));
    }
}

fn unknown(text: &mut String, report: &Report) {
    let unknown: Vec<&TaskReport> = report.tasks.iter().filter(|task| task.verdict == "unknown").collect();
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for task in unknown {
        let why = task.why.first().map_or("nobody knows why", String::as_str);
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, tasks)) => tasks.push(named(task)),
            None => reasons.push((why, vec![named(task)])),
        }
    }
    for (reason, tasks) in reasons {
        _ = writeln!(text, "unknown because {reason}: {}", listed(&tasks));
    }
}

/// Every pair of records in a line of its own.
pub fn pairs(report: &Report, all: bool) -> String {
    let mut rows = table::plain(&[
        "TASK",
        "KERNEL",
        "VERDICT",
        "STAGE",
        "ARG",
        "AGREEMENT",
        "BEYOND",
        "MAX ABS",
        "REL L2",
    ]);
    let mut left_out = 0;
    for task in &report.tasks {
        for (stage, list) in [("before", &task.inputs), ("after", &task.outputs)] {
            for compared in list {
                if compared.agreement == "equal" && !all {
                    left_out += 1;
                    continue;
                }
                let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.3e}"));
                rows.add_row([
                    task.id.clone(),
                    task.kernel.clone(),
                    task.verdict.to_owned(),
                    stage.to_owned(),
                    compared.argument.to_string(),
                    compared.agreement.to_owned(),
                    compared.beyond.to_string(),
                    number(compared.max_abs),
                    number(compared.metrics.as_ref().and_then(|metrics| metrics.relative_l2)),
                ]);
            }
        }
    }
    let mut text = if rows.row_count() > 0 { table::lines(&rows) } else { String::new() };
    if left_out > 0 {
        _ = writeln!(text, "{left_out} pairs are equal bit for bit; --all shows them");
    }
    unaligned(&mut text, report);
    unknown(&mut text, report);
    _ = writeln!(text, "\n{}", verdict(report));
    text
}
