//! What was found, in one value that prints as JSON and that text and pages are made of.
//!
//! | file | subject |
//! |---|---|
//! | this one | the report, and a close look at the first wrong tasks |
//! | `listing` | its tasks, each made when it is looked at |

mod listing;

use std::collections::BTreeMap;

use argus_abi::Kind;
use argus_dump::LastVerdict;
use argus_dump::read::{Dump, Ending, Record};
use argus_facts::References;
use rayon::prelude::*;
use serde::Serialize;

use crate::align::{AlignedBy, Side};
use crate::compare::Comparison;
use crate::detail::{Detail, look};
use crate::metrics::{Metrics, Pair, Tolerance};
use crate::pattern::{self, Candidate, Context, Finding, Input};
use crate::races::races;
use crate::search::{Counts, EndResult, Expectation, Findings, Found, again, expected_with};
use crate::verdict::{Agreement, Verdict};

pub use listing::{Listing, TaskLine};

/// First errors that are looked at closely; of more only the names are given.
const CLOSE: usize = 8;

/// What a run says that did not fail.
const PASSED: [&str; 2] = ["pass", "not_compared"];

/// The whole story. Its tasks are a [`Listing`] that makes each when it is looked at, a list of all of them where the dumps
/// do not live as long as the report, or nothing where they are not shown.
#[derive(Clone, Debug, Serialize)]
pub struct Report<T = Vec<TaskReport>> {
    pub schema: &'static str,
    pub dump: String,
    pub compared_with: &'static str,
    pub other: Option<String>,
    pub verdict: Overall,
    pub counts: Counts,
    pub end_result: EndResult,
    /// Tasks of which an output was compared, of those that run kernels.
    pub judged: usize,
    pub judgeable: usize,
    /// Tasks that were given another scalar than those of the other dump.
    pub other_scalars: usize,
    /// How the run failed, if it did.
    pub failure: Option<String>,
    /// Records with other bytes than were captured.
    pub damaged: Vec<DamagedRecord>,
    /// What counted as agreement, by dtype and reduction.
    pub tolerances: Vec<String>,
    pub first_wrong: Vec<FirstWrong>,
    /// Dependencies first.
    pub tasks: T,
    /// Pairs of positions in `tasks`.
    pub edges: Vec<[usize; 2]>,
    /// Tasks that touch the same bytes in no order, as far as the dump can tell.
    pub races: Vec<RaceReport>,
    pub unaligned: Unaligned,
    pub notes: Vec<String>,
}

impl<T> Report<T> {
    /// The same with other tasks.
    pub fn map_tasks<U>(self, map: impl FnOnce(T) -> U) -> Report<U> {
        Report {
            schema: self.schema,
            dump: self.dump,
            compared_with: self.compared_with,
            other: self.other,
            verdict: self.verdict,
            counts: self.counts,
            end_result: self.end_result,
            judged: self.judged,
            judgeable: self.judgeable,
            other_scalars: self.other_scalars,
            failure: self.failure,
            damaged: self.damaged,
            tolerances: self.tolerances,
            first_wrong: self.first_wrong,
            tasks: map(self.tasks),
            edges: self.edges,
            races: self.races,
            unaligned: self.unaligned,
            notes: self.notes,
        }
    }

    /// Whether a listing shows it instead of what was said before. Where nothing was found, a run that failed still
    /// failed: its tasks may each do right by what they were given.
    pub fn replaces(&self, earlier: Option<&LastVerdict>) -> bool {
        let failed =
            earlier.is_some_and(|said| said.command == "run" && !PASSED.contains(&&said.verdict[..]));
        let unjudged = Overall::Unjudged.name();
        let judged = earlier.is_some_and(|said| said.command == "find" && said.verdict != unjudged);
        match self.verdict {
            Overall::Agree => !failed,
            Overall::Unjudged => !failed && !judged,
            _ => true,
        }
    }
}

/// The tasks of a report, however they are kept: id and verdict of each.
pub trait TaskVerdicts {
    fn verdicts(&self) -> impl Iterator<Item = (String, &str)>;
}

