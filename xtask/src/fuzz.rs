//! The fuzz targets, built as they are run: with coverage, AddressSanitizer and every check.
//!
//! Nothing but the toolchain is needed. The flags are those that cargo-fuzz would give; the stable compiler must be told to
//! accept them. The targets are a workspace of their own, so the gate does not see them: building them here keeps them
//! from rotting.

use std::path::{Path, PathBuf};

use crate::memory;
use crate::step::{Result, cargo, run};

const FLAGS: [&str; 8] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Zsanitizer=address",
    "-Cdebug-assertions",
];

/// Builds every target; returns the directory that holds them.
pub fn build(target: &Path) -> Result<PathBuf> {
    let triple = memory::sanitized_host()?;
    let directory = target.join("fuzz");
    let mut build = cargo(&["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml"]);
    build.arg("--target").arg(&triple).arg("--target-dir").arg(&directory);
    build.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FLAGS.join(" "));
    run(&mut build)?;
    Ok(directory.join(triple).join("release"))
}
