//! Which records of a dump are meant.
//!
//! Conditions are those that select what is captured, see [`argus_facts::select`], and two that only a dump
//! can answer: `nan` and `index`. All of them must hold. What matches nothing is an error that says what there
//! is, because an empty answer teaches nothing.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use argus_abi::{DType, FuncId, Kind, Role, Stage, TaskId};
use argus_facts::kernel_info::is_called;
use argus_facts::select::{Condition, KEYS, Subject, parse_range};
use argus_facts::{FuncIds, TaskSelector};
use rayon::prelude::*;
use thiserror::Error;

use crate::read::{Dump, Record, Scalar};
use crate::stats::Accumulator;
use argus_facts::number::number;

/// What is listed before "and n more".
const LISTED: usize = 10;

/// Why a filter cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FilterError {
    #[error("'{part}' in filter '{filter}' is not of the form key=value")]
    NotAPair { filter: String, part: String },
    #[error("there is no filter '{key}'; there are {}, nan, index", KEYS.join(", "))]
    UnknownKey { key: String },
    #[error("{key}={value} is not valid: {why}")]
    BadValue { key: String, value: String, why: &'static str },
    /// `before` is empty for the first condition, else ` of the n records with ...`.
    #[error("no record{before} has {condition}; {there}")]
    Nothing { before: String, condition: String, there: String },
}

/// Conditions that must all hold; without any, every record is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Each as it was typed and as it was understood.
    conditions: Vec<(String, Test)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Shared(Condition),
    /// Whether there is a NaN or an infinity among the values.
    NotFinite(bool),
    Index(RangeInclusive<usize>),
}

impl Filter {
    /// Parses `key=value[,key=value]`.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        let mut filter = Filter::default();
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                return Err(FilterError::NotAPair { filter: text.to_owned(), part: part.to_owned() });
            };
            filter.add(key.trim(), value.trim())?;
        }
        Ok(filter)
    }

    /// Adds one condition.
    pub fn add(&mut self, key: &str, value: &str) -> Result<(), FilterError> {
        let bad = |why| FilterError::BadValue { key: key.to_owned(), value: value.to_owned(), why };
        let test = match key {
            "nan" => match value {
                "true" => Test::NotFinite(true),
                "false" => Test::NotFinite(false),
                _ => return Err(bad("it is true or false")),
            },
            "index" => Test::Index(
                parse_range(value, |text| text.parse().ok())
                    .ok_or_else(|| bad("an index is a number, or a range of two joined by '..'"))?,
            ),
            _ => match Condition::parse(key, value) {
                Some(parsed) => Test::Shared(parsed.map_err(bad)?),
                None => return Err(FilterError::UnknownKey { key: key.to_owned() }),
            },
        };
        self.conditions.push((format!("{key}={value}"), test));
        Ok(())
    }

    /// Whether every record is meant.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Indices of the records that are meant, ascending.
    pub fn select(&self, dump: &Dump) -> Result<Vec<usize>, FilterError> {
        let mut left: Vec<usize> = (0..dump.len()).collect();
        // What needs payloads comes last, on as few records as possible.
        let (quick, slow): (Vec<_>, Vec<_>) =
            self.conditions.iter().partition(|(_, test)| !matches!(test, Test::NotFinite(_)));
        let mut passed: Vec<&str> = Vec::new();
        for (text, test) in quick.into_iter().chain(slow) {
            let Some(test) = test.resolved(dump) else {
                let there = test.alternatives(dump, &left);
                return Err(FilterError::Nothing { before: String::new(), condition: text.clone(), there });
            };
            let matching: Vec<usize> =
                left.par_iter().copied().filter(|&index| test.holds(dump, &dump.record(index))).collect();
            if matching.is_empty() {
                let before = match passed.len() {
                    0 => String::new(),
                    _ => format!(" of the {} with {}", left.len(), passed.join(", ")),
                };
                let there = test.alternatives(dump, &left);
                return Err(FilterError::Nothing { before, condition: text.clone(), there });
            }
            left = matching;
            passed.push(text);
        }
        Ok(left)
    }
}

impl Test {
    /// The same test with tasks by id where it counts them; `None` if the dump has not so many.
    fn resolved(&self, dump: &Dump) -> Option<Test> {
        match self {
            Test::Shared(Condition::Task(tasks)) if tasks.counts() => {
                resolve(tasks, dump).map(|tasks| Test::Shared(Condition::Task(tasks)))
            }
            other => Some(other.clone()),
        }
    }

    fn holds(&self, dump: &Dump, record: &Record) -> bool {
        match self {
            Test::Shared(condition) => condition.holds(&Candidate { dump, record }),
            Test::NotFinite(wanted) => not_finite(dump, record) == Some(*wanted),
            Test::Index(range) => range.contains(&record.index),
        }
    }

