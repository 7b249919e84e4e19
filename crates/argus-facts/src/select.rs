//! What of a run is captured: a level, and selectors that need no change of the program.
//!
//! A selector is a list `key=value[,key=value]` of conditions that must all hold; of several selectors one
//! must match. The same keys filter a dump when it is read.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use argus_abi::{DType, FuncId, Kind, Role, Stage, TaskId};
use thiserror::Error;

use crate::graph::Graph;
use crate::kernel_info::is_called;
use crate::task_selector::{TASK_FORMS, TaskSelector};

/// How much of each argument is captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Everything.
    #[default]
    Full,
    /// Only arguments that the orchestration marked.
    Partial,
    /// The metadata of everything, the payload of marked tensors.
    Hybrid,
}

impl Level {
    pub const fn name(self) -> &'static str {
        match self {
            Level::Full => "full",
            Level::Partial => "partial",
            Level::Hybrid => "hybrid",
        }
    }

    pub fn from_name(name: &str) -> Option<Level> {
        [Level::Full, Level::Partial, Level::Hybrid].into_iter().find(|level| level.name() == name)
    }
}

/// One argument of one task at one stage, as selectors see it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub task: TaskId,
    pub funcs: [Option<FuncId>; 3],
    /// Names of the kernels, in the order of `funcs`.
    pub kernels: [Option<&'a str>; 3],
    pub stage: Stage,
    pub role: Role,
    pub kind: Kind,
    pub arg: u16,
    pub dtype: DType,
    pub bytes: u64,
}

/// Anything that conditions can be asked of: an argument that may be captured, or a record of a dump.
pub trait Subject {
    fn task(&self) -> TaskId;
    fn has_kernel(&self, name: &str) -> bool;
    fn has_func(&self, func: FuncId) -> bool;
    fn stage(&self) -> Stage;
    fn role(&self) -> Role;
    fn kind(&self) -> Kind;
    fn arg(&self) -> u32;
    /// `None` for a type that is not known.
    fn dtype(&self) -> Option<DType>;
    fn bytes(&self) -> u64;
}

