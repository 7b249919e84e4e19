//! Every output of a dump compared with what it should be, and what that makes of its tasks.

use argus_abi::{DType, Kind, Stage};
use argus_dump::read::{Dump, Record};
use argus_facts::{Argument, Call, Expected, NoReference, References, with_causes};
use rayon::prelude::*;
use serde::Serialize;

use crate::align::{Alignment, Side, align};
use crate::arguments::{Arguments, pair_arguments};
use crate::compare::{Comparison, Limits, compare, compare_scalars};
use crate::flow;
use crate::golden::{ArgumentKey, Folder, Values};
use crate::tasks::{Task, Tasks};
use crate::verdict::{Agreement, Evidence, First, Verdict, against, firsts, isolated};

/// What the outputs are compared with.
pub enum Expectation<'a> {
    /// Another run.
    Against(Side<'a>),
    /// A folder of values.
    Golden(&'a Folder),
    /// What each task's kernel should make of the inputs that were captured.
    Isolated(&'a dyn References),
}

impl Expectation<'_> {
    pub fn name(&self) -> &'static str {
        match self {
            Expectation::Against(_) => "another dump",
            Expectation::Golden(_) => "a folder of expected values",
            Expectation::Isolated(_) => "each kernel's reference on the captured inputs",
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
}

/// What was found of a dump.
#[derive(Clone, Debug)]
pub struct Findings {
    /// In the order of [`Tasks`].
    pub tasks: Vec<TaskFinding>,
    pub firsts: Vec<First>,
    pub alignment: Option<Alignment>,
    pub end: EndResult,
}

/// Whether the values that nobody reads any more are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndResult {
    Agrees,
    Differs,
    /// None of it could be compared.
    Unknown,
}

/// How many tasks have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub clean: usize,
    pub introduced: usize,
    pub inherited: usize,
    pub unknown: usize,
}

impl Findings {
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for task in &self.tasks {
            *match task.verdict {
                Verdict::Clean => &mut counts.clean,
                Verdict::Introduced => &mut counts.introduced,
                Verdict::Inherited => &mut counts.inherited,
                Verdict::Unknown(_) => &mut counts.unknown,
            } += 1;
        }
        counts
    }

    pub fn any_wrong(&self) -> bool {
        self.tasks.iter().any(|task| task.verdict.is_wrong())
    }

    /// Outputs that differ of tasks about which no verdict was possible.
    pub fn any_beyond(&self) -> bool {
        let outputs = self.tasks.iter().flat_map(|task| &task.outputs);
        outputs.into_iter().any(|output| output.agreement == Agreement::Beyond)
    }
}

/// Compares everything. `done` hears how many tasks are through.
pub fn search(
    subject: Side<'_>,
    expectation: &Expectation<'_>,
    options: Options,
    done: impl Fn(usize) + Sync,
) -> Findings {
    let alignment = match expectation {
        Expectation::Against(other) => Some(align(subject, *other)),
        _ => None,
    };
    let mut tasks: Vec<TaskFinding> = (0..subject.tasks.len())
        .into_par_iter()
        .map(|at| {
            let finding = match expectation {
                Expectation::Against(other) => {
                    let place = alignment.as_ref().and_then(|alignment| alignment.pairs[at]);
                    task_against(subject, at, *other, place, options)
                }
                Expectation::Golden(folder) => task_golden(subject, at, folder, options),
                Expectation::Isolated(references) => task_isolated(subject, at, *references, options),
            };
            done(at);
            finding
        })
        .collect();
    let verdicts = match expectation {
        Expectation::Against(_) => verdicts_against(subject.tasks, &tasks),
        // A folder says what is right, not what follows from what: the same rule as for another run, with what
        // the folder leaves open taken from the tasks before.
        Expectation::Golden(_) => verdicts_golden(subject, &tasks),
        Expectation::Isolated(_) => verdicts_isolated(subject, &tasks),
    };
    let verdicts: Vec<Verdict> = verdicts
        .into_iter()
        .zip(subject.tasks.iter())
        // A task that only owns memory computes nothing that could be wrong.
        .map(|(verdict, task)| if task.is_idle() { Verdict::Clean } else { verdict })
        .collect();
    let firsts = firsts(subject.tasks, &verdicts);
    for (task, verdict) in tasks.iter_mut().zip(verdicts) {
        task.verdict = verdict;
    }
    let end = end_result(subject.tasks, &tasks);
    Findings { tasks, firsts, alignment, end }
}

