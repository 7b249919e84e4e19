//! The Python that tests ask for a second opinion.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter with the packages of `tests/python/requirements.txt`.
fn interpreter() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let python =
        std::env::var_os("ARGUS_PYTHON").map_or_else(|| root.join("target/python/bin/python"), Into::into);
    assert!(python.exists(), "{} is missing: run cargo xtask python first", python.display());
    python
}

/// Runs a script of `tests/python` of this crate; what it prints on failure is the test's message.
pub fn run(script: &str, arguments: &[&Path]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let answer = Command::new(interpreter()).arg(script).args(arguments).output().unwrap();
    assert!(
        answer.status.success(),
        "{}{}",
        String::from_utf8_lossy(&answer.stdout),
        String::from_utf8_lossy(&answer.stderr)
    );
}
