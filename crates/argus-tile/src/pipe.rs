//! Cross-core pipes: rings of slots through which the cores of a cluster hand tiles to each other.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::fault::{Fault, FaultKind};
use crate::status::CoreStatus;

/// A waiting core looks at its stop flag at least this often.
const GLANCE: Duration = Duration::from_millis(5);

/// Who hands tiles to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Direction {
    /// From the matrix core to the vector cores.
    C2V = 1,
    /// From the vector cores to the matrix core.
    V2C = 2,
    /// Both ways through one ring.
    Both = 3,
}

/// How a tile is divided between the two vector cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Split {
    /// The first vector core has all of it; the second only goes through the motions.
    NoSplit = 0,
    /// Upper and lower half.
    UpDown = 1,
    /// Left and right half.
    LeftRight = 2,
}

/// A pipe by its parameters, which are also its identity in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TPipe {
    pub flag_id: u8,
    pub dir: Direction,
    /// Bytes that one core finds in a slot.
    pub slot_size: u32,
    pub slot_num: u32,
    pub local_slot_num: u32,
    pub no_split: bool,
}

impl TPipe {
    /// A pipe with two local slots.
    pub const fn new(flag_id: u8, dir: Direction, slot_size: u32, slot_num: u32) -> TPipe {
        TPipe { flag_id, dir, slot_size, slot_num, local_slot_num: 2, no_split: false }
    }

    /// Whether tiles may go this way.
    pub(crate) fn carries(&self, way: Way) -> bool {
        match way {
            Way::ToVector => self.dir != Direction::V2C,
            Way::ToMatrix => self.dir != Direction::C2V,
        }
    }
}

/// The way one slot goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    ToVector,
    ToMatrix,
}

/// The matrix a consumer finds in its part of a slot: rows of `pitch` bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub bytes: Vec<u8>,
    pub pitch: usize,
}

/// One slot on its way. Index 0 of each pair is the first vector core, or the matrix core.
#[derive(Debug)]
struct Slot {
    way: Way,
    split: Split,
    parts: [Part; 2],
    /// Which vector cores have yet to push their half.
    missing: [bool; 2],
    /// Which consumers have yet to pop, and to free.
    unpopped: [bool; 2],
    unfreed: [bool; 2],
}

#[derive(Debug, Default)]
struct Ring {
    slots: VecDeque<Slot>,
    /// Memory of slots that were freed.
    spare: Vec<Part>,
}

impl Ring {
    fn spare(&mut self) -> Part {
        self.spare.pop().unwrap_or_default()
    }
}

/// The pipes of one cluster, shared by its three cores. What is in flight stays from task to task.
#[derive(Debug, Default)]
pub struct ClusterPipes {
    rings: Mutex<FxHashMap<TPipe, Ring>>,
    changed: Condvar,
}

impl ClusterPipes {
    pub fn new() -> ClusterPipes {
        ClusterPipes::default()
    }

    /// The matrix core hands a slot to the vector cores. `fill` writes one part for each consumer.
    pub(crate) fn push_to_vector(
        &self,
        pipe: &TPipe,
        split: Split,
        status: &CoreStatus,
        fill: impl FnOnce(&mut [Part; 2]),
    ) -> Result<(), Fault> {
        let both = split != Split::NoSplit;
        let mut rings = self.wait_for(status, |rings| has_room(rings, pipe))?;
        let ring = rings.entry(*pipe).or_default();
        let mut parts = [ring.spare(), ring.spare()];
        fill(&mut parts);
        ring.slots.push_back(Slot {
            way: Way::ToVector,
            split,
            parts,
            missing: [false, false],
            unpopped: [true, both],
            unfreed: [true, both],
        });
        self.changed.notify_all();
        Ok(())
    }

