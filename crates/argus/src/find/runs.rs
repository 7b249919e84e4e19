//! `argus find --runs A B C`: the same program and inputs, and not the same bits.

use std::fmt::Write;
use std::process::ExitCode;

use argus_dump::read::Dump;
use argus_find::align::Side;
use argus_find::races::{Race, races};
use argus_find::runs::{Parting, part};
use argus_find::tasks::Tasks;
use serde_json::{Value, json};

use super::impossible;
use crate::cli::FindArgs;
use crate::failure::{FAILED, Failure};
use crate::output::{BAD, GOOD, NOTE};
use crate::{input, output};

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
    if args.json {
        output::print_json(&object(&dumps, &tasks[0], &parting, &races))?;
    } else {
        output::print(&text(&dumps, &tasks[0], &parting, &races))?;
    }
    let found = !parting.begins.is_empty() || !parting.behind.is_empty() || !races.is_empty();
    Ok(if found {
        ExitCode::from(FAILED)
    } else if parting.unknown.is_empty() && parting.same > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(crate::failure::USAGE)
    })
}

fn text(dumps: &[Dump], tasks: &Tasks, parting: &Parting, races: &[Race]) -> String {
    let mut text = String::new();
    _ = writeln!(
        text,
        "{} runs, {} tasks: {} equal bit for bit, {} part, {} lie behind, {} unknown",
        dumps.len(),
        tasks.len(),
        parting.same,
        parting.begins.len(),
        parting.behind.len(),
        parting.unknown.len(),
    );
    for (number, begin) in parting.begins.iter().enumerate() {
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
        _ = writeln!(
            text,
            "{first}{}: equal inputs, other outputs in {}",
            tasks.get(begin.task).label(),
            runs.join("; ")
        );
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
    if !tasks.has_edges() {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} the first dump has no graph: races cannot be told");
    }
    let verdict = if parting.begins.is_empty() && parting.behind.is_empty() && races.is_empty() {
        format!("{GOOD}SAME{GOOD:#}  no difference between the runs, and no race in the graph of the first")
    } else {
        format!("{BAD}DIFFER{BAD:#}")
    };
    _ = writeln!(text, "\n{verdict}");
    text
}

fn object(dumps: &[Dump], tasks: &Tasks, parting: &Parting, races: &[Race]) -> Value {
    let id = |at: usize| format!("0x{:016x}", tasks.get(at).id);
    json!({
        "schema": "argus-find-runs-1",
        "runs": dumps.iter().map(|dump| dump.directory().display().to_string()).collect::<Vec<_>>(),
        "same": parting.same,
        "part": parting.begins.iter().map(|begin| json!({
            "task": id(begin.task),
            "kernel": tasks.get(begin.task).kernel,
            "runs": begin.runs.iter().map(|(run, record)| json!({
                "run": run,
                "argument": dumps[0].record(*record).arg_index,
                "record": record,
            })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "behind": parting.behind.iter().map(|&at| id(at)).collect::<Vec<_>>(),
        "unknown": parting.unknown.iter().map(|(at, why)| json!({ "task": id(*at), "why": why })).collect::<Vec<_>>(),
        "races": races.iter().map(|race| json!({
            "tasks": [id(race.first), id(race.second)],
            "kernels": [tasks.get(race.first).kernel, tasks.get(race.second).kernel],
            "how": race.how.name(),
            "bytes": [format!("0x{:x}", race.bytes.start), format!("0x{:x}", race.bytes.end)],
            "records": [race.records.0, race.records.1],
        })).collect::<Vec<_>>(),
    })
}
