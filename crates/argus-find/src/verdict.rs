//! Which tasks are wrong, which of them made it wrong, and which come first.
//!
//! Nothing is said of a task that its evidence does not carry: a task introduced an error only if everything that
//! it read is known to be right, and what is not known is called unknown.

use crate::flow::State;
use crate::tasks::Tasks;

/// How a value agrees with what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Bit for bit.
    Equal,
    /// Different, within the tolerance.
    Within,
    /// Out of tolerance.
    Beyond,
    /// Could not be judged, and why.
    Unknown(String),
    /// A side has other bytes than were captured, and where.
    Damaged(String),
}

/// What the records of one task came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Of inputs that were compared with something.
    pub inputs: Vec<Agreement>,
    pub outputs: Vec<Agreement>,
    /// What memory says of the bytes that it reads: known where inputs are not compared with anything.
    pub reads: State,
    /// Everything that it was given was captured.
    pub inputs_known: bool,
    /// Records with other bytes than were captured.
    pub damage: Vec<String>,
    /// Why nothing at all could be said.
    pub nothing: Option<String>,
}

/// What is said of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    /// What it read is right and its outputs are not.
    Introduced,
    /// An input was wrong already.
    Inherited,
    /// Its outputs are wrong, and not everything that it read is known to be right, and why.
    HereOrUpstream(String),
    /// A record of it has other bytes than were captured.
    Damaged(String),
    Unknown(String),
}

impl Verdict {
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Clean => "clean",
            Verdict::Introduced => "introduced",
            Verdict::Inherited => "inherited",
            Verdict::HereOrUpstream(_) => "here_or_upstream",
            Verdict::Damaged(_) => "damaged",
            Verdict::Unknown(_) => "unknown",
        }
    }

    pub fn is_wrong(&self) -> bool {
        matches!(self, Verdict::Introduced | Verdict::Inherited | Verdict::HereOrUpstream(_))
    }

    /// Why there is no better verdict.
    pub fn why(&self) -> Option<&str> {
        match self {
            Verdict::HereOrUpstream(why) | Verdict::Damaged(why) | Verdict::Unknown(why) => Some(why),
            Verdict::Clean | Verdict::Introduced | Verdict::Inherited => None,
        }
    }
}

/// Of a task whose expected outputs were computed from its own captured inputs: whatever it inherited, outputs
/// that do not follow from its inputs are its own doing.
pub fn isolated(evidence: &Evidence) -> Verdict {
    if evidence.outputs.contains(&Agreement::Beyond) {
        Verdict::Introduced
    } else if evidence.reads == State::Wrong {
        Verdict::Inherited
    } else {
        clean_or_unknown(evidence)
    }
}

/// Of a task whose outputs are known to be right or wrong, and whose inputs are as far as they were compared.
/// `behind_wrong`: values come to it from a task that is wrong, so that even a small difference of an input is
/// that one's.
pub fn compared(evidence: &Evidence, behind_wrong: bool) -> Verdict {
    let differs = |agreement: &Agreement| match agreement {
        Agreement::Beyond => true,
        Agreement::Within => behind_wrong,
        Agreement::Equal | Agreement::Unknown(_) | Agreement::Damaged(_) => false,
    };
    if evidence.inputs.iter().any(differs) || evidence.reads == State::Wrong {
        return Verdict::Inherited;
    }
    if !evidence.outputs.contains(&Agreement::Beyond) {
        return clean_or_unknown(evidence);
    }
    let open = match first_unknown(&evidence.inputs) {
        Some(why) => Some(why.to_owned()),
        None if !evidence.inputs_known => Some("not all of its inputs were captured".to_owned()),
        None if evidence.reads == State::Unknown => {
            Some("it reads what tasks wrote that were not judged".to_owned())
        }
        None => None,
    };
    match (open, evidence.damage.first()) {
        (None, _) => Verdict::Introduced,
        (Some(_), Some(damage)) => Verdict::Damaged(damage.clone()),
        (Some(why), None) => Verdict::HereOrUpstream(why),
    }
}

