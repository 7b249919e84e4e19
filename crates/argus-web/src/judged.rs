//! Verdicts on the tasks of a dump, by the search that `argus find` makes.
//!
//! It runs in the background, once, when the scene of the dump is known. Until it is through nothing is judged, and a
//! dump whose scene is not known stays so.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use argus_dump::read::Record;
use argus_dump_scene::{KernelReferences, Lookup, LookupError, SceneChoice, known};
use argus_facts::with_causes;
use argus_find::align::Side;
use argus_find::report::report;
use argus_find::search::{Expectation, Options, again, search_while};
use argus_find::tasks::Tasks;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use thiserror::Error;

use crate::answer::Problem;
use crate::findings::Findings;
use crate::record::coordinates;
use crate::session::{Served, Session};
use crate::shown::Shown;

/// Expected values that are kept, in bytes and in number.
const KEPT_BYTES: usize = 64 << 20;
const KEPT: usize = 8;

/// How far the search is.
#[derive(Clone, Default)]
enum Phase {
    #[default]
    NotBegun,
    Running,
    Done(Arc<Judged>),
    /// There is nothing to judge by, and why.
    Impossible(String),
}

/// Why there are no verdicts.
#[derive(Debug, Error)]
enum NotJudged {
    #[error(transparent)]
    Scene(#[from] LookupError),
    #[error("the dump does not say which scene it belongs to, so there are no references")]
    NoScene,
    #[error("the search was given up")]
    GivenUp,
}

/// What is known of the verdicts on a dump.
#[derive(Default)]
pub struct Judging {
    phase: Mutex<Phase>,
    /// Expected bytes of records, the latest last.
    expected: Mutex<Vec<(usize, Arc<Vec<u8>>)>>,
}

/// What was found.
pub struct Judged {
    pub findings: Findings,
    /// Ranges of wrong elements, by record.
    wrong: FxHashMap<usize, Vec<Range<u64>>>,
    tasks: Tasks,
    references: KernelReferences,
}

impl Judging {
    fn phase(&self) -> Phase {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    pub fn done(&self) -> Option<Arc<Judged>> {
        match self.phase() {
            Phase::Done(judged) => Some(judged),
            _ => None,
        }
    }

    /// Where the search stands, in one word, and why it cannot be made.
    pub fn state(&self) -> (&'static str, Option<String>) {
        match self.phase() {
            Phase::NotBegun | Phase::Running => ("pending", None),
            Phase::Done(_) => ("done", None),
            Phase::Impossible(why) => ("impossible", Some(why)),
        }
    }

    /// Whether the caller is the first: then it is for it to search.
    pub fn claim(&self) -> bool {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let first = matches!(*phase, Phase::NotBegun);
        if first {
            *phase = Phase::Running;
        }
        first
    }

    pub fn verdicts(&self) -> Vec<u8> {
        self.done().map_or_else(Vec::new, |judged| judged.findings.verdicts.clone())
    }

    /// What a record can be compared with.
    pub fn reference(&self, shown: &Shown, record: &Record) -> Value {
        self.done().map_or(Value::Null, |judged| judged.findings.reference(&shown.tasks, record))
    }

    /// Where a record is wrong first.
    pub fn worst(&self, record: &Record) -> Value {
        let first = self.next_wrong(record, 0);
        first.map_or(
            Value::Null,
            |element| json!({ "element": element, "index": coordinates(element, record.shape()) }),
        )
    }

    pub fn next_wrong(&self, record: &Record, from: u64) -> Option<u64> {
        let judged = self.done()?;
        let ranges = judged.wrong.get(&record.index)?;
        ranges.iter().find(|range| range.end > from).map(|range| range.start.max(from))
    }

    /// What a record should hold.
    pub fn expected(
        &self,
        session: &Session,
        shown: &Shown,
        record: &Record,
    ) -> Result<Arc<Vec<u8>>, Problem> {
        let none = || Problem::nothing(format!("there is nothing to compare record {} with", record.index));
        let judged = self.done().ok_or_else(none)?;
        let kept = || self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = kept().iter().find(|(index, _)| *index == record.index) {
            return Ok(Arc::clone(bytes));
        }
        if record.bin_size > KEPT_BYTES as u64 {
            return Err(Problem::nothing("the record is too large to be computed again for a picture"));
        }
        let at = judged.tasks.find(record.task_id).ok_or_else(none)?;
        let side = Side { dump: shown.dump(), tasks: &judged.tasks };
        let expectation = Expectation::Isolated(&judged.references);
        let found = session.front.install(|| again(side, &expectation, at, record.index, None));
        let bytes = Arc::new(found.ok_or_else(none)?.wanted);
        let mut kept = kept();
        kept.push((record.index, Arc::clone(&bytes)));
        let total = |kept: &[(usize, Arc<Vec<u8>>)]| kept.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        while kept.len() > KEPT || kept.len() > 1 && total(&kept) > KEPT_BYTES {
            kept.remove(0);
        }
        Ok(bytes)
    }
}

/// Judges a dump, and tells pages that wait for it.
pub fn judge(session: &Session, served: &Served, shown: &Shown) {
    let phase = match find(session, shown) {
        Ok(judged) => Phase::Done(Arc::new(judged)),
        Err(error) => Phase::Impossible(with_causes(&error)),
    };
    shown.judging.set(phase);
    served.tell();
}

fn find(session: &Session, shown: &Shown) -> Result<Judged, NotJudged> {
    let dump = shown.dump();
    let lookup = Lookup { registry: &session.registry, changed: &|_| {} };
    let scene = known(dump, &SceneChoice::default(), &lookup)?;
    let scene = scene.ok_or(NotJudged::NoScene)?;
    let (supplied, references) = scene.supply();
    let tasks = Tasks::new(dump, supplied.as_ref());
    let side = Side { dump, tasks: &tasks };
    let expectation = Expectation::Isolated(&references);
    let go_on = |_| match session.is_stopped() {
        true => std::ops::ControlFlow::Break(()),
        false => std::ops::ControlFlow::Continue(()),
    };
    let findings = search_while(side, &expectation, Options::default(), go_on).ok_or(NotJudged::GivenUp)?;
    let mut wrong = FxHashMap::default();
    for finding in findings.tasks.iter().filter_map(|found| found.kept()) {
        for output in finding.outputs.iter().filter(|output| !output.wrong.is_empty()) {
            wrong.insert(output.record, output.wrong.clone());
        }
    }
    let found = report(side, &expectation, findings).map_tasks(|tasks| tasks.collect());
    Ok(Judged { findings: Findings::new(&shown.tasks, found), wrong, tasks, references })
}
