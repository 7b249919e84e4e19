//! The records of one task compared with what they should be.

use argus_abi::{DType, Kind, Stage};
use argus_dump::read::{Dump, Record};
use argus_facts::{Argument, Call, Expected, NoReference, References, with_causes};

use super::{Options, TaskFinding};
use crate::align::Side;
use crate::arguments::{Arguments, pair_arguments};
use crate::compare::{Comparison, compare, compare_scalars, compare_widened};
use crate::golden::{ArgumentKey, Folder, Values};
use crate::indices::Indices;
use crate::tasks::Task;
use crate::verdict::Verdict;

/// Said of tasks whose outputs, if there are any, are whatever they had written when the run ended.
fn did_not_end(task: &Task) -> String {
    if task.has_started() {
        "it was running when the run ended"
    } else {
        "it had not started when the run ended"
    }
    .to_owned()
}

/// A task of which nothing was compared yet, with the records of it that are damaged.
fn begin(subject: Side<'_>, at: usize) -> TaskFinding {
    TaskFinding {
        verdict: Verdict::Unknown("nothing was compared".to_owned()),
        inputs: Vec::new(),
        outputs: Vec::new(),
        input_remarks: Vec::new(),
        remarks: Vec::new(),
        damage: damage(subject.dump, subject.tasks.get(at)),
        supplied: true,
        lacking: false,
        scalars_left: 0,
        idle: subject.tasks.get(at).is_idle(),
    }
}

/// Records of a task with other bytes than were captured.
fn damage(dump: &Dump, task: &Task) -> Vec<(usize, String)> {
    let records = task.inputs.iter().chain(task.outputs.iter());
    let damaged = records.filter_map(|index| {
        let error = dump.payload(&dump.record(index)).err().filter(|error| error.is_damage())?;
        Some((index, with_causes(&error)))
    });
    damaged.collect()
}

pub(super) fn against(
    subject: Side<'_>,
    at: usize,
    other: Side<'_>,
    place: Option<usize>,
    options: Options,
) -> TaskFinding {
    let mut finding = begin(subject, at);
    let Some(place) = place else {
        finding.remarks.push("the other dump has no such task".to_owned());
        return finding;
    };
    let (a, b) = (subject.tasks.get(at), other.tasks.get(place));
    // Skipped in both runs, or captured in neither.
    let bare = |task: &Task| task.inputs.is_empty() && task.outputs.is_empty();
    finding.supplied = !(bare(a) && bare(b));
    let elsewhere = damage(other.dump, b).into_iter();
    finding.damage.extend(elsewhere.map(|(index, why)| (index, format!("the other dump: {why}"))));
    finding.lacking = tensors(subject.dump, a) != tensors(other.dump, b);
    let mut scalars = 0;
    let mut compare_all = |lefts: &Indices, rights: &Indices, remarks: &mut Vec<String>| -> Vec<Comparison> {
        let Arguments { pairs, unpaired, scalars_left } =
            pair_arguments(subject.dump, lefts, other.dump, rights);
        remarks.extend(unpaired);
        scalars += scalars_left;
        let one = |&(left, right): &(usize, usize)| pair(subject.dump, left, other.dump, right, options);
        pairs.iter().map(one).collect()
    };
    finding.inputs = compare_all(&a.inputs, &b.inputs, &mut finding.input_remarks);
    if !b.inputs_known {
        finding.input_remarks.push("the other dump does not have all of its inputs".to_owned());
    }
    match (a.completed, b.completed) {
        (true, true) => {
            finding.outputs = compare_all(&a.outputs, &b.outputs, &mut finding.remarks);
        }
        (false, _) => finding.remarks.push(did_not_end(a)),
        (true, false) => finding.remarks.push("it was running when the other run ended".to_owned()),
    }
    finding.scalars_left = scalars;
    finding
}

/// How many tensors of a task were captured, at whatever stage.
fn tensors(dump: &Dump, task: &Task) -> usize {
    let records = task.inputs.iter().chain(task.outputs.iter()).map(|index| dump.record(index));
    let tensors = records.filter(|record| record.kind == Kind::Tensor);
    let mut slots: Vec<_> = tensors.map(|record| (record.arg_index, record.subtask)).collect();
    slots.sort_unstable();
    slots.dedup();
    slots.len()
}

