//! `argus view`: the records of a dump as a table, and the values of tensors as people like to read them.
//!
//! | file | subject |
//! |---|---|
//! | `row` | what one record says in one line |
//! | `lines` | all of them as a table |
//! | `show` | one record with statistics, histogram and values |
//! | `object` | records as JSON |
//! | `orchestration` | the arguments of the orchestration itself |
//! | `graph` | tasks, kernels and edges |
//! | `task_page` | what files beside the dump know of a task |
//! | `ranks` | a run of many ranks as a table |
//! | `failed` | a run that did not finish |

pub mod failed;
mod graph;
mod lines;
pub mod object;
mod orchestration;
mod ranks;
pub mod row;
mod show;
mod task_page;

use std::io::IsTerminal;
use std::process::ExitCode;

use argus_abi::Kind;
use argus_dump::read::{Dump, Holds};
use argus_runs::capture::Wanted;
use argus_runs::{Capture, Holdings, RunError, RunTree};
use argus_text::Part;
use serde_json::Value;

use crate::cli::{FilterArgs, ViewArgs};
use crate::failure::{FAILED, Failure};
use crate::input::{Target, Unreadable};
use crate::marks::NOTE;
use crate::output::counted;
use crate::{input, output};

/// Records on a terminal before it asks for a filter.
const ON_A_TERMINAL: usize = 1000;
/// Records that are shown with their values.
const SHOWN: usize = 20;

pub fn view(args: &ViewArgs) -> Result<ExitCode, Failure> {
    let values = args.show || args.slice.is_some();
    let wanted = match (args.graph, values) {
        (true, _) => Wanted::WithoutDump,
        (false, true) => Wanted::All,
        (false, false) => Wanted::Graph,
    };
    let newest = match &args.dump {
        None if args.orchestration => Some(input::newest(Holds::OrchestrationArgs)?),
        _ => None,
    };
    let dump = newest.as_deref().or(args.dump.as_deref());
    let target = match input::target(dump, args.ranks.rank.as_deref(), wanted) {
        Ok(target) => target,
        Err(failure) => match failure.error.downcast_ref::<RunError>() {
            Some(RunError::NoRecords { holdings, .. }) => return show_failed(holdings, args.json),
            _ => return Err(failure),
        },
    };
    match target {
        Target::One(capture) => view_one(args, &capture),
        Target::Tree { tree, chosen } => view_ranks(args, &tree, &chosen, wanted),
    }
}

/// A run that did not finish is shown, and is no success.
fn show_failed(holdings: &Holdings, json: bool) -> Result<ExitCode, Failure> {
    if json {
        output::print_json(&failed::object(holdings))?;
    } else {
        output::print(&failed::text(holdings))?;
    }
    Ok(ExitCode::from(FAILED))
}

