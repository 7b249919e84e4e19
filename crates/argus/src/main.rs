//! The tool with the scenes that ship.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    argus::main(argus_scenes::scenes::all())
}
