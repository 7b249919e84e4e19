//! A million records: only what is visible is looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use argus_abi::{TaskId, TaskState};
use argus_dump::read::{PayloadError, Record};
use argus_facts::FuncIds;

use super::rig::{Rig, record};
use crate::source::{About, Source};

const RECORDS: usize = 1_000_000;

/// Records that are made when they are asked for: so many of each task.
struct Made {
    of_each: usize,
    records: Arc<AtomicUsize>,
    payloads: Arc<AtomicUsize>,
}

impl Source for Made {
    fn len(&self) -> usize {
        RECORDS
    }

    fn record(&self, index: usize) -> Record {
        self.records.fetch_add(1, Ordering::Relaxed);
        let task = (index / self.of_each) as u64;
        let made = record(task, (index % self.of_each) as u32, &[2]);
        Record { index, bin_size: 8, func_ids: FuncIds::from_iter([(task % 3) as i32]), ..made }
    }

    fn payload(&self, _: &Record) -> Result<&[u8], PayloadError> {
        self.payloads.fetch_add(1, Ordering::Relaxed);
        Ok(&[0; 8])
    }

    fn kernels(&self, record: &Record) -> String {
        format!("kernel{}", record.func_ids[0])
    }

    fn state(&self, _: TaskId) -> Option<TaskState> {
        None
    }

    fn about(&self) -> About {
        About::default()
    }
}

fn browse(of_each: usize) -> usize {
    let (records, payloads) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let made = Made { of_each, records: Arc::clone(&records), payloads: Arc::clone(&payloads) };
    let mut rig = Rig::new(made, 120, 40);
    let indexed = records.swap(0, Ordering::Relaxed);
    assert!((RECORDS..RECORDS + 10).contains(&indexed), "once each, and once for each kernel: {indexed}");
    let mut most = 0;
    for keys in
        ["", "j", "G", "k", "g", "/kernel2\n", "n", "N", "\t", "G", "j", "\t", "l", "m", "m", "m", "m"]
    {
        rig.press(keys);
        rig.text();
        // Marks of tasks are found in the background and may look at all of a task; they are not counted here.
        rig.state.wishes();
        records.store(0, Ordering::Relaxed);
        payloads.store(0, Ordering::Relaxed);
        rig.text();
        most = most.max(records.load(Ordering::Relaxed)).max(payloads.load(Ordering::Relaxed));
    }
    assert!(rig.state.task_count() == RECORDS.div_ceil(of_each));
    most
}

#[test]
fn a_frame_asks_for_what_it_shows() {
    // Lists, wishes and the tensor pane: a few records each, whether tasks are many or large.
    assert!(browse(4) < 60, "{}", browse(4));
    assert!(browse(RECORDS) < 60, "{}", browse(RECORDS));
}

#[test]
fn a_key_asks_for_little_more() {
    let records = Arc::<AtomicUsize>::default();
    let made = Made { of_each: 4, records: Arc::clone(&records), payloads: Arc::default() };
    let mut rig = Rig::new(made, 120, 40);
    for keys in ["j", "G", "g", "/kernel1\n", "n", "N", "&kernel2\n", "G"] {
        rig.settle();
        records.store(0, Ordering::Relaxed);
        for letter in keys.chars() {
            let typed = rig.state.prompt.is_some();
            let code = match letter {
                '\n' => ratatui::crossterm::event::KeyCode::Enter,
                letter => ratatui::crossterm::event::KeyCode::Char(letter),
            };
            let key = ratatui::crossterm::event::KeyEvent::from(code);
            rig.state.update(crate::keys::action(key, typed).unwrap());
        }
        assert!(records.load(Ordering::Relaxed) < 40, "{keys}: {records:?}");
    }
}
