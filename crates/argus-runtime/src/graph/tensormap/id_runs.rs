//! Many task ids in little memory.
//!
//! A loop that submits tasks gives them ids at equal distances. A tensor that everything reads has as many
//! readers as the run has tasks, and none of them may be forgotten before something is written there.

use argus_abi::TaskId;
use smallvec::SmallVec;

/// Ids in the order in which they came, equal neighbours once. Most views have one task in their history.
#[derive(Debug, Default)]
pub struct IdRuns(SmallVec<[Run; 1]>);

/// `count` ids, each `step` after the one before.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    step: u32,
    count: u32,
}

impl Run {
    fn last(self) -> u64 {
        self.first + u64::from(self.step) * u64::from(self.count - 1)
    }
}

impl IdRuns {
    pub fn push(&mut self, id: TaskId) {
        let id = id.raw();
        if let Some(run) = self.0.last_mut() {
            let step = id.checked_sub(run.last()).and_then(|step| u32::try_from(step).ok());
            match step {
                Some(0) => return,
                Some(step) if (run.count == 1 || step == run.step) && run.count < u32::MAX => {
                    run.step = step;
                    run.count += 1;
                    return;
                }
                _ => {}
            }
        }
        self.0.push(Run { first: id, step: 0, count: 1 });
    }

    pub fn iter(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.0.iter().flat_map(|run| {
            (0..u64::from(run.count))
                .map(move |index| TaskId::from_raw(run.first + u64::from(run.step) * index))
        })
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(ids: &[u64]) -> IdRuns {
        let mut runs = IdRuns::default();
        ids.iter().for_each(|&id| runs.push(TaskId::from_raw(id)));
        runs
    }

    #[test]
    fn ids_come_back_as_they_went_in() {
        let ids = [5, 6, 7, 9, 11, 13, 12, 3, 1 << 32, (1 << 32) + 1, 2, 4, 6, 8, u64::MAX - 1];
        let back: Vec<u64> = runs(&ids).iter().map(TaskId::raw).collect();
        assert_eq!(back, ids);
        assert_eq!(runs(&[4, 4, 4]).iter().count(), 1);
    }

    #[test]
    fn a_loop_takes_one_run() {
        let ids: Vec<u64> = (0..100_000).map(|index| 7 + 3 * index).collect();
        assert_eq!(runs(&ids).0.len(), 1);
    }
}
