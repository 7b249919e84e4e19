//! Captures of many ranks that ran one program: which rank leaves the pack, and at which task?
//!
//! The first capture is the frame: its tasks, their order and their arguments. Of every capture, one at a time, a number
//! is kept for each record of the frame, so the memory needed does not grow with payloads. Members that were given the
//! same bits should leave the same bits: those that do not, while most do, left the pack at that task. A member whose
//! inputs are not those of the majority left it earlier, or was given something else from outside. Where no inputs are
//! those of a majority, the ranks work on different data, and nothing is said of the task.
//!
//! | file | subject |
//! |---|---|
//! | this one | the numbers of each capture, and what they say task by task |
//! | `departures` | from what was seen to who left first; what shards saw is joined here |

mod departures;

use std::hash::{Hash, Hasher};

use argus_abi::{DType, Kind, Stage, TaskId};
use argus_dump::read::{Dump, Record, Scalar};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::align::Side;
use crate::indices::Indices;

pub use departures::{Across, Departure, How, MemberSummary, judge};

/// Numbers that stand for something else than bits.
const ABSENT: u64 = 0;
const UNKNOWN: u64 = 1;
const DAMAGED: u64 = 2;
const OTHER_SHAPE: u64 = 3;
/// A record of a task that another shard looks at.
const ELSEWHERE: u64 = 4;
const FIRST: u64 = 5;

/// A scalar of 64 bits from here on may be an address, which differs from rank to rank.
const LOWEST_ADDRESS: u64 = 1 << 32;

/// A share of the tasks: number `index` of `count`, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    pub index: usize,
    pub count: usize,
}

impl Default for Shard {
    fn default() -> Shard {
        Shard { index: 0, count: 1 }
    }
}

/// What makes a record one of a kind: blocks of one task repeat their arguments in the reference's dumps.
type Key = (TaskId, Stage, u32, bool, u32);

/// What every capture is held against.
pub struct Frame<'a> {
    side: Side<'a>,
    shard: Shard,
    keys: Vec<Key>,
    slots: FxHashMap<Key, u32>,
    shapes: Vec<u64>,
    /// Position in the order of the tasks, for each record.
    positions: Vec<u32>,
}

/// The numbers of one capture.
#[derive(Clone, Debug)]
pub struct Member {
    pub label: String,
    digests: Vec<u64>,
    /// Records that the frame does not have.
    pub extra: u64,
}

/// What was seen of one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Its place in an order in which the tasks can have run.
    pub position: u32,
    pub task_id: String,
    pub kernel: String,
    /// Positions of the tasks that it reads from.
    pub reads_from: Vec<u32>,
    /// Members with a difference; the others are in the pack.
    pub members: Vec<(u32, Seen)>,
    /// No inputs are those of a majority: the members work on different data.
    pub no_pack: bool,
}

/// How a member differs from the pack at a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// Same inputs as others, other outputs than most of those; the arguments.
    Outputs(Vec<u32>),
    /// Same inputs as another, other outputs, and no majority says who is right.
    Split(Vec<u32>),
    /// Other inputs than the majority; the arguments.
    Inputs(Vec<u32>),
    /// It does not have the task.
    Lacks,
    /// A tensor has another type or shape.
    OtherShape(Vec<u32>),
    Damaged(Vec<u32>),
    /// A payload was not captured.
    Unknown(Vec<u32>),
}

