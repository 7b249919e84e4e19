//! What a run delivers in any order, given back in one, with memory for a fixed number of items.
//!
//! Items are held until they take [`HELD_BYTES`]; then they are sorted and go to a file without a name. At the end
//! these runs are merged with what is held. A dump of usual size never makes the file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use argus_abi::capture::TaskFields;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::block::{BLOCK_BYTES, Block};
use crate::journal::SkipRecord;

/// Bytes of items that are held in memory.
const HELD_BYTES: usize = 32 << 20;
/// Bytes of items before they get memory in huge pages: a small run should not pay for one.
const FEW_BYTES: usize = 64 << 10;
/// Bytes of each run that are in memory while runs are merged.
const WINDOW_BYTES: usize = 64 << 10;

/// Something that is kept in an order. Items with equal keys stay in the order in which they came.
pub(crate) trait Keyed: Copy + FromBytes + IntoBytes + Immutable + KnownLayout {
    type Key: Ord + Copy;

    fn key(&self) -> Self::Key;

    /// Whether `next`, which came right behind this one, also belongs right behind it.
    fn belongs_before(&self, _next: &Self) -> bool {
        false
    }
}

impl Keyed for TaskFields {
    /// A task starts on one ring and completes on another: entries come in no order, but know their time.
    type Key = (u64, u64);

    fn key(&self) -> (u64, u64) {
        (self.task_id, self.finished_ns)
    }
}

impl Keyed for SkipRecord {
    /// As they came.
    type Key = ();

    fn key(&self) {}
}

/// An edge as bytes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub(crate) struct EdgeBytes {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) reason: u64,
}

impl Keyed for EdgeBytes {
    type Key = EdgeBytes;

    fn key(&self) -> EdgeBytes {
        *self
    }
}

/// Items in the order of their keys.
pub(crate) struct Sorted<T: Keyed> {
    /// Where the file for what is not held lies.
    directory: PathBuf,
    most: usize,
    held: Held<T>,
    /// Places in `held`, by key; empty if they lie in order anyway.
    order: Vec<u32>,
    file: Option<File>,
    /// Where the runs in the file end, in items.
    ends: Vec<u64>,
}

impl<T: Keyed> Sorted<T> {
    pub(crate) fn new(directory: &Path) -> Sorted<T> {
        Sorted::with_room(directory, HELD_BYTES / size_of::<T>())
    }

    fn with_room(directory: &Path, most: usize) -> Sorted<T> {
        Sorted {
            directory: directory.to_path_buf(),
            most,
            held: Held { few: Vec::new(), blocks: Vec::new(), len: 0 },
            order: Vec::new(),
            file: None,
            ends: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.stored() + self.held.len as u64
    }

    fn stored(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    pub(crate) fn push(&mut self, item: &T) -> io::Result<()> {
        if self.held.len == self.most {
            self.store()?;
        }
        self.held.push(item)
    }

    /// Sorts what is held and makes a run of it.
    fn store(&mut self) -> io::Result<()> {
        self.seal();
        if self.file.is_none() {
            self.file = Some(argus_files::scratch(&self.directory)?);
        }
        let Some(file) = &self.file else { return Ok(()) };
        let mut at = self.stored() * size_of::<T>() as u64;
        let mut bytes = Vec::with_capacity(WINDOW_BYTES + size_of::<T>());
        for place in 0..self.held.len {
            bytes.extend_from_slice(self.in_order(place).as_bytes());
            if bytes.len() >= WINDOW_BYTES || place + 1 == self.held.len {
                file.write_all_at(&bytes, at)?;
                at += bytes.len() as u64;
                bytes.clear();
            }
        }
        self.ends.push(self.len());
        self.held.len = 0;
        self.held.few.clear();
        self.order.clear();
        Ok(())
    }

    fn in_order(&self, place: usize) -> &T {
        self.held.at(self.order.get(place).map_or(place, |&place| place as usize))
    }

    /// Nothing more comes; to be called before [`Sorted::iter`].
    pub(crate) fn seal(&mut self) {
        self.order.clear();
        let held = &self.held;
        let keys = || (0..held.len).map(|place| held.at(place).key());
        if keys().is_sorted() {
            return;
        }
        // Items that came together are sorted together, unless others belong between them.
        let mut groups: Vec<(T::Key, std::ops::Range<u32>)> = Vec::new();
        for place in 0..held.len {
            match groups.last_mut() {
                Some((_, group)) if held.at(place - 1).belongs_before(held.at(place)) => group.end += 1,
                _ => groups.push((held.at(place).key(), place as u32..place as u32 + 1)),
            }
        }
        groups.sort_by_key(|(key, _)| *key);
        let last = |group: &std::ops::Range<u32>| held.at(group.end as usize - 1).key();
        if groups.is_sorted_by(|(_, earlier), (first, _)| last(earlier) <= *first) {
            self.order = groups.into_iter().flat_map(|(_, group)| group).collect();
        } else {
            let mut keys: Vec<(T::Key, u32)> = keys().zip(0..).collect();
            keys.sort();
            self.order = keys.into_iter().map(|(_, place)| place).collect();
        }
    }

    /// All items by key. An error is that of the file.
    pub(crate) fn iter(&self) -> Merged<'_, T> {
        let mut merged = Merged {
            sorted: self,
            held: 0,
            windows: Vec::new(),
            next: BinaryHeap::new(),
            given: None,
            failure: None,
        };
        let mut start = 0;
        for &end in &self.ends {
            merged.windows.push(Window { items: Vec::new(), taken: 0, at: start, end });
            start = end;
        }
        for run in 0..=self.ends.len() {
            merged.advance(run);
        }
        merged
    }
}

/// Items in the order in which they came.
struct Held<T> {
    few: Vec<T>,
    /// What follows; as many items in each as fit. Blocks stay when they are empty.
    blocks: Vec<Block>,
    len: usize,
}

impl<T: Keyed> Held<T> {
    const FEW: usize = FEW_BYTES / size_of::<T>();
    const IN_BLOCK: usize = BLOCK_BYTES / size_of::<T>();

