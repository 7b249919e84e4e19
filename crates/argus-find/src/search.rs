//! Every output of a dump compared with what it should be, and what that makes of its tasks.
//!
//! | file | subject |
//! |---|---|
//! | this one | from comparisons to verdicts |
//! | `task` | the records of one task compared |
//! | `end` | whether the values that no task reads any more are right |
//! | `again` | both sides of a comparison once more |

mod again;
mod end;
mod task;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::{PoisonError, RwLock};

use argus_abi::Kind;
use argus_facts::References;
use rayon::prelude::*;
use serde::Serialize;

use crate::align::{AlignedBy, Alignment, Side, align};
use crate::compare::{Comparison, Limits};
use crate::flow::{self, Judged, Known, State, Written};
use crate::golden::Folder;
use crate::metrics::Tolerance;
use crate::tasks::Tasks;
use crate::verdict::{Agreement, Evidence, First, Verdict, compared, firsts, isolated};

pub use again::{Again, again};
pub use end::EndResult;
pub(crate) use task::expected_with;

/// What the outputs are compared with.
#[derive(Clone, Copy)]
pub enum Expectation<'a> {
    /// Another run.
    Against(Side<'a>),
    /// A folder of values.
    Golden(&'a Folder),
    /// What each task's kernel should make of the inputs that were captured.
    Isolated(&'a dyn References),
}

/// The name of [`Expectation::Isolated`].
pub const BY_REFERENCE: &str = "each kernel's reference on the captured inputs";

impl Expectation<'_> {
    pub fn name(&self) -> &'static str {
        match self {
            Expectation::Against(_) => "another dump",
            Expectation::Golden(_) => "a folder of expected values",
            Expectation::Isolated(_) => BY_REFERENCE,
        }
    }
}

/// How to search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub limits: Limits,
    /// All metrics for every pair, not only for those that differ.
    pub full: bool,
}

/// What was found of one task.
#[derive(Clone, Debug)]
pub struct TaskFinding {
    pub verdict: Verdict,
    pub inputs: Vec<Comparison>,
    pub outputs: Vec<Comparison>,
    /// What could not be compared, and why: of its inputs, and of everything else.
    pub input_remarks: Vec<String>,
    pub remarks: Vec<String>,
    /// Records of it that are damaged, on either side, and how.
    pub damage: Vec<(usize, String)>,
    /// Whether there was something to compare it with, and something of it to compare.
    pub supplied: bool,
    /// Whether one side has tensors of it that the other lacks.
    pub lacking: bool,
    /// Scalars of it that were compared with nothing, because the other side lacks them or has another type.
    pub scalars_left: usize,
    /// It runs no kernel.
    pub idle: bool,
}

/// What is kept of a task.
#[derive(Clone, Debug)]
pub enum Found {
    /// It was compared with a task of another dump, every pair is equal, outputs among them, and there is nothing else to
    /// tell. Of two runs of one program nearly all tasks are like that, and there may be millions of them: the pairs
    /// are not kept, and made again by [`Findings::told`] where they are shown.
    Equal {
        pairs: u32,
        /// Outputs among them that are tensors.
        tensors: u32,
    },
    Told(Box<TaskFinding>),
}

impl Found {
    fn new(finding: TaskFinding) -> Found {
        let plain = finding.supplied
            && !finding.lacking
            && !finding.outputs.is_empty()
            && finding.remarks.is_empty()
            && finding.input_remarks.is_empty()
            && finding.damage.is_empty()
            && finding.scalars_left == 0;
        let mut all = finding.inputs.iter().chain(&finding.outputs);
        if !plain || !all.all(|pair| pair.agreement == Agreement::Equal) {
            return Found::Told(Box::new(finding));
        }
        let tensors = finding.outputs.iter().filter(|output| output.kind == Kind::Tensor).count();
        let pairs = finding.inputs.len() + finding.outputs.len();
        Found::Equal { pairs: pairs as u32, tensors: tensors as u32 }
    }

    pub fn verdict(&self) -> &Verdict {
        match self {
            Found::Equal { .. } => &Verdict::Clean,
            Found::Told(finding) => &finding.verdict,
        }
    }

    /// Everything, unless all pairs are equal.
    pub fn kept(&self) -> Option<&TaskFinding> {
        match self {
            Found::Equal { .. } => None,
            Found::Told(finding) => Some(finding),
        }
    }
}

/// What was found of a dump.
#[derive(Clone, Debug)]
pub struct Findings {
    /// In the order of [`Tasks`].
    pub tasks: Vec<Found>,
    pub firsts: Vec<First>,
    pub alignment: Option<Alignment>,
    pub end: EndResult,
    /// What counted as agreement, each rule once.
    pub rules: Vec<Tolerance>,
    options: Options,
}

/// How many tasks have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub clean: usize,
    pub introduced: usize,
    pub inherited: usize,
    pub here_or_upstream: usize,
    pub damaged: usize,
    pub unknown: usize,
}