fn unjudged() -> TaskFinding {
    TaskFinding {
        verdict: Verdict::Unknown("nothing was compared".to_owned()),
        inputs: Vec::new(),
        outputs: Vec::new(),
        input_remarks: Vec::new(),
        remarks: Vec::new(),
    }
}

fn task_against(
    subject: Side<'_>,
    at: usize,
    other: Side<'_>,
    place: Option<usize>,
    options: Options,
) -> TaskFinding {
    let mut finding = unjudged();
    let Some(place) = place else {
        finding.remarks.push("the other dump has no such task".to_owned());
        return finding;
    };
    let (a, b) = (subject.tasks.get(at), other.tasks.get(place));
    let compare_all = |lefts: &[usize], rights: &[usize], remarks: &mut Vec<String>| -> Vec<Comparison> {
        let Arguments { pairs, unpaired } = pair_arguments(subject.dump, lefts, other.dump, rights);
        remarks.extend(unpaired);
        let one = |&(left, right): &(usize, usize)| pair(subject.dump, left, other.dump, right, options);
        pairs.iter().map(one).collect()
    };
    finding.inputs = compare_all(&a.inputs, &b.inputs, &mut finding.input_remarks);
    finding.outputs = compare_all(&a.outputs, &b.outputs, &mut finding.remarks);
    finding
}

fn pair(left: &Dump, one: usize, right: &Dump, two: usize, options: Options) -> Comparison {
    let (actual, expected) = (left.record(one), right.record(two));
    let label = format!("record {two}");
    if actual.kind == Kind::Scalar {
        return compare_scalars(&actual, &expected, label);
    }
    let with_record = |comparison: Comparison| Comparison { expected_record: Some(two), ..comparison };
    // Equal checksums spare the bytes; what differs is looked at.
    if !options.full
        && actual.checksum.is_some()
        && actual.checksum == expected.checksum
        && actual.logical_bytes == expected.logical_bytes
    {
        return with_record(Comparison::equal(&actual, label));
    }
    let payloads = left.payload(&actual).and_then(|actual| Ok((actual, right.payload(&expected)?)));
    match payloads {
        Ok((bytes, wanted)) => with_record(compare(&actual, bytes, wanted, label, None, options)),
        Err(error) => Comparison::unknown(&actual, label, with_causes(&error)),
    }
}

fn task_golden(subject: Side<'_>, at: usize, folder: &Folder, options: Options) -> TaskFinding {
    let mut finding = unjudged();
    let task = subject.tasks.get(at);
    let check = |index: usize| -> Option<Comparison> {
        let record = subject.dump.record(index);
        let (dtype, elements) = (record.dtype?, record.numel()?);
        let (label, values) = match folder.values(place(&record), dtype, elements)? {
            Ok(found) => found,
            Err(error) => return Some(Comparison::unknown(&record, String::new(), with_causes(&error))),
        };
        let payload = match subject.dump.payload(&record) {
            Ok(payload) => payload,
            Err(error) => return Some(Comparison::unknown(&record, label, with_causes(&error))),
        };
        Some(match values {
            Values::Own(bytes) => compare(&record, payload, &bytes, label, None, options),
            Values::F32(bytes) => crate::compare::compare_widened(&record, payload, &bytes, label, options),
        })
    };
    finding.inputs = task.inputs.iter().filter_map(|&index| check(index)).collect();
    finding.outputs = task.outputs.iter().filter_map(|&index| check(index)).collect();
    if finding.outputs.is_empty() {
        finding.remarks.push("the folder expects nothing of this task's outputs".to_owned());
    }
    finding
}