    fn push(&mut self, item: &T) -> io::Result<()> {
        if self.len < Self::FEW {
            self.few.push(*item);
        } else {
            let (block, slot) = Self::place(self.len);
            if block == self.blocks.len() {
                self.blocks.push(Block::new()?);
            }
            self.blocks[block][slot..slot + size_of::<T>()].copy_from_slice(item.as_bytes());
        }
        self.len += 1;
        Ok(())
    }

    fn at(&self, index: usize) -> &T {
        if index < Self::FEW {
            return &self.few[index];
        }
        let (block, slot) = Self::place(index);
        let bytes = &self.blocks[block][slot..slot + size_of::<T>()];
        T::ref_from_bytes(bytes).expect("a block is aligned to a page, and an item to its size")
    }

    /// Block and byte of the item `index`.
    fn place(index: usize) -> (usize, usize) {
        let behind = index - Self::FEW;
        (behind / Self::IN_BLOCK, behind % Self::IN_BLOCK * size_of::<T>())
    }
}

/// A part of a run that is in memory.
struct Window<T> {
    items: Vec<T>,
    taken: usize,
    /// The rest of the run in the file, in items.
    at: u64,
    end: u64,
}

/// Goes through all items by key.
pub(crate) struct Merged<'a, T: Keyed> {
    sorted: &'a Sorted<T>,
    /// Taken of what is held.
    held: usize,
    windows: Vec<Window<T>>,
    /// The next of each run; the last run is what is held.
    next: BinaryHeap<Reverse<(T::Key, usize)>>,
    /// The run whose item was given last: its next one is not looked for before that is done with.
    given: Option<usize>,
    failure: Option<io::Error>,
}

impl<T: Keyed> Merged<'_, T> {
    /// Finds the next item of a run.
    fn advance(&mut self, run: usize) {
        let item = match self.windows.get_mut(run) {
            None => (self.held < self.sorted.held.len).then(|| *self.sorted.in_order(self.held)),
            Some(window) => {
                if window.taken == window.items.len()
                    && let Err(error) = window.refill(self.sorted.file.as_ref())
                {
                    self.failure.get_or_insert(error);
                }
                window.items.get(window.taken).copied()
            }
        };
        if let Some(item) = item {
            self.next.push(Reverse((item.key(), run)));
        }
    }
}

impl<T: Keyed> Window<T> {
    fn refill(&mut self, file: Option<&File>) -> io::Result<()> {
        let count = (self.end - self.at).min((WINDOW_BYTES / size_of::<T>()).max(1) as u64);
        self.taken = 0;
        self.items.resize(count as usize, T::new_zeroed());
        if let Some(file) = file.filter(|_| count > 0) {
            let read =
                file.read_exact_at(self.items.as_mut_slice().as_mut_bytes(), self.at * size_of::<T>() as u64);
            if read.is_err() {
                self.items.clear();
            }
            read?;
        }
        self.at += count;
        Ok(())
    }
}

impl<T: Keyed> Merged<'_, T> {
    /// The next item, where it lies.
    pub(crate) fn next_item(&mut self) -> io::Result<Option<&T>> {
        if let Some(run) = self.given.take() {
            self.advance(run);
        }
        if let Some(error) = self.failure.take() {
            self.next.clear();
            return Err(error);
        }
        // Usually there is nothing to merge.
        if self.windows.is_empty() {
            self.held += 1;
            return Ok((self.held <= self.sorted.held.len).then(|| self.sorted.in_order(self.held - 1)));
        }
        let Some(Reverse((_, run))) = self.next.pop() else { return Ok(None) };
        self.given = Some(run);
        Ok(Some(match self.windows.get_mut(run) {
            None => {
                self.held += 1;
                self.sorted.in_order(self.held - 1)
            }
            Some(window) => {
                window.taken += 1;
                &window.items[window.taken - 1]
            }
        }))
    }
}

