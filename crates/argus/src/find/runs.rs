//! `argus find --runs A B C`: the same program and inputs, and not the same bits.

use std::fmt::Write;
use std::process::ExitCode;

use argus_dump::read::{Dump, Ending};
use argus_find::align::Side;
use argus_find::races::{Race, races};
use argus_find::report::Overall;
use argus_find::runs::{Begin, Parting, part};
use argus_find::tasks::Tasks;
use serde_json::{Value, json};

use super::{html, impossible};
use crate::cli::FindArgs;
use crate::failure::Failure;
use crate::marks::{BAD, GOOD, NOTE};
use crate::output::counted;
use crate::{input, output, schema};

/// Races that are spelled out.
const LISTED: usize = 20;

pub fn runs(args: &FindArgs) -> Result<ExitCode, Failure> {
    if args.runs.len() < 2 {
        return Err(impossible("--runs compares runs with each other: give at least two dumps".to_owned()));
    }
    let dumps: Vec<Dump> = args.runs.iter().map(|path| input::open(Some(path))).collect::<Result<_, _>>()?;
    let tasks: Vec<Tasks> = dumps.iter().map(|dump| Tasks::new(dump, None)).collect();
    let sides: Vec<Side<'_>> = dumps.iter().zip(&tasks).map(|(dump, tasks)| Side { dump, tasks }).collect();
    let parting = part(&sides);
    let races = races(&dumps[0], &tasks[0]);
    let told = text(&dumps, &tasks[0], &parting, &races);
    if let Some(path) = &args.html {
        html::write_runs(path, &told)?;
        output::wrote(path);
    }
    if args.json {
        output::print_json(&object(&dumps, &tasks[0], &parting, &races))?;
    } else {
        output::print(&told)?;
    }
    Ok(ExitCode::from(verdict(&dumps, &parting, &races).exit_code()))
}

fn text(dumps: &[Dump], tasks: &Tasks, parting: &Parting, races: &[Race]) -> String {
    let mut text = String::new();
    let diverge = parting.begins.len() + parting.open.len();
    _ = writeln!(
        text,
        "{} runs, {}: {} equal bit for bit, {} {}, {} downstream, {} unknown",
        dumps.len(),
        counted(tasks.len() as u64, "task"),
        parting.same,
        diverge,
        if diverge == 1 { "diverges" } else { "diverge" },
        parting.behind.len(),
        parting.unknown.len() + parting.damaged.len(),
    );
    let begins = parting.begins.iter().map(|begin| (begin, "equal inputs, other outputs"));
    let open = parting.open.iter().map(|begin| (begin, "other outputs; not all inputs could be compared"));
    for (number, (begin, how)) in begins.chain(open).take(LISTED).enumerate() {
        let first = if number == 0 { format!("{BAD}first to differ{BAD:#} ") } else { String::new() };
        let runs: Vec<String> = begin
            .runs
            .iter()
            .map(|(run, record)| {
                format!(
                    "{}: argument {}",
                    dumps[*run].directory().display(),
                    dumps[0].record(*record).arg_index
                )
            })
            .collect();
        _ = writeln!(text, "{first}{}: {how} in {}", tasks.get(begin.task).label(), runs.join("; "));
    }
    for (task, why) in parting.damaged.iter().take(LISTED) {
        _ = writeln!(text, "{BAD}damaged{BAD:#} {}: {why}", tasks.get(*task).label());
    }
    for &(run, count) in &parting.elsewhere {
        let count = counted(count as u64, "task");
        _ = writeln!(text, "{NOTE}only in {}:{NOTE:#} {count}", dumps[run].directory().display());
    }
    for (task, why) in parting.unknown.iter().take(LISTED) {
        _ = writeln!(text, "{NOTE}unknown{NOTE:#} {}: {why}", tasks.get(*task).label());
    }
    for race in races.iter().take(LISTED) {
        _ = writeln!(
            text,
            "{BAD}race{BAD:#} {} and {}: {}, {} bytes from 0x{:x}, and nothing orders them",
            tasks.get(race.first).label(),
            tasks.get(race.second).label(),
            race.how.name(),
            race.bytes.end - race.bytes.start,
            race.bytes.start,
        );
    }
    if races.len() > LISTED {
        _ = writeln!(text, "and {} more races; --json lists them", races.len() - LISTED);
    }
    for (dump, why) in dumps.iter().filter_map(|dump| Some((dump, cut_short(dump)?))) {
        let name = dump.directory().display();
        _ = writeln!(text, "{NOTE}note:{NOTE:#} {name} is not a whole run: {why}");
    }
    if !tasks.has_edges() {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} the first dump has no graph: races cannot be told");
    }
    for dump in dumps.iter().filter(|dump| !dump.has_checksums()) {
        _ = writeln!(
            text,
            "{NOTE}note:{NOTE:#} {} has no checksums: damage to its payloads cannot be told",
            dump.directory().display()
        );
    }
    let said = match verdict(dumps, parting, races) {
        Overall::Differ => match (parting.begins.first(), parting.open.first()) {
            (Some(begin), _) => {
                format!("{BAD}DIFFER{BAD:#}  the runs diverge at {}", tasks.get(begin.task).label())
            }
            (None, Some(open)) => format!(
                "{BAD}DIFFER{BAD:#}  the runs diverge at {} or upstream of it: not all of its inputs were compared",
                tasks.get(open.task).label()
            ),
            (None, None) => {
                format!("{BAD}DIFFER{BAD:#}  inputs differ, and no task is known to have made them differ")
            }
        },
        Overall::Damaged => format!("{BAD}DAMAGED{BAD:#}  nothing else is known to differ"),
        Overall::Race => {
            format!("{BAD}RACE{BAD:#}  no difference between the runs, but tasks that nothing orders")
        }
        Overall::Agree => {
            let races = if tasks.has_edges() { ", and no race in the graph of the first" } else { "" };
            let inputs = match parting.same_outputs {
                0 => String::new(),
                1 => "; of 1 task not all inputs were compared".to_owned(),
                tasks => format!("; of {tasks} tasks not all inputs were compared"),
            };
            format!("{GOOD}SAME{GOOD:#}  no difference between the runs{races}{inputs}")
        }
        Overall::Failed | Overall::Unjudged => {
            format!("{NOTE}NOT JUDGED{NOTE:#}  nothing is known to differ, and not everything was compared")
        }
    };
    text.push('\n');
    if let Some(begin) = first(parting) {
        let (dump, id) = (dumps[0].directory().display(), tasks.get(begin.task).id);
        _ = writeln!(text, "{NOTE}next:{NOTE:#} argus replay {dump} --task {id} --times 10");
    }
    _ = writeln!(text, "{said}");
    text
}

