//! Whether the values that no task reads any more are right.

use argus_abi::Kind;
use argus_dump::read::Ending;
use serde::Serialize;

use super::Found;
use crate::align::Side;
use crate::compare::Comparison;
use crate::flow::State;
use crate::verdict::{Agreement, Verdict};

/// What became of the outputs of the tasks that no task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndResult {
    /// All of them were compared, and agree.
    Agrees,
    /// Those that were compared agree.
    PartlyAgrees,
    Differs,
    /// They follow from values that are wrong.
    Affected,
    /// None of them was compared, or the run did not come to its end.
    Unknown,
}

/// `reads` is given where a task was judged by its own inputs alone: then an output is right only if those are.
pub(super) fn end_result(subject: Side<'_>, findings: &[Found], reads: Option<&[State]>) -> EndResult {
    let tasks = subject.tasks;
    let (mut agree, mut open, mut affected) = (0, 0, false);
    for at in (0..tasks.len()).filter(|&at| tasks.successors(at).is_empty() && !tasks.get(at).is_idle()) {
        let captured = tasks.get(at).outputs.iter().filter(|&o| subject.dump.record(o).kind == Kind::Tensor);
        let captured = captured.count().max(1);
        let finding = match &findings[at] {
            Found::Told(finding) => finding,
            Found::Equal { tensors, .. } => {
                agree += *tensors as usize;
                open += captured.saturating_sub(*tensors as usize);
                continue;
            }
        };
        if finding.outputs.iter().any(|output| output.agreement == Agreement::Beyond) {
            return EndResult::Differs;
        }
        affected |=
            finding.verdict == Verdict::Inherited && !finding.outputs.iter().any(|o| known(o, reads, at));
        let compared = finding.outputs.iter().filter(|output| output.kind == Kind::Tensor);
        let agreeing = compared.filter(|output| known(output, reads, at)).count();
        agree += agreeing;
        open += captured.saturating_sub(agreeing);
    }
    let ended = matches!(subject.dump.ending(), Ending::Complete | Ending::Unknown);
    match (affected, ended, agree, open) {
        (true, ..) => EndResult::Affected,
        (_, false, ..) | (_, _, 0, _) => EndResult::Unknown,
        (_, _, _, 0) => EndResult::Agrees,
        _ => EndResult::PartlyAgrees,
    }
}

/// Whether an output is known to be right.
fn known(output: &Comparison, reads: Option<&[State]>, at: usize) -> bool {
    output.is_judged() && reads.is_none_or(|reads| reads[at] == State::Right)
}
