//! What was found, without end but not without bound.

use std::collections::BTreeMap;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The dump says something that is not so.
    Defect,
    /// The dump itself says that something is missing.
    Loss,
    /// Nothing is wrong for certain.
    Warning,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Defect {
    pub severity: Severity,
    /// The record that it is about, if it is about one.
    pub record: Option<usize>,
    pub message: String,
}

/// Of one kind this many are told one by one.
const TOLD: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Findings {
    /// By severity, then by what they have in common.
    kinds: BTreeMap<(Severity, &'static str), Kind>,
}

#[derive(Debug, Default)]
struct Kind {
    told: Vec<Defect>,
    more: u64,
}

impl Findings {
    /// Something about the dump that is wrong. `kind` completes "n more: ...".
    pub(super) fn defect(
        &mut self,
        kind: &'static str,
        record: impl Into<Option<usize>>,
        message: impl FnOnce() -> String,
    ) {
        self.add(Severity::Defect, kind, record.into(), message);
    }

    pub(super) fn loss(
        &mut self,
        kind: &'static str,
        record: impl Into<Option<usize>>,
        message: impl FnOnce() -> String,
    ) {
        self.add(Severity::Loss, kind, record.into(), message);
    }

    pub(super) fn warning(
        &mut self,
        kind: &'static str,
        record: impl Into<Option<usize>>,
        message: impl FnOnce() -> String,
    ) {
        self.add(Severity::Warning, kind, record.into(), message);
    }

    pub(super) fn add(
        &mut self,
        severity: Severity,
        kind: &'static str,
        record: Option<usize>,
        message: impl FnOnce() -> String,
    ) {
        let kind = self.kinds.entry((severity, kind)).or_default();
        if kind.told.len() < TOLD {
            kind.told.push(Defect { severity, record, message: message() });
        } else {
            kind.more += 1;
        }
    }

    /// Joins what two threads found, the first one's first.
    pub(super) fn joined(mut self, other: Findings) -> Findings {
        self.add_all(other);
        self
    }

    pub(super) fn add_all(&mut self, other: Findings) {
        for (key, found) in other.kinds {
            let kind = self.kinds.entry(key).or_default();
            for defect in found.told {
                if kind.told.len() < TOLD {
                    kind.told.push(defect);
                } else {
                    kind.more += 1;
                }
            }
            kind.more += found.more;
        }
    }

    /// Defects, then losses, then warnings; of each kind what was told, and how many more there are.
    pub(super) fn finish(self) -> Vec<Defect> {
        let mut defects = Vec::new();
        for ((severity, name), kind) in self.kinds {
            defects.extend(kind.told);
            if kind.more > 0 {
                let message = format!("{} more: {name}", kind.more);
                defects.push(Defect { severity, record: None, message });
            }
        }
        defects
    }
}
