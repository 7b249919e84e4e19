//! What the capture hooks cost while capture is off, in instructions per task.
//!
//! Two builds of the same program, one without hooks, each run with few and with many tasks under callgrind:
//! the difference of the differences is the price of a task's hooks. Counting does not feel other load.

use std::path::Path;
use std::process::Command;

use crate::step::{Result, cargo, run};

const FEW: u64 = 2_000;
const MANY: u64 = 22_000;
/// More would be more than two predictable branches.
const LIMIT: f64 = 8.0;

pub fn check(target: &Path) -> Result<()> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err("counting instructions needs valgrind: apt install valgrind".into());
    }
    let with = per_task(&target.join("with-hooks"), "")?;
    let without = per_task(&target.join("without-hooks"), "--cfg argus_without_hooks")?;
    let cost = with - without;
    eprintln!("{with:.1} instructions per task with hooks, {without:.1} without: {cost:+.1}");
    if cost <= LIMIT { Ok(()) } else { Err(format!("the hooks cost more than {LIMIT} instructions").into()) }
}

fn per_task(target: &Path, flags: &str) -> Result<f64> {
    let mut build = cargo(&["build", "--release", "-p", "argus-runtime", "--example", "empty_tasks"]);
    build.arg("--target-dir").arg(target).env("RUSTFLAGS", flags);
    // In one unit: how a crate is split decides what is inlined far from any hook, and counts for more than they do.
    run(build.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1"))?;
    let program = target.join("release/examples/empty_tasks");
    let (few, many) = (count(&program, FEW)?, count(&program, MANY)?);
    Ok((many - few) as f64 / (MANY - FEW) as f64)
}

/// Instructions of the whole process.
fn count(program: &Path, tasks: u64) -> Result<u64> {
    let answer = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .arg(tasks.to_string())
        .output()?;
    let said = String::from_utf8_lossy(&answer.stderr);
    let collected =
        said.lines().find_map(|line| line.split_once("Collected :")).map(|(_, count)| count.trim());
    let count = collected.ok_or_else(|| format!("callgrind counted nothing: {said}"))?;
    Ok(count.parse()?)
}
