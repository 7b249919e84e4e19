//! Whether a dump is true.
//!
//! Everything that the files say twice is compared, and everything that follows from something else is computed
//! again: checksums, sizes, counts, order. What a dump itself says is missing, such as a truncated payload or the end of
//! its run, is a loss: the dump is true, and not whole. What was not asked for, such as arguments that a selection left
//! out, is neither.
//!
//! | file | question |
//! |---|---|
//! | `files` | do journal, manifest and graph.json say the same, and do the counts fit? |
//! | `run` | does run.json agree with the records, and are the files those that it speaks of? |
//! | `views` | does each record make sense by itself? |
//! | `payloads` | are the bytes there, apart from each other, and those that were captured? |
//! | `tasks` | is every argument of every task there, once, and in the order of time? |

mod files;
mod findings;
mod payloads;
mod run;
mod tasks;
mod views;

use crate::read::Dump;

pub use findings::{Defect, Severity};

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub records: u64,
    /// Payloads whose bytes were read; a shared one counts once.
    pub payloads: u64,
    pub payload_bytes: u64,
    /// Records whose checksum was computed again.
    pub checksums: u64,
    pub tasks: u64,
    pub edges: u64,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub checked: Checked,
    /// Of each kind at most a hundred, and then how many more there are.
    pub defects: Vec<Defect>,
}

impl Verdict {
    /// Whether nothing is wrong and nothing is missing; warnings do not count.
    pub fn is_sound(&self) -> bool {
        self.defects.iter().all(|defect| defect.severity == Severity::Warning)
    }
}

/// Checks everything. `progress` is told how many bytes of payload are done, and of how many.
pub fn verify(dump: &Dump, progress: impl Fn(u64, u64) + Sync) -> Verdict {
    let mut findings = findings::Findings::default();
    let mut checked = Checked { records: dump.len() as u64, ..Checked::default() };
    files::check(dump, &mut findings);
    run::check(dump, &mut findings);
    findings.add_all(views::check(dump));
    findings.add_all(payloads::check(dump, &mut checked, &progress));
    tasks::check(dump, &mut checked, &mut findings);
    Verdict { checked, defects: findings.finish() }
}
