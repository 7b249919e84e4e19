//! What `argus find` and `argus diff` tell, for people.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use argus_find::pattern::Finding;
use argus_find::report::{Closer, Compared, FirstWrong, Listing, Overall, RaceReport, TaskLine};
use argus_find::search::{BY_REFERENCE, EndResult};

use crate::marks::{BAD, DIM, GOOD, NOTE};
use crate::output::{counted, shell_word};
use crate::table;

/// Tasks that are listed by name before the rest is only counted.
const LISTED: usize = 12;

type Report<'a> = argus_find::report::Report<Listing<'a>>;

/// The summary: the first wrong tasks, what is wrong with them, what to type next and, in its last line, the
/// culprit. `repeat` holds the options that commands on this dump need again.
pub fn summary(report: &Report<'_>, repeat: &str) -> String {
    let mut text = String::new();
    let with = report.other.as_deref().map_or(String::new(), |other| format!(": {other}"));
    _ = writeln!(text, "{} compared with {}{with}", report.dump, report.compared_with);
    _ = writeln!(text, "{}", counts(report));
    for tolerance in &report.tolerances {
        _ = writeln!(text, "{DIM}agreement: {tolerance}{DIM:#}");
    }
    unaligned(&mut text, report);
    for first in report.first_wrong.iter().take(LISTED) {
        first_wrong(&mut text, report, first);
    }
    if report.first_wrong.len() > LISTED {
        _ = writeln!(
            text,
            "\nand {} more first wrong tasks; --json lists them",
            report.first_wrong.len() - LISTED
        );
    }
    inherited(&mut text, report);
    races(&mut text, report);
    damaged(&mut text, report);
    unknown(&mut text, report);
    notes(&mut text, report);
    text.push('\n');
    next(&mut text, report, repeat);
    _ = writeln!(text, "{}", verdict(report));
    text
}

fn notes(text: &mut String, report: &Report) {
    for note in &report.notes {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} {note}");
    }
}

/// What to type next.
fn next(text: &mut String, report: &Report<'_>, repeat: &str) {
    let dump = shell_word(&report.dump);
    let mut on_task = |command: &str, id: &str| {
        _ = writeln!(text, "{NOTE}next:{NOTE:#} argus {command} {dump} --task {id}{repeat}");
    };
    match report.verdict {
        Overall::Agree => {}
        Overall::Differ => {
            if let Some(first) = report.first_wrong.first() {
                on_task("replay", &first.id);
                on_task("trace", &first.id);
            }
        }
        Overall::Failed => {
            if let Some(task) = report.tasks.iter().find(|task| task.running) {
                on_task("replay", &task.id.to_string());
            }
        }
        Overall::Damaged => _ = writeln!(text, "{NOTE}next:{NOTE:#} argus verify {dump}"),
        Overall::Race => {
            let raced = report.races.first().map_or([0; 0].as_slice(), |race| &race.tasks);
            for task in raced.iter().filter_map(|&at| report.tasks.get(at)) {
                on_task("trace", &task.id.to_string());
            }
        }
        Overall::Unjudged => {
            if report.compared_with == BY_REFERENCE {
                let ways = "--against DUMP compares with another run, --golden DIR with arrays";
                _ = writeln!(text, "{NOTE}hint:{NOTE:#} {ways}");
            }
            _ = writeln!(text, "{NOTE}next:{NOTE:#} argus view {dump}");
        }
    }
}

fn counts(report: &Report<'_>) -> String {
    let counts = &report.counts;
    let named = [
        (counts.clean, "clean", true),
        (counts.introduced, "introduced an error", true),
        (counts.here_or_upstream, "wrong here or upstream", false),
        (counts.inherited, "inherited one", true),
        (counts.damaged, "damaged", false),
        (counts.unknown, "unknown", true),
    ];
    let shown = named.iter().filter(|(count, _, always)| *always || *count > 0);
    let list: Vec<String> = shown.map(|(count, name, _)| format!("{count} {name}")).collect();
    format!("{}: {}", counted(report.judgeable as u64, "task"), list.join(", "))
}