impl TaskVerdicts for Vec<TaskReport> {
    fn verdicts(&self) -> impl Iterator<Item = (String, &str)> {
        self.iter().map(|task| (task.id.clone(), task.verdict))
    }
}

impl TaskVerdicts for Listing<'_> {
    fn verdicts(&self) -> impl Iterator<Item = (String, &str)> {
        self.iter().map(|line| (line.id.to_string(), line.verdict))
    }
}

impl<T: TaskVerdicts> Report<T> {
    /// What a listing of runs keeps of it.
    pub fn last_verdict(&self) -> LastVerdict {
        let first = self.first_wrong.first();
        let mut tasks: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (id, verdict) in self.tasks.verdicts().filter(|(_, verdict)| *verdict != Verdict::Clean.name()) {
            tasks.entry(verdict.to_owned()).or_default().push(id);
        }
        let looks = first.and_then(|first| first.outputs.iter().find_map(|output| output.looks_like.first()));
        LastVerdict {
            looks_like: looks.map(|finding| format!("{}: {}", finding.pattern, finding.evidence)),
            tasks: Some(tasks),
            task_id: first.map(|first| first.id.clone()),
            kernel: first.map(|first| first.kernel.clone()),
            ..LastVerdict::new("find", self.verdict.name())
        }
    }
}

/// Two tasks that nothing keeps apart.
#[derive(Clone, Debug, Serialize)]
pub struct RaceReport {
    /// Positions in [`Report::tasks`], in the order of dispatch of this run.
    pub tasks: [usize; 2],
    /// The argument of each through which it touches the bytes.
    pub arguments: [u32; 2],
    pub how: &'static str,
    pub bytes: u64,
}

/// What a script wants to know first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Overall {
    /// Everything that there was to compare agrees.
    Agree,
    Differ,
    /// Nothing was found wrong, and records are damaged.
    Damaged,
    /// Nothing was found wrong, and the run failed.
    Failed,
    /// Nothing was found wrong, and tasks that touch the same bytes have no order.
    Race,
    /// Nothing was found wrong, and something that should have been compared could not be, or nothing was.
    Unjudged,
}

impl Overall {
    /// The word that JSON has.
    pub fn name(self) -> &'static str {
        match self {
            Overall::Agree => "agree",
            Overall::Differ => "differ",
            Overall::Damaged => "damaged",
            Overall::Failed => "failed",
            Overall::Race => "race",
            Overall::Unjudged => "unjudged",
        }
    }

    pub fn exit_code(self) -> u8 {
        match self {
            Overall::Agree => 0,
            Overall::Differ | Overall::Damaged | Overall::Failed | Overall::Race => 1,
            Overall::Unjudged => 2,
        }
    }
}

/// A task where an error begins.
#[derive(Clone, Debug, Serialize)]
pub struct FirstWrong {
    /// Position in [`Report::tasks`].
    #[serde(rename = "position")]
    pub task: usize,
    #[serde(rename = "task_id")]
    pub id: String,
    pub kernel: String,
    /// `introduced`, or `here_or_upstream`.
    pub verdict: &'static str,
    /// Why it is not known to have introduced the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Tasks upstream that may have introduced it instead, by position in [`Report::tasks`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<usize>,
    /// Wrong tasks downstream of it, where they were counted.
    pub downstream: Option<usize>,
    pub outputs: Vec<Closer>,
}

/// A record with other bytes than were captured.
#[derive(Clone, Debug, Serialize)]
pub struct DamagedRecord {
    pub record: usize,
    #[serde(rename = "task_id")]
    pub id: String,
    pub kernel: String,
    /// Record and byte range.
    pub why: String,
}

/// A wrong output looked at closely.
#[derive(Clone, Debug, Serialize)]
pub struct Closer {
    #[serde(rename = "arg_index")]
    pub argument: u32,
    pub record: usize,
    pub dtype: &'static str,
    pub shape: Vec<u64>,
    #[serde(flatten)]
    pub detail: Detail,
    /// What it looks like, most likely first.
    pub looks_like: Vec<Finding>,
}

