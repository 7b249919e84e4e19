//! `argus find --html FILE`: one page that needs nothing else. `argus-web` makes it.

use std::path::Path;

use argus_find::align::Side;
use argus_find::report::Report;
use argus_find::search::Expectation;
use argus_web::Verb;
use argus_web::report::{Subject, page, runs_page};

use crate::failure::Failure;
use crate::marks::printable;
use crate::open::command;

/// Writes the page, whole or not at all. `repeat` are the options that name the scene again.
pub fn write(
    path: &Path,
    side: Side<'_>,
    expectation: &Expectation<'_>,
    report: &Report,
    repeat: &str,
) -> Result<(), Failure> {
    let command = |verb, task| {
        let repeated = matches!(verb, Verb::Find | Verb::Replay | Verb::Trace);
        command(verb, side.dump.directory(), task) + if repeated { repeat } else { "" }
    };
    let version = env!("CARGO_PKG_VERSION");
    save(path, &page(&Subject { side, expectation, report, command: &command, version }))
}

/// Writes the page of several runs: what the text says.
pub fn write_runs(path: &Path, text: &str) -> Result<(), Failure> {
    save(path, &runs_page(&printable(text)))
}

fn save(path: &Path, page: &str) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure::failed(anyhow::Error::new(error).context(format!("cannot write {}", path.display())))
    };
    argus_files::write(path, page.as_bytes(), false).map_err(fail)
}