fn pair(left: &Dump, one: usize, right: &Dump, two: usize, options: Options) -> Comparison {
    let (actual, expected) = (left.record(one), right.record(two));
    let label = format!("record {two}");
    if actual.kind == Kind::Scalar {
        return compare_scalars(&actual, &expected, label);
    }
    let with_record = |comparison: Comparison| Comparison { expected_record: Some(two), ..comparison };
    let same_checksum = actual.checksum.is_some()
        && actual.checksum == expected.checksum
        && actual.logical_bytes == expected.logical_bytes;
    match (left.payload(&actual), right.payload(&expected)) {
        // Both were just held to their checksums, so equal ones spare the bytes.
        (Ok(_), Ok(_)) if same_checksum && !options.full => with_record(Comparison::equal(&actual, label)),
        (Ok(bytes), Ok(wanted)) => with_record(compare(&actual, bytes, wanted, label, None, options)),
        (Err(error), _) => Comparison::without(&actual, label, &error),
        (_, Err(error)) => Comparison::without(&actual, format!("{label} of the other dump"), &error),
    }
}

pub(super) fn golden(subject: Side<'_>, at: usize, folder: &Folder, options: Options) -> TaskFinding {
    let mut finding = begin(subject, at);
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
            Err(error) => return Some(Comparison::without(&record, label, &error)),
        };
        Some(match values {
            Values::Own(bytes) => compare(&record, payload, &bytes, label, None, options),
            Values::F32(bytes) => compare_widened(&record, payload, &bytes, label, options),
        })
    };
    finding.inputs = task.inputs.iter().filter_map(check).collect();
    let outputs: Vec<Comparison> = task.outputs.iter().filter_map(check).collect();
    if outputs.is_empty() {
        finding.supplied = false;
        finding.remarks.push("the folder expects nothing of its outputs".to_owned());
    } else if task.completed {
        finding.outputs = outputs;
    } else {
        finding.remarks.push(did_not_end(task));
    }
    finding
}

pub(super) fn isolated(
    subject: Side<'_>,
    at: usize,
    references: &dyn References,
    options: Options,
) -> TaskFinding {
    let mut finding = begin(subject, at);
    let task = subject.tasks.get(at);
    if !task.completed {
        finding.remarks.push(did_not_end(task));
        return finding;
    }
    if task.inputs.is_empty() && task.outputs.is_empty() {
        finding.supplied = false;
        finding.remarks.push("nothing of it was captured".to_owned());
        return finding;
    }
    let expected = match expected(subject, task, references) {
        Ok(expected) => expected,
        Err(why) => {
            finding.remarks.push(with_causes(&why));
            return finding;
        }
    };
    for index in task.outputs.iter() {
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
                (_, Err(error)) => Comparison::without(&record, label, &error),
                (Some(expected), Ok(payload)) => {
                    compare(&record, payload, &expected.bytes, label, Some(expected), options)
                }
            };
        finding.outputs.push(comparison);
    }
    finding
}

/// What the references say of a task.
pub(super) fn expected(
    subject: Side<'_>,
    task: &Task,
    references: &dyn References,
) -> Result<Vec<Expected>, NoReference> {
    expected_with(subject, task, references, None)
}

/// The same with other bytes in one slot.
pub(crate) fn expected_with(
    subject: Side<'_>,
    task: &Task,
    references: &dyn References,
    instead: Option<(u32, &[u8])>,
) -> Result<Vec<Expected>, NoReference> {
    let mut arguments = arguments(subject.dump, task);
    if let Some((slot, bytes)) = instead
        && let Some(argument) = arguments.iter_mut().find(|argument| argument.slot == slot)
    {
        argument.before = Some(bytes);
    }
    let kernels = subject.tasks.kernel_names(task).ok_or(NoReference::Unnamed)?;
    references.expected(&Call {
        task: task.id,
        func_ids: &task.func_ids,
        kernels: &kernels,
        blocks: task.blocks,
        arguments: &arguments,
    })
}

/// Each slot once, as it was before dispatch; outputs without their bytes.
fn arguments<'a>(dump: &'a Dump, task: &Task) -> Vec<Argument<'a>> {
    let mut arguments: Vec<Argument<'a>> = Vec::new();
    for index in task.inputs.iter().chain(task.outputs.iter()) {
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

pub(super) fn place(record: &Record) -> ArgumentKey {
    ArgumentKey { task: record.task_id, argument: record.arg_index, stage: record.stage }
}