impl<'a> Frame<'a> {
    pub fn new(side: Side<'a>, shard: Shard) -> Frame<'a> {
        let mut positions_of: FxHashMap<TaskId, u32> = FxHashMap::default();
        for (position, &at) in side.tasks.order().iter().enumerate() {
            positions_of.insert(side.tasks.get(at).id, position as u32);
        }
        let mut frame = Frame {
            side,
            shard,
            keys: Vec::with_capacity(side.dump.len()),
            slots: FxHashMap::default(),
            shapes: Vec::with_capacity(side.dump.len()),
            positions: Vec::with_capacity(side.dump.len()),
        };
        for record in side.dump.records() {
            let key = frame.next_key(&record);
            frame.slots.insert(key, frame.keys.len() as u32);
            frame.keys.push(key);
            frame.shapes.push(shape(&record));
            frame.positions.push(positions_of.get(&record.task_id).copied().unwrap_or(u32::MAX));
        }
        frame
    }

    fn next_key(&self, record: &Record) -> Key {
        let mut key = key(record, 0);
        while self.slots.contains_key(&key) {
            key.4 += 1;
        }
        key
    }

    fn is_mine(&self, position: u32) -> bool {
        position as usize % self.shard.count == self.shard.index
    }

    /// Reads a capture. Payloads of other shards are not touched.
    pub fn read(&self, label: String, dump: &Dump, done: &(dyn Fn(u64) + Sync)) -> Member {
        let mut digests = vec![ABSENT; self.keys.len()];
        let mut extra = 0;
        // The slot of each record: most captures list their records as the frame does.
        let mut ordinals: FxHashMap<Key, u32> = FxHashMap::default();
        let mut slots = Vec::with_capacity(dump.len());
        for record in dump.records() {
            let plain = key(&record, 0);
            let ordinal = ordinals.entry(plain).or_insert(0);
            let key = (plain.0, plain.1, plain.2, plain.3, *ordinal);
            *ordinal += 1;
            let slot = match self.keys.get(record.index) {
                Some(known) if *known == key => Some(record.index as u32),
                _ => self.slots.get(&key).copied(),
            };
            extra += u64::from(slot.is_none());
            slots.push(slot);
        }
        let numbers: Vec<u64> = (0..dump.len())
            .into_par_iter()
            .with_min_len(256)
            .map(|index| match slots[index] {
                Some(slot) if self.is_mine(self.positions[slot as usize]) => {
                    let record = dump.record(index);
                    done(record.bin_size);
                    self.digest(dump, &record, slot as usize)
                }
                _ => ELSEWHERE,
            })
            .collect();
        for (slot, number) in slots.into_iter().zip(numbers) {
            if let Some(slot) = slot {
                digests[slot as usize] = number;
            }
        }
        Member { label, digests, extra }
    }

    fn digest(&self, dump: &Dump, record: &Record, slot: usize) -> u64 {
        if shape(record) != self.shapes[slot] {
            return OTHER_SHAPE;
        }
        if record.kind == Kind::Scalar {
            return match record.scalar {
                Some(Scalar::Bits(bits)) => scalar(record.dtype, bits),
                Some(Scalar::Rounded(value)) => value.to_bits().max(FIRST),
                None => UNKNOWN,
            };
        }
        match dump.payload(record) {
            Ok(bytes) => xxh3_64(bytes).max(FIRST),
            Err(error) if error.is_damage() => DAMAGED,
            Err(_) => UNKNOWN,
        }
    }

    /// What the members say of each task that this shard looks at, as far as they differ.
    pub fn compare(&self, members: &[Member]) -> Vec<Observation> {
        let order = self.side.tasks.order();
        let mut position_of = vec![0u32; order.len()];
        for (position, &at) in order.iter().enumerate() {
            position_of[at] = position as u32;
        }
        (0..order.len() as u32)
            .into_par_iter()
            .filter(|&position| self.is_mine(position))
            .filter_map(|position| self.look(position, &position_of, members))
            .collect()
    }

    fn look(&self, position: u32, position_of: &[u32], members: &[Member]) -> Option<Observation> {
        let at = self.side.tasks.order()[position as usize];
        let task = self.side.tasks.get(at);
        if task.inputs.is_empty() && task.outputs.is_empty() {
            return None;
        }
        let mut seen: Vec<(u32, Seen)> = Vec::new();
        let mut whole: Vec<u32> = Vec::new();
        for (number, member) in (0u32..).zip(members) {
            match self.whole(task.inputs.iter().chain(task.outputs.iter()), member) {
                Some(how) => seen.push((number, how)),
                None => whole.push(number),
            }
        }
        let hash = |slots: &Indices, member: u32| -> u64 {
            let mut hasher = FxHasher::default();
            slots.iter().for_each(|slot| members[member as usize].digests[slot].hash(&mut hasher));
            hasher.finish()
        };
        let classes = classes(&whole, |member| hash(&task.inputs, member));
        let largest = classes.iter().map(Vec::len).max().unwrap_or(0);
        let pack = 2 * largest > whole.len();
        for class in &classes {
            let by_outputs = self::classes(class, |member| hash(&task.outputs, member));
            let most = by_outputs.iter().max_by_key(|same| same.len()).cloned().unwrap_or_default();
            let decided = 2 * most.len() > class.len();
            for same in by_outputs.iter().filter(|same| by_outputs.len() > 1 && (!decided || **same != most))
            {
                for &member in same {
                    let other = if decided {
                        most[0]
                    } else {
                        *class.iter().find(|one| !same.contains(one)).unwrap_or(&member)
                    };
                    let arguments =
                        self.differing(&task.outputs, &members[member as usize], &members[other as usize]);
                    seen.push((
                        member,
                        if decided { Seen::Outputs(arguments) } else { Seen::Split(arguments) },
                    ));
                }
            }
        }
        if pack && classes.len() > 1 {
            let frame = classes.iter().max_by_key(|class| class.len()).map_or(0, |class| class[0]);
            for &member in classes.iter().filter(|class| class.len() < largest).flatten() {
                if !seen.iter().any(|(known, _)| *known == member) {
                    let arguments =
                        self.differing(&task.inputs, &members[member as usize], &members[frame as usize]);
                    seen.push((member, Seen::Inputs(arguments)));
                }
            }
        }
        let no_pack = !pack && whole.len() > 1;
        if seen.is_empty() && !no_pack {
            return None;
        }
        seen.sort_by_key(|(member, _)| *member);
        let reads = self.side.tasks.predecessors(at).iter().filter(|edge| edge.data);
        let mut reads_from: Vec<u32> = reads.map(|edge| position_of[edge.task]).collect();
        reads_from.sort_unstable();
        reads_from.dedup();
        let (task_id, kernel) = (task.id.to_string(), task.kernel.to_string());
        Some(Observation { position, task_id, kernel, reads_from, members: seen, no_pack })
    }

    /// Why a member's records of a task cannot be compared; `None` if they can.
    fn whole(&self, slots: impl Iterator<Item = usize> + Clone, member: &Member) -> Option<Seen> {
        let with = |wanted: u64| -> Vec<u32> {
            let mut arguments: Vec<u32> = slots
                .clone()
                .filter(|&slot| member.digests[slot] == wanted)
                .map(|slot| self.keys[slot].2)
                .collect();
            arguments.sort_unstable();
            arguments.dedup();
            arguments
        };
        if slots.clone().all(|slot| member.digests[slot] == ABSENT) {
            return Some(Seen::Lacks);
        }
        let found = |wanted: u64| Some(with(wanted)).filter(|arguments| !arguments.is_empty());
        (found(DAMAGED).map(Seen::Damaged))
            .or_else(|| found(OTHER_SHAPE).map(Seen::OtherShape))
            .or_else(|| found(ABSENT).map(Seen::Unknown))
            .or_else(|| found(UNKNOWN).map(Seen::Unknown))
    }

    fn differing(&self, slots: &Indices, one: &Member, other: &Member) -> Vec<u32> {
        let differ = slots.iter().filter(|&slot| one.digests[slot] != other.digests[slot]);
        let mut arguments: Vec<u32> = differ.map(|slot| self.keys[slot].2).collect();
        arguments.sort_unstable();
        arguments.dedup();
        arguments
    }
}

/// Members with the same number, in the order of the first of each.
fn classes(members: &[u32], number: impl Fn(u32) -> u64) -> Vec<Vec<u32>> {
    let mut classes: Vec<(u64, Vec<u32>)> = Vec::new();
    for &member in members {
        let found = number(member);
        match classes.iter_mut().find(|(known, _)| *known == found) {
            Some((_, class)) => class.push(member),
            None => classes.push((found, vec![member])),
        }
    }
    classes.into_iter().map(|(_, class)| class).collect()
}

fn key(record: &Record, ordinal: u32) -> Key {
    (record.task_id, record.stage, record.arg_index, record.kind == Kind::Scalar, ordinal)
}

fn shape(record: &Record) -> u64 {
    let mut hasher = FxHasher::default();
    (record.dtype.map(DType::name), record.shape()).hash(&mut hasher);
    hasher.finish()
}

/// Scalars that may be addresses are the same in every rank as far as this goes.
fn scalar(dtype: Option<DType>, bits: u64) -> u64 {
    let width = dtype.map_or(8, DType::size);
    if width >= 8 && bits >= LOWEST_ADDRESS {
        return FIRST;
    }
    // Writers extend a narrow number to 64 bits as they like; only its own bits are its value.
    let bytes = bits.to_le_bytes();
    xxh3_64(&bytes[..width.clamp(1, 8)]).max(FIRST + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_own_bits_and_never_stands_for_something_else() {
        for dtype in [DType::I8, DType::I16, DType::I32, DType::U32, DType::Bool, DType::F32, DType::I64] {
            for value in -8..8_i64 {
                let extended = scalar(Some(dtype), value as u64);
                assert!(extended >= FIRST, "{dtype}: {value}");
                if dtype != DType::I64 {
                    let cut = value as u64 & (u64::MAX >> (64 - 8 * dtype.size()));
                    assert_eq!(extended, scalar(Some(dtype), cut), "{dtype}: {value}");
                }
            }
        }
        assert_ne!(scalar(Some(DType::I32), 1), scalar(Some(DType::I32), 2));
        assert_eq!(scalar(Some(DType::U64), 0x7f00_1234_5678), scalar(None, 0x7f00_8765_4321));
    }
}
