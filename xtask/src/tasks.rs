//! What each chore consists of.

use std::path::PathBuf;

use crate::deps::{self, metadata};
use crate::fuzz;
use crate::hooks;
use crate::memory;
use crate::python;
use crate::step::{Result, cargo, run, step};
use crate::web;

/// Everything a change must pass. Quick checks come first; the tests come last, so that their summary closes the output, and
/// those of the page behind them, because they need the tool.
pub fn test() -> Result<()> {
    step("formatting", || run(&mut cargo(&["fmt", "--all", "--check"])))?;
    deps()?;
    step("lints", || {
        run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    })?;
    step("documentation", || {
        run(cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings"))
    })?;
    loom()?;
    step("documentation tests", || run(&mut cargo(&["test", "--workspace", "--doc", "--quiet"])))?;
    python()?;
    let interpreter = python::prepare()?;
    install_nextest()?;
    // The tests bring the tool that the page is tried with. Built alone it would have other features, and be built twice.
    step("building the tests", || run(&mut cargo(&["nextest", "run", "--workspace", "--no-run"])))?;
    page()?;
    step("tests", || {
        let mut tests = cargo(&["nextest", "run", "--workspace"]);
        run(tests.env("PROPTEST_RNG_SEED", GATE_SEED).env(python::VARIABLE, &interpreter))
    })
}

/// The page of `argus open`, with the tool as it is now.
pub fn web() -> Result<()> {
    step("the tool", || run(&mut cargo(&["build"])))?;
    page()
}

fn page() -> Result<()> {
    step("the page", || web::check(&target_directory()?.join("debug/argus")))
}

/// The gate tries the same random cases each time: a change that breaks nothing must not fail by chance.
/// `cargo xtask long` draws new ones.
const GATE_SEED: &str = "20261115";

/// Who may depend on whom.
pub fn deps() -> Result<()> {
    step("dependency directions", || {
        let metadata = metadata()?;
        deps::check(&metadata)?;
        deps::check_document(&metadata, include_str!("../../ARCHITECTURE.md"))
    })
}

/// Model checks of every hand-off between threads. They are all in one crate, whose atomics are loom's under this
/// cfg. That changes what is built, so it has a directory of its own.
pub fn loom() -> Result<()> {
    step("loom", || {
        let mut command = cargo(&["test", "--profile", "loom", "-p", "argus-sync", "--lib"]);
        let target = target_directory()?.join("loom");
        run(command.arg("--target-dir").arg(target).env("RUSTFLAGS", "--cfg loom"))
    })
}

/// The crates that touch raw memory, under a memory checker.
pub fn memory() -> Result<()> {
    install_nextest()?;
    step("memory", || memory::check(&target_directory()?))
}

/// The fuzz targets, built and not run.
pub fn fuzz() -> Result<()> {
    step("fuzz targets", || {
        let built = fuzz::build(&target_directory()?)?;
        eprintln!("built in {}; fuzz/README.md says how they are run", built.display());
        Ok(())
    })
}

/// The benchmarks.
pub fn bench() -> Result<()> {
    step("benchmarks", || run(&mut cargo(&["bench", "--workspace"])))?;
    hooks()
}

/// What the capture hooks cost while capture is off.
pub fn hooks() -> Result<()> {
    step("hooks while capture is off", || hooks::check(&target_directory()?))
}

/// The interpreter of the tests.
pub fn python() -> Result<()> {
    step("Python of the tests", || python::prepare().map(drop))
}

/// The interpreter with the Python package in it, to try things out. The tests of the package bring their own build.
pub fn python_package() -> Result<()> {
    python()?;
    step("Python package", || python::develop().map(drop))
}

/// The Python package as a wheel.
pub fn wheel() -> Result<()> {
    python()?;
    step("wheel", || python::wheel(&target_directory()?))
}

/// What takes too long for every change.
pub fn long() -> Result<()> {
    python()?;
    let interpreter = python::prepare()?;
    install_nextest()?;
    let mut tests = cargo(&["nextest", "run", "--release", "--profile", "long", "--workspace"]);
    tests.env(python::VARIABLE, &interpreter).env("ARGUS_LONG", "1").env("ARGUS_GRAPHS", "10000");
    step("Python with torch", || {
        if let Some(python) = python::with_torch() {
            tests.env(python::TORCH_VARIABLE, python);
        }
        Ok(())
    })?;
    step("every test at length, 10000 random graphs", || run(&mut tests))?;
    loom()?;
    memory()?;
    fuzz()
}

fn install_nextest() -> Result<()> {
    let asked = cargo(&["nextest", "--version"]).output();
    if asked.is_ok_and(|answer| answer.status.success()) {
        return Ok(());
    }
    step("installing cargo-nextest", || run(&mut cargo(&["install", "cargo-nextest", "--locked"])))
}

fn target_directory() -> Result<PathBuf> {
    let metadata = metadata()?;
    let directory = metadata["target_directory"].as_str();
    Ok(directory.ok_or("cargo metadata names no target directory")?.into())
}
