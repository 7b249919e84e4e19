//! What of a run is captured: a level, and selectors that need no change of the program.
//!
//! A selector is a list `key=value[,key=value]` of conditions that must all hold; of several selectors one
//! must match. The same keys filter a dump when it is read.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use argus_abi::{DType, FuncId, Kind, Role, Stage, TaskId};
use thiserror::Error;

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

/// A selector that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectorError {
    #[error("'{part}' in selector '{selector}' is not of the form key=value")]
    NotAPair { selector: String, part: String },
    #[error("selector '{selector}' has the unknown key '{key}'; known are {known}", known = KEYS.join(", "))]
    UnknownKey { selector: String, key: String },
    #[error("selector '{selector}': {key}={value} makes no sense: {why}")]
    BadValue { selector: String, key: String, value: String, why: String },
}

/// Every key, in the order of the documentation.
pub const KEYS: [&str; 10] =
    ["task", "kernel", "func-id", "stage", "role", "arg", "kind", "dtype", "min-size", "max-size"];

#[derive(Clone, Debug)]
enum Condition {
    Task(RangeInclusive<u64>),
    Kernel(String),
    Func(FuncId),
    Stage(Stage),
    Role(Role),
    Arg(RangeInclusive<u16>),
    Kind(Kind),
    DType(DType),
    MinSize(u64),
    MaxSize(u64),
}

impl Condition {
    fn holds(&self, candidate: &Candidate<'_>) -> bool {
        match self {
            Condition::Task(range) => range.contains(&candidate.task.raw()),
            Condition::Kernel(name) => candidate.kernels.iter().flatten().any(|kernel| kernel == name),
            Condition::Func(func) => candidate.funcs.iter().flatten().any(|id| id == func),
            Condition::Stage(stage) => candidate.stage == *stage,
            Condition::Role(role) => candidate.role == *role,
            Condition::Arg(range) => range.contains(&candidate.arg),
            Condition::Kind(kind) => candidate.kind == *kind,
            Condition::DType(dtype) => candidate.dtype == *dtype,
            Condition::MinSize(bytes) => candidate.bytes >= *bytes,
            Condition::MaxSize(bytes) => candidate.bytes <= *bytes,
        }
    }
}

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
    let bad = |why: &str| SelectorError::BadValue {
        selector: selector.into(),
        key: key.into(),
        value: value.into(),
        why: why.into(),
    };
    Ok(match key {
        "task" => Condition::Task(parse_tasks(value).ok_or_else(|| {
            bad("a task is a hexadecimal id such as 0x0000000200000001, or a range of two joined by '..'")
        })?),
        "kernel" if !value.is_empty() => Condition::Kernel(value.into()),
        "kernel" => return Err(bad("a kernel has a name")),
        "func-id" => {
            Condition::Func(FuncId(value.parse().map_err(|_| bad("a func_id is a number from 0 to 1023"))?))
        }
        "stage" => Condition::Stage(match value {
            "before" => Stage::BeforeDispatch,
            "after" => Stage::AfterCompletion,
            _ => Stage::from_name(value)
                .ok_or_else(|| bad("a stage is before, after, before_dispatch or after_completion"))?,
        }),
        "role" => {
            Condition::Role(Role::from_name(value).ok_or_else(|| bad("a role is input, output or inout"))?)
        }
        "arg" => Condition::Arg(
            parse_range(value, |text| text.parse().ok())
                .ok_or_else(|| bad("an argument is a number, or a range of two joined by '..'"))?,
        ),
        "kind" => Condition::Kind(Kind::from_name(value).ok_or_else(|| bad("a kind is tensor or scalar"))?),
        "dtype" => Condition::DType(
            DType::from_name(value).ok_or_else(|| bad("a dtype is a name such as FLOAT32 or BFLOAT16"))?,
        ),
        "min-size" | "max-size" => {
            let bytes =
                parse_size(value).ok_or_else(|| bad("a size is a number of bytes, KiB, MiB or GiB"))?;
            if key == "min-size" { Condition::MinSize(bytes) } else { Condition::MaxSize(bytes) }
        }
        _ => return Err(SelectorError::UnknownKey { selector: selector.into(), key: key.into() }),
    })
}

fn parse_tasks(text: &str) -> Option<RangeInclusive<u64>> {
    parse_range(text, |id| match id.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => id.parse().ok(),
    })
}

/// `a`, or `a..b` with both ends included.
fn parse_range<T: Copy + PartialOrd>(
    text: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Option<RangeInclusive<T>> {
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (parse(first)?, parse(last)?),
        None => (parse(text)?, parse(text)?),
    };
    (first <= last).then_some(first..=last)
}

/// A number of bytes, with an optional unit.
pub fn parse_size(text: &str) -> Option<u64> {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1), ("", 1)];
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
    /// What happens to an argument that the orchestration marked or did not mark.
    pub fn decide(&self, candidate: &Candidate<'_>, marked: bool) -> Decision {
        // Every selector is asked, so that each knows whether it ever matched.
        let matching = self.selectors.iter().filter(|selector| selector.matches(candidate)).count();
        if !self.selectors.is_empty() && matching == 0 {
            return Decision::Leave;
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
            ("arg=0..2", false),
            ("min-size=512,max-size=1KiB", true),
            ("max-size=511", false),
        ] {
            let selector = Selector::parse(text).unwrap();
            assert_eq!(selector.matches(&candidate()), expected, "{text}");
            assert_eq!(selector.hits(), u64::from(expected));
        }
    }

    #[test]
    fn bad_selectors_say_what_is_wrong() {
        let message = |text: &str| Selector::parse(text).unwrap_err().to_string();
        assert_eq!(message("kernel"), "'kernel' in selector 'kernel' is not of the form key=value");
        assert!(message("colour=red").contains("unknown key 'colour'; known are task, kernel"));
        assert!(message("task=zz").contains("hexadecimal id"));
        assert!(message("arg=5..2").contains("a range"));
        assert!(message("dtype=float99").contains("FLOAT32"));
        assert!(message("max-size=99999999999GiB").contains("number of bytes"));
    }

    #[test]
    fn levels_decide_by_marks() {
        let with = |level| Selection { level: Some(level), selectors: Vec::new() };
        let decide = |level, marked| with(level).decide(&candidate(), marked);
        assert_eq!(decide(Level::Full, false), Decision::Payload);
        assert_eq!(decide(Level::Partial, false), Decision::Leave);
        assert_eq!(decide(Level::Partial, true), Decision::Payload);
        assert_eq!(decide(Level::Hybrid, false), Decision::Metadata);
        assert_eq!(decide(Level::Hybrid, true), Decision::Payload);
        let selectors = ["kernel=QK", "arg=3"].map(|text| Selector::parse(text).unwrap()).into();
        let selection = Selection { level: Some(Level::Full), selectors };
        assert_eq!(selection.decide(&candidate(), false), Decision::Payload, "one of several suffices");
        assert_eq!(selection.selectors[0].hits(), 0);
    }
}