impl Subject for Candidate<'_> {
    fn task(&self) -> TaskId {
        self.task
    }

    fn has_kernel(&self, name: &str) -> bool {
        self.kernels.iter().flatten().any(|kernel| is_called(kernel, name))
    }

    fn has_func(&self, func: FuncId) -> bool {
        self.funcs.iter().flatten().any(|id| *id == func)
    }

    fn stage(&self) -> Stage {
        self.stage
    }

    fn role(&self) -> Role {
        self.role
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn arg(&self) -> u32 {
        self.arg.into()
    }

    fn dtype(&self) -> Option<DType> {
        Some(self.dtype)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A selector that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectorError {
    #[error("'{part}' in selector '{selector}' is not of the form key=value")]
    NotAPair { selector: String, part: String },
    #[error("selector '{selector}' has the unknown key '{key}'; known are {known}", known = KEYS.join(", "))]
    UnknownKey { selector: String, key: String },
    #[error("selector '{selector}': {key}={value} is not valid: {why}")]
    BadValue { selector: String, key: String, value: String, why: &'static str },
    #[error("the run has no task {task}; it has {count} task{}, counted from 0", if *count == 1 { "" } else { "s" })]
    NoTask { task: TaskSelector, count: usize },
}

/// These selectors with ids for the tasks that they count. What is captured is decided while the graph grows, so tasks
/// are counted in another run of the same program; `graph` makes it, and is only called where something is counted.
pub fn by_id<E: From<SelectorError>>(
    selectors: &[String],
    graph: impl FnOnce() -> Result<Graph, E>,
) -> Result<Vec<String>, E> {
    let parsed: Vec<Selector> =
        selectors.iter().map(|text| Selector::parse(text)).collect::<Result<_, _>>()?;
    if !parsed.iter().any(|selector| selector.tasks().any(TaskSelector::counts)) {
        return Ok(selectors.to_vec());
    }
    let graph = graph()?;
    let resolve = |tasks: &TaskSelector| graph.resolve(tasks).map_err(E::from);
    parsed.iter().map(|selector| selector.resolved(resolve)).collect()
}

/// Every key, in the order of the documentation.
pub const KEYS: [&str; 10] =
    ["task", "kernel", "func-id", "stage", "role", "arg", "kind", "dtype", "min-size", "max-size"];

/// One condition, as `key=value` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Task(TaskSelector),
    Kernel(String),
    Func(FuncId),
    Stage(Stage),
    Role(Role),
    Arg(RangeInclusive<u32>),
    Kind(Kind),
    DType(DType),
    MinSize(u64),
    MaxSize(u64),
}

impl Condition {
    pub fn holds(&self, subject: &impl Subject) -> bool {
        match self {
            Condition::Task(tasks) => tasks.holds(subject.task()),
            Condition::Kernel(name) => subject.has_kernel(name),
            Condition::Func(func) => subject.has_func(*func),
            Condition::Stage(stage) => subject.stage() == *stage,
            Condition::Role(role) => subject.role() == *role,
            Condition::Arg(range) => range.contains(&subject.arg()),
            Condition::Kind(kind) => subject.kind() == *kind,
            Condition::DType(dtype) => subject.dtype() == Some(*dtype),
            Condition::MinSize(bytes) => subject.bytes() >= *bytes,
            Condition::MaxSize(bytes) => subject.bytes() <= *bytes,
        }
    }

    /// What `key=value` means; `None` if the key is not one of [`KEYS`], the reason if the value is not one.
    pub fn parse(key: &str, value: &str) -> Option<Result<Condition, &'static str>> {
        let parsed = match key {
            "task" => TaskSelector::parse(value).map(Condition::Task).ok_or(TASK_FORMS),
            "kernel" if !value.is_empty() => Ok(Condition::Kernel(value.into())),
            "kernel" => Err("a kernel has a name"),
            "func-id" => value
                .parse()
                .map(|func| Condition::Func(FuncId(func)))
                .map_err(|_| "a func_id is a number from 0 to 1023"),
            "stage" => match value {
                "before" => Some(Stage::BeforeDispatch),
                "after" => Some(Stage::AfterCompletion),
                _ => Stage::from_name(value),
            }
            .map(Condition::Stage)
            .ok_or("a stage is before, after, before_dispatch or after_completion"),
            "role" => Role::from_name(value).map(Condition::Role).ok_or("a role is input, output or inout"),
            "arg" => parse_range(value, |text| text.parse().ok())
                .map(Condition::Arg)
                .ok_or("an argument is a number, or a range of two joined by '..'"),
            "kind" => Kind::from_name(value).map(Condition::Kind).ok_or("a kind is tensor or scalar"),
            "dtype" => DType::from_typed(value)
                .map(Condition::DType)
                .ok_or("a dtype is a name such as FLOAT32 or BFLOAT16, or a short one such as f32 or bf16"),
            "min-size" => parse_size(value).map(Condition::MinSize).ok_or(SIZE),
            "max-size" => parse_size(value).map(Condition::MaxSize).ok_or(SIZE),
            _ => return None,
        };
        Some(parsed)
    }
}

const SIZE: &str = "a size is a number of bytes, or one followed by k, M or G (KiB, MiB, GiB)";

/// Conditions that must all hold.
#[derive(Debug)]
pub struct Selector {
    text: String,
    conditions: Vec<Condition>,
    hits: AtomicU64,
}

impl Selector {
    /// Parses `key=value[,key=value]`.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        let conditions = text.split(',').map(|part| parse_condition(text, part)).collect::<Result<_, _>>()?;
        Ok(Selector { text: text.into(), conditions, hits: AtomicU64::new(0) })
    }

    /// What the user wrote.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Names of kernels that it asks for.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().filter_map(|condition| match condition {
            Condition::Kernel(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The tasks that it asks for, where it does.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskSelector> {
        self.conditions.iter().filter_map(|condition| match condition {
            Condition::Task(tasks) => Some(tasks),
            _ => None,
        })
    }

    /// The text of the same selector with tasks by id where it counts them. `resolve` gives the ids.
    pub fn resolved<E>(
        &self,
        resolve: impl Fn(&TaskSelector) -> Result<TaskSelector, E>,
    ) -> Result<String, E> {
        let parts = self.text.split(',').zip(&self.conditions).map(|(part, condition)| match condition {
            Condition::Task(tasks) if tasks.counts() => Ok(format!("task={}", resolve(tasks)?)),
            _ => Ok(part.to_owned()),
        });
        Ok(parts.collect::<Result<Vec<_>, _>>()?.join(","))
    }

    /// It matched this many arguments in another process.
    pub fn add_hits(&self, hits: u64) {
        self.hits.fetch_add(hits, Ordering::Relaxed);
    }

    /// How many arguments it has matched.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    pub fn matches(&self, candidate: &Candidate<'_>) -> bool {
        let all = self.conditions.iter().all(|condition| condition.holds(candidate));
        if all {
            self.hits.fetch_add(1, Ordering::Relaxed);
        }
        all
    }
}

