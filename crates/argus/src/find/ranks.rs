//! `argus find` and `argus diff` on a run of many ranks: each rank by itself, or with its twin of another run.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use argus_dump_scene::Known;
use argus_find::across::Shard;
use argus_find::align::Side;
use argus_find::report::{Overall, Report};
use argus_find::search::{Expectation, Options};
use argus_find::tasks::Tasks;
use argus_runs::RunTree;
use argus_scene::Registry;
use serde_json::{Value, json};

use super::{impossible, judge, known_scene, unknown_scene};
use crate::cli::FindArgs;
use crate::failure::{FAILED, Failure, USAGE};
use crate::marks::{BAD, GOOD, NOTE};
use crate::output::counted;
use crate::{input, output, ranks, schema, table};

/// Every chosen rank judged by itself: by the references of its scene.
pub fn isolated(
    args: &FindArgs,
    tree: &RunTree,
    chosen: &[usize],
    options: Options,
    registry: &Registry,
) -> Result<ExitCode, Failure> {
    let shard = ranks::shard(args.shard.shard.as_deref())?;
    let mine = ranks::share(chosen, shard);
    let told = ranks::each(tree, &mine, ("comparing", args.json), |capture| {
        let known = known_scene(&capture.dump, args, registry)?;
        let (supplied, references) = known.map(Known::supply).unzip();
        let references = references.ok_or_else(unknown_scene)?;
        let tasks = Tasks::new(&capture.dump, supplied.flatten().as_ref());
        let subject = Side { dump: &capture.dump, tasks: &tasks };
        Ok(judge(subject, &Expectation::Isolated(&references), options, true).map_tasks(drop))
    });
    tell(&report(tree, shard, told, Vec::new()), args.json)
}

/// Every chosen rank with the rank of the same name of another run.
pub fn against(
    other: &Path,
    tree: &RunTree,
    chosen: &[usize],
    (options, shard, json): (Options, Shard, bool),
) -> Result<ExitCode, Failure> {
    let Some(twin) = RunTree::read(other) else {
        let (a, b) = (tree.directory.display(), other.display());
        return Err(impossible(format!("{a} is a run of many ranks, and {b} is not one"))
            .hint("choose one rank with --rank, or name the other run as a whole".to_owned()));
    };
    let (pairs, alone) = tree.pairs(chosen, &twin);
    let mine: Vec<usize> = ranks::share(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), shard);
    let told = ranks::each(tree, &mine, ("comparing", json), |capture| {
        let at = pairs.iter().find(|(at, _)| tree.capture(*at).directory == capture.artefacts.directory);
        let (_, theirs) = at.ok_or_else(|| impossible("the other run has no such rank".to_owned()))?;
        let other = input::open(Some(&twin.capture(*theirs).directory))?;
        let (tasks, others) = (Tasks::new(&capture.dump, None), Tasks::new(&other, None));
        let subject = Side { dump: &capture.dump, tasks: &tasks };
        let against = Expectation::Against(Side { dump: &other, tasks: &others });
        Ok(judge(subject, &against, options, true).map_tasks(drop))
    });
    let alone = alone.into_iter().map(|at| tree.capture(at).label()).collect();
    tell(&report(tree, shard, told, alone), json)
}

fn report(tree: &RunTree, shard: Shard, told: Vec<ranks::Told<Report<()>>>, alone: Vec<String>) -> Value {
    let captures: Vec<Value> = told
        .into_iter()
        .map(|rank| match rank.told {
            Ok(report) => json!({
                "capture": rank.label,
                "directory": rank.directory.display().to_string(),
                "verdict": report.verdict.name(),
                "counts": report.counts,
                "judged": report.judged,
                "judgeable": report.judgeable,
                "first_wrong": report.first_wrong.iter().map(|first| json!({
                    "task_id": first.id,
                    "kernel": first.kernel,
                    "verdict": first.verdict,
                })).collect::<Vec<_>>(),
                "notes": report.notes,
            }),
            Err(failure) => json!({
                "capture": rank.label,
                "directory": rank.directory.display().to_string(),
                "verdict": "unreadable",
                "error": failure.message(),
            }),
        })
        .collect();
    json!({
        "schema": schema::FIND_RANKS,
        "run": tree.directory.display().to_string(),
        "shard": ranks::shard_object(shard),
        "missing_ranks": tree.ranks.missing,
        "without_partner": alone,
        "captures": captures,
    })
}