impl Findings {
    /// Of the tasks that run kernels; the others compute nothing that could be right or wrong.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for task in self.tasks.iter().filter(|task| task.kept().is_none_or(|finding| !finding.idle)) {
            *match task.verdict() {
                Verdict::Clean => &mut counts.clean,
                Verdict::Introduced => &mut counts.introduced,
                Verdict::Inherited => &mut counts.inherited,
                Verdict::HereOrUpstream(_) => &mut counts.here_or_upstream,
                Verdict::Damaged(_) => &mut counts.damaged,
                Verdict::Unknown(_) => &mut counts.unknown,
            } += 1;
        }
        counts
    }

    pub fn any_wrong(&self) -> bool {
        self.tasks.iter().any(|task| task.verdict().is_wrong())
    }

    /// Outputs that differ of tasks about which no verdict was possible.
    pub fn any_beyond(&self) -> bool {
        let mut outputs = self.tasks.iter().filter_map(Found::kept).flat_map(|task| &task.outputs);
        outputs.any(|output| output.agreement == Agreement::Beyond)
    }

    /// Tasks that were given another scalar than their counterparts. It says nothing where tasks were matched by
    /// structure: the slots of another program may mean something else.
    pub fn other_scalars(&self) -> usize {
        let by_id = self.alignment.as_ref().is_some_and(|alignment| alignment.by == AlignedBy::TaskId);
        let differs = |input: &Comparison| input.kind == Kind::Scalar && input.agreement == Agreement::Beyond;
        let kept = self.tasks.iter().filter_map(Found::kept);
        kept.filter(|task| by_id && task.inputs.iter().any(differs)).count()
    }

    /// Tasks of which an output was compared.
    pub fn judged(&self) -> usize {
        let judged = |task: &TaskFinding| task.outputs.iter().any(Comparison::is_judged);
        self.tasks.iter().filter(|task| task.kept().is_none_or(judged)).count()
    }

    /// Everything about the task at `at`: as it was kept, or compared once more.
    pub fn told(&self, subject: Side<'_>, expectation: &Expectation<'_>, at: usize) -> Cow<'_, TaskFinding> {
        match (&self.tasks[at], expectation) {
            (Found::Told(finding), _) => Cow::Borrowed(finding),
            (Found::Equal { .. }, _) => {
                let place = self.alignment.as_ref().and_then(|alignment| alignment.pairs[at]);
                let mut finding = compare_task(subject, expectation, at, place, self.options);
                finding.verdict = Verdict::Clean;
                Cow::Owned(finding)
            }
        }
    }
}

/// Compares everything. `done` hears which tasks are through.
pub fn search(
    subject: Side<'_>,
    expectation: &Expectation<'_>,
    options: Options,
    done: impl Fn(usize) + Sync,
) -> Findings {
    let each = |at| {
        done(at);
        ControlFlow::Continue(())
    };
    match search_while(subject, expectation, options, each) {
        Some(findings) => findings,
        None => unreachable!("it is never told to stop"),
    }
}

/// Compares everything, unless it is told to stop when a task is through; then nothing is known.
pub fn search_while(
    subject: Side<'_>,
    expectation: &Expectation<'_>,
    options: Options,
    done: impl Fn(usize) -> ControlFlow<()> + Sync,
) -> Option<Findings> {
    let alignment = match expectation {
        Expectation::Against(other) => Some(align(subject, *other)),
        _ => None,
    };
    let rules = Rules::default();
    let mut tasks: Vec<Found> = (0..subject.tasks.len())
        .into_par_iter()
        .map(|at| {
            let place = alignment.as_ref().and_then(|alignment| alignment.pairs[at]);
            let finding = compare_task(subject, expectation, at, place, options);
            finding.inputs.iter().chain(&finding.outputs).for_each(|pair| rules.add(pair.tolerance));
            let found = match expectation {
                Expectation::Against(_) => Found::new(finding),
                _ => Found::Told(Box::new(finding)),
            };
            done(at).is_continue().then_some(found)
        })
        .collect::<Option<_>>()?;
    let (verdicts, reads) = match expectation {
        Expectation::Against(_) => (verdicts_against(subject.tasks, &tasks), Vec::new()),
        // A folder says what is right, not what follows from what: the same rule as for another run, with what
        // the folder leaves open taken from the tasks before.
        Expectation::Golden(_) => verdicts_by_memory(subject, &tasks, Judged::Absolutely),
        Expectation::Isolated(_) => verdicts_by_memory(subject, &tasks, Judged::ByInputs),
    };
    let verdicts: Vec<Verdict> = verdicts
        .into_iter()
        .zip(subject.tasks.iter())
        // A task that only owns memory computes nothing that could be wrong.
        .map(|(verdict, task)| if task.is_idle() { Verdict::Clean } else { verdict })
        .collect();
    let firsts = firsts(subject.tasks, &verdicts);
    for (task, verdict) in tasks.iter_mut().zip(verdicts) {
        if let Found::Told(finding) = task {
            finding.verdict = verdict;
        }
    }
    let judged = matches!(expectation, Expectation::Isolated(_)).then_some(&reads[..]);
    let end = end::end_result(subject, &tasks, judged);
    Some(Findings { tasks, firsts, alignment, end, rules: rules.0.into_inner().unwrap_or_default(), options })
}

