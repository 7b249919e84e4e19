//! The tests of the crates that touch raw memory, under a memory checker.
//!
//! AddressSanitizer, which comes with the toolchain for this target. The stable compiler must be told to accept
//! the flag; nothing else of what it makes there is kept. Under `--cfg argus_heap_memory` device memory and
//! capture rings come from the heap, because the checker knows neither where an allocation ends inside a map nor
//! when it was given back.

use std::path::Path;
use std::process::Command;

use crate::step::{Result, cargo, run};

const PACKAGES: [&str; 2] = ["argus-gm", "argus-capture"];

pub fn check(target: &Path) -> Result<()> {
    let triple = sanitized_host()?;
    let mut tests = cargo(&["nextest", "run", "--target", &triple]);
    for package in PACKAGES {
        tests.args(["-p", package]);
    }
    tests.arg("--target-dir").arg(target.join("memory"));
    tests.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address --cfg argus_heap_memory");
    run(&mut tests)
}

/// The target of this machine, if the toolchain has AddressSanitizer for it.
pub fn sanitized_host() -> Result<String> {
    let triple = answer(&["-vV"])?;
    let triple = triple.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let libraries = answer(&["--print", "target-libdir"])?;
    let has_runtime = std::fs::read_dir(libraries.trim())?
        .flatten()
        .any(|file| file.file_name().to_string_lossy().contains("_rt.asan"));
    if !has_runtime {
        let message = format!("the toolchain for {triple} has no AddressSanitizer; use one that has");
        return Err(message.into());
    }
    Ok(triple.to_owned())
}

fn answer(arguments: &[&str]) -> Result<String> {
    let answer = Command::new("rustc").args(arguments).output()?;
    Ok(String::from_utf8(answer.stdout)?)
}
