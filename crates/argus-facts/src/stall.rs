//! Why a run stands still, in the classes of the reference, and the counts that the class rests on.

use std::fmt;

use argus_abi::TaskId;
use serde::{Deserialize, Serialize};

/// The class of a run without progress. Numbers and words are those of the reference; there is no second class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StallClass {
    RunningStalled,
    ReadyButAllIdle,
    DependencyDeadlock,
    OrchestratorStarvation,
    Unknown,
}

impl StallClass {
    pub const ALL: [StallClass; 5] = [
        StallClass::RunningStalled,
        StallClass::ReadyButAllIdle,
        StallClass::DependencyDeadlock,
        StallClass::OrchestratorStarvation,
        StallClass::Unknown,
    ];

    /// The first rule that holds counts: one task that runs hides a hundred that are ready.
    pub const fn of(running: u64, ready: u64, waiting: u64, orchestrator_done: bool) -> StallClass {
        if running > 0 {
            StallClass::RunningStalled
        } else if ready > 0 {
            StallClass::ReadyButAllIdle
        } else if waiting > 0 {
            StallClass::DependencyDeadlock
        } else if !orchestrator_done {
            StallClass::OrchestratorStarvation
        } else {
            StallClass::Unknown
        }
    }

    /// The number under which the reference reports it.
    pub const fn detail(self) -> u32 {
        match self {
            StallClass::RunningStalled => 1,
            StallClass::ReadyButAllIdle => 3,
            StallClass::DependencyDeadlock => 4,
            StallClass::OrchestratorStarvation => 5,
            StallClass::Unknown => 99,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            StallClass::RunningStalled => "S1:running-stalled",
            StallClass::ReadyButAllIdle => "S3:ready-but-all-idle",
            StallClass::DependencyDeadlock => "S4:dependency-deadlock",
            StallClass::OrchestratorStarvation => "S5:orchestrator-starvation",
            StallClass::Unknown => "unknown:accounting/corruption",
        }
    }

    pub fn from_name(name: &str) -> Option<StallClass> {
        StallClass::ALL.into_iter().find(|class| class.name() == name)
    }

    /// What it means, and where to look.
    pub const fn meaning(self) -> &'static str {
        match self {
            StallClass::RunningStalled => {
                "a task was on a core and did not end: its kernel waits or loops, and everything behind it waits with it"
            }
            StallClass::ReadyButAllIdle => {
                "tasks could have run and no core took one: the fault is in scheduling, not in a kernel"
            }
            StallClass::DependencyDeadlock => {
                "no task ran and none could start: the tasks that are left wait for producers that never complete"
            }
            StallClass::OrchestratorStarvation => {
                "every task was complete and the orchestration submitted no more: it is the one that stands still"
            }
            StallClass::Unknown => {
                "no task was left and the orchestration had ended: the counts do not explain the stall"
            }
        }
    }
}

impl fmt::Display for StallClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A run that stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    pub class: StallClass,
    pub completed: u64,
    pub submitted: u64,
    pub running: u64,
    pub ready: u64,
    pub waiting: u64,
    pub orchestrator_done: bool,
    /// The first task that was running.
    pub task: Option<TaskId>,
    pub core: Option<u32>,
}

impl Stall {
    /// The counts that the class rests on, in one sentence.
    pub fn counts(&self) -> String {
        let Stall { completed, submitted, running, ready, waiting, .. } = self;
        let more =
            if self.orchestrator_done { "no more will come" } else { "the orchestration has not ended" };
        format!(
            "{completed} of {submitted} complete, {running} running, {ready} ready, {waiting} waiting; {more}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_holds_gives_the_class() {
        assert_eq!(StallClass::of(1, 100, 5, false), StallClass::RunningStalled);
        assert_eq!(StallClass::of(0, 2, 5, true), StallClass::ReadyButAllIdle);
        assert_eq!(StallClass::of(0, 0, 5, true), StallClass::DependencyDeadlock);
        assert_eq!(StallClass::of(0, 0, 0, false), StallClass::OrchestratorStarvation);
        assert_eq!(StallClass::of(0, 0, 0, true), StallClass::Unknown);
        for class in StallClass::ALL {
            assert_eq!(StallClass::from_name(class.name()), Some(class));
        }
    }
}
