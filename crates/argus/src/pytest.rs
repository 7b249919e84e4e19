//! `argus pytest`: scene tests in Python, run by the Python package.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use crate::cli::PytestArgs;
use crate::failure::Failure;

/// Names the interpreter.
const VARIABLE: &str = "ARGUS_PYTHON";

/// The command line with everything behind `pytest` marked as pytest's own: `-q`, `-v` and `--color` are options of both, and
/// those in front of the first file would be taken for the tool's. Only a first `--help` is.
pub fn mark(typed: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut typed: Vec<OsString> = typed.collect();
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let command = 1 + typed.iter().skip(1).take_while(|word| is_option(word)).count();
    let is_ours = |word: &OsString| ["-h", "--help", "--"].iter().any(|ours| word == ours);
    if typed.get(command).is_some_and(|word| word == "pytest")
        && typed.get(command + 1).is_some_and(|first| !is_ours(first))
    {
        typed.insert(command + 1, OsString::from("--"));
    }
    typed
}

/// Takes this process's place, so that signals and the exit code are pytest's own. Returns only if that fails.
pub fn pytest(args: &PytestArgs) -> Result<ExitCode, Failure> {
    let python = std::env::var_os(VARIABLE).unwrap_or_else(|| OsString::from("python3"));
    let shown = python.to_string_lossy().into_owned();
    let asked = Command::new(&python).args(["-c", "import argus.compat"]).stderr(Stdio::null()).status();
    let hint = format!(
        "`cargo xtask wheel` in a checkout of Argus builds it for pip; the variable {VARIABLE} names another interpreter"
    );
    match asked {
        Ok(status) if status.success() => {}
        Ok(_) => {
            let message = format!("{shown} does not have the Python package argus");
            return Err(Failure::usage(anyhow::Error::msg(message)).hint(hint));
        }
        Err(error) => {
            let error = anyhow::Error::new(error).context(format!("cannot start {shown}"));
            return Err(Failure::usage(error).hint(hint));
        }
    }
    let error =
        Command::new(&python).args(["-m", "argus.compat", "-m", "pytest"]).args(&args.arguments).exec();
    Err(Failure::failed(anyhow::Error::new(error).context(format!("cannot start {shown}"))))
}