fn clean_or_unknown(evidence: &Evidence) -> Verdict {
    if let Some(damage) = evidence.damage.first() {
        return Verdict::Damaged(damage.clone());
    }
    if let Some(why) = &evidence.nothing {
        return Verdict::Unknown(why.clone());
    }
    match first_unknown(&evidence.outputs) {
        Some(why) => Verdict::Unknown(why.to_owned()),
        None => Verdict::Clean,
    }
}

fn first_unknown(agreements: &[Agreement]) -> Option<&str> {
    agreements.iter().find_map(|agreement| match agreement {
        Agreement::Unknown(why) | Agreement::Damaged(why) => Some(why.as_str()),
        _ => None,
    })
}

/// First errors whose downstream tasks are counted and whose suspects are named; there may be a million of them.
const COUNTED: usize = 64;

/// A task from which something wrong comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First {
    pub task: usize,
    /// Wrong tasks that its values reach; only counted for the first few.
    pub downstream: Option<usize>,
    /// Tasks that may have made the error instead: those upstream that are not known to be right. Empty if the
    /// task itself introduced it.
    pub suspects: Vec<usize>,
}

/// Errors with no other error before them, dependencies first. Without edges every one counts.
pub fn firsts(tasks: &Tasks, verdicts: &[Verdict]) -> Vec<First> {
    let made = |at: usize| matches!(verdicts[at], Verdict::Introduced | Verdict::HereOrUpstream(_));
    // Whether an error lies before a task; order() has dependencies first.
    let mut behind = vec![false; tasks.len()];
    for &at in tasks.order() {
        behind[at] = tasks.predecessors(at).iter().any(|edge| behind[edge.task] || made(edge.task));
    }
    // An error that no edge leads to from another says that edges are missing: then what is downstream is not known.
    let complete = tasks.has_edges()
        && tasks.order().iter().all(|&at| !verdicts[at].is_wrong() || made(at) || behind[at]);
    let mut walk = Walk { seen: vec![0; tasks.len()], round: 0 };
    let first = tasks.order().iter().copied().filter(|&at| made(at) && !behind[at]);
    first
        .enumerate()
        .map(|(number, task)| {
            let counted = number < COUNTED;
            let suspects = match verdicts[task] {
                Verdict::HereOrUpstream(_) if counted => walk.suspects(tasks, verdicts, task),
                _ => Vec::new(),
            };
            let downstream = (counted && complete).then(|| walk.wrong_behind(tasks, verdicts, task));
            First { task, downstream, suspects }
        })
        .collect()
}

/// Marks tasks without clearing the marks of the walk before.
struct Walk {
    seen: Vec<u32>,
    round: u32,
}

impl Walk {
    fn begin(&mut self, at: usize) -> Vec<usize> {
        self.round += 1;
        self.seen[at] = self.round;
        vec![at]
    }

    fn is_new(&mut self, at: usize) -> bool {
        std::mem::replace(&mut self.seen[at], self.round) != self.round
    }

    fn wrong_behind(&mut self, tasks: &Tasks, verdicts: &[Verdict], from: usize) -> usize {
        let mut open = self.begin(from);
        let mut count = 0;
        while let Some(at) = open.pop() {
            for next in tasks.successors(at).iter().map(|&next| next as usize) {
                if self.is_new(next) {
                    count += usize::from(verdicts[next].is_wrong());
                    open.push(next);
                }
            }
        }
        count
    }

    /// Everything upstream that is not known to be right, in the order of the tasks; what is right lets nothing
    /// wrong through. Without edges every task may have been read.
    fn suspects(&mut self, tasks: &Tasks, verdicts: &[Verdict], from: usize) -> Vec<usize> {
        let suspicious = |at: usize| verdicts[at] != Verdict::Clean && !tasks.get(at).is_idle();
        if !tasks.has_edges() {
            let before = tasks.order().iter().copied().take_while(|&at| at != from);
            return before.filter(|&at| suspicious(at)).collect();
        }
        let mut open = self.begin(from);
        let mut found = Vec::new();
        while let Some(at) = open.pop() {
            for edge in tasks.predecessors(at).iter().filter(|edge| edge.data) {
                if suspicious(edge.task) && self.is_new(edge.task) {
                    found.push(edge.task);
                    open.push(edge.task);
                }
            }
        }
        found.sort_unstable_by_key(|&at| (tasks.get(at).dispatch.unwrap_or(u64::MAX), tasks.get(at).id));
        found
    }
}