    /// A vector core adds what it has to a slot for the matrix core. `fill` writes into the one part that
    /// both vector cores share.
    pub(crate) fn push_to_matrix(
        &self,
        pipe: &TPipe,
        split: Split,
        lane: usize,
        status: &CoreStatus,
        fill: impl FnOnce(&mut Part),
    ) -> Result<(), Fault> {
        let waits = |slot: &Slot| slot.way == Way::ToMatrix && slot.split == split && slot.missing[lane];
        let started = |rings: &FxHashMap<TPipe, Ring>| {
            rings.get(pipe).and_then(|ring| ring.slots.iter().position(waits))
        };
        let mut rings = self.wait_for(status, |rings| started(rings).is_some() || has_room(rings, pipe))?;
        let at = started(&rings);
        let ring = rings.entry(*pipe).or_default();
        let at = at.unwrap_or(ring.slots.len());
        if at == ring.slots.len() {
            let mut part = ring.spare();
            part.bytes.clear();
            ring.slots.push_back(Slot {
                way: Way::ToMatrix,
                split,
                parts: [part, Part::default()],
                missing: [true, split != Split::NoSplit],
                unpopped: [true, false],
                unfreed: [true, false],
            });
        }
        let slot = &mut ring.slots[at];
        fill(&mut slot.parts[0]);
        slot.missing[lane] = false;
        self.changed.notify_all();
        Ok(())
    }

    /// Waits for the next slot that goes this way and lets `take` read this consumer's part of it.
    pub(crate) fn pop<R>(
        &self,
        pipe: &TPipe,
        way: Way,
        split: Split,
        lane: usize,
        status: &CoreStatus,
        take: impl FnOnce(&Part) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let ready = |slot: &Slot| slot.way == way && slot.missing == [false; 2] && slot.unpopped[lane];
        let next = |rings: &FxHashMap<TPipe, Ring>| {
            rings.get(pipe).and_then(|ring| ring.slots.iter().position(ready))
        };
        let mut rings = self.wait_for(status, |rings| next(rings).is_some())?;
        let at = next(&rings).unwrap_or_default();
        let slot = &mut rings.entry(*pipe).or_default().slots[at];
        if slot.split != split {
            let text = format!("the slot was pushed as {:?} and is popped as {split:?}", slot.split);
            return Err(Fault::new(FaultKind::Protocol, text));
        }
        let taken = take(&slot.parts[lane])?;
        slot.unpopped[lane] = false;
        Ok(taken)
    }

    /// Gives back the oldest slot that this consumer popped.
    pub(crate) fn free(&self, pipe: &TPipe, way: Way, lane: usize) -> Result<(), Fault> {
        let mut rings = self.lock();
        let ring = rings.entry(*pipe).or_default();
        let popped = |slot: &&mut Slot| slot.way == way && !slot.unpopped[lane] && slot.unfreed[lane];
        let Some(slot) = ring.slots.iter_mut().find(popped) else {
            return Err(Fault::new(FaultKind::Protocol, "there is no popped slot to free"));
        };
        slot.unfreed[lane] = false;
        // The ring turns: a slot is only used again after all older ones.
        while ring.slots.front().is_some_and(|slot| slot.unfreed == [false; 2]) {
            if let Some(slot) = ring.slots.pop_front() {
                ring.spare.extend(slot.parts);
            }
        }
        self.changed.notify_all();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<TPipe, Ring>> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until the condition holds or the core is told to stop.
    fn wait_for(
        &self,
        status: &CoreStatus,
        holds: impl Fn(&FxHashMap<TPipe, Ring>) -> bool,
    ) -> Result<MutexGuard<'_, FxHashMap<TPipe, Ring>>, Fault> {
        let mut rings = self.lock();
        while !holds(&rings) {
            if status.is_stopped() {
                return Err(Fault::stopped());
            }
            rings = self.changed.wait_timeout(rings, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(rings)
    }
}

fn has_room(rings: &FxHashMap<TPipe, Ring>, pipe: &TPipe) -> bool {
    rings.get(pipe).is_none_or(|ring| ring.slots.len() < pipe.slot_num as usize)
}