    /// What `records` have instead.
    fn alternatives(&self, dump: &Dump, records: &[usize]) -> String {
        let all = || records.iter().map(|&index| dump.record(index));
        let Test::Shared(condition) = self else {
            return match (self, records.first(), records.last()) {
                (_, None, _) | (_, _, None) => "there are no records".to_owned(),
                (Test::Index(_), Some(first), Some(last)) => format!("there are {first} to {last}"),
                _ => format!("{} were looked at", records.len()),
            };
        };
        match condition {
            Condition::Task(TaskSelector::Numbers(_)) => {
                format!("there are {} tasks, counted from 0; an id begins with 0x", tasks(dump).len())
            }
            Condition::Task(TaskSelector::OfKernel { kernel, .. }) => {
                let all = tasks(dump);
                match all.iter().filter(|(_, funcs)| runs(dump, funcs, kernel)).count() {
                    0 => list(
                        all.iter().map(|(_, funcs)| kernels(dump, funcs)).filter(|names| !names.is_empty()),
                    ),
                    1 => format!("there is 1 task of {kernel}, counted from 0"),
                    count => format!("there are {count} tasks of {kernel}, counted from 0"),
                }
            }
            Condition::Task(_) => list(all().map(|record| record.task_id.to_string())),
            Condition::Kernel(_) => {
                list(all().map(|record| dump.kernel_names(&record)).filter(|names| !names.is_empty()))
            }
            Condition::Func(_) => list(all().flat_map(|record| record.func_ids.to_vec())),
            Condition::Stage(_) => list(all().map(|record| record.stage.name())),
            Condition::Role(_) => list(all().map(|record| record.role.name())),
            Condition::Arg(_) => list(all().map(|record| record.arg_index)),
            Condition::Kind(_) => list(all().map(|record| record.kind.name())),
            Condition::DType(_) => list(all().map(|record| record.dtype.map_or("UNKNOWN", DType::name))),
            Condition::MinSize(_) | Condition::MaxSize(_) => {
                match (all().map(|record| size(&record)).min(), all().map(|record| size(&record)).max()) {
                    (Some(least), Some(most)) => format!("they have {least} to {most} bytes"),
                    _ => "there are no records".to_owned(),
                }
            }
        }
    }
}

/// The tasks that are meant, by their ids among all tasks of the run; `None` if there are not so many.
pub fn resolve(selector: &TaskSelector, dump: &Dump) -> Option<TaskSelector> {
    selector.resolve(tasks(dump).into_iter(), |funcs, name| runs(dump, funcs, name))
}

/// The tasks of the run that run kernels, in the order of ids. Where no graph describes them, those with records.
fn tasks(dump: &Dump) -> Vec<(TaskId, FuncIds)> {
    let described = dump.graph().map_or(&[][..], |graph| &graph.tasks);
    let running = described.iter().filter(|task| !task.func_ids.is_empty());
    let mut all: Vec<_> = running.map(|task| (task.id, task.func_ids)).collect();
    all.extend(dump.records().map(|record| (record.task_id, record.func_ids)));
    // The sort is stable: what the graph says stays in front.
    all.sort_by_key(|(task, _)| *task);
    all.dedup_by_key(|(task, _)| *task);
    all
}

fn kernels(dump: &Dump, funcs: &[i32]) -> String {
    argus_facts::kernel_info::joined_names(funcs, |id| dump.kernel_name(id))
}

/// Whether a task with these kernels runs what is called `name`: a kernel by its name, by its number where it has no
/// name, or all of them as a listing shows them.
fn runs(dump: &Dump, funcs: &[i32], name: &str) -> bool {
    let named = |&id: &i32| match dump.kernel_name(id) {
        Some(known) => is_called(known, name),
        None => id.to_string() == name,
    };
    funcs.iter().any(named) || (name.contains('+') && is_called(&kernels(dump, funcs), name))
}

/// The different ones of `values`, ascending.
fn list<T: Ord + std::fmt::Display>(values: impl Iterator<Item = T>) -> String {
    let different: BTreeSet<T> = values.collect();
    if different.is_empty() {
        return "the dump does not say any".to_owned();
    }
    let mut text = String::from("there are ");
    for (index, value) in different.iter().take(LISTED).enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&value.to_string());
    }
    if different.len() > LISTED {
        text.push_str(&format!(" and {} more", different.len() - LISTED));
    }
    text
}

/// Bytes that a size condition is about: those of the view, whether they were kept or not.
fn size(record: &Record) -> u64 {
    match record.kind {
        Kind::Tensor => record.logical_bytes.unwrap_or(record.bin_size),
        Kind::Scalar => 0,
    }
}

/// Whether a record has a value that is no number or not finite; `None` if its values are not there.
fn not_finite(dump: &Dump, record: &Record) -> Option<bool> {
    let dtype = record.dtype?;
    match record.scalar {
        Some(Scalar::Bits(bits)) => return Some(!number(dtype, bits).as_f64().is_finite()),
        Some(Scalar::Rounded(value)) => return Some(!value.is_finite()),
        None => {}
    }
    let statistics = match record.statistics {
        Some(statistics) => statistics,
        None => {
            let bytes = dump.payload(record).ok()?;
            if !dtype.is_float() {
                return Some(false);
            }
            let mut accumulator = Accumulator::new(dtype, record.numel()?);
            accumulator.update(bytes);
            accumulator.finish()
        }
    };
    Some(statistics.nan > 0 || statistics.inf > 0)
}

/// A record as conditions see it.
struct Candidate<'a> {
    dump: &'a Dump,
    record: &'a Record,
}

impl Subject for Candidate<'_> {
    fn task(&self) -> TaskId {
        self.record.task_id
    }

    fn has_kernel(&self, name: &str) -> bool {
        runs(self.dump, &self.record.func_ids, name)
    }

    fn has_func(&self, func: FuncId) -> bool {
        self.record.func_ids.iter().any(|&id| i64::from(id) == i64::from(func.0))
    }

    fn stage(&self) -> Stage {
        self.record.stage
    }

    fn role(&self) -> Role {
        self.record.role
    }

    fn kind(&self) -> Kind {
        self.record.kind
    }

    fn arg(&self) -> u32 {
        self.record.arg_index
    }

    fn dtype(&self) -> Option<DType> {
        self.record.dtype
    }

    fn bytes(&self) -> u64 {
        size(self.record)
    }
}
