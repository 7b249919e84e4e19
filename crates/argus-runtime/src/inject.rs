//! Faults on purpose, for tests and demonstrations of tools that look for them.
//!
//! An [`Injection`] names a kernel, which of its tasks, and what goes wrong there. It takes effect when the
//! kernel has run and before any consumer sees what it wrote: a capture records the wrong bytes as the task's
//! output, consumers read them. What it did is told by [`Injected`]; an injection that did nothing is an error
//! of the run, because the user who asked for it would draw wrong conclusions.
//!
//! | file | subject |
//! |---|---|
//! | this one | what can be asked for, what is told |
//! | `damage` | wrong bytes out of right ones, and how far apart they are |
//! | `hook` | finding the task, keeping bytes from before, running a kernel again |

mod damage;
mod hook;

use std::fmt;
use std::str::FromStr;

use argus_abi::TaskId;
use argus_facts::kernel_info::is_called;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::kernel_table::KernelTable;

pub(crate) use hook::{Injector, Next};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InjectionKind {
    /// Every element of an output is doubled.
    Scale,
    /// The top exponent bit of one element is flipped; of an integer the bit below the highest.
    Bitflip,
    /// One element becomes NaN.
    Nan,
    /// One row becomes 0. A row is a run of the last dimension.
    ZeroRow,
    /// The elements of one row move one place up, the last one to the front.
    ShiftRow,
    /// An output holds what it held before the task.
    SkipWrite,
    /// The kernel sees an input as it was before the last task that wrote it.
    StaleRead,
}

impl InjectionKind {
    pub const ALL: [InjectionKind; 7] = [
        InjectionKind::Scale,
        InjectionKind::Bitflip,
        InjectionKind::Nan,
        InjectionKind::ZeroRow,
        InjectionKind::ShiftRow,
        InjectionKind::SkipWrite,
        InjectionKind::StaleRead,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            InjectionKind::Scale => "scale",
            InjectionKind::Bitflip => "bitflip",
            InjectionKind::Nan => "nan",
            InjectionKind::ZeroRow => "zero-row",
            InjectionKind::ShiftRow => "shift-row",
            InjectionKind::SkipWrite => "skip-write",
            InjectionKind::StaleRead => "stale-read",
        }
    }
}

impl fmt::Display for InjectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A fault in the `nth` task of a kernel, counted from 0 in the order of submission. A task of several
/// kernels counts for each of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    pub kernel: String,
    pub nth: u64,
    /// The task itself, where it is known; it is not counted then.
    #[serde(skip)]
    pub task: Option<TaskId>,
    pub kind: InjectionKind,
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.kernel, self.nth, self.kind)
    }
}

impl FromStr for Injection {
    type Err = InjectionError;

    /// `KERNEL[:N]:KIND`.
    fn from_str(text: &str) -> Result<Injection, InjectionError> {
        let malformed = || InjectionError::Malformed { text: text.into() };
        let (front, kind) = text.rsplit_once(':').ok_or_else(malformed)?;
        let known = InjectionKind::ALL.into_iter().find(|known| known.name() == kind);
        let kind = known.ok_or_else(|| InjectionError::Kind { text: text.into(), kind: kind.into() })?;
        let (kernel, nth) = match front.rsplit_once(':') {
            Some((kernel, nth)) => (kernel, nth.parse().map_err(|_| malformed())?),
            None => (front, 0),
        };
        if kernel.is_empty() {
            return Err(malformed());
        }
        Ok(Injection { kernel: kernel.into(), nth, task: None, kind })
    }
}

/// What an injection did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Injected {
    pub injection: Injection,
    /// `None`: there was no such task.
    pub task: Option<TaskId>,
    /// The argument that is wrong now, by its slot; `None`: nothing was changed.
    pub argument: Option<u16>,
    /// Elements of that argument, and how many of them differ from what the kernel wrote, bit for bit.
    pub elements: u64,
    pub changed: u64,
    /// The largest difference of two values; infinite where one is NaN or infinite and the other is not.
    pub max_change: f64,
    /// What was done, in words.
    pub what: String,
}

/// An injection that cannot be, or was not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InjectionError {
    #[error("'{text}' is not a fault to inject; write TASK:KIND, with a task such as SF:1 or 0x200000001")]
    Malformed { text: String },
    #[error("'{text}' asks for the fault '{kind}'; there are {}", kinds())]
    Kind { text: String, kind: String },
    #[error("'{injection}' names the kernel '{}', which the program does not have; it has {known}", injection.kernel)]
    NoKernel { injection: Injection, known: String },
    #[error(
        "'{injection}' could not be done: kernel '{}' has {found} tasks, counted from 0; the kernels are {known}",
        injection.kernel
    )]
    NoTask { injection: Injection, found: u64, known: String },
    #[error("'{injection}' and another injection both meet task {task}; give one of them another task")]
    SameTask { injection: Injection, task: TaskId },
    #[error("'{injection}' changed nothing by more than the tolerance in task {task}: {why}")]
    NoEffect { injection: Injection, task: TaskId, why: String },
}

fn kinds() -> String {
    InjectionKind::ALL.map(InjectionKind::name).join(", ")
}

/// The names of all kernels, for messages.
fn names(kernels: &KernelTable) -> String {
    kernels.iter().map(|entry| &*entry.name).collect::<Vec<_>>().join(", ")
}

/// Checks what can be checked before anything runs.
pub(crate) fn check(injections: &[Injection], kernels: &KernelTable) -> Result<(), InjectionError> {
    let unknown =
        |injection: &&Injection| kernels.iter().all(|entry| !is_called(&entry.name, &injection.kernel));
    match injections.iter().find(unknown) {
        Some(injection) => {
            Err(InjectionError::NoKernel { injection: injection.clone(), known: names(kernels) })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_may_be_left_out() {
        let parsed = |text: &str| text.parse::<Injection>();
        let injection =
            |nth| Injection { kernel: "UP".into(), nth, task: None, kind: InjectionKind::ZeroRow };
        assert_eq!(parsed("UP:zero-row"), Ok(injection(0)));
        assert_eq!(parsed("UP:7:zero-row"), Ok(injection(7)));
        assert_eq!(injection(7).to_string().parse(), Ok(injection(7)));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for text in ["UP", ":scale", "UP:x:scale", "UP:-1:scale", ""] {
            let error = text.parse::<Injection>().unwrap_err();
            assert_eq!(error, InjectionError::Malformed { text: text.into() });
        }
        let error = "UP:0:halve".parse::<Injection>().unwrap_err().to_string();
        assert!(error.contains("'halve'; there are scale, bitflip, nan, zero-row"), "{error}");
    }
}
