//! The Python that tests ask for a second opinion. Test crates take this file in with `#[path]`.
#![allow(dead_code, reason = "each crate uses what it needs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The directory of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The interpreter with the packages of `tests/python/requirements.txt`.
pub fn interpreter() -> PathBuf {
    let python =
        std::env::var_os("ARGUS_PYTHON").map_or_else(|| root().join("target/python/bin/python"), Into::into);
    assert!(python.exists(), "{} is missing: run cargo xtask python first", python.display());
    python
}

/// Runs a script of `tests/python` of this crate; what it prints on failure is the test's message.
pub fn run(script: &str, arguments: &[&Path]) {
    run_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script), arguments);
}

/// Runs a script; what it prints on failure is the test's message.
pub fn run_file(script: &Path, arguments: &[&Path]) {
    let Output { status, stdout, stderr } =
        Command::new(interpreter()).arg(script).args(arguments).output().unwrap();
    let said = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success(), "{} {arguments:?}: {}", script.display(), said.concat());
}