impl<T: Keyed> Iterator for Merged<'_, T> {
    type Item = io::Result<T>;

    fn next(&mut self) -> Option<io::Result<T>> {
        self.next_item().map(Option::<&T>::copied).transpose()
    }
}

/// Of several items for which `same` holds, the last.
pub(crate) fn last_of_each<T: Copy>(
    items: impl Iterator<Item = io::Result<T>>,
    same: impl Fn(&T, &T) -> bool,
) -> impl Iterator<Item = io::Result<T>> {
    let mut items = items.peekable();
    std::iter::from_fn(move || {
        loop {
            let item = items.next()?;
            match (&item, items.peek()) {
                (Ok(item), Some(Ok(later))) if same(item, later) => {}
                _ => return Some(item),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;

    /// Something that comes in groups.
    #[derive(Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable, KnownLayout)]
    #[repr(C)]
    struct Member {
        group: u64,
        place: u64,
        number: u64,
    }

    impl Keyed for Member {
        type Key = (u64, u64);

        fn key(&self) -> (u64, u64) {
            (self.group, self.place)
        }

        fn belongs_before(&self, next: &Member) -> bool {
            self.group == next.group && self.place <= next.place
        }
    }

    /// Every number of items around the room in memory, in an order that sorts badly, equal keys among them.
    #[test]
    fn items_come_back_by_key_and_equal_ones_as_they_came() {
        let directory = tempfile::tempdir().unwrap();
        // The last needs more than one block.
        for (room, most) in [(1, 65), (2, 65), (7, 500), (64, 500), (30_000, 70_000)] {
            for count in [0, 1, 6, 7, 8, 13, 14, 15, 64, 65, 500, 29_999, 30_000, 30_001, 70_000] {
                if count > most {
                    continue;
                }
                let mut sorted = Sorted::<TaskFields>::with_room(directory.path(), room);
                let mut put = Vec::new();
                for index in 0..count {
                    let mut task: TaskFields = FromZeros::new_zeroed();
                    task.task_id = index * 617 % 101;
                    // Which of two with the same key it is.
                    task.dispatch_order = index;
                    sorted.push(&task).unwrap();
                    put.push(task);
                }
                sorted.seal();
                assert_eq!(sorted.len(), count);
                put.sort_by_key(|task| task.task_id);
                for _ in 0..2 {
                    let found: Vec<TaskFields> = sorted.iter().map(Result::unwrap).collect();
                    assert_eq!(found, put, "{count} items, room for {room}");
                }
                let last: Vec<TaskFields> =
                    last_of_each(sorted.iter(), |a, b| a.task_id == b.task_id).map(Result::unwrap).collect();
                let wanted: Vec<TaskFields> =
                    put.chunk_by(|a, b| a.task_id == b.task_id).map(|same| same[same.len() - 1]).collect();
                assert_eq!(last, wanted, "{count} items, room for {room}");
            }
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the file has no name");
    }

    /// Groups as they are captured, then the same with members of others between them.
    #[test]
    fn what_came_together_stays_together_only_where_it_belongs() {
        let directory = tempfile::tempdir().unwrap();
        for stray in [false, true] {
            let mut sorted = Sorted::<Member>::with_room(directory.path(), 1000);
            let mut put = Vec::new();
            for group in 0..90u64 {
                for place in 0..4 {
                    let place = if stray && group % 7 == 0 { 3 - place } else { 2 * place };
                    let member = Member { group: group * 37 % 90, place, number: put.len() as u64 };
                    put.push(member);
                    if stray && group % 11 == 0 {
                        put.push(Member { group: (group + 1) * 37 % 90, place: 1, ..member });
                    }
                }
            }
            put.iter().for_each(|member| sorted.push(member).unwrap());
            sorted.seal();
            put.sort_by_key(Keyed::key);
            let found: Vec<Member> = sorted.iter().map(Result::unwrap).collect();
            assert!(found == put, "stray members: {stray}");
        }
    }

    #[test]
    fn a_file_that_is_cut_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut sorted = Sorted::<EdgeBytes>::with_room(directory.path(), 2);
        for from in 0..9 {
            sorted.push(&EdgeBytes { from, to: 1, reason: 0 }).unwrap();
        }
        sorted.seal();
        sorted.file.as_ref().unwrap().set_len(30).unwrap();
        assert!(sorted.iter().any(|item| item.is_err()));
    }
}