fn parse_condition(selector: &str, part: &str) -> Result<Condition, SelectorError> {
    let Some((key, value)) = part.split_once('=') else {
        return Err(SelectorError::NotAPair { selector: selector.into(), part: part.into() });
    };
    let (key, value) = (key.trim(), value.trim());
    match Condition::parse(key, value) {
        Some(parsed) => parsed.map_err(|why| SelectorError::BadValue {
            selector: selector.into(),
            key: key.into(),
            value: value.into(),
            why,
        }),
        None => Err(SelectorError::UnknownKey { selector: selector.into(), key: key.into() }),
    }
}

/// `a`, or `a..b` with both ends included.
pub fn parse_range<T: Copy + PartialOrd>(
    text: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Option<RangeInclusive<T>> {
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (parse(first)?, parse(last)?),
        None => (parse(text)?, parse(text)?),
    };
    (first <= last).then_some(first..=last)
}

/// A number of bytes, with an optional unit in any letter case: `k` and `KiB` are 1024 bytes.
pub fn parse_size(text: &str) -> Option<u64> {
    let units = [
        ("gib", 1u64 << 30),
        ("mib", 1 << 20),
        ("kib", 1 << 10),
        ("g", 1 << 30),
        ("m", 1 << 20),
        ("k", 1 << 10),
        ("b", 1),
        ("", 1),
    ];
    let text = text.to_ascii_lowercase();
    let (digits, unit) =
        units.iter().find_map(|(name, unit)| text.strip_suffix(name).map(|digits| (digits, unit)))?;
    digits.trim().parse::<u64>().ok()?.checked_mul(*unit)
}

/// What happens to one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Not recorded.
    Leave,
    /// Recorded without payload.
    Metadata,
    /// Recorded with payload.
    Payload,
}

/// Level and selectors together.
#[derive(Debug, Default)]
pub struct Selection {
    /// None: no argument is captured.
    pub level: Option<Level>,
    pub selectors: Vec<Selector>,
}

