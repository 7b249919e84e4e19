//! From what was seen to who left first.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Observation, Seen};

/// How a member left the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Same inputs as the others, other outputs.
    Introduced,
    /// Two members differ from the same inputs, and no majority says which is right.
    Undecided,
    /// Its inputs are others, and no task before it explains that: it was given them.
    Given,
    Lacks,
    OtherShape,
    Damaged,
}

impl How {
    pub const fn sentence(self) -> &'static str {
        match self {
            How::Introduced => "made other outputs of the same inputs",
            How::Undecided => {
                "made other outputs of the same inputs than another rank; no majority says which is right"
            }
            How::Given => "was given other inputs",
            How::Lacks => "does not have the task",
            How::OtherShape => "has tensors of another type or shape",
            How::Damaged => "has damaged records",
        }
    }
}

/// A member leaves the pack at a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    pub member: u32,
    pub position: u32,
    pub task_id: String,
    pub kernel: String,
    pub how: How,
    pub arguments: Vec<u32>,
}

/// What became of one member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberSummary {
    /// Tasks at which it differs for a reason of its own.
    pub departures: u64,
    /// Tasks that differ because an earlier one does.
    pub inherited: u64,
    /// Tasks whose payloads were not captured.
    pub unknown: u64,
}

/// What a group of captures came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Across {
    /// The first departure of each member that left, in the order of the tasks.
    pub departures: Vec<Departure>,
    pub members: Vec<MemberSummary>,
    /// Tasks on which the ranks work on different data, so that nothing can be said.
    pub no_pack: u64,
}

/// Who left the pack, and where first. Observations may come in any order.
pub fn judge(mut observations: Vec<Observation>, members: usize) -> Across {
    observations.sort_by_key(|observation| observation.position);
    let mut across = Across { members: vec![MemberSummary::default(); members], ..Across::default() };
    // Tasks at which each member differs, so that those behind them inherit.
    let mut apart: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); members];
    let mut first: BTreeMap<u32, Departure> = BTreeMap::new();
    for observation in &observations {
        across.no_pack += u64::from(observation.no_pack);
        for (member, seen) in &observation.members {
            let Some(summary) = across.members.get_mut(*member as usize) else { continue };
            let apart = &mut apart[*member as usize];
            let behind = observation.reads_from.iter().any(|position| apart.contains(position));
            let (how, arguments) = match seen {
                Seen::Unknown(_) => {
                    summary.unknown += 1;
                    continue;
                }
                Seen::Outputs(arguments) => (How::Introduced, arguments.as_slice()),
                Seen::Split(arguments) => (How::Undecided, arguments.as_slice()),
                Seen::Inputs(_) if behind => {
                    apart.insert(observation.position);
                    summary.inherited += 1;
                    continue;
                }
                Seen::Inputs(arguments) => (How::Given, arguments.as_slice()),
                Seen::Lacks => (How::Lacks, &[][..]),
                Seen::OtherShape(arguments) => (How::OtherShape, arguments.as_slice()),
                Seen::Damaged(arguments) => (How::Damaged, arguments.as_slice()),
            };
            apart.insert(observation.position);
            summary.departures += 1;
            first.entry(*member).or_insert_with(|| Departure {
                member: *member,
                position: observation.position,
                task_id: observation.task_id.clone(),
                kernel: observation.kernel.clone(),
                how,
                arguments: arguments.to_vec(),
            });
        }
    }
    across.departures = first.into_values().collect();
    across.departures.sort_by_key(|departure| (departure.position, departure.how, departure.member));
    across
}
