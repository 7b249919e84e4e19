//! The written or the read views of one allocation, and the tasks at each.
//!
//! Equal views are one entry with several tasks, so a tensor that a thousand tasks read is looked at once. Few
//! views are looked through one by one; many are found through trees of boxes ([`super::place`]), one for each grid.
//! What a tree finds is compared as if there were none, so the trees decide nothing but the time it takes. They
//! grow when something is looked for, not when it is added: tensors that are only read never need one.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use argus_abi::{MAX_DIMS, Overlap, TaskId, Tensor};
use rstar::{AABB, RTree, RTreeObject};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::Found;
use super::id_runs::IdRuns;
use super::place::{Grid, Place, place};
use crate::schedule::task::Task;

/// As many views are looked through one by one.
const FEW: usize = 16;
/// Trees of one allocation: views of further grids share the last one, which has none.
const MAX_TREES: usize = 8;

/// Positions as a tree has them, rounded outwards.
type Bounds = AABB<[f32; 4]>;

/// Views and their tasks.
#[derive(Debug, Default)]
pub struct Views {
    slots: Vec<Slot>,
    free: Vec<u32>,
    live: usize,
    /// Once there are more than a few.
    index: Option<Box<Index>>,
    /// Slots that have had a pending task since the last [`Views::settle`], each once.
    unsettled: Vec<u32>,
    pending: usize,
}

/// How slots are found among many. Apart from the others, because most allocations have few.
#[derive(Debug, Default)]
struct Index {
    /// Slots by the hash of their view.
    by_view: FxHashMap<u64, u32>,
    trees: Vec<Tree>,
    /// Slots that are in no tree yet; not kept while there is no tree.
    unplanted: Vec<u32>,
}

impl Index {
    /// The tree for a view: that of its grid, or the one without a grid when there are too many.
    fn known_tree(&self, view: &Tensor) -> Option<usize> {
        let position = |wanted| self.trees.iter().position(|tree| tree.grid == wanted);
        position(Grid::of(view)).or_else(|| (self.trees.len() == MAX_TREES).then(|| position(None)).flatten())
    }
}

/// A place for an entry; another entry may take it later.
#[derive(Debug, Default)]
struct Slot {
    entry: Option<Entry>,
    /// Whether it is listed in [`Views::unsettled`].
    unsettled: bool,
}

#[derive(Debug)]
struct Entry {
    view: CompactView,
    /// Tasks that had not completed when last looked at.
    pending: SmallVec<[Arc<Task>; 1]>,
    /// Tasks that had, if history is kept.
    completed: IdRuns,
    /// The tree it is in.
    tree: Option<u8>,
}

#[derive(Debug)]
struct Tree {
    grid: Option<Grid>,
    /// Positions count from here, so that f32 is fine enough for them.
    origin: u64,
    boxes: RTree<Leaf>,
}

impl Tree {
    /// The box of a view that the tree holds.
    fn own(&self, view: &Tensor) -> Bounds {
        bounds(&place(view, self.grid.as_ref(), self.origin))
    }

