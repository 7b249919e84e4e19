//! `argus.replay`: one task alone, with its captured bytes; and what a trace starts from.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use argus_dump::read;
use argus_dump_scene::{Named, Source, What};
use argus_facts::with_causes;
use argus_replay::compare::Change;
use argus_replay::{Capsule, Judgement, Options, Proof, Substitute, TaskChoice, Verdict};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::dump::{Dump, parse_task};
use crate::errors::{self, Class, Refusal};
use crate::run::timeout;
use crate::{long, scenes};

/// Which task, and what stands in for what a dump does not say.
#[derive(Debug, FromPyObject)]
pub struct Wanted {
    #[pyo3(item)]
    task: Option<String>,
    #[pyo3(item)]
    kernel: Option<String>,
    #[pyo3(item)]
    nth: usize,
    #[pyo3(item)]
    scene: Option<String>,
    #[pyo3(item)]
    case: Option<String>,
    #[pyo3(item)]
    runtime: Option<String>,
    #[pyo3(item)]
    platform: Option<String>,
    /// `SLOT=VALUE` each.
    #[pyo3(item)]
    set: Vec<String>,
    #[pyo3(item)]
    timeout: Option<f64>,
}

/// What a task is taken from.
pub enum From {
    Dump(Arc<read::Dump>),
    Named(String),
}

impl Wanted {
    /// Finds the task, and how it is to be run.
    pub fn parse(&self, py: Python<'_>, interrupt: &Arc<AtomicBool>) -> PyResult<(Named, Options)> {
        let substitutes = Substitute::parse_all(self.set.iter().map(String::as_str))
            .map_err(|error| Refusal::from(argus_replay::ReplayError::from(error)).raise(py))?;
        let mut options = Options { interrupt: Arc::clone(interrupt), ..Options::default() };
        if let Some(seconds) = self.timeout {
            options.timeout = timeout(seconds).map_err(|refusal| refusal.raise(py))?;
        }
        let named = Named {
            choice: TaskChoice {
                task: self.task.as_deref().map(|text| parse_task(py, text)).transpose()?,
                kernel: self.kernel.clone(),
                func_ids: None,
                nth: self.nth,
            },
            scene: self.scene.clone(),
            case: self.case.clone(),
            runtime: self.runtime.clone(),
            platform: self.platform.clone(),
            substitutes,
            arguments: None,
        };
        Ok((named, options))
    }
}

/// A dump, or the name of a scene or a capsule.
pub fn from(py: Python<'_>, what: &Bound<'_, PyAny>) -> PyResult<From> {
    if let Ok(dump) = what.cast::<Dump>() {
        return Ok(From::Dump(Arc::clone(&dump.get().dump)));
    }
    let path: PathBuf = what.extract()?;
    if path.exists() && !Capsule::is_one(&path) {
        let opened = py.detach(|| read::Dump::open(&path));
        return opened.map(|dump| From::Dump(Arc::new(dump))).map_err(|error| errors::open(py, &error));
    }
    Ok(From::Named(path.display().to_string()))
}

/// The task with its code. That may be C++, which can crash: a crash is then told with its place, like any other failure of
/// a kernel.
pub fn source(from: &From, named: &Named) -> Result<(Source, Vec<String>), Refusal> {
    argus_child::guard().map_err(|error| Refusal::new(Class::Run, &error))?;
    let notes = std::cell::RefCell::new(Vec::new());
    let changed = |files: &[&str]| {
        let files = files.join(", ");
        notes.borrow_mut().push(format!("{files}: changed since the run; the dump's own copy is used"));
    };
    let lookup = scenes::lookup(&changed)?;
    let what = match from {
        From::Dump(dump) => What::Dump(dump),
        From::Named(name) if Capsule::is_one(name.as_ref()) => What::Capsule(name.as_ref()),
        From::Named(name) => What::Scene(name),
    };
    let source = argus_dump_scene::open(what, named, &lookup)?;
    Ok((source, notes.take()))
}

