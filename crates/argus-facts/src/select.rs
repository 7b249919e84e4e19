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

/// Anything that conditions can be asked of: an argument that may be captured, or a record of a dump.
pub trait Subject {
    fn task(&self) -> TaskId;
    fn has_kernel(&self, name: &str) -> bool;
    fn has_func(&self, func: FuncId) -> bool;
    fn stage(&self) -> Stage;
    fn role(&self) -> Role;
    fn kind(&self) -> Kind;
    fn arg(&self) -> u32;
    /// `None` for a type that nobody knows.
    fn dtype(&self) -> Option<DType>;
    fn bytes(&self) -> u64;
}

impl Subject for Candidate<'_> {
    fn task(&self) -> TaskId {
        self.task
    }

    fn has_kernel(&self, name: &str) -> bool {
        self.kernels.iter().flatten().any(|kernel| *kernel == name)
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
    #[error("selector '{selector}': {key}={value} makes no sense: {why}")]
    BadValue { selector: String, key: String, value: String, why: &'static str },
}

/// Every key, in the order of the documentation.
pub const KEYS: [&str; 10] =
    ["task", "kernel", "func-id", "stage", "role", "arg", "kind", "dtype", "min-size", "max-size"];

/// One condition, as `key=value` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Task(RangeInclusive<TaskId>),
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
            Condition::Task(range) => range.contains(&subject.task()),
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

    /// What `key=value` means; `None` if the key is not one of [`KEYS`], the reason if the value makes no sense.
    pub fn parse(key: &str, value: &str) -> Option<Result<Condition, &'static str>> {
        let parsed = match key {
            "task" => parse_tasks(value)
                .map(|ids| Condition::Task(TaskId::from_raw(*ids.start())..=TaskId::from_raw(*ids.end())))
                .ok_or("a task is a hexadecimal id such as 0x0000000200000001, the start of one with a '*' behind it, or a range of two joined by '..'"),
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
            "dtype" => DType::from_name(value)
                .map(Condition::DType)
                .ok_or("a dtype is a name such as FLOAT32 or BFLOAT16"),
            "min-size" => parse_size(value).map(Condition::MinSize).ok_or(SIZE),
            "max-size" => parse_size(value).map(Condition::MaxSize).ok_or(SIZE),
            _ => return None,
        };
        Some(parsed)
    }
}

const SIZE: &str = "a size is a number of bytes, KiB, MiB or GiB";

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

/// An id, a range of ids, or the first digits of ids with a `*` behind them. Ids are hexadecimal, with or without
/// `0x` and leading zeros; first digits are those of all sixteen.
fn parse_tasks(text: &str) -> Option<RangeInclusive<u64>> {
    let digits = |text: &str| {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let sound = (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        Some((u64::from_str_radix(digits, 16).ok().filter(|_| sound)?, digits.len()))
    };
    match text.strip_suffix('*') {
        Some(start) => {
            let (first, len) = digits(start)?;
            let open = 64 - 4 * len as u32;
            let first = first.checked_shl(open).unwrap_or(0);
            Some(first..=first | u64::MAX.checked_shr(64 - open).unwrap_or(0))
        }
        None => parse_range(text, |id| digits(id).map(|(id, _)| id)),
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
            ("task=200000005", true),
            ("task=5", false),
            ("task=0x00000002*", true),
            ("task=0000000200000005*", true),
            ("task=00000003*", false),
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
        assert!(message("task=*").contains("hexadecimal id"));
        assert!(message("task=00000000000000001*").contains("hexadecimal id"));
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
