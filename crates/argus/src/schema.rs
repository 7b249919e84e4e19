//! The schema of each command's JSON, by name and version. The version grows when a key changes its name or its
//! meaning or is left out; new keys do not change it. `docs/json.md` has an example of each.

pub const ERROR: &str = "argus-error-1";
pub const LIST: &str = "argus-list-1";
/// The description of a run in a dump is `argus-run-1`.
pub const RUN: &str = "argus-run-result-1";
pub const VIEW: &str = "argus-view-2";
pub const ORCHESTRATION: &str = "argus-view-orchestration-1";
pub const STATS: &str = "argus-stats-2";
pub const VERIFY: &str = "argus-verify-2";
pub const EXPORT: &str = "argus-export-1";
pub const CONVERT: &str = "argus-convert-1";
pub const DIFF: &str = "argus-diff-1";
pub const FIND_RUNS: &str = "argus-find-runs-3";
pub const REPLAY: &str = "argus-replay-2";
pub const WORKSPACE: &str = "argus-workspace-2";
pub const TRACE: &str = "argus-trace-2";
pub const TIMELINE: &str = "argus-timeline-1";
pub const CHECK: &str = "argus-trace-check-2";
pub const DUMPS: &str = "argus-dumps-1";
pub const DOCTOR: &str = "argus-doctor-1";
pub const GRAPH: &str = "argus-graph-1";
pub const TIMES: &str = "argus-times-1";
pub const RANKS: &str = "argus-ranks-1";
pub const FAILED_RUN: &str = "argus-failed-run-1";
pub const STATS_RANKS: &str = "argus-stats-ranks-1";
pub const VERIFY_RANKS: &str = "argus-verify-ranks-1";
pub const EXPORT_RANKS: &str = "argus-export-ranks-1";
pub const FIND_RANKS: &str = "argus-find-ranks-1";
pub const ACROSS: &str = "argus-across-1";