/// Compares one task; `place` is that of its counterpart in the other dump.
fn compare_task(
    subject: Side<'_>,
    expectation: &Expectation<'_>,
    at: usize,
    place: Option<usize>,
    options: Options,
) -> TaskFinding {
    match expectation {
        Expectation::Against(other) => task::against(subject, at, *other, place, options),
        Expectation::Golden(folder) => task::golden(subject, at, folder, options),
        Expectation::Isolated(references) => task::isolated(subject, at, *references, options),
    }
}

/// Different rules of agreement: a few, met by many threads.
#[derive(Default)]
struct Rules(RwLock<Vec<Tolerance>>);

impl Rules {
    fn add(&self, tolerance: Option<Tolerance>) {
        let Some(tolerance) = tolerance else { return };
        let known = |rules: &[Tolerance]| rules.iter().any(|rule| rule.same_rule(&tolerance));
        if known(&self.0.read().unwrap_or_else(PoisonError::into_inner)) {
            return;
        }
        let mut rules = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !known(&rules) {
            rules.push(tolerance);
        }
    }
}

fn evidence(tasks: &Tasks, at: usize, finding: &TaskFinding) -> Evidence {
    let mut outputs: Vec<Agreement> =
        finding.outputs.iter().map(|comparison| comparison.agreement.clone()).collect();
    let nothing = outputs.is_empty().then(|| {
        finding.remarks.first().cloned().unwrap_or_else(|| "no output of it was captured".to_owned())
    });
    outputs.extend(finding.remarks.iter().filter(|_| nothing.is_none()).cloned().map(Agreement::Unknown));
    // Scalars come from the orchestration, and raw kernels have others than those with descriptors. They explain
    // an output that differs; by themselves they are no error of a task.
    let differs = outputs.contains(&Agreement::Beyond);
    let explaining = finding.inputs.iter().filter(|input| differs || input.kind == Kind::Tensor);
    let mut inputs: Vec<Agreement> = explaining.map(|input| input.agreement.clone()).collect();
    inputs.extend(finding.input_remarks.iter().cloned().map(Agreement::Unknown));
    Evidence {
        inputs,
        outputs,
        reads: State::Right,
        inputs_known: tasks.get(at).inputs_known,
        damage: finding.damage.iter().map(|(_, why)| why.clone()).collect(),
        nothing,
    }
}

fn verdicts_against(tasks: &Tasks, found: &[Found]) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::Clean; tasks.len()];
    for &at in tasks.order() {
        let Some(finding) = found[at].kept() else { continue };
        let mut before = tasks.predecessors(at).iter().filter(|edge| edge.data);
        let behind_wrong = before.any(|edge| verdicts[edge.task].is_wrong());
        verdicts[at] = compared(&evidence(tasks, at, finding), behind_wrong);
    }
    verdicts
}

/// What memory is told of a task.
fn known(finding: &TaskFinding) -> Known {
    let judged = finding.outputs.iter().filter(|output| output.is_judged());
    let inputs = finding.inputs.iter().filter(|input| input.kind == Kind::Tensor);
    Known {
        outputs: judged
            .map(|output| Written {
                record: output.record,
                wrong: output.wrong.clone(),
                unjudged: output.unjudged.clone(),
            })
            .collect(),
        judged_inputs: inputs.filter(|input| input.is_judged()).map(|input| input.record).collect(),
        input_wrong: finding
            .inputs
            .iter()
            .any(|input| input.kind == Kind::Tensor && input.agreement == Agreement::Beyond),
    }
}

/// Verdicts that follow from what each task read, which is known by the bytes that other tasks left there.
fn verdicts_by_memory(subject: Side<'_>, found: &[Found], judged: Judged) -> (Vec<Verdict>, Vec<State>) {
    let known: Vec<Known> = found.iter().map(|task| task.kept().map(known).unwrap_or_default()).collect();
    let reads = flow::reads(subject.dump, subject.tasks, &known, judged);
    let verdict = |(at, finding): (usize, &Found)| {
        let Some(finding) = finding.kept() else { return Verdict::Clean };
        let evidence = Evidence { reads: reads[at], ..evidence(subject.tasks, at, finding) };
        match judged {
            Judged::Absolutely => compared(&evidence, false),
            Judged::ByInputs => isolated(&evidence),
        }
    };
    (found.iter().enumerate().map(verdict).collect(), reads)
}
