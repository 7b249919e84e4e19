//! What `argus run` tells about a played case: what text and JSON have in common.

mod json;
mod text;

use std::time::Duration;

use argus_dump::LastVerdict;
use argus_scene::play::Round;

use crate::run::Summary;

pub use json::json;
pub use text::text;

/// What the comparison of all rounds came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Fail,
    /// Nothing was compared, so nothing was found right or wrong.
    NotCompared,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::NotCompared => "not_compared",
        }
    }

    fn new(summary: &Summary) -> Verdict {
        if !summary.played.passed() {
            Verdict::Fail
        } else if summary.played.rounds.iter().any(|round| round.outputs.is_empty()) {
            Verdict::NotCompared
        } else {
            Verdict::Pass
        }
    }
}

/// Writes beside each dump what its round came to, for listings and the browser.
pub fn keep_verdicts(summary: &Summary) {
    for (kept, round) in summary.kept.iter().zip(&summary.played.rounds) {
        let verdict = match (round.outputs.is_empty(), passed(round)) {
            (true, _) => Verdict::NotCompared,
            (false, true) => Verdict::Pass,
            (false, false) => Verdict::Fail,
        };
        crate::output::keep_verdict(&LastVerdict::new("run", verdict.name()), &kept.summary.directory);
    }
}

/// The fastest, the middle and the slowest round.
struct Times {
    min: Duration,
    median: Duration,
    max: Duration,
}

impl Times {
    fn new(rounds: &[Round]) -> Times {
        let mut sorted: Vec<Duration> = rounds.iter().map(|round| round.report.elapsed).collect();
        sorted.sort();
        let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
        let last = sorted.len().saturating_sub(1);
        Times { min: at(0), median: (at(last / 2) + at(last.div_ceil(2))) / 2, max: at(last) }
    }
}

/// The round whose outputs are shown: the first that failed, else the last. Counted from 1.
fn shown_round(rounds: &[Round]) -> Option<(usize, &Round)> {
    let failed = rounds.iter().position(|round| !passed(round));
    let index = failed.unwrap_or(rounds.len().saturating_sub(1));
    rounds.get(index).map(|round| (index + 1, round))
}

fn passed(round: &Round) -> bool {
    round.outputs.iter().all(|output| output.pass)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use argus_abi::{DType, RuntimeKind};
    use argus_chip::A2A3SIM;
    use argus_runtime::RunReport;
    use argus_scene::compare::{Tolerance, compare};
    use argus_scene::play::Played;
    use argus_scenes::scene;

    use super::*;

    /// Rounds of the given milliseconds, each with these values of an output that should hold `EXPECTED`.
    pub fn summary(rounds: &[(u64, Option<[f32; 3]>)]) -> Summary {
        const EXPECTED: [f32; 3] = [1.0, 2.0, 4.0];
        let tolerance = Tolerance::new(0.25, 0.0).unwrap();
        let rounds = rounds.iter().map(|&(milliseconds, values)| Round {
            report: RunReport {
                tasks: 7,
                elapsed: Duration::from_millis(milliseconds),
                clusters: 3,
                control_threads: 4,
            },
            outputs: values
                .iter()
                .map(|values| {
                    let bytes = |values: &[f32; 3]| values.map(f32::to_le_bytes).concat();
                    let (actual, expected) = (bytes(values), bytes(&EXPECTED));
                    compare("out", (DType::F32, &actual), (DType::F32, &expected), tolerance).unwrap()
                })
                .collect(),
        });
        let scene = scene("vector_example").unwrap();
        Summary {
            asked: scene.name.clone(),
            case: Arc::clone(&scene.cases[0]),
            scene,
            runtime: RuntimeKind::Trb,
            chip: &A2A3SIM,
            played: Played { rounds: rounds.collect(), tolerance, uncompared: Vec::new() },
            kept: Vec::new(),
            injected: Vec::new(),
            timeline: None,
        }
    }

    pub const RIGHT: Option<[f32; 3]> = Some([1.0, 2.5, 4.0]);
    pub const WRONG: Option<[f32; 3]> = Some([1.0, 2.75, f32::NAN]);

    #[test]
    fn one_wrong_round_is_enough() {
        assert_eq!(Verdict::new(&summary(&[(1, RIGHT), (1, RIGHT)])), Verdict::Pass);
        assert_eq!(Verdict::new(&summary(&[(1, RIGHT), (1, WRONG), (1, RIGHT)])), Verdict::Fail);
    }

    #[test]
    fn what_was_not_compared_did_not_pass() {
        assert_eq!(Verdict::new(&summary(&[(1, None)])), Verdict::NotCompared);
    }

    #[test]
    fn the_first_wrong_round_is_shown_else_the_last() {
        let shown = |summary: &Summary| shown_round(&summary.played.rounds).unwrap().0;
        assert_eq!(shown(&summary(&[(1, RIGHT), (1, WRONG), (1, WRONG)])), 2);
        assert_eq!(shown(&summary(&[(1, RIGHT), (1, RIGHT)])), 2);
    }

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        let times = Times::new(&summary(&[(4, None), (1, None), (10, None), (2, None)]).played.rounds);
        assert_eq!([times.min, times.median, times.max], [1, 3, 10].map(Duration::from_millis));
    }
}