fn task_isolated(subject: Side<'_>, at: usize, references: &dyn References, options: Options) -> TaskFinding {
    let mut finding = unjudged();
    let task = subject.tasks.get(at);
    if !task.completed {
        finding.remarks.push("the task did not complete".to_owned());
        return finding;
    }
    let expected = match expected(subject, task, references) {
        Ok(expected) => expected,
        Err(why) => {
            finding.remarks.push(with_causes(&why));
            return finding;
        }
    };
    for &index in &task.outputs {
        let record = subject.dump.record(index);
        if record.kind == Kind::Scalar {
            continue;
        }
        let label = "the kernel's reference".to_owned();
        let comparison =
            match (expected.iter().find(|e| e.slot == record.arg_index), subject.dump.payload(&record)) {
                (None, _) => {
                    Comparison::unknown(&record, label, "its reference says nothing about it".to_owned())
                }
                (_, Err(error)) => Comparison::unknown(&record, label, with_causes(&error)),
                (Some(expected), Ok(payload)) => {
                    compare(&record, payload, &expected.bytes, label, Some(expected), options)
                }
            };
        finding.outputs.push(comparison);
    }
    finding
}

/// What the references say of a task.
fn expected(
    subject: Side<'_>,
    task: &Task,
    references: &dyn References,
) -> Result<Vec<Expected>, NoReference> {
    let kernels = subject.tasks.kernel_names(task).ok_or(NoReference::Unnamed)?;
    references.expected(&Call {
        func_ids: &task.func_ids,
        kernels: &kernels,
        blocks: task.blocks,
        arguments: &arguments(subject.dump, task),
    })
}

/// Each slot once, as it was before dispatch; outputs without their bytes.
fn arguments<'a>(dump: &'a Dump, task: &Task) -> Vec<Argument<'a>> {
    let mut arguments: Vec<Argument<'a>> = Vec::new();
    for &index in task.inputs.iter().chain(&task.outputs) {
        let record = dump.record(index);
        // What every block of a task read was captured once per block by some dumps: the first one counts.
        if arguments.iter().any(|known| known.slot == record.arg_index) {
            continue;
        }
        let before = match record.stage {
            Stage::BeforeDispatch => dump.payload(&record).ok(),
            Stage::AfterCompletion => None,
        };
        arguments.push(Argument {
            slot: record.arg_index,
            role: record.role,
            dtype: record.dtype.unwrap_or(DType::U8),
            shape: record.shape().to_vec(),
            before,
            scalar_bits: crate::compare::exact_bits(&record),
        });
    }
    arguments.sort_by_key(|argument| argument.slot);
    arguments
}

fn evidence(finding: &TaskFinding) -> Evidence {
    let agreements =
        |list: &[Comparison]| list.iter().map(|comparison| comparison.agreement.clone()).collect();
    let mut outputs: Vec<Agreement> = agreements(&finding.outputs);
    let nothing = outputs.is_empty().then(|| {
        finding.remarks.first().cloned().unwrap_or_else(|| "no output of it was captured".to_owned())
    });
    outputs.extend(finding.remarks.iter().filter(|_| nothing.is_none()).cloned().map(Agreement::Unknown));
    // Scalars come from the orchestration, and raw kernels have others than those with descriptors. They explain
    // an output that differs; by themselves they are nobody's error.
    let differs = outputs.contains(&Agreement::Beyond);
    let explaining = finding.inputs.iter().filter(|input| differs || input.kind == Kind::Tensor);
    let mut inputs: Vec<Agreement> = explaining.map(|input| input.agreement.clone()).collect();
    inputs.extend(finding.input_remarks.iter().cloned().map(Agreement::Unknown));
    Evidence { inputs, outputs, reads_wrong: false, nothing }
}

fn verdicts_against(tasks: &Tasks, findings: &[TaskFinding]) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::Clean; tasks.len()];
    for &at in tasks.order() {
        let mut before = tasks.predecessors(at).iter().filter(|edge| edge.data);
        let behind_wrong = before.any(|edge| verdicts[edge.task].is_wrong());
        verdicts[at] = against(&evidence(&findings[at]), behind_wrong);
    }
    verdicts
}