/// An output of the task as the replay left it: slot, element type, shape, elements.
type Output = (usize, &'static str, Vec<u32>, Py<PyBytes>);

/// Runs one task alone. The answer is what it showed, as JSON, and its outputs.
#[pyfunction]
#[pyo3(signature = (what, wanted, times=1, capsule=None))]
pub fn replay_task(
    py: Python<'_>,
    what: &Bound<'_, PyAny>,
    wanted: Wanted,
    times: u32,
    capsule: Option<PathBuf>,
) -> PyResult<(String, Vec<Output>)> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let (named, options) = wanted.parse(py, &interrupt)?;
    let from = from(py, what)?;
    let ended = long::attended(
        py,
        || interrupt.store(true, Relaxed),
        || Some("replaying the task".to_owned()),
        || -> Result<_, Refusal> {
            let (source, notes) = source(&from, &named)?;
            if let Some(path) = &capsule {
                let made = Capsule::new(source.task.clone()).map_err(argus_replay::ReplayError::from)?;
                made.save(path).map_err(|error| Refusal::new(Class::Run, &error))?;
            }
            let kernels = &source.code.kernels;
            let proof = argus_replay::replay(&source.task, kernels, source.chip, &options, times)?;
            Ok((source, notes, proof))
        },
    )?;
    let (source, notes, proof) = ended.map_err(|refusal| refusal.raise(py))?;
    let outputs = proof.outcome.outputs.iter().filter_map(|output| {
        let (_, tensor) = source.task.outputs().find(|(slot, _)| *slot == output.slot)?;
        let bytes = PyBytes::new(py, &output.bytes).unbind();
        Some((output.slot, tensor.dtype.name(), tensor.shape.clone(), bytes))
    });
    Ok((told(&source, &notes, &proof).to_string(), outputs.collect()))
}

fn told(source: &Source, notes: &[String], proof: &Proof) -> Value {
    let task = &source.task;
    json!({
        "verdict": word(proof),
        "passed": proof.passed(),
        "task_id": task.id.to_string(),
        "kernel": task.identity.kernel_names(),
        "blocks": task.blocks,
        "platform": source.chip.name,
        "scene": task.identity.scene,
        "case": task.identity.case,
        "elements": proof.elements().1,
        "compared": proof.elements().0,
        "error": proof.outcome.result.as_ref().err().map(|error| with_causes(error)),
        "outputs": proof.verdicts.iter().map(output).collect::<Vec<_>>(),
        "flaky": proof.flaky.iter().map(|flaky| match &flaky.change {
            Change::Output { slot, element } => {
                format!("run {} gives another element {element} of argument {slot}", flaky.run)
            }
            Change::Failed(error) => format!("run {} failed: {error}", flaky.run),
        }).collect::<Vec<_>>(),
        "notes": task.notes.iter().chain(notes).collect::<Vec<_>>(),
    })
}

fn word(proof: &Proof) -> &'static str {
    match (&proof.outcome.result, proof.passed(), proof.compared()) {
        (Err(_), ..) => "failed",
        (Ok(_), ..) if !proof.flaky.is_empty() => "flaky",
        (Ok(_), false, _) => "not_reproduced",
        (Ok(_), true, true) => "reproduced",
        (Ok(_), true, false) => "not_compared",
    }
}

fn output(verdict: &Verdict) -> Value {
    let (word, why, differing) = match &verdict.judgement {
        Judgement::BitEqual => ("bit-equal", None, 0),
        Judgement::Unchecked(why) => ("unchecked", Some(why.clone()), 0),
        Judgement::Differs(difference) => ("differs", None, difference.count),
    };
    json!({
        "arg": verdict.slot,
        "verdict": word,
        "why": why,
        "elements": verdict.elements,
        "compared": verdict.compared,
        "differing": differing,
        "unwritten": verdict.unwritten,
    })
}