/// The last line: what came out, and who did it.
fn verdict(report: &Report<'_>) -> String {
    let end = match report.end_result {
        EndResult::Agrees => "the end result agrees",
        EndResult::PartlyAgrees => "the end result agrees as far as it was compared",
        EndResult::Differs => "the end result differs",
        EndResult::Affected => "the end result follows from wrong values",
        EndResult::Unknown => "the end result was not compared",
    };
    let judged = format!("judged {} of {}", report.judged, counted(report.judgeable as u64, "task"));
    let failed = report.failure.as_ref().map_or(String::new(), |error| format!("; the run failed: {error}"));
    match report.verdict {
        Overall::Agree => format!("{GOOD}AGREE{GOOD:#}  {judged}; {end}"),
        Overall::Differ => format!("{BAD}DIFFER{BAD:#}  {}; {end}{failed}", culprit(report)),
        Overall::Damaged => {
            let records = counted(report.damaged.len() as u64, "record");
            let first = report.damaged.first().map_or("", |damaged| damaged.why.as_str());
            let first =
                if first.is_empty() { "the other dump has them".to_owned() } else { first.to_owned() };
            format!(
                "{BAD}DAMAGED{BAD:#}  {records}: {first}; {judged}, and nothing is known to be wrong{failed}"
            )
        }
        Overall::Failed => format!(
            "{BAD}FAILED{BAD:#}  the run failed: {}; {judged}{}",
            report.failure.as_deref().unwrap_or("it does not say why"),
            if report.judged > 0 { ", and none of them is wrong" } else { "" }
        ),
        Overall::Race => format!(
            "{BAD}RACE{BAD:#}  {}, and nothing orders them; {judged}, and each does right by what it read",
            report.races.first().map_or_else(String::new, |race| raced(report, race)),
        ),
        Overall::Unjudged => {
            let word = if report.judged == 0 { "NOT JUDGED" } else { "NOT ALL JUDGED" };
            format!("{NOTE}{word}{NOTE:#}  {judged}; nothing is known to be wrong; {end}")
        }
    }
}

fn culprit(report: &Report<'_>) -> String {
    let Some(first) = report.first_wrong.first() else {
        return match report.other_scalars {
            0 => "no task is known to have introduced it".to_owned(),
            1 => "1 task was given another scalar, and no task is known to be wrong".to_owned(),
            tasks => format!("{tasks} tasks were given other scalars, and no task is known to be wrong"),
        };
    };
    let more = match report.first_wrong.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let name = report.tasks.get(first.task).map_or_else(|| first.id.clone(), |task| task.label());
    match first.verdict {
        "introduced" => format!("{name}{more} introduced the error"),
        _ if first.suspects.is_empty() => {
            format!("the culprit is {name}{more}, unless what it was given was wrong already")
        }
        _ => format!(
            "the culprit is {name}{more} or one of {} upstream",
            counted(first.suspects.len() as u64, "task")
        ),
    }
}

fn races(text: &mut String, report: &Report<'_>) {
    for race in report.races.iter().take(LISTED) {
        _ = writeln!(text, "{BAD}race{BAD:#} {}, and nothing orders them", raced(report, race));
    }
    if report.races.len() > LISTED {
        _ = writeln!(text, "and {} more races; --json lists them", report.races.len() - LISTED);
    }
}

/// Who races with whom, for which bytes.
fn raced(report: &Report<'_>, race: &RaceReport) -> String {
    let [first, second] =
        race.tasks.map(|at| report.tasks.get(at).map_or_else(String::new, |task| task.label()));
    let [from, to] = race.arguments;
    format!(
        "{first} and {second}: {}, {} bytes (argument {from} of the first, {to} of the second)",
        race.how, race.bytes
    )
}

fn damaged(text: &mut String, report: &Report<'_>) {
    for damaged in report.damaged.iter().take(LISTED) {
        let task = if damaged.kernel.is_empty() {
            damaged.id.clone()
        } else {
            format!("{} ({})", damaged.id, damaged.kernel)
        };
        _ = writeln!(text, "{BAD}damaged{BAD:#} {task}: {}", damaged.why);
    }
    if report.damaged.len() > LISTED {
        _ = writeln!(text, "and {} more damaged records; --json lists them", report.damaged.len() - LISTED);
    }
}