/// A task and its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct TaskReport {
    #[serde(rename = "task_id")]
    pub id: String,
    pub kernel: String,
    pub verdict: &'static str,
    /// It was running when the run ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
    /// Why it is unknown, and what else could not be compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Compared>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Compared>,
}

/// A record and how it compares.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    #[serde(rename = "arg_index")]
    pub argument: u32,
    pub record: usize,
    pub with: String,
    pub agreement: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Elements beyond the tolerance.
    pub beyond: u64,
    /// Largest distance of two finite elements.
    pub max_abs: Option<f64>,
    #[serde(skip_serializing_if = "is_zero")]
    pub unchecked: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Box<Metrics>>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Tasks without a counterpart, by id and kernel.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Unaligned {
    /// How the others were matched; empty if there was nothing to match.
    pub by: &'static str,
    pub here: Vec<String>,
    pub there: Vec<String>,
    /// Tasks of both, with tensors that only one of them has.
    pub partly: Vec<String>,
}

/// Puts the findings into words and numbers.
pub fn report<'a>(
    subject: Side<'a>,
    expectation: &Expectation<'a>,
    findings: Findings,
) -> Report<Listing<'a>> {
    let tasks = subject.tasks;
    let mut position = vec![0; tasks.len()];
    for (place, &at) in tasks.order().iter().enumerate() {
        position[at] = place;
    }
    let other = match expectation {
        Expectation::Against(other) => Some(other.dump.directory().display().to_string()),
        _ => None,
    };
    let first_wrong = findings
        .firsts
        .par_iter()
        .enumerate()
        .map(|(number, first)| FirstWrong {
            task: position[first.task],
            id: tasks.get(first.task).id.to_string(),
            kernel: tasks.get(first.task).kernel.to_string(),
            verdict: findings.tasks[first.task].verdict().name(),
            why: findings.tasks[first.task].verdict().why().map(str::to_owned),
            suspects: first.suspects.iter().map(|&at| position[at]).collect(),
            downstream: first.downstream,
            outputs: if number < CLOSE {
                closer(subject, expectation, &findings, first.task)
            } else {
                Vec::new()
            },
        })
        .collect();
    let edges = (0..tasks.len())
        .flat_map(|at| tasks.predecessors(at).iter().map(move |edge| (edge.task, at)))
        .map(|(from, to)| [position[from], position[to]]);
    let mut edges: Vec<[usize; 2]> = edges.collect();
    edges.sort_unstable();
    edges.dedup();
    let races: Vec<RaceReport> = races(subject.dump, tasks)
        .iter()
        .map(|race| RaceReport {
            tasks: [position[race.first], position[race.second]],
            arguments: [race.records.0, race.records.1].map(|record| subject.dump.record(record).arg_index),
            how: race.how.name(),
            bytes: race.bytes.end - race.bytes.start,
        })
        .collect();
    Report {
        schema: "argus-find-3",
        dump: subject.dump.directory().display().to_string(),
        compared_with: expectation.name(),
        other,
        verdict: overall(subject, expectation, &findings, &races),
        counts: findings.counts(),
        end_result: findings.end,
        judged: findings.judged(),
        judgeable: tasks.iter().filter(|task| !task.is_idle()).count(),
        other_scalars: findings.other_scalars(),
        failure: match subject.dump.ending() {
            Ending::Failed { error } => Some(error.clone()),
            _ => None,
        },
        damaged: damaged(subject, &findings),
        tolerances: tolerances(&findings),
        first_wrong,
        edges,
        races,
        unaligned: unaligned(subject, expectation, &findings),
        notes: notes(subject, expectation, &findings),
        tasks: Listing { subject, expectation: *expectation, findings },
    }
}

