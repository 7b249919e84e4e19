//! NumPy, safetensors and pyarrow look at what the tool wrote, with the scripts of `argus-export`.

use std::path::Path;

use crate::python::{root, run_file};

/// Runs a script over a dump's directory and what was made of it; what it prints on failure is the message.
pub fn check(script: &str, arguments: &[&Path]) {
    run_file(&root().join("crates/argus-export/tests/python").join(script), arguments);
}
