//! `argus find` and `argus diff`: which task went wrong first.
//!
//! | file | subject |
//! |---|---|
//! | `runs` | `--runs`: where runs part, and which tasks race |
//! | `text` | the report for people |
//! | `html` | the report as a page |
//! | `ranks` | runs of many ranks, rank by rank |
//! | `across` | captures that belong together: who leaves the pack |

mod across;
mod html;
mod ranks;
mod runs;
mod text;

use std::process::ExitCode;

use argus_dump::LastVerdict;
use argus_dump::read::Dump;
use argus_dump_scene::{Known, known};
use argus_find::align::Side;
use argus_find::compare::Limits;
use argus_find::golden::Folder;
use argus_find::report::{Listing, Report, report};
use argus_find::search::{Expectation, Options, search};
use argus_find::tasks::Tasks;

use argus_scene::Registry;

use argus_find::across::Shard;
use argus_runs::RunTree;
use argus_runs::capture::Wanted;

use crate::bar::bar;
use crate::cli::{DiffArgs, FindArgs, LimitArgs};
use crate::failure::{Failure, USAGE};
use crate::input::Target;
use crate::{input, lookup, output, schema};

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
    let dump = match input::target(args.dump.as_deref(), args.ranks.rank.as_deref(), Wanted::Graph)? {
        Target::Tree { tree, chosen } => return of_ranks(args, &tree, &chosen, options, registry),
        Target::One(_) if args.across => {
            return Err(impossible(
                "--across compares the ranks of a run, and this is one capture".to_owned(),
            )
            .hint("name the directory of the whole run, with rank*/d* below it".to_owned()));
        }
        Target::One(_) if args.shard.shard.is_some() => {
            return Err(impossible(
                "--shard shares out the ranks of a run, and this is one capture".to_owned(),
            ));
        }
        Target::One(capture) => capture.dump,
    };
    let repeat = lookup::repeat(&args.scene);
    let scene = known_scene(&dump, args, registry)?;
    let note = scene.as_ref().filter(|scene| !scene.fits).map(|scene| lookup::better(scene.better.as_ref()));
    let (supplied, references) = scene.map(Known::supply).unzip();
    let supplied = supplied.flatten();
    let tasks = Tasks::new(&dump, supplied.as_ref());
    let subject = Side { dump: &dump, tasks: &tasks };
    // They live as long as the report, which looks at them again.
    let (other, others, folder);
    let expectation = if let Some(against) = &args.against {
        other = open_other(against)?;
        others = Tasks::new(&other, None);
        Expectation::Against(Side { dump: &other, tasks: &others })
    } else if let Some(golden) = &args.golden {
        folder = Folder::open(golden).map_err(Failure::usage)?;
        Expectation::Golden(&folder)
    } else {
        Expectation::Isolated(references.as_ref().ok_or_else(unknown_scene)?)
    };
    let mut found = judge(subject, &expectation, options, args.json);
    found.notes.extend(note);
    keep_verdict(&found, &dump);
    if let Some(path) = &args.html {
        // The page holds every task, also those that agree.
        let whole = found.clone().map_tasks(|tasks| tasks.collect());
        html::write(path, subject, &expectation, &whole, &repeat)?;
        output::wrote(path);
    }
    if args.json {
        output::print_json(&found)?;
    } else {
        output::print(&text::summary(&found, &repeat))?;
    }
    Ok(ExitCode::from(found.verdict.exit_code()))
}

fn of_ranks(
    args: &FindArgs,
    tree: &RunTree,
    chosen: &[usize],
    options: Options,
    registry: &Registry,
) -> Result<ExitCode, Failure> {
    if args.html.is_some() || args.golden.is_some() {
        return Err(impossible("pages and folders of expected values belong to one rank".to_owned())
            .hint("choose it with --rank N".to_owned()));
    }
    if args.across {
        return across::across(args, tree, chosen);
    }
    match &args.against {
        Some(other) => {
            let shard = crate::ranks::shard(args.shard.shard.as_deref())?;
            ranks::against(other, tree, chosen, (options, shard, args.json))
        }
        None => ranks::isolated(args, tree, chosen, options, registry),
    }
}

pub use across::{merge as merge_across, tell as tell_across};
pub use ranks::tell as tell_ranks;

pub fn diff(args: &DiffArgs) -> Result<ExitCode, Failure> {
    let options = options(&args.limits, args.full)?;
    let actual = match input::target(Some(&args.actual), args.ranks.rank.as_deref(), Wanted::Graph)? {
        Target::Tree { tree, chosen } => {
            return ranks::against(&args.expected, &tree, &chosen, (options, Shard::default(), args.json));
        }
        Target::One(capture) => capture.dump,
    };
    let expected = match input::target(Some(&args.expected), args.ranks.rank.as_deref(), Wanted::Graph)? {
        Target::Tree { .. } => open_other(&args.expected)?,
        Target::One(capture) => capture.dump,
    };
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
fn keep_verdict(found: &Report<Listing<'_>>, dump: &Dump) {
    if found.replaces(LastVerdict::read(dump.directory()).as_ref()) {
        output::keep_verdict(&found.last_verdict(), dump.directory());
    }
}

fn open_other(path: &std::path::Path) -> Result<Dump, Failure> {
    input::open(Some(path))
}

fn options(limits: &LimitArgs, full: bool) -> Result<Options, Failure> {
    let limits = Limits { rtol: limits.rtol, atol: limits.atol, outliers: limits.outliers };
    limits.check().map_err(Failure::usage)?;
    Ok(Options { limits, full })
}

fn judge<'a>(
    subject: Side<'a>,
    expectation: &Expectation<'a>,
    options: Options,
    json: bool,
) -> Report<Listing<'a>> {
    let bar = bar("comparing", subject.tasks.len() as u64, json);
    let findings = search(subject, expectation, options, |_| bar.inc(1));
    bar.finish_and_clear();
    report(subject, expectation, findings)
}

/// Said when references are asked for and the scene is not known.
/// The scene of a dump, if it is known.
fn known_scene(dump: &Dump, args: &FindArgs, registry: &Registry) -> Result<Option<Known>, Failure> {
    known(dump, &lookup::scene_choice(&args.scene), &lookup::lookup(registry))
        .map_err(|error| lookup::failure(error, registry))
}

fn unknown_scene() -> Failure {
    impossible("the dump does not say which scene it belongs to, so there are no references".to_owned())
        .hint("name it with --scene and --case, or compare with --against DUMP or --golden DIR".to_owned())
}

/// A search that cannot even begin.
pub(crate) fn impossible(message: String) -> Failure {
    Failure { exit_code: USAGE, ..Failure::failed(anyhow::Error::msg(message)) }
}