fn overall(
    subject: Side<'_>,
    expectation: &Expectation<'_>,
    findings: &Findings,
    races: &[RaceReport],
) -> Overall {
    let left_open = findings
        .tasks
        .iter()
        .filter_map(Found::kept)
        .any(|task| matches!(task.verdict, Verdict::Unknown(_)) && task.supplied || task.lacking);
    if findings.any_wrong() || findings.any_beyond() || findings.other_scalars() > 0 {
        Overall::Differ
    } else if findings.counts().damaged > 0 {
        Overall::Damaged
    } else if matches!(subject.dump.ending(), Ending::Failed { .. }) {
        Overall::Failed
    } else if left_open
        || findings.judged() == 0
        || matches!(subject.dump.ending(), Ending::Unfinished { .. })
        || one_sided(subject, expectation, findings)
        || matches!(expectation, Expectation::Golden(folder) if !folder.unmet(subject.dump).is_empty())
    {
        Overall::Unjudged
    } else if !races.is_empty() {
        Overall::Race
    } else {
        Overall::Agree
    }
}

/// Whether either side has tasks that compute something and that the other lacks.
fn one_sided(subject: Side<'_>, expectation: &Expectation<'_>, findings: &Findings) -> bool {
    let (Some(alignment), Expectation::Against(other)) = (&findings.alignment, expectation) else {
        return false;
    };
    let any = |side: Side<'_>, places: &[usize]| places.iter().any(|&at| !side.tasks.get(at).is_idle());
    any(subject, &alignment.left_over) || any(*other, &alignment.right_over)
}

fn damaged(subject: Side<'_>, findings: &Findings) -> Vec<DamagedRecord> {
    let order = subject.tasks.order().iter();
    let kept = order.filter_map(|&at| Some((at, findings.tasks[at].kept()?)));
    let records = kept.flat_map(|(at, finding)| finding.damage.iter().map(move |damage| (at, damage)));
    records
        .map(|(at, (record, why))| {
            let task = subject.tasks.get(at);
            DamagedRecord {
                record: *record,
                id: task.id.to_string(),
                kernel: task.kernel.to_string(),
                why: why.clone(),
            }
        })
        .collect()
}

/// One sentence for each rule; there are few rules and many comparisons.
fn tolerances(findings: &Findings) -> Vec<String> {
    let mut sentences: Vec<String> = findings.rules.iter().map(Tolerance::describe).collect();
    sentences.sort();
    sentences.dedup();
    sentences
}

fn closer(subject: Side<'_>, expectation: &Expectation<'_>, findings: &Findings, at: usize) -> Vec<Closer> {
    let outputs = findings.tasks[at].kept().into_iter().flat_map(|finding| &finding.outputs);
    let wrong = outputs.filter(|output| output.agreement == Agreement::Beyond);
    wrong.filter_map(|output| one_closer(subject, expectation, at, output)).collect()
}

fn one_closer(
    subject: Side<'_>,
    expectation: &Expectation<'_>,
    at: usize,
    output: &Comparison,
) -> Option<Closer> {
    let record = subject.dump.record(output.record);
    let sides = again(subject, expectation, at, output.record, output.expected_record)?;
    let actual = sides.widened.as_deref().map_or_else(|| subject.dump.payload(&record).ok(), Some)?;
    let shape: Option<Vec<u32>> = record.shape().iter().map(|&extent| u32::try_from(extent).ok()).collect();
    let pair = Pair::new(sides.dtype, record.numel()?, actual, &sides.wanted).ok()?.shaped(&shape?).ok()?;
    let tolerance = output.tolerance?;
    let mut looks_like = recognise(subject, at, &record, &pair, &tolerance);
    if let Expectation::Isolated(references) = expectation {
        // What the kernel does to older inputs says more than what its output resembles.
        looks_like.splice(0..0, stale_read(subject, *references, at, &record, &pair, &tolerance));
        looks_like.sort_by_key(|finding| std::cmp::Reverse(finding.confidence));
    }
    Some(Closer {
        argument: record.arg_index,
        record: record.index,
        dtype: record.dtype?.name(),
        shape: record.shape().to_vec(),
        detail: look(&pair, &tolerance),
        looks_like,
    })
}