fn unaligned(text: &mut String, report: &Report<'_>) {
    let unaligned = &report.unaligned;
    if !unaligned.by.is_empty() {
        _ = writeln!(text, "{DIM}tasks matched by {}{DIM:#}", unaligned.by);
    }
    for (what, tasks) in [
        ("only here", &unaligned.here),
        ("only in the other dump", &unaligned.there),
        ("tensors that only one side has", &unaligned.partly),
    ] {
        if !tasks.is_empty() {
            _ = writeln!(text, "{NOTE}{what}:{NOTE:#} {}", listed(tasks));
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

fn first_wrong(text: &mut String, report: &Report<'_>, first: &FirstWrong) {
    let Some(line) = report.tasks.get(first.task) else { return };
    let downstream = match first.downstream {
        None => String::new(),
        Some(0) => ": no wrong task is downstream of it".to_owned(),
        Some(1) => ": 1 wrong task is downstream of it".to_owned(),
        Some(count) => format!(": {count} wrong tasks are downstream of it"),
    };
    _ = writeln!(text, "\n{BAD}first wrong task{BAD:#} {}{downstream}", line.label());
    if first.verdict != "introduced" {
        let why = first.why.as_deref().unwrap_or("it is not known why");
        _ = writeln!(text, "  the error was made here or upstream: {why}");
        if !first.suspects.is_empty() {
            let suspects: Vec<String> =
                first.suspects.iter().filter_map(|&at| Some(report.tasks.get(at)?.label())).collect();
            _ = writeln!(text, "  suspects: {}, {}", line.label(), listed(&suspects));
        }
    }
    let task = report.tasks.full(&line);
    for (role, list) in [("input", &task.inputs), ("output", &task.outputs)] {
        for compared in list {
            _ = writeln!(text, "  {role:<6} {}", comparison(compared));
        }
    }
    for why in task.why.iter().filter(|why| first.why.as_ref() != Some(why)) {
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
            Some(most) => {
                let elements = counted(compared.beyond, "element");
                format!("{BAD}{elements} out of tolerance{BAD:#}, at most {most:.3e} off")
            }
            None => format!("{BAD}differs{BAD:#}"),
        },
        other => format!("{other}: {}", compared.why.as_deref().unwrap_or("it is not known why")),
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
        _ = writeln!(
            text,
            "  {DIM}where, {} of {}{cell}{DIM:#}",
            counted(map.tensor[0], "row"),
            map.tensor[1]
        );
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

fn inherited(text: &mut String, report: &Report<'_>) {
    let firsts: HashSet<usize> = report.first_wrong.iter().map(|first| first.task).collect();
    for (verdict, what) in [
        ("introduced", "further errors downstream of the first"),
        ("here_or_upstream", "also wrong, here or upstream"),
        ("inherited", "inherited"),
    ] {
        let further = |task: &TaskLine<'_>| task.verdict == verdict && !firsts.contains(&task.position);
        let tasks: Vec<String> = report.tasks.iter().filter(further).map(|task| task.label()).collect();
        if !tasks.is_empty() {
            _ = writeln!(text, "\n{what}: {}", listed(&tasks));
        }
    }
}

fn unknown(text: &mut String, report: &Report<'_>) {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for line in report.tasks.iter().filter(|task| task.verdict == "unknown") {
        let why = report.tasks.full(&line).why.into_iter().next();
        let why = why.unwrap_or_else(|| "it is not known why".to_owned());
        let at = *places.entry(why).or_insert_with_key(|why| {
            reasons.push((why.clone(), Vec::new()));
            reasons.len() - 1
        });
        reasons[at].1.push(line.label());
    }
    let more = reasons.len().saturating_sub(LISTED);
    for (reason, tasks) in reasons.into_iter().take(LISTED) {
        _ = writeln!(text, "unknown because {reason}: {}", listed(&tasks));
    }
    if more > 0 {
        _ = writeln!(text, "and {more} more reasons; --json lists them");
    }
}

/// Every pair of records in a line of its own.
pub fn pairs(report: &Report<'_>, all: bool) -> String {
    let mut rows = table::plain(&[
        "TASK",
        "KERNEL",
        "VERDICT",
        "STAGE",
        "ARG",
        "AGREEMENT",
        "WRONG",
        "MAX ABS",
        "REL L2",
    ]);
    let mut left_out = 0;
    for line in report.tasks.iter() {
        if let Some(pairs) = line.equal.filter(|_| !all) {
            left_out += pairs;
            continue;
        }
        let task = report.tasks.full(&line);
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
                    if compared.agreement == "beyond" { "differs" } else { compared.agreement }.to_owned(),
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
    damaged(&mut text, report);
    unknown(&mut text, report);
    notes(&mut text, report);
    _ = writeln!(text, "\n{}", verdict(report));
    text
}
