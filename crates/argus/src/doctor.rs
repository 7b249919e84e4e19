//! `argus doctor`: what this machine has of what Argus can use.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use argus_chip::CHIPS;
use argus_scene::Registry;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};

use crate::cli::DoctorArgs;
use crate::failure::{FAILED, Failure};
use crate::marks::{BAD, GOOD, NOTE};
use crate::settings::settings;
use crate::{output, schema};

/// Less is worth a warning: a capture of a large case.
const LITTLE_DISK: u64 = 1 << 30;
/// Fewer open files than a run may need.
const FEW_FILES: u64 = 256;

/// How a check ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Something optional is missing.
    Warning,
    /// Commands will fail.
    Bad,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Good => "ok",
            State::Warning => "warning",
            State::Bad => "error",
        }
    }
}

struct Check {
    name: &'static str,
    state: State,
    detail: String,
}

pub fn doctor(args: &DoctorArgs, registry: &Registry) -> Result<ExitCode, Failure> {
    let checks = checks(registry);
    let worst = checks.iter().any(|check| check.state == State::Bad);
    if args.json {
        let object = |check: &Check| -> Value {
            json!({ "name": check.name, "verdict": check.state.name(), "detail": check.detail })
        };
        output::print_json(&json!({
            "schema": schema::DOCTOR,
            "verdict": if worst { "error" } else { "ok" },
            "checks": checks.iter().map(object).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text = String::new();
        for Check { name, state, detail } in &checks {
            let style = match state {
                State::Good => GOOD,
                State::Warning => NOTE,
                State::Bad => BAD,
            };
            text += &format!("{style}{:<8}{style:#}{name:<12}{detail}\n", state.name());
        }
        output::print(&text)?;
    }
    Ok(if worst { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn checks(registry: &Registry) -> Vec<Check> {
    let outputs = &settings().outputs;
    let mut checks = vec![version(), chips(), scenes(registry), configuration()];
    checks.extend([compiler(), python()]);
    checks.extend([processors(), disk(outputs), direct(outputs)]);
    checks.extend(limits());
    checks
}

fn good(name: &'static str, detail: String) -> Check {
    Check { name, state: State::Good, detail }
}

fn warning(name: &'static str, detail: String) -> Check {
    Check { name, state: State::Warning, detail }
}

fn version() -> Check {
    good("argus", env!("CARGO_PKG_VERSION").to_owned())
}

fn chips() -> Check {
    let names = CHIPS.map(|chip| format!("{} ({} clusters)", chip.name, chip.clusters));
    good("chips", names.join(", "))
}

fn scenes(registry: &Registry) -> Check {
    let cases: usize = registry.scenes().iter().map(|scene| scene.cases.len()).sum();
    good("scenes", format!("{} with {cases} cases", registry.scenes().len()))
}

fn configuration() -> Check {
    match &settings().file {
        Some(path) => good("config", path.display().to_string()),
        None => good("config", "no file; defaults are used".to_owned()),
    }
}

/// One of them is enough.
fn compiler() -> Check {
    let found = ["g++", "clang++"].iter().filter_map(|name| first_line(name, &["--version"]));
    let found: Vec<String> = found.collect();
    if found.is_empty() {
        let detail = "not found; C++ kernels and workspaces need g++ or clang++";
        return warning("compiler", detail.to_owned());
    }
    good("compiler", found.join(", "))
}

fn python() -> Check {
    match first_line("python3", &["--version"]) {
        Some(line) => good("python3", line),
        None => warning("python3", "not found; needed to read exports with NumPy".to_owned()),
    }
}

/// The first line of what a program says; `None` if it cannot be started or fails.
fn first_line(program: &str, args: &[&str]) -> Option<String> {
    let ended = Command::new(program).args(args).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    text.lines().next().filter(|_| ended.status.success()).map(str::to_owned)
}

fn processors() -> Check {
    match std::thread::available_parallelism() {
        Ok(count) => good("processors", count.to_string()),
        Err(error) => warning("processors", format!("unknown: {error}")),
    }
}

/// The nearest directory that exists: runs would be made below it.
fn existing(path: &Path) -> &Path {
    let there = path.ancestors().find(|path| path.is_dir());
    there.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn disk(outputs: &Path) -> Check {
    let place = existing(outputs);
    match rustix::fs::statvfs(place) {
        Ok(about) => {
            let free = about.f_bavail.saturating_mul(about.f_frsize);
            let text = format!("{} MiB free in {}", free >> 20, place.display());
            if free < LITTLE_DISK { warning("disk", text) } else { good("disk", text) }
        }
        Err(error) => warning("disk", format!("cannot query {}: {error}", place.display())),
    }
}

/// Whether payloads can be written past the page cache, and whether anything can be written at all.
fn direct(outputs: &Path) -> Check {
    let place = existing(outputs);
    let file = match tempfile::NamedTempFile::new_in(place) {
        Ok(file) => file,
        Err(error) => {
            let detail = format!("cannot write in {}: {error}", place.display());
            return Check { name: "direct I/O", state: State::Bad, detail };
        }
    };
    match rustix::fs::open(file.path(), OFlags::WRONLY | OFlags::DIRECT, Mode::empty()) {
        Ok(_) => good("direct I/O", format!("works in {}", place.display())),
        Err(error) => {
            warning("direct I/O", format!("fails in {}: {error}; writes are buffered", place.display()))
        }
    }
}

fn limits() -> Vec<Check> {
    let shown = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    let current = |resource| getrlimit(resource).current;
    let files = current(Resource::Nofile);
    let detail = shown(files);
    let files = match files {
        Some(count) if count < FEW_FILES => {
            warning("open files", format!("{detail}; raise it with `ulimit -n`"))
        }
        _ => good("open files", detail),
    };
    vec![
        files,
        good("processes", shown(current(Resource::Nproc))),
        good("file size", shown(current(Resource::Fsize))),
        good("memory", shown(current(Resource::As))),
    ]
}
