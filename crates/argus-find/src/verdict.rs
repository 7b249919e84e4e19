//! Which tasks are wrong, which of them made it wrong, and which come first.

use crate::tasks::Tasks;

/// How a value agrees with what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Bit for bit.
    Equal,
    /// Different, within the tolerance.
    Within,
    Beyond,
    /// Could not be judged, and why.
    Unknown(String),
}

/// What the records of one task came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub inputs: Vec<Agreement>,
    pub outputs: Vec<Agreement>,
    /// It reads bytes that a wrong task wrote: known where inputs are not compared with anything.
    pub reads_wrong: bool,
    /// Why nothing at all could be said.
    pub nothing: Option<String>,
}

/// What is said of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    /// Its inputs are right and its outputs are not.
    Introduced,
    /// An input was wrong already.
    Inherited,
    Unknown(String),
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Clean => "clean",
            Verdict::Introduced => "introduced",
            Verdict::Inherited => "inherited",
            Verdict::Unknown(_) => "unknown",
        }
    }

    pub fn is_wrong(&self) -> bool {
        matches!(self, Verdict::Introduced | Verdict::Inherited)
    }
}

/// Of a task whose expected outputs were computed from its own captured inputs: whatever it inherited, outputs
/// that do not follow from its inputs are its own doing.
pub fn isolated(evidence: &Evidence) -> Verdict {
    if evidence.outputs.contains(&Agreement::Beyond) {
        Verdict::Introduced
    } else if evidence.reads_wrong {
        Verdict::Inherited
    } else {
        clean_or_unknown(evidence, &evidence.outputs)
    }
}

/// Of a task that is compared with the same task of another run. `behind_wrong`: values come to it from a task
/// that is wrong, so that even a small difference of an input is that one's.
pub fn against(evidence: &Evidence, behind_wrong: bool) -> Verdict {
    let differs = |agreement: &Agreement| match agreement {
        Agreement::Beyond => true,
        Agreement::Within => behind_wrong,
        Agreement::Equal | Agreement::Unknown(_) => false,
    };
    if evidence.inputs.iter().any(differs) {
        return Verdict::Inherited;
    }
    if !evidence.outputs.contains(&Agreement::Beyond) {
        return clean_or_unknown(evidence, &evidence.outputs);
    }
    match first_unknown(&evidence.inputs) {
        Some(why) => {
            Verdict::Unknown(format!("its outputs differ, but not every input could be compared: {why}"))
        }
        None => Verdict::Introduced,
    }
}

fn clean_or_unknown(evidence: &Evidence, outputs: &[Agreement]) -> Verdict {
    if let Some(why) = &evidence.nothing {
        return Verdict::Unknown(why.clone());
    }
    match first_unknown(outputs) {
        Some(why) => Verdict::Unknown(why.to_owned()),
        None => Verdict::Clean,
    }
}

fn first_unknown(agreements: &[Agreement]) -> Option<&str> {
    agreements.iter().find_map(|agreement| match agreement {
        Agreement::Unknown(why) => Some(why.as_str()),
        _ => None,
    })
}

/// The tasks from which everything wrong comes, dependencies first, and how many wrong tasks lie behind each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    pub task: usize,
    /// Wrong tasks that its values reach.
    pub downstream: usize,
}

/// Introduced errors with no other introduced error before them. Without edges every introduced one counts.
pub fn firsts(tasks: &Tasks, verdicts: &[Verdict]) -> Vec<First> {
    let introduced = |at: usize| verdicts[at] == Verdict::Introduced;
    // Whether an introduced error lies before a task; order() has dependencies first.
    let mut behind = vec![false; tasks.len()];
    for &at in tasks.order() {
        behind[at] = tasks.predecessors(at).iter().any(|edge| behind[edge.task] || introduced(edge.task));
    }
    let first = tasks.order().iter().copied().filter(|&at| introduced(at) && !behind[at]);
    first.map(|task| First { task, downstream: wrong_behind(tasks, verdicts, task) }).collect()
}

fn wrong_behind(tasks: &Tasks, verdicts: &[Verdict], from: usize) -> usize {
    let mut seen = vec![false; tasks.len()];
    let mut open = vec![from];
    let mut count = 0;
    while let Some(at) = open.pop() {
        for &next in tasks.successors(at) {
            if !seen[next] && next != from {
                seen[next] = true;
                count += usize::from(verdicts[next].is_wrong());
                open.push(next);
            }
        }
    }
    count
}
