//! `argus.find`: which task went wrong first.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use argus_dump::LastVerdict;
use argus_dump::read;
use argus_dump_scene::{Known, SceneChoice, known};
use argus_find::align::Side;
use argus_find::compare::Limits;
use argus_find::golden::Folder;
use argus_find::report::{self, report};
use argus_find::search::{Expectation, Options, search_while};
use argus_find::tasks::Tasks;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::dump::Dump;
use crate::errors::{self, Class, Refusal};
use crate::goldens::Goldens;
use crate::{long, scenes};

/// What was found, in parts that are turned into Python's values when they are asked for.
#[pyclass(frozen, module = "argus._native")]
pub struct Report {
    report: report::Report,
}

#[pymethods]
impl Report {
    /// All of it but the tasks and edges, as JSON.
    fn head(&self) -> String {
        let report = &self.report;
        json!({
            "dump": report.dump,
            "compared_with": report.compared_with,
            "other": report.other,
            "verdict": report.verdict,
            "exit_code": report.verdict.exit_code(),
            "counts": report.counts,
            "end_result": report.end_result,
            "judged": report.judged,
            "judgeable": report.judgeable,
            "failure": report.failure,
            "damaged": report.damaged,
            "tolerances": report.tolerances,
            "first_wrong": report.first_wrong,
            "unaligned": report.unaligned,
            "notes": report.notes,
        })
        .to_string()
    }

    /// The tasks with their verdicts, edges and races, as JSON.
    fn tasks(&self) -> String {
        let report::Report { tasks, edges, races, .. } = &self.report;
        json!({ "tasks": tasks, "edges": edges, "races": races }).to_string()
    }

    /// What `argus find --json` prints.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let text = py.detach(|| serde_json::to_value(&self.report).map(|value: Value| value.to_string()));
        text.map_err(|error| errors::raise(py, Class::Run, &error, None))
    }
}

/// What the outputs are compared with.
enum With<'a> {
    Dump(Arc<read::Dump>),
    Folder(PathBuf),
    Function(&'a Goldens),
    Scene,
}

/// Compares every output of a dump with what it should be.
#[pyfunction]
#[pyo3(signature = (dump, against=None, folder=None, function=None, scene=None, case=None, runtime=None, rtol=None, atol=None, outliers=None, full=false))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of a function in Python")]
pub fn find(
    py: Python<'_>,
    dump: &Dump,
    against: Option<&Dump>,
    folder: Option<PathBuf>,
    function: Option<Py<PyAny>>,
    scene: Option<String>,
    case: Option<String>,
    runtime: Option<String>,
    rtol: Option<f64>,
    atol: Option<f64>,
    outliers: Option<f64>,
    full: bool,
) -> PyResult<Report> {
    let limits = Limits { rtol, atol, outliers };
    limits.check().map_err(|error| errors::raise(py, Class::Usage, &error, None))?;
    let subject = &dump.dump;
    let goldens = function.map(|function| Goldens::new(subject, function));
    let with = match (against, folder, &goldens) {
        (Some(other), None, None) => With::Dump(Arc::clone(&other.dump)),
        (None, Some(folder), None) => With::Folder(folder),
        (None, None, Some(goldens)) => With::Function(goldens),
        _ => With::Scene,
    };
    let choice = SceneChoice { scene, case, runtime };
    let options = Options { limits, full };
    let (stop, done, total) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let line = || match total.load(Relaxed) {
        0 => None,
        total => Some(format!("comparing: {} of {total} tasks", done.load(Relaxed))),
    };
    let failed = || goldens.as_ref().is_some_and(|goldens| goldens.failed.load(Relaxed));
    let found = long::attended(
        py,
        || stop.store(true, Relaxed),
        line,
        || {
            let each = |_| {
                done.fetch_add(1, Relaxed);
                if stop.load(Relaxed) || failed() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            search(subject, &with, &choice, options, &total, &each)
        },
    )?;
    if let Some(error) = goldens.as_ref().and_then(Goldens::raised) {
        return Err(error);
    }
    match found {
        Ok(Some(report)) => Ok(Report { report }),
        Ok(None) => Err(errors::raise_text(py, Class::Run, "the search was stopped", None)),
        Err(refusal) => Err(refusal.raise(py)),
    }
}

/// `None` if it was told to stop.
fn search(
    dump: &read::Dump,
    with: &With<'_>,
    choice: &SceneChoice,
    options: Options,
    total: &AtomicUsize,
    each: &(impl Fn(usize) -> ControlFlow<()> + Sync),
) -> Result<Option<report::Report>, Refusal> {
    let notes = RefCell::new(Vec::new());
    let changed = |files: &[&str]| {
        let files = files.join(", ");
        notes.borrow_mut().push(format!("{files}: changed since the run; the dump's own copy is used"));
    };
    let scene = known(dump, choice, &scenes::lookup(&changed)?)?;
    if let Some(better) = scene.as_ref().and_then(|scene| scene.better.as_ref()) {
        notes.borrow_mut().push(errors::better(better));
    }
    let (supplied, references) = scene.map(Known::supply).unzip();
    let supplied = supplied.flatten();
    let tasks = Tasks::new(dump, supplied.as_ref());
    total.store(tasks.len(), Relaxed);
    let subject = Side { dump, tasks: &tasks };
    let judge = |expectation: &Expectation<'_>| {
        let findings = search_while(subject, expectation, options, each)?;
        Some(report(subject, expectation, findings).map_tasks(|tasks| tasks.collect()))
    };
    let found = match with {
        With::Dump(other) => {
            let tasks = Tasks::new(other, None);
            judge(&Expectation::Against(Side { dump: other, tasks: &tasks }))
        }
        With::Folder(path) => {
            let folder = Folder::open(path).map_err(|error| Refusal::new(Class::Usage, &error))?;
            judge(&Expectation::Golden(&folder))
        }
        With::Function(goldens) => judge(&Expectation::Isolated(*goldens)),
        With::Scene => {
            let references = references.ok_or_else(|| {
                let message = "the dump does not say which scene it belongs to, so there are no references";
                Refusal::text(Class::Usage, message).hint(
                    "name it: scene=, case=; or compare with against=DUMP, or golden=FUNCTION or DIRECTORY"
                        .to_owned(),
                )
            })?;
            judge(&Expectation::Isolated(&references))
        }
    };
    Ok(found.map(|mut found| {
        found.notes.extend(notes.take());
        // A note beside the dump, for listings: a place that cannot be written has none.
        if found.replaces(LastVerdict::read(dump.directory()).as_ref()) {
            let _ = found.last_verdict().write(dump.directory());
        }
        found
    }))
}