/// Where the runs begin to differ.
fn first(parting: &Parting) -> Option<&Begin> {
    parting.begins.first().or(parting.open.first())
}

/// Why a run did not come to its end, if it did not.
fn cut_short(dump: &Dump) -> Option<&str> {
    match dump.ending() {
        Ending::Failed { error } => Some(error),
        Ending::Unfinished { why } => Some(why),
        Ending::Complete | Ending::Unknown => None,
    }
}

/// Runs that did not come to their ends are compared as far as they came, and are not called the same.
fn verdict(dumps: &[Dump], parting: &Parting, races: &[Race]) -> Overall {
    let whole = parting.is_whole() && dumps.iter().all(|dump| cut_short(dump).is_none());
    if parting.differs() {
        Overall::Differ
    } else if !parting.damaged.is_empty() {
        Overall::Damaged
    } else if !races.is_empty() {
        Overall::Race
    } else if whole && parting.same > 0 {
        Overall::Agree
    } else {
        Overall::Unjudged
    }
}

fn object(dumps: &[Dump], tasks: &Tasks, parting: &Parting, races: &[Race]) -> Value {
    let id = |at: usize| tasks.get(at).id.to_string();
    json!({
        "schema": schema::FIND_RUNS,
        "verdict": verdict(dumps, parting, races).name(),
        "runs": dumps.iter().map(|dump| dump.directory().display().to_string()).collect::<Vec<_>>(),
        "same": parting.same,
        "diverge": parting.begins.iter().map(|begin| json!({
            "task_id": id(begin.task),
            "kernel": &*tasks.get(begin.task).kernel,
            "runs": begin.runs.iter().map(|(run, record)| json!({
                "run": run,
                "arg_index": dumps[0].record(*record).arg_index,
                "record": record,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "diverge_inputs_unknown": parting.open.iter().map(|begin| json!({
            "task_id": id(begin.task),
            "kernel": &*tasks.get(begin.task).kernel,
        })).collect::<Vec<_>>(),
        "damaged": parting.damaged.iter().map(|(at, why)| json!({ "task_id": id(*at), "why": why })).collect::<Vec<_>>(),
        "only_in": parting.elsewhere.iter().map(|(run, tasks)| json!({ "run": run, "task_ids": tasks })).collect::<Vec<_>>(),
        "downstream": parting.behind.iter().map(|&at| id(at)).collect::<Vec<_>>(),
        "unknown": parting.unknown.iter().map(|(at, why)| json!({ "task_id": id(*at), "why": why })).collect::<Vec<_>>(),
        "races": races.iter().map(|race| json!({
            "task_ids": [id(race.first), id(race.second)],
            "kernels": [&*tasks.get(race.first).kernel, &*tasks.get(race.second).kernel],
            "how": race.how.name(),
            "bytes": [format!("0x{:x}", race.bytes.start), format!("0x{:x}", race.bytes.end)],
            "records": [race.records.0, race.records.1],
        })).collect::<Vec<_>>(),
    })
}