pub(crate) fn compared(comparison: &Comparison) -> Compared {
    let (agreement, why) = match &comparison.agreement {
        Agreement::Equal => ("equal", None),
        Agreement::Within => ("within", None),
        Agreement::Beyond => ("beyond", None),
        Agreement::Unknown(why) => ("unknown", Some(why.clone())),
        Agreement::Damaged(why) => ("damaged", Some(why.clone())),
    };
    Compared {
        argument: comparison.argument,
        record: comparison.record,
        with: comparison.with.clone(),
        agreement,
        why,
        beyond: comparison.judgement.as_ref().map_or(0, |judgement| judgement.beyond),
        max_abs: comparison.judgement.as_ref().map(|judgement| judgement.max_abs.as_f64()),
        unchecked: comparison.unchecked,
        metrics: comparison.metrics.clone(),
    }
}

fn unaligned(subject: Side<'_>, expectation: &Expectation<'_>, findings: &Findings) -> Unaligned {
    let (Some(alignment), Expectation::Against(other)) = (&findings.alignment, expectation) else {
        return Unaligned::default();
    };
    let names =
        |side: Side<'_>, places: &[usize]| places.iter().map(|&at| side.tasks.get(at).label()).collect();
    let lacking = subject.tasks.order().iter().copied();
    let lacking = lacking.filter(|&at| findings.tasks[at].kept().is_some_and(|finding| finding.lacking));
    Unaligned {
        by: match alignment.by {
            AlignedBy::TaskId => "task id",
            AlignedBy::Structure => "structure",
        },
        here: names(subject, &alignment.left_over),
        there: names(*other, &alignment.right_over),
        partly: names(subject, &lacking.collect::<Vec<_>>()),
    }
}

fn notes(subject: Side<'_>, expectation: &Expectation<'_>, findings: &Findings) -> Vec<String> {
    let mut notes: Vec<String> = subject.dump.notes().to_vec();
    notes.extend(injected(subject.dump));
    if let Expectation::Golden(folder) = expectation {
        notes.extend(folder.unused(subject.dump));
    }
    match findings.tasks.iter().filter_map(Found::kept).map(|task| task.scalars_left).sum::<usize>() {
        0 => {}
        1 => notes.push("1 scalar was not compared: only one side has it, or with another type".to_owned()),
        left => notes
            .push(format!("{left} scalars were not compared: only one side has them, or with another type")),
    }
    if let Expectation::Against(other) = expectation {
        let elsewhere = other.dump.notes().iter().cloned().chain(injected(other.dump));
        notes.extend(elsewhere.map(|note| format!("the other dump: {note}")));
        if !other.dump.has_checksums() {
            notes.push("the other dump has no checksums: damage to its payloads cannot be told".to_owned());
        }
    }
    if !subject.dump.has_checksums() {
        notes.push("the dump has no checksums: damage to its payloads cannot be told".to_owned());
    }
    if !subject.tasks.has_edges() {
        notes.push(
            "the dump does not say which task waits for which: tasks are in the order of their ids; \
             the scene and case that were run may know more"
                .to_owned(),
        );
    }
    if subject.tasks.is_cyclic() {
        notes.push("the edges of the dump run in a circle: its graph is damaged".to_owned());
    }
    notes
}

/// Faults that were made on purpose, in words.
fn injected(dump: &Dump) -> impl Iterator<Item = String> {
    let faults = dump.run().into_iter().flat_map(|run| &run.injections);
    faults.map(|fault| {
        let word = |key: &str| fault[key].as_str().unwrap_or("?");
        let (kind, kernel, task) = (word("kind"), word("kernel"), word("task_id"));
        format!("a fault was injected into the run on purpose: {kind} in kernel {kernel}, task {task}")
    })
}