/// Prints a report on many ranks, of one process or merged out of shards.
pub fn tell(report: &Value, json: bool) -> Result<ExitCode, Failure> {
    if json {
        output::print_json(report)?;
    } else {
        output::print(&text(report))?;
    }
    Ok(exit_code(report))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn exit_code(report: &Value) -> ExitCode {
    let captures = list(report, "captures");
    let any = |verdicts: &[&str]| {
        captures.iter().any(|capture| verdicts.contains(&capture["verdict"].as_str().unwrap_or_default()))
    };
    let bad = [Overall::Differ, Overall::Damaged, Overall::Failed, Overall::Race].map(Overall::name);
    let partial = !list(report, "missing_ranks").is_empty() || !list(report, "without_partner").is_empty();
    if any(&bad) {
        ExitCode::from(FAILED)
    } else if captures.is_empty() || any(&["unjudged", "unreadable"]) || partial {
        ExitCode::from(USAGE)
    } else {
        ExitCode::SUCCESS
    }
}

fn text(report: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let captures = list(report, "captures");
    let mut rows = table::plain(&[
        "CAPTURE",
        "VERDICT",
        "CLEAN",
        "INTRODUCED",
        "INHERITED",
        "UNKNOWN",
        "FIRST WRONG TASK",
    ]);
    for capture in captures {
        let count =
            |key: &str| capture["counts"][key].as_u64().map_or(String::new(), |count| count.to_string());
        let first = list(capture, "first_wrong").first().map(named);
        rows.add_row([
            word(&capture["capture"]),
            word(&capture["verdict"]),
            count("clean"),
            count("introduced"),
            count("inherited"),
            count("unknown"),
            first.unwrap_or_else(|| word(&capture["error"])),
        ]);
    }
    let mut told = table::lines(&rows);
    for (key, what) in [("missing_ranks", "missing"), ("without_partner", "not in the other run")] {
        let names: Vec<&str> = list(report, key).iter().filter_map(Value::as_str).collect();
        if !names.is_empty() {
            _ = writeln!(told, "{BAD}{what}:{BAD:#} {}", names.join(", "));
        }
    }
    let wrong = captures.iter().find(|capture| !list(capture, "first_wrong").is_empty());
    let agreeing = captures.iter().filter(|capture| capture["verdict"] == "agree").count();
    told.push('\n');
    if let Some(capture) = wrong {
        let directory = word(&capture["directory"]);
        let id = word(&list(capture, "first_wrong")[0]["task_id"]);
        _ = writeln!(told, "{NOTE}next:{NOTE:#} argus view {directory} --task {id} --show");
    }
    let all = counted(captures.len() as u64, "capture");
    _ = match wrong {
        Some(capture) => writeln!(
            told,
            "{BAD}DIFFER{BAD:#}  first: {} at {}; {agreeing} of {all} agree",
            word(&capture["capture"]),
            named(&list(capture, "first_wrong")[0]),
        ),
        None if agreeing == captures.len() && agreeing > 0 => writeln!(told, "{GOOD}AGREE{GOOD:#}  {all}"),
        None => writeln!(
            told,
            "{NOTE}NOT JUDGED{NOTE:#}  {agreeing} of {all} agree; nothing is known to be wrong"
        ),
    };
    told
}

fn named(first: &Value) -> String {
    let (id, kernel) =
        (first["task_id"].as_str().unwrap_or_default(), first["kernel"].as_str().unwrap_or_default());
    if kernel.is_empty() { id.to_owned() } else { format!("{id} ({kernel})") }
}
