//! The tasks of a report. There may be millions of them, and nearly all agree: what is to be said of one is put together when
//! it is looked at, and not kept.

use argus_abi::TaskId;
use serde::{Serialize, Serializer};

use super::{Compared, TaskReport, compared};
use crate::align::Side;
use crate::compare::Comparison;
use crate::search::{Expectation, Findings, Found};

/// All tasks of a report, dependencies first.
#[derive(Clone)]
pub struct Listing<'a> {
    pub(super) subject: Side<'a>,
    pub(super) expectation: Expectation<'a>,
    pub(super) findings: Findings,
}

/// What can be said of a task without comparing anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskLine<'a> {
    /// Its place in the [`Listing`].
    pub position: usize,
    pub id: TaskId,
    pub kernel: &'a str,
    pub verdict: &'static str,
    /// It was running when the run ended.
    pub running: bool,
    /// Every pair is equal and there is nothing else to tell: how many pairs there are.
    pub equal: Option<u32>,
}

impl<'a> Listing<'a> {
    pub fn len(&self) -> usize {
        self.findings.tasks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.findings.tasks.is_empty()
    }

    /// The task at a position; `None` behind the last.
    pub fn get(&self, position: usize) -> Option<TaskLine<'a>> {
        let at = *self.subject.tasks.order().get(position)?;
        let task = self.subject.tasks.get(at);
        let found = &self.findings.tasks[at];
        Some(TaskLine {
            position,
            id: task.id,
            kernel: &task.kernel,
            verdict: found.verdict().name(),
            running: !task.completed && task.has_started(),
            equal: match found {
                Found::Equal { pairs, .. } => Some(*pairs),
                Found::Told(_) => None,
            },
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = TaskLine<'a>> {
        (0..self.len()).filter_map(|position| self.get(position))
    }

    /// Everything about a task; pairs that are equal are compared once more.
    pub fn full(&self, line: &TaskLine<'_>) -> TaskReport {
        let at = self.subject.tasks.order()[line.position];
        let finding = self.findings.told(self.subject, &self.expectation, at);
        let mut why: Vec<String> = finding.remarks.iter().chain(&finding.input_remarks).cloned().collect();
        if let Some(reason) = finding.verdict.why()
            && !why.iter().any(|known| known == reason)
        {
            why.insert(0, reason.to_owned());
        }
        let all = |list: &[Comparison]| -> Vec<Compared> { list.iter().map(compared).collect() };
        TaskReport {
            id: line.id.to_string(),
            kernel: line.kernel.to_owned(),
            verdict: line.verdict,
            running: line.running,
            why,
            inputs: all(&finding.inputs),
            outputs: all(&finding.outputs),
        }
    }

    /// All of them, for a report that outlives the dumps.
    pub fn collect(&self) -> Vec<TaskReport> {
        self.iter().map(|line| self.full(&line)).collect()
    }

    /// What the report was made of.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl TaskLine<'_> {
    /// `0x0000000200000001 (QK)`
    pub fn label(&self) -> String {
        match self.kernel {
            "" => self.id.to_string(),
            kernel => format!("{} ({kernel})", self.id),
        }
    }
}

impl Serialize for Listing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|line| self.full(&line)))
    }
}
