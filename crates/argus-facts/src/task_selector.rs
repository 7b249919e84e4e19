//! Tasks as people name them. Every command that takes a task takes it in this form, and it means the same in each.
//!
//! | typed | means |
//! |---|---|
//! | `0x200000001` | the task with this id; leading zeros do not matter |
//! | `0x1..0x4` | the tasks with ids from the one to the other |
//! | `0x2*` | the tasks whose id begins so, written with or without its leading zeros |
//! | `5` | the sixth task of the run: numbers count the tasks that run a kernel from 0, in the order of ids |
//! | `3..7` | the tasks from one number to the other |
//! | `SF:1` | the second task that runs the kernel `SF`, in the order of ids |
//!
//! So an id always begins with `0x`, and a number without it always counts.

use std::ops::RangeInclusive;

use argus_abi::TaskId;

use crate::select::parse_range;

/// What a task may be called, for messages.
pub const TASK_FORMS: &str = "a task is an id such as 0x200000001, the beginning of one such as 0x2*, a number that \
                              counts tasks from 0, the n-th task of a kernel such as SF:1, or a range such as \
                              0x1..0x4 or 3..7";

/// Tasks as they were typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskSelector {
    Ids(RangeInclusive<TaskId>),
    /// The first hexadecimal digits of an id, in lower case.
    Prefix(String),
    /// Counted from 0 over the tasks that run a kernel, in the order of ids.
    Numbers(RangeInclusive<usize>),
    /// Counted from 0 over the tasks that run this kernel, in the order of ids.
    OfKernel {
        kernel: String,
        number: usize,
    },
}

impl TaskSelector {
    /// `None` if the text has none of the forms; [`TASK_FORMS`] says which there are.
    pub fn parse(text: &str) -> Option<TaskSelector> {
        if let Some((kernel, number)) = text.rsplit_once(':') {
            let number = decimal(number)?;
            return (!kernel.is_empty())
                .then(|| TaskSelector::OfKernel { kernel: kernel.to_owned(), number });
        }
        if let Some(start) = text.strip_suffix('*') {
            let digits = hexadecimal(start)?;
            return Some(TaskSelector::Prefix(digits.to_ascii_lowercase()));
        }
        match parse_range(text, decimal) {
            Some(numbers) => Some(TaskSelector::Numbers(numbers)),
            None => parse_range(text, id).map(TaskSelector::Ids),
        }
    }

    /// Whether it counts tasks, so that it must be [resolved](TaskSelector::resolve) before it can be asked.
    pub fn counts(&self) -> bool {
        matches!(self, TaskSelector::Numbers(_) | TaskSelector::OfKernel { .. })
    }

    /// Whether a task is meant, by its id alone. A selector that counts means none before it is resolved.
    pub fn holds(&self, task: TaskId) -> bool {
        match self {
            TaskSelector::Ids(range) => range.contains(&task),
            TaskSelector::Prefix(digits) => {
                format!("{:016x}", task.raw()).starts_with(digits) || format!("{task:x}").starts_with(digits)
            }
            TaskSelector::Numbers(_) | TaskSelector::OfKernel { .. } => false,
        }
    }

    /// The same tasks by their ids. `tasks` are the tasks of the run that run kernels, in the order of ids; `runs`
    /// tells whether one of them runs a certain kernel. `None` if there are not so many.
    pub fn resolve<T>(
        &self,
        mut tasks: impl Iterator<Item = (TaskId, T)>,
        runs: impl Fn(&T, &str) -> bool,
    ) -> Option<TaskSelector> {
        match self {
            TaskSelector::Ids(_) | TaskSelector::Prefix(_) => Some(self.clone()),
            TaskSelector::Numbers(range) => {
                let (first, _) = tasks.nth(*range.start())?;
                let rest = tasks.take(range.end() - range.start());
                let last = rest.last().map_or(first, |(last, _)| last);
                Some(TaskSelector::Ids(first..=last))
            }
            TaskSelector::OfKernel { kernel, number } => {
                let (task, _) = tasks.filter(|(_, about)| runs(about, kernel)).nth(*number)?;
                Some(TaskSelector::Ids(task..=task))
            }
        }
    }
}