fn verdicts_golden(subject: Side<'_>, findings: &[TaskFinding]) -> Vec<Verdict> {
    let wrong: Vec<bool> = findings
        .iter()
        .map(|finding| finding.outputs.iter().any(|output| output.agreement == Agreement::Beyond))
        .collect();
    let reads = flow::reads_wrong(subject.dump, subject.tasks, &wrong);
    let verdict = |at: usize| {
        let evidence = evidence(&findings[at]);
        let input_differs = evidence.inputs.contains(&Agreement::Beyond);
        match (wrong[at], input_differs || reads[at]) {
            (_, true) => Verdict::Inherited,
            (true, false) => Verdict::Introduced,
            (false, false) => isolated(&evidence),
        }
    };
    (0..findings.len()).map(verdict).collect()
}

fn verdicts_isolated(subject: Side<'_>, findings: &[TaskFinding]) -> Vec<Verdict> {
    let mut evidence: Vec<Evidence> = findings.iter().map(evidence).collect();
    let wrong: Vec<bool> =
        evidence.iter().map(|evidence| evidence.outputs.contains(&Agreement::Beyond)).collect();
    let reads = flow::reads_wrong(subject.dump, subject.tasks, &wrong);
    for (evidence, reads_wrong) in evidence.iter_mut().zip(reads) {
        evidence.reads_wrong = reads_wrong;
    }
    evidence.iter().map(isolated).collect()
}

/// Of the tasks that nobody waits for.
fn end_result(tasks: &Tasks, findings: &[TaskFinding]) -> EndResult {
    let last = (0..tasks.len()).filter(|&at| tasks.successors(at).is_empty());
    let mut end = EndResult::Unknown;
    for at in last {
        let finding = &findings[at];
        let differs = finding.outputs.iter().any(|output| output.agreement == Agreement::Beyond);
        // What was computed rightly from wrong inputs is wrong all the same, unless it was compared itself.
        if differs || (finding.verdict == Verdict::Inherited && finding.inputs.is_empty()) {
            return EndResult::Differs;
        }
        if !finding.outputs.is_empty() {
            end = EndResult::Agrees;
        }
    }
    end
}

/// Both sides of a comparison once more, for a closer look.
pub(crate) struct Again {
    pub dtype: DType,
    pub wanted: Vec<u8>,
    /// The actual values, where they were widened to compare.
    pub widened: Option<Vec<u8>>,
}

pub(crate) fn again(
    subject: Side<'_>,
    expectation: &Expectation<'_>,
    at: usize,
    comparison: &Comparison,
) -> Option<Again> {
    let record = subject.dump.record(comparison.record);
    let dtype = record.dtype?;
    let own = |wanted: Vec<u8>| Some(Again { dtype, wanted, widened: None });
    match expectation {
        Expectation::Against(other) => {
            let expected = other.dump.record(comparison.expected_record?);
            own(other.dump.payload(&expected).ok()?.to_vec())
        }
        Expectation::Golden(folder) => match folder.values(place(&record), dtype, record.numel()?)?.ok()?.1 {
            Values::Own(bytes) => own(bytes),
            Values::F32(wanted) => {
                let widened =
                    Some(crate::compare::widen(dtype, subject.dump.payload(&record).ok()?, record.numel()?)?);
                Some(Again { dtype: DType::F32, wanted, widened })
            }
        },
        Expectation::Isolated(references) => {
            let expected = expected(subject, subject.tasks.get(at), *references).ok()?;
            let expected = expected.into_iter().find(|expected| expected.slot == record.arg_index)?;
            let mut wanted = expected.bytes;
            if let (Some(mask), Ok(actual)) = (expected.unchecked, subject.dump.payload(&record)) {
                crate::compare::take_over(dtype, &mask, actual, &mut wanted);
            }
            own(wanted)
        }
    }
}

fn place(record: &Record) -> ArgumentKey {
    ArgumentKey { task: record.task_id, argument: record.arg_index, stage: record.stage }
}
