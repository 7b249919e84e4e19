//! The project's chores, as `cargo xtask COMMAND`.
//!
//! Everything is said on stderr, where cargo and nextest speak too, so that the order of lines is the order
//! of events.
#![forbid(unsafe_code)]

mod deps;
mod fuzz;
mod hooks;
mod memory;
mod python;
mod step;
mod tasks;
mod web;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test    everything a change must pass: formatting, lints, docs, dependency directions, loom, all tests
  deps    who may depend on whom in this workspace
  loom    every hand-off between threads in all interleavings
  memory  the crates that touch raw memory, under AddressSanitizer
  fuzz    the fuzz targets, built as they are run (fuzz/README.md says how)
  bench   the benchmarks, and the hooks below
  hooks   instructions that the capture hooks cost while capture is off
  python  the interpreter of the tests, with its packages and this one, in target/python
  wheel   the Python package as a wheel, in target/wheels, tried in a fresh environment
  web     the page of `argus open`: whether its bundle is what its sources give, and its tests
  long    what takes too long for every change: many random graphs, loom, memory, the scene matrix in full, scene tests
          with torch, the fuzz targets built";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => tasks::test,
        ["deps"] => tasks::deps,
        ["loom"] => tasks::loom,
        ["memory"] => tasks::memory,
        ["fuzz"] => tasks::fuzz,
        ["bench"] => tasks::bench,
        ["hooks"] => tasks::hooks,
        ["python"] => tasks::python_package,
        ["wheel"] => tasks::wheel,
        ["web"] => tasks::web,
        ["long"] => tasks::long,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match task() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