impl From<TaskId> for TaskSelector {
    fn from(task: TaskId) -> TaskSelector {
        TaskSelector::Ids(task..=task)
    }
}

impl std::fmt::Display for TaskSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TaskSelector::Ids(range) if range.start() == range.end() => write!(f, "{:#x}", range.start()),
            TaskSelector::Ids(range) => write!(f, "{:#x}..{:#x}", range.start(), range.end()),
            TaskSelector::Prefix(digits) => write!(f, "0x{digits}*"),
            TaskSelector::Numbers(range) if range.start() == range.end() => write!(f, "{}", range.start()),
            TaskSelector::Numbers(range) => write!(f, "{}..{}", range.start(), range.end()),
            TaskSelector::OfKernel { kernel, number } => write!(f, "{kernel}:{number}"),
        }
    }
}

fn decimal(text: &str) -> Option<usize> {
    // The standard parser also takes a plus sign.
    text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok())?
}

fn hexadecimal(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let sound = (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    sound.then_some(digits)
}

fn id(text: &str) -> Option<TaskId> {
    u64::from_str_radix(hexadecimal(text)?, 16).ok().map(TaskId::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six tasks on two rings, and what each runs.
    const TASKS: [(u64, &str); 6] = [
        (0x1_0000_0000, "QK"),
        (0x1_0000_0001, "SF"),
        (0x2_0000_0000, "SF"),
        (0x2_0000_0001, "QK"),
        (0x2_0000_0010, "SF"),
        (0x20_0000_0000, ""),
    ];

    fn meant(text: &str) -> Option<Vec<u64>> {
        let tasks = TASKS.iter().map(|&(id, kernel)| (TaskId::from_raw(id), kernel));
        let selector = TaskSelector::parse(text).unwrap_or_else(|| panic!("{text} is understood"));
        assert_eq!(
            TaskSelector::parse(&selector.to_string()),
            Some(selector.clone()),
            "{text} is shown as typed"
        );
        let resolved = selector.resolve(tasks, |kernel, name| kernel.eq_ignore_ascii_case(name))?;
        Some(TASKS.iter().map(|task| task.0).filter(|&id| resolved.holds(TaskId::from_raw(id))).collect())
    }

    #[test]
    fn each_form_means_the_tasks_that_it_says() {
        let at = |places: &[usize]| Some(places.iter().map(|&place| TASKS[place].0).collect());
        assert_eq!(meant("0x200000001"), at(&[3]));
        assert_eq!(meant("0x0000000200000001"), at(&[3]));
        assert_eq!(meant("0x100000001..0x200000001"), at(&[1, 2, 3]));
        assert_eq!(meant("0x2*"), at(&[2, 3, 4, 5]), "short ids begin so");
        assert_eq!(meant("0x00000002*"), at(&[2, 3, 4]), "and whole ones");
        assert_eq!(meant("0x20000001*"), at(&[4]));
        assert_eq!(meant("3"), at(&[3]));
        assert_eq!(meant("1..3"), at(&[1, 2, 3]));
        assert_eq!(meant("4..99"), at(&[4, 5]));
        assert_eq!(meant("SF:0"), at(&[1]));
        assert_eq!(meant("sf:2"), at(&[4]));
        assert_eq!(meant("0x99"), Some(vec![]));
        assert_eq!(meant("6"), None);
        assert_eq!(meant("SF:3"), None);
        assert_eq!(meant("200000001"), None, "digits without 0x are never an id");
    }

    #[test]
    fn other_forms_are_not_understood() {
        for text in ["", "*", "zz", "0x", "2000000a", "+1", "-1", "SF:", ":1", "SF:x", "5..2", "0x1..5", "2*"]
        {
            assert_eq!(TaskSelector::parse(text), None, "{text}");
        }
        assert_eq!(TaskSelector::parse("0x00000000000000001*"), None, "seventeen digits");
    }

    #[test]
    fn what_counts_means_nothing_before_it_is_resolved() {
        let task = TaskId::from_raw(1);
        for text in ["1", "SF:1"] {
            let selector = TaskSelector::parse(text).unwrap();
            assert!(selector.counts() && !selector.holds(task), "{text}");
        }
        assert!(TaskSelector::from(task).holds(task));
    }
}
