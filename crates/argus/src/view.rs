//! `argus view`: the records of a dump as a table, and the values of tensors as people like to read them.
//!
//! | file | subject |
//! |---|---|
//! | `row` | what one record says in one line |
//! | `lines` | a table of any length |
//! | `show` | one record with statistics, histogram and values |
//! | `object` | records as JSON |
//! | `orchestration` | the arguments of the orchestration itself |

mod lines;
pub mod object;
mod orchestration;
pub mod row;
mod show;

use std::io::IsTerminal;
use std::process::ExitCode;

use argus_abi::Kind;
use argus_dump::read::Dump;
use argus_text::Part;

use crate::cli::ViewArgs;
use crate::failure::{FAILED, Failure};
use crate::input::Unreadable;
use crate::output::counted;
use crate::{input, output};

/// Records on a terminal before it asks for a filter.
const ON_A_TERMINAL: usize = 1000;
/// Records that are shown with their values.
const SHOWN: usize = 20;

pub fn view(args: &ViewArgs) -> Result<ExitCode, Failure> {
    let dump = input::open(args.dump.as_deref())?;
    if args.orchestration {
        return orchestration::show(&dump, args.json);
    }
    let selected = input::select(&dump, &args.filter)?;
    let values = args.show || args.slice.is_some();
    let machine = args.json || args.csv;
    let usual = match (values, !machine && std::io::stdout().is_terminal()) {
        (true, _) if !machine => SHOWN,
        (false, true) => ON_A_TERMINAL,
        _ => usize::MAX,
    };
    let shown = &selected[..selected.len().min(args.limit.unwrap_or(usual))];
    if let Some(slice) = &args.slice {
        check_slice(&dump, shown, slice)?;
    }
    let unreadable = Unreadable::among(&dump, shown);
    if args.json {
        let values = values.then_some(args.slice.as_deref());
        let about = object::About { matching: selected.len(), unreadable: unreadable.as_ref() };
        output::stream(|out, _| object::write(out, &dump, &about, shown, values))?;
        return Ok(if unreadable.is_some() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS });
    } else if args.csv {
        output::stream(|out, _| argus_export::write_csv(&dump, shown, out))?;
    } else if values {
        for (number, &index) in shown.iter().enumerate() {
            let text = show::show(&dump, &dump.record(index), args.slice.as_deref())?;
            output::print(&format!("{}{text}", if number > 0 { "\n" } else { "" }))?;
        }
    } else {
        output::stream(|out, colour| lines::write(out, &dump, shown, colour, output::columns()))?;
    }
    if !machine {
        remarks(&dump, selected.len(), shown.len())?;
    }
    // Everything that could be shown was; that it is not everything must not go by unnoticed.
    match unreadable {
        Some(unreadable) => Err(unreadable.failure()),
        None => Ok(ExitCode::SUCCESS),
    }
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
        text += &format!("{NOTE}note:{NOTE:#} {note}\n", NOTE = output::NOTE);
    }
    output::remark(&text)
}
