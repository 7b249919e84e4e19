//! Verdicts on the tasks of a dump, by the search that `argus find` makes.
//!
//! It runs in the background, once, when the scene of the dump is known. Until it is through nothing is judged, and a
//! dump whose scene is not known stays so.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use argus_abi::TaskId;
use argus_dump::read::Record;
use argus_dump_scene::{KernelReferences, Lookup, LookupError, SceneChoice, known};
use argus_facts::with_causes;
use argus_find::align::Side;
use argus_find::report::{FirstWrong, Report, TaskReport, report};
use argus_find::search::{Expectation, Options, again, search_while};
use argus_find::tasks::Tasks;
use argus_find::verdict::Verdict;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use thiserror::Error;

use crate::answer::Problem;
use crate::record::coordinates;
use crate::session::{Served, Session};
use crate::shown::Shown;

/// First wrong tasks that an overview names.
const FIRSTS: usize = 50;
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
    /// By the task's number in the table.
    pub verdicts: Vec<u8>,
    /// The first wrong task.
    pub first: Option<TaskId>,
    pub reports: FxHashMap<u32, TaskReport>,
    pub firsts: FxHashMap<u32, FirstWrong>,
    /// The object of the command without its lists of tasks and edges.
    pub object: Value,
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
        self.done().map_or_else(Vec::new, |judged| judged.verdicts.clone())
    }

    /// What a record can be compared with.
    pub fn reference(&self, shown: &Shown, record: &Record) -> Value {
        let compared = || {
            let judged = self.done()?;
            let task = shown.tasks.find(record.task_id)? as u32;
            let report = judged.reports.get(&task)?;
            let output = report.outputs.iter().find(|output| output.record == record.index)?;
            let judged = matches!(output.agreement, "equal" | "within" | "beyond");
            judged.then(|| {
                json!({
                    "kind": "reference",
                    "with": output.with,
                    "agreement": output.agreement,
                    "beyond": output.beyond,
                    "max_abs": output.max_abs,
                })
            })
        };
        compared().unwrap_or(Value::Null)
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
    let mut verdicts = vec![0; shown.tasks.len()];
    let mut wrong = FxHashMap::default();
    for (at, found) in findings.tasks.iter().enumerate() {
        if let Some(place) = shown.tasks.find(tasks.get(at).id) {
            verdicts[place] = number(found.verdict());
        }
        let outputs = found.kept().into_iter().flat_map(|finding| &finding.outputs);
        for output in outputs.filter(|output| !output.wrong.is_empty()) {
            wrong.insert(output.record, output.wrong.clone());
        }
    }
    let found = report(side, &expectation, findings).map_tasks(|tasks| tasks.collect());
    let first = found.first_wrong.first().and_then(|first| parse(&first.id));
    let (object, reports, firsts) = split(shown, found);
    Ok(Judged { verdicts, first, reports, firsts, object, wrong, tasks, references })
}

/// A report as what an overview shows, and what single tasks do.
fn split(
    shown: &Shown,
    mut found: Report,
) -> (Value, FxHashMap<u32, TaskReport>, FxHashMap<u32, FirstWrong>) {
    let index = |id: &str| shown.tasks.find(parse(id)?);
    let tasks = std::mem::take(&mut found.tasks);
    found.edges.clear();
    let mut object = serde_json::to_value(&found).unwrap_or(Value::Null);
    let mut firsts = FxHashMap::default();
    if let Some(list) = object["first_wrong"].as_array_mut() {
        list.truncate(FIRSTS);
        for first in list {
            first["index"] = json!(first["task_id"].as_str().and_then(index));
        }
    }
    for first in found.first_wrong {
        if let Some(task) = index(&first.id) {
            firsts.insert(task as u32, first);
        }
    }
    if let Some(fields) = object.as_object_mut() {
        fields.remove("tasks");
        fields.remove("edges");
    }
    let mut reports = FxHashMap::default();
    for task in tasks {
        if let Some(place) = index(&task.id) {
            reports.insert(place as u32, task);
        }
    }
    (object, reports, firsts)
}

/// As the columns say it.
fn number(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Unknown(_) => 0,
        Verdict::Clean => 1,
        Verdict::Introduced => 2,
        Verdict::Inherited => 3,
        Verdict::HereOrUpstream(_) => 4,
        Verdict::Damaged(_) => 5,
    }
}

/// An id as reports spell it.
fn parse(id: &str) -> Option<TaskId> {
    let digits = id.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok().map(TaskId::from_raw)
}