impl Selection {
    /// What happens to an argument that the orchestration marked or did not mark. Only selectors ask what it is.
    pub fn decide<'a>(&self, marked: bool, candidate: impl FnOnce() -> Candidate<'a>) -> Decision {
        if !self.selectors.is_empty() {
            let candidate = candidate();
            // Every selector is asked, so that each knows whether it ever matched.
            let matching = self.selectors.iter().filter(|selector| selector.matches(&candidate)).count();
            if matching == 0 {
                return Decision::Leave;
            }
        }
        match (self.level, marked) {
            (None, _) | (Some(Level::Partial), false) => Decision::Leave,
            (Some(Level::Full), _) | (Some(Level::Partial | Level::Hybrid), true) => Decision::Payload,
            (Some(Level::Hybrid), false) => Decision::Metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate() -> Candidate<'static> {
        Candidate {
            task: TaskId::new(2, 5),
            funcs: [None, Some(FuncId(1)), None],
            kernels: [None, Some("SF"), None],
            stage: Stage::BeforeDispatch,
            role: Role::Input,
            kind: Kind::Tensor,
            arg: 3,
            dtype: DType::Bf16,
            bytes: 512,
        }
    }

    #[test]
    fn conditions_of_one_selector_must_all_hold() {
        for (text, expected) in [
            ("kernel=SF", true),
            ("kernel=QK", false),
            ("kernel=SF,stage=after", false),
            ("kernel=SF,stage=before,role=input,arg=3,kind=tensor,dtype=bfloat16", true),
            ("func-id=1", true),
            ("func-id=2", false),
            ("task=0x0000000200000005", true),
            ("task=0x200000000..0x20000000f", true),
            ("task=0x200000006..0x20000000f", false),
            ("task=0x00000002*", true),
            ("task=0x2*", true),
            ("task=0x0000000200000005*", true),
            ("task=0x00000003*", false),
            ("kernel=sf", true),
            ("dtype=bf16", true),
            ("dtype=f32", false),
            ("arg=0..2", false),
            ("min-size=512,max-size=1KiB", true),
            ("min-size=1k", false),
            ("max-size=1K", true),
            ("max-size=511", false),
        ] {
            let selector = Selector::parse(text).unwrap();
            assert_eq!(selector.matches(&candidate()), expected, "{text}");
            assert_eq!(selector.hits(), u64::from(expected));
        }
    }

    #[test]
    fn counted_tasks_are_replaced_by_their_ids() {
        let selector = Selector::parse("kernel=SF, task=SF:1,arg=2").unwrap();
        assert!(selector.tasks().any(TaskSelector::counts));
        let ids = TaskSelector::from(TaskId::new(2, 5));
        let text = selector.resolved(|_| Ok::<_, ()>(ids.clone())).unwrap();
        assert_eq!(text, "kernel=SF,task=0x200000005,arg=2");
        assert_eq!(Selector::parse("task=0x1*").unwrap().resolved(|_| Err("asked")).unwrap(), "task=0x1*");
    }

    #[test]
    fn bad_selectors_say_what_is_wrong() {
        let message = |text: &str| Selector::parse(text).unwrap_err().to_string();
        assert_eq!(message("kernel"), "'kernel' in selector 'kernel' is not of the form key=value");
        assert!(message("colour=red").contains("unknown key 'colour'; known are task, kernel"));
        assert!(message("task=zz").contains("a task is an id such as 0x200000001"));
        assert!(message("task=*").contains("a task is an id"));
        assert!(message("task=00000000000000001*").contains("a task is an id"));
        assert!(message("arg=5..2").contains("a range"));
        assert!(message("dtype=float99").contains("FLOAT32"));
        assert!(message("max-size=99999999999GiB").contains("number of bytes"));
    }

    #[test]
    fn levels_decide_by_marks() {
        let with = |level| Selection { level: Some(level), selectors: Vec::new() };
        let decide = |level, marked| with(level).decide(marked, candidate);
        assert_eq!(decide(Level::Full, false), Decision::Payload);
        assert_eq!(decide(Level::Partial, false), Decision::Leave);
        assert_eq!(decide(Level::Partial, true), Decision::Payload);
        assert_eq!(decide(Level::Hybrid, false), Decision::Metadata);
        assert_eq!(decide(Level::Hybrid, true), Decision::Payload);
        let selectors = ["kernel=QK", "arg=3"].map(|text| Selector::parse(text).unwrap()).into();
        let selection = Selection { level: Some(Level::Full), selectors };
        assert_eq!(selection.decide(false, candidate), Decision::Payload, "one of several suffices");
        assert_eq!(selection.selectors[0].hits(), 0);
    }
}