/// Ranks as a table; what was asked of their records, one rank after the other.
fn view_ranks(
    args: &ViewArgs,
    tree: &RunTree,
    chosen: &[usize],
    wanted: Wanted,
) -> Result<ExitCode, Failure> {
    let detail =
        args.show || args.slice.is_some() || args.graph || args.csv || args.filter != FilterArgs::default();
    if !detail {
        if args.json {
            output::print_json(&ranks::object(tree, chosen))?;
        } else {
            output::print(&ranks::text(tree, chosen))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.json {
        let error = anyhow::anyhow!("--json shows the records of one rank at a time");
        return Err(Failure::usage(error).hint("choose it with --rank N".to_owned()));
    }
    let mut worst = ExitCode::SUCCESS;
    for &at in chosen {
        let capture = tree.capture(at);
        output::print(&format!("{NOTE}{}{NOTE:#}\n", capture.label()))?;
        let shown =
            input::capture(Some(&capture.directory), wanted).and_then(|capture| view_one(args, &capture));
        match shown {
            Ok(code) if code == ExitCode::SUCCESS => {}
            Ok(code) => worst = code,
            // One rank that cannot be shown does not hide the others.
            Err(failure) => worst = output::failed(&failure, false),
        }
    }
    Ok(worst)
}

fn view_one(args: &ViewArgs, capture: &Capture) -> Result<ExitCode, Failure> {
    let dump = &capture.dump;
    if args.graph {
        let graph = graph::GraphView::new(capture)?;
        if args.json {
            output::print_json(&graph.object())?;
        } else {
            output::print(&graph.text())?;
            remarks(dump, 0, 0)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.orchestration {
        return orchestration::show(dump, args.json);
    }
    let selected = input::select(dump, &args.filter)?;
    let values = args.show || args.slice.is_some();
    let machine = args.json || args.csv;
    let usual = match (values, !machine && std::io::stdout().is_terminal()) {
        (true, _) if !machine => SHOWN,
        (false, true) => ON_A_TERMINAL,
        _ => usize::MAX,
    };
    let shown = &selected[..selected.len().min(args.limit.unwrap_or(usual))];
    if let Some(slice) = &args.slice {
        check_slice(dump, shown, slice)?;
    }
    let unreadable = Unreadable::among(dump, shown);
    if args.json {
        let values = values.then_some(args.slice.as_deref());
        let pages = pages(capture, shown, args.show);
        let about = object::About { matching: selected.len(), unreadable: unreadable.as_ref(), pages };
        output::stream(|out, _| object::write(out, dump, &about, shown, values))?;
        return Ok(if unreadable.is_some() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS });
    } else if args.csv {
        output::stream(|out, _| argus_export::write_csv(dump, shown, out))?;
    } else if values {
        let mut task = None;
        for (number, &index) in shown.iter().enumerate() {
            let record = dump.record(index);
            let page = match task.replace(record.task_id) == Some(record.task_id) || !args.show {
                true => String::new(),
                false => task_page::text(capture, record.task_id),
            };
            let text = show::show(dump, &record, args.slice.as_deref())?;
            output::print(&format!("{}{page}{text}", if number > 0 { "\n" } else { "" }))?;
        }
    } else {
        output::stream(|out, colour| lines::write(out, dump, shown, colour, output::columns()))?;
    }
    if !machine {
        remarks(dump, selected.len(), shown.len())?;
    }
    // Everything that could be shown was; that it is not everything must not go by unnoticed.
    match unreadable {
        Some(unreadable) => Err(unreadable.failure()),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// What files beside the dump know of the tasks that are shown.
fn pages(capture: &Capture, shown: &[usize], wanted: bool) -> Vec<Value> {
    if !wanted {
        return Vec::new();
    }
    let mut tasks: Vec<_> = shown.iter().map(|&index| capture.dump.record(index).task_id).collect();
    tasks.sort_unstable();
    tasks.dedup();
    tasks.into_iter().map(|task| task_page::object(capture, task)).collect()
}

/// A slice must fit every tensor that is shown, and there must be one; said before anything is printed.
fn check_slice(dump: &Dump, shown: &[usize], slice: &str) -> Result<(), Failure> {
    let mut tensors = 0;
    for record in shown.iter().map(|&index| dump.record(index)).filter(|record| record.kind == Kind::Tensor) {
        tensors += 1;
        if let Err(error) = Part::parse(slice, record.shape()) {
            let place = format!("record {} of shape {:?}", record.index, record.shape());
            let hint = "filters such as --index, --kernel and --arg choose the tensors to slice";
            return Err(Failure::usage(anyhow::Error::new(error).context(place)).hint(hint.to_owned()));
        }
    }
    match (tensors, shown) {
        (0, [only]) => {
            Err(Failure::usage(anyhow::anyhow!("record {only} is a scalar: there is nothing to slice")))
        }
        (0, _) => {
            Err(Failure::usage(anyhow::anyhow!("only scalars are selected: there is nothing to slice")))
        }
        _ => Ok(()),
    }
}

/// What the table does not say: what it leaves out, and what to know about the dump.
fn remarks(dump: &Dump, selected: usize, shown: usize) -> Result<(), Failure> {
    let mut text = String::new();
    if shown < selected {
        let more = counted((selected - shown) as u64, "more record");
        text += &format!("{more}; --limit N shows more, filters fewer\n");
    }
    for note in dump.notes() {
        text += &format!("{NOTE}note:{NOTE:#} {note}\n");
    }
    output::remark(&text)
}
