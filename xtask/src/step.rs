//! One step of a chore: a heading, a command, its duration.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Runs a step under its heading.
pub fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    eprintln!("==> {name}");
    let started = Instant::now();
    work().map_err(|error| format!("{name}: {error}"))?;
    eprintln!("==> {name}: done in {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// The cargo that runs this program, at the root of the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end, its output going where ours goes.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status();
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words: Vec<_> = [name].into_iter().chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    let line = words.join(" ");
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` ended with {status}").into()),
        Err(error) => Err(format!("cannot start `{line}`: {error}").into()),
    }
}

/// The root of the workspace: this crate lies directly in it.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