    /// A box that meets all views of the tree that may overlap `view`, which is a box of `grid`.
    fn probe(&self, view: &Tensor, grid: Option<&Grid>) -> Bounds {
        if self.grid.is_some() && self.grid.as_ref() == grid {
            return self.own(view);
        }
        let mut around = place(view, None, self.origin);
        around.first[..3].fill(i64::MIN);
        around.last[..3].fill(i64::MAX);
        bounds(&around)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Leaf {
    place: Bounds,
    entry: u32,
}

impl RTreeObject for Leaf {
    type Envelope = Bounds;

    fn envelope(&self) -> Bounds {
        self.place
    }
}

fn bounds(place: &Place) -> Bounds {
    let down = |at: i64| {
        let near = at as f32;
        if near as i64 > at { near.next_down() } else { near }
    };
    let up = |at: i64| {
        let near = at as f32;
        if (near as i64) < at { near.next_up() } else { near }
    };
    AABB::from_corners(place.first.map(down), place.last.map(up))
}

impl Views {
    /// Tasks with a pending entry, counted as often as they were added.
    pub fn pending(&self) -> usize {
        self.pending
    }

    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The tasks at every view that shares a byte with `view`; those that have completed if `all` asks for them.
    pub fn touched_by(&mut self, view: &Tensor, all: bool, mut found: impl FnMut(Found)) {
        self.grow();
        self.candidates(view, |_, entry| {
            if view.overlap(&entry.view.tensor()) == Overlap::None {
                return;
            }
            if all {
                entry.completed.iter().for_each(|id| found(Found::Completed(id)));
            }
            for task in &entry.pending {
                let now = Found::now(task);
                if all || matches!(now, Found::Pending(_)) {
                    found(now);
                }
            }
        });
    }

    pub fn add(&mut self, view: &Tensor, task: &Arc<Task>) {
        let view = CompactView::new(view);
        let at = self.same(&view).unwrap_or_else(|| self.insert(view));
        let slot = &mut self.slots[at as usize];
        let Some(entry) = &mut slot.entry else { return };
        entry.pending.push(Arc::clone(task));
        self.pending += 1;
        if !slot.unsettled {
            slot.unsettled = true;
            self.unsettled.push(at);
        }
    }

    /// Forgets the views that `view` covers, apart from what `keep` has there. Returns how many pending tasks
    /// were forgotten.
    pub fn drop_covered(&mut self, view: &Tensor, keep: TaskId) -> usize {
        let mut covered: SmallVec<[u32; 8]> = SmallVec::new();
        self.grow();
        self.candidates(view, |at, entry| {
            if view.overlap(&entry.view.tensor()) == Overlap::Covers {
                covered.push(at);
            }
        });
        let before = self.pending;
        for at in covered {
            let Some(Slot { entry: Some(entry), .. }) = self.slots.get_mut(at as usize) else { continue };
            let had = entry.pending.len();
            entry.pending.retain(|task| task.id == keep);
            entry.completed.clear();
            self.pending -= had - entry.pending.len();
            if entry.pending.is_empty() {
                self.remove(at);
            }
        }
        before - self.pending
    }

    /// Looks at pending tasks again: those that have completed are kept by id, or forgotten.
    pub fn settle(&mut self, keeps_history: bool) {
        let mut unsettled = std::mem::take(&mut self.unsettled);
        unsettled.retain(|&at| {
            let Some(slot) = self.slots.get_mut(at as usize) else { return false };
            slot.unsettled = false;
            let Some(entry) = &mut slot.entry else { return false };
            let had = entry.pending.len();
            let completed = &mut entry.completed;
            entry.pending.retain(|task| {
                let done = task.is_complete();
                if done && keeps_history {
                    completed.push(task.id);
                }
                !done
            });
            entry.pending.shrink_to_fit();
            self.pending -= had - entry.pending.len();
            if !entry.pending.is_empty() {
                slot.unsettled = true;
            } else if entry.completed.is_empty() {
                self.remove(at);
                return false;
            }
            slot.unsettled
        });
        self.unsettled = unsettled;
    }

    /// Every entry that may share a byte with `view`, once the trees have grown.
    fn candidates<'a>(&'a self, view: &Tensor, mut visit: impl FnMut(u32, &'a Entry)) {
        let Some(index) = self.index.as_ref().filter(|index| !index.trees.is_empty()) else {
            for (at, slot) in (0..).zip(&self.slots) {
                if let Some(entry) = &slot.entry {
                    visit(at, entry);
                }
            }
            return;
        };
        let grid = Grid::of(view);
        for tree in &index.trees {
            for leaf in tree.boxes.locate_in_envelope_intersecting(tree.probe(view, grid.as_ref())) {
                if let Some(entry) = &self.slots[leaf.entry as usize].entry {
                    visit(leaf.entry, entry);
                }
            }
        }
    }

    /// The slot of exactly this view.
    fn same(&self, view: &CompactView) -> Option<u32> {
        let is_same =
            |&at: &u32| self.slots[at as usize].entry.as_ref().is_some_and(|entry| entry.view == *view);
        match &self.index {
            None => (0..self.slots.len() as u32).find(is_same),
            Some(index) => index.by_view.get(&view.key()).copied().filter(is_same),
        }
    }

    fn insert(&mut self, view: CompactView) -> u32 {
        let entry = Entry { view, pending: SmallVec::new(), completed: IdRuns::default(), tree: None };
        let at = match self.free.pop() {
            Some(at) => {
                self.slots[at as usize].entry = Some(entry);
                at
            }
            None => {
                // Most buffers are seen through one view.
                if self.slots.is_empty() {
                    self.slots.reserve_exact(1);
                    self.unsettled.reserve_exact(1);
                }
                self.slots.push(Slot { entry: Some(entry), unsettled: false });
                self.slots.len() as u32 - 1
            }
        };
        self.live += 1;
        if let Some(index) = &mut self.index {
            // Should two views ever have one hash, the first is entered again when it is used again.
            index.by_view.insert(view.key(), at);
            if !index.trees.is_empty() {
                index.unplanted.push(at);
                // Slots of views that come and go are listed again and again.
                if index.unplanted.len() > 2 * self.live + FEW {
                    self.grow();
                }
            }
        } else if self.live > FEW {
            let entries = (0..).zip(&self.slots).filter_map(|(at, slot)| Some((slot.entry.as_ref()?, at)));
            let by_view = entries.map(|(entry, at)| (entry.view.key(), at)).collect();
            self.index = Some(Box::new(Index { by_view, ..Index::default() }));
        }
        at
    }

    /// Puts what was added into the trees, if there is more than a few.
    fn grow(&mut self) {
        let Some(index) = &mut self.index else { return };
        if index.trees.is_empty() {
            if self.live <= FEW {
                return;
            }
            index.unplanted = (0..self.slots.len() as u32).collect();
        } else if index.unplanted.is_empty() {
            return;
        }
        // Trees are made of many boxes at once faster than one by one.
        let mut leaves: SmallVec<[Vec<Leaf>; MAX_TREES]> = SmallVec::new();
        for at in std::mem::take(&mut index.unplanted) {
            let Some(entry) = &self.slots[at as usize].entry else { continue };
            // The slot was given to another view, which is listed for itself.
            if entry.tree.is_some() {
                continue;
            }
            let view = entry.view.tensor();
            let tree = index.known_tree(&view).unwrap_or_else(|| {
                let grid = if index.trees.len() + 1 < MAX_TREES { Grid::of(&view) } else { None };
                index.trees.push(Tree { grid, origin: view.addr, boxes: RTree::new() });
                index.trees.len() - 1
            });
            if let Some(entry) = &mut self.slots[at as usize].entry {
                entry.tree = Some(tree as u8);
            }
            leaves.resize_with(leaves.len().max(tree + 1), Vec::new);
            leaves[tree].push(Leaf { place: index.trees[tree].own(&view), entry: at });
        }
        for (tree, leaves) in index.trees.iter_mut().zip(leaves) {
            if tree.boxes.size() == 0 {
                tree.boxes = RTree::bulk_load(leaves);
            } else {
                leaves.into_iter().for_each(|leaf| tree.boxes.insert(leaf));
            }
        }
    }

    fn remove(&mut self, at: u32) {
        let Some(entry) = self.slots[at as usize].entry.take() else { return };
        self.free.push(at);
        self.live -= 1;
        self.pending -= entry.pending.len();
        if self.live == 0 {
            // The next views may lie differently.
            *self = Views::default();
            return;
        }
        let Some(index) = &mut self.index else { return };
        let key = entry.view.key();
        if index.by_view.get(&key) == Some(&at) {
            index.by_view.remove(&key);
        }
        if let Some(tree) = entry.tree.and_then(|tree| index.trees.get_mut(usize::from(tree))) {
            let place = tree.own(&entry.view.tensor());
            tree.boxes.remove(&Leaf { place, entry: at });
        }
    }
}

/// What decides which bytes a view touches, and nothing else: history may hold millions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CompactView {
    addr: u64,
    start_offset: u64,
    extent: u64,
    shapes: [u32; MAX_DIMS],
    strides: [u32; MAX_DIMS],
    ndims: u8,
    dtype: u8,
}

impl CompactView {
    fn new(view: &Tensor) -> CompactView {
        let rank = view.rank();
        let (mut shapes, mut strides) = ([0; MAX_DIMS], [0; MAX_DIMS]);
        shapes[..rank].copy_from_slice(view.shape());
        strides[..rank].copy_from_slice(view.stride());
        let Tensor { addr, start_offset, extent, dtype, .. } = *view;
        CompactView { addr, start_offset, extent, shapes, strides, ndims: rank as u8, dtype }
    }

    fn key(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }

    fn tensor(&self) -> Tensor {
        let CompactView { addr, start_offset, extent, shapes, strides, ndims, dtype } = *self;
        Tensor {
            addr,
            start_offset,
            extent,
            shapes,
            strides,
            ndims: ndims.into(),
            dtype,
            ..zerocopy::FromZeros::new_zeroed()
        }
    }
}