/// Whether the task read an input as it was before its last writer: then its reference makes the wrong elements out
/// of what the input held earlier.
fn stale_read(
    subject: Side<'_>,
    references: &dyn References,
    at: usize,
    output: &Record,
    pair: &Pair<'_>,
    tolerance: &Tolerance,
) -> Option<Finding> {
    let dump = subject.dump;
    let task = subject.tasks.get(at);
    for input in task.inputs.iter().map(|index| dump.record(index)).filter(|r| r.kind == Kind::Tensor) {
        let Ok(now) = dump.payload(&input) else { continue };
        let written = earlier(subject, at, &input);
        let poison = vec![0xff; now.len()];
        let mut older: Vec<(String, &[u8])> = (written.iter())
            .filter_map(|(label, record)| Some((format!("as {label} left it"), dump.payload(record).ok()?)))
            .collect();
        if !written.is_empty() {
            older.push(("before anything was written to it".to_owned(), &poison));
        }
        for (when, bytes) in older.into_iter().filter(|(_, bytes)| *bytes != now) {
            let Ok(made) = expected_with(subject, task, references, Some((input.arg_index, bytes))) else {
                continue;
            };
            let Some(made) = made.iter().find(|made| made.slot == output.arg_index) else { continue };
            let (argument, wrong) = (input.arg_index, pattern::wrong_of(pair, tolerance));
            if wrong == 0 || !pattern::all_wrong_are(pair, tolerance, &made.bytes) {
                continue;
            }
            let mut evidence =
                format!("all {wrong} wrong elements are what the kernel makes of argument {argument} {when}");
            let mut confidence = pattern::Confidence::Strong;
            // NaNs keep their bits on the way through a kernel.
            if pattern::all_wrong_are(pair, tolerance, &vec![0xff; made.bytes.len()]) {
                confidence = pattern::Confidence::Likely;
                evidence += "; an output that was never written would look the same";
            }
            let pattern = pattern::Pattern::StaleRead { argument };
            return Some(Finding { pattern, confidence, explains: wrong, evidence });
        }
    }
    None
}

/// Values that earlier tasks left in the same place; the latest few tell enough.
const STALE: usize = 4;

/// What a wrong output looks like, given its bytes before, what was there earlier, and the task's inputs.
fn recognise(
    subject: Side<'_>,
    at: usize,
    record: &Record,
    pair: &Pair<'_>,
    tolerance: &Tolerance,
) -> Vec<Finding> {
    let dump: &Dump = subject.dump;
    let task = subject.tasks.get(at);
    let inputs: Vec<(String, Record)> = task
        .inputs
        .iter()
        .map(|index| dump.record(index))
        .filter(|input| input.kind == Kind::Tensor)
        .map(|input| (format!("argument {}", input.arg_index), input))
        .collect();
    let inputs: Vec<Input<'_>> = inputs
        .iter()
        .filter_map(|(label, input)| {
            Some(Input { label, dtype: input.dtype?, bytes: dump.payload(input).ok()? })
        })
        .collect();
    let same_layout = record.dtype == Some(pair.dtype());
    let before = task.inputs.iter().map(|index| dump.record(index)).find(|input| {
        same_layout && input.arg_index == record.arg_index && input.logical_bytes == record.logical_bytes
    });
    let before = before.and_then(|input| dump.payload(&input).ok());
    let stale: Vec<(String, Record)> = if same_layout { earlier(subject, at, record) } else { Vec::new() };
    let stale: Vec<Candidate<'_>> = stale
        .iter()
        .filter_map(|(label, record)| Some(Candidate { label, bytes: dump.payload(record).ok()? }))
        .collect();
    pattern::recognise(&Context { pair, tolerance, before, stale: &stale, inputs: &inputs })
}

/// What tasks before this one left at the same address, the latest first.
fn earlier(subject: Side<'_>, at: usize, record: &Record) -> Vec<(String, Record)> {
    if record.address.is_none() {
        return Vec::new();
    }
    let order = subject.tasks.order();
    let place = order.iter().position(|&task| task == at).unwrap_or(0);
    let outputs = order[..place].iter().rev().flat_map(|&task| {
        let task = subject.tasks.get(task);
        task.outputs.iter().map(move |index| (task, subject.dump.record(index)))
    });
    let here = |other: &Record| {
        other.address == record.address
            && other.dtype == record.dtype
            && other.logical_bytes == record.logical_bytes
    };
    let found = outputs.filter(|(_, other)| here(other));
    found.map(|(task, other)| (format!("task {}", task.label()), other)).take(STALE).collect()
}
