//! NumPy, safetensors and pyarrow look at what the tool wrote, with the scripts of `argus-export`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a script over a dump's directory and what was made of it; what it prints on failure is the message.
pub fn check(script: &str, arguments: &[&Path]) {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let python = std::env::var_os("ARGUS_PYTHON")
        .map_or_else(|| crates.join("../target/python/bin/python"), PathBuf::from);
    assert!(python.exists(), "{} is missing: run cargo xtask python first", python.display());
    let script = crates.join("argus-export/tests/python").join(script);
    let answer = Command::new(python).arg(&script).args(arguments).output().unwrap();
    let said = [answer.stdout, answer.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(answer.status.success(), "{} {arguments:?}: {}", script.display(), said.concat());
}
