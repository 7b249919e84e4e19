//! `argus view`: the records of a dump as a table, and the values of tensors as people like to read them.
//!
//! | file | subject |
//! |---|---|
//! | `row` | what one record says in one line |
//! | `lines` | a table of any length |
//! | `show` | one record with statistics, histogram and values |
//! | `object` | records as JSON |

mod lines;
pub mod object;
pub mod row;
mod show;

use std::io::IsTerminal;
use std::process::ExitCode;

use crate::cli::ViewArgs;
use crate::failure::Failure;
use crate::{dumps, output};

/// Records on a terminal before it asks for a filter.
const ON_A_TERMINAL: usize = 1000;
/// Records that are shown with their values.
const SHOWN: usize = 20;

pub fn view(args: &ViewArgs) -> Result<ExitCode, Failure> {
    let dump = dumps::open(args.dump.as_deref())?;
    let selected = dumps::select(&dump, &args.filter)?;
    let values = args.show || args.slice.is_some();
    let machine = args.json || args.csv;
    let usual = match (values, !machine && std::io::stdout().is_terminal()) {
        (true, _) if !machine => SHOWN,
        (false, true) => ON_A_TERMINAL,
        _ => usize::MAX,
    };
    let shown = &selected[..selected.len().min(args.limit.unwrap_or(usual))];
    if args.json {
        let values = values.then_some(args.slice.as_deref());
        output::stream(|out, _| object::write(out, &dump, selected.len(), shown, values))?;
    } else if args.csv {
        output::stream(|out, _| argus_export::write_csv(&dump, shown, out))?;
    } else if values {
        for (number, &index) in shown.iter().enumerate() {
            let text = show::show(&dump, &dump.record(index), args.slice.as_deref())?;
            output::print(&format!("{}{text}", if number > 0 { "\n" } else { "" }))?;
        }
    } else {
        output::stream(|out, colour| lines::write(out, &dump, shown, colour))?;
    }
    if !machine {
        remarks(&dump, selected.len(), shown.len())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the table does not say: what it leaves out, and what to know about the dump.
fn remarks(dump: &argus_dump::read::Dump, selected: usize, shown: usize) -> Result<(), Failure> {
    let mut text = String::new();
    if shown < selected {
        text += &format!("{} more records; --limit N shows more, filters fewer\n", selected - shown);
    }
    for note in dump.notes() {
        text += &format!("{NOTE}note:{NOTE:#} {note}\n", NOTE = output::NOTE);
    }
    output::remark(&text)
}
