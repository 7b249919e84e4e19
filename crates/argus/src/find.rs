//! `argus find` and `argus diff`: which task went wrong first.
//!
//! | file | subject |
//! |---|---|
//! | `scene` | what a shipped scene knows about a dump: kernels, edges, references |
//! | `runs` | `--runs`: where runs part, and which tasks race |
//! | `text` | the report for people |
//! | `html` | the report as a page |

mod html;
mod runs;
mod scene;
mod text;

use std::process::ExitCode;

use argus_dump::LastVerdict;
use argus_dump::read::Dump;
use argus_find::align::Side;
use argus_find::compare::Limits;
use argus_find::golden::Folder;
use argus_find::report::{Report, report};
use argus_find::search::{Expectation, Options, search};
use argus_find::tasks::Tasks;

use argus_scene::Registry;

use crate::bar::bar;
use crate::cli::{DiffArgs, FindArgs, LimitArgs};
use crate::failure::{Failure, USAGE};
use crate::{input, output, schema};

pub fn find(args: &FindArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    let options = options(&args.limits, args.full)?;
    if let Some(path) = &args.html {
        output::check_file(path, args.force)?;
    }
    if !args.runs.is_empty() {
        return runs::runs(args);
    }
    if let (Some(dump), Some(second)) = (&args.dump, &args.second) {
        let (a, b) = (dump.display(), second.display());
        return Err(impossible(format!("find looks at one dump, and '{b}' is a second one")).hint(format!(
            "did you mean `argus find {a} --against {b}`, `argus find --runs {a} {b}` or `argus diff {a} {b}`?"
        )));
    }
    let dump = input::open(args.dump.as_deref())?;
    let repeat = scene::repeat(&args.scene);
    let scene = scene::known(&dump, &args.scene, registry)?;
    let note = scene.as_ref().and_then(|scene| scene.note.clone());
    let (supplied, references) = scene.map(scene::Known::supply).unzip();
    let supplied = supplied.flatten();
    let tasks = Tasks::new(&dump, supplied.as_ref());
    let subject = Side { dump: &dump, tasks: &tasks };
    let mut found = if let Some(against) = &args.against {
        let other = open_other(against)?;
        let tasks = Tasks::new(&other, None);
        judge(subject, &Expectation::Against(Side { dump: &other, tasks: &tasks }), options, args.json)
    } else if let Some(golden) = &args.golden {
        let folder = Folder::open(golden).map_err(Failure::usage)?;
        let mut found = judge(subject, &Expectation::Golden(&folder), options, args.json);
        found.notes.extend(unused(&folder, &tasks));
        found
    } else {
        let references = references.as_ref().ok_or_else(scene::unknown)?;
        judge(subject, &Expectation::Isolated(references), options, args.json)
    };
    found.notes.extend(note);
    keep_verdict(&found, &dump);
    if let Some(path) = &args.html {
        html::write(path, &found, &repeat)?;
        output::wrote(path);
    }
    if args.json {
        output::print_json(&found)?;
    } else {
        output::print(&text::summary(&found, &repeat))?;
    }
    Ok(ExitCode::from(found.verdict.exit_code()))
}

pub fn diff(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let options = options(&args.limits, args.full)?;
    let (actual, expected) = (input::open(Some(&args.actual))?, open_other(&args.expected)?);
    let (tasks, others) = (Tasks::new(&actual, None), Tasks::new(&expected, None));
    let subject = Side { dump: &actual, tasks: &tasks };
    let other = Side { dump: &expected, tasks: &others };
    let mut found = judge(subject, &Expectation::Against(other), options, args.json);
    found.schema = schema::DIFF;
    if args.json {
        output::print_json(&found)?;
    } else {
        output::print(&text::pairs(&found, args.all))?;
    }
    Ok(ExitCode::from(found.verdict.exit_code()))
}

/// Writes beside the dump what was found, for listings and the browser.
fn keep_verdict(found: &Report, dump: &Dump) {
    let first = found.first_wrong.first();
    let verdict = LastVerdict {
        task_id: first.map(|first| first.id.clone()),
        kernel: first.map(|first| first.kernel.clone()),
        ..LastVerdict::new("find", found.verdict.name())
    };
    output::keep_verdict(&verdict, dump.directory());
}

fn open_other(path: &std::path::Path) -> Result<Dump, Failure> {
    input::open(Some(path))
}

fn options(limits: &LimitArgs, full: bool) -> Result<Options, Failure> {
    let limits = Limits { rtol: limits.rtol, atol: limits.atol, outliers: limits.outliers };
    limits.check().map_err(Failure::usage)?;
    Ok(Options { limits, full })
}

fn judge(subject: Side<'_>, expectation: &Expectation<'_>, options: Options, json: bool) -> Report {
    let bar = bar("comparing", subject.tasks.len() as u64, json);
    let findings = search(subject, expectation, options, |_| bar.inc(1));
    bar.finish_and_clear();
    report(subject, expectation, &findings)
}

/// Expected values of tasks that the dump does not have are nearly always misspelled.
fn unused(folder: &Folder, tasks: &Tasks) -> Vec<String> {
    let places = folder.places().into_iter().filter(|place| tasks.find(place.task).is_none());
    let mut notes: Vec<String> = places
        .map(|place| {
            format!(
                "the folder expects argument {} of task {}, which the dump does not have",
                place.argument, place.task
            )
        })
        .collect();
    notes.extend(
        folder.ignored.iter().map(|name| format!("{name} names no task and argument: it was not used")),
    );
    notes
}

/// A search that cannot even begin.
pub(crate) fn impossible(message: String) -> Failure {
    Failure { exit_code: USAGE, ..Failure::failed(anyhow::Error::msg(message)) }
}
