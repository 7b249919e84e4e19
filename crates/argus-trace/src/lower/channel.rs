//! Channels between the cores of a block: flags, and the tiles that TPUSH and TPOP hand over.

use argus_abi::Member;
use argus_chip::Handover;
use argus_tile::{Flag, LogEntry, Pipe, Space, Split, TPipe};
use rustc_hash::FxHashMap;

use super::Lowering;
use super::operand::operand;
use crate::machine::{Mnemonic, Path, Role, Track};

/// A queue of signals between two cores of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    pub pipe: TPipe,
    /// From the matrix core to the vector cores, or back.
    pub to_vector: bool,
    /// Which vector core.
    pub track: u8,
    /// The slot is free again, instead of filled.
    pub free: bool,
}

impl Channel {
    /// The number in operand texts: a pipe uses its flag for data and the next one for free slots; the
    /// second vector core has its own sixteen.
    pub fn sync_id(&self) -> u32 {
        (u32::from(self.pipe.flag_id) + u32::from(self.free)) % 16 + 16 * u32::from(self.track)
    }
}

/// All channels of a task, numbered in the order of their first use.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    numbers: FxHashMap<Channel, u16>,
    pub list: Vec<Channel>,
}

impl Channels {
    fn number(&mut self, channel: Channel) -> u16 {
        *self.numbers.entry(channel).or_insert_with(|| {
            self.list.push(channel);
            (self.list.len() - 1).min(usize::from(u16::MAX)) as u16
        })
    }
}

impl Lowering<'_> {
    /// A set or a wait.
    pub(super) fn flag(&mut self, entry: &LogEntry, mnemonic: Mnemonic, role: fn(Flag) -> Role) {
        match entry.flag {
            Some(flag) => {
                let track = Track::of_pipe(entry.pipe);
                self.emit(mnemonic, track, entry.pipe, role(flag), self.params.flag());
            }
            None => self.barrier(entry.pipe),
        }
    }

    /// Waits for a free slot if the ring was full, moves the tile, and tells who pops it.
    pub(super) fn push(&mut self, entry: &LogEntry) {
        let Some((pipe, split)) = entry.fifo else { return };
        if !self.takes_part(split) {
            return self.scalar(Mnemonic::MovXdImm, Track::Scalar, self.params.scalar(), 0);
        }
        let to_vector = self.member == Member::Aic;
        let partners = self.partners(split);
        let pushed = self.pushes.entry((pipe, to_vector)).or_default();
        let full = *pushed >= u64::from(pipe.slot_num);
        *pushed += 1;
        for &track in partners.iter().filter(|_| full) {
            self.channel(
                Mnemonic::WaitIntraBlock,
                entry.pipe,
                Channel { pipe, to_vector, track, free: true },
            );
        }
        let (mnemonic, path) = match (operand(entry, "src").map(|src| src.space), self.chip.handover) {
            (Some(Space::Acc), Handover::ThroughGlobalMemory) => (Mnemonic::FixL0cToDst, Path::L0cToGm),
            (Some(Space::Acc), Handover::Direct) => (Mnemonic::FixL0cToDst, Path::L0cToUb),
            (Some(Space::Mat), Handover::ThroughGlobalMemory) => (Mnemonic::MovL1ToOut, Path::L1ToGm),
            (Some(Space::Mat), Handover::Direct) => (Mnemonic::MovL1ToUb, Path::L1ToGm),
            (_, Handover::ThroughGlobalMemory) => (self.align(), Path::UbToGm),
            (_, Handover::Direct) => (Mnemonic::MovUbToL1, Path::UbToL1),
        };
        self.transfer(mnemonic, entry.pipe, path, entry.bytes);
        for &track in partners {
            self.channel(
                Mnemonic::SetIntraBlock,
                entry.pipe,
                Channel { pipe, to_vector, track, free: false },
            );
        }
    }

    pub(super) fn pop(&mut self, entry: &LogEntry) {
        let Some((pipe, split)) = entry.fifo else { return };
        if self.takes_part(split) {
            let to_vector = self.member != Member::Aic;
            for &track in self.partners(split) {
                let channel = Channel { pipe, to_vector, track, free: false };
                self.channel(Mnemonic::WaitIntraBlock, entry.pipe, channel);
            }
        }
        match (self.chip.handover, operand(entry, "dst").map(|dst| dst.space)) {
            // The tile is already in this core's memory.
            (Handover::Direct, _) => {
                let work = self.params.scalar();
                self.emit(self.align(), Track::Mte2, Pipe::Mte2, Role::Work, work);
            }
            (Handover::ThroughGlobalMemory, Some(Space::Mat)) => {
                self.transfer(Mnemonic::MovOutToL1, Pipe::Mte2, Path::GmToL1, entry.bytes);
            }
            (Handover::ThroughGlobalMemory, _) => {
                self.transfer(self.align(), Pipe::Mte2, Path::GmToUb, entry.bytes);
            }
        }
    }

    pub(super) fn free(&mut self, entry: &LogEntry) {
        let Some((pipe, split)) = entry.fifo else { return };
        if !self.takes_part(split) {
            return self.scalar(Mnemonic::MovXdImm, Track::Scalar, self.params.scalar(), 0);
        }
        let to_vector = self.member != Member::Aic;
        for &track in self.partners(split) {
            self.channel(Mnemonic::SetIntraBlock, Pipe::S, Channel { pipe, to_vector, track, free: true });
        }
    }

    /// The second vector core has no share in what is not split.
    fn takes_part(&self, split: Split) -> bool {
        split != Split::NoSplit || self.member != Member::Aiv1
    }

    /// The vector cores at the other end, or this one.
    fn partners(&self, split: Split) -> &'static [u8] {
        match (self.member, split) {
            (Member::Aic, Split::NoSplit) | (Member::Aiv0, _) => &[0],
            (Member::Aic, _) => &[0, 1],
            (Member::Aiv1, _) => &[1],
        }
    }

    fn channel(&mut self, mnemonic: Mnemonic, pipe: Pipe, channel: Channel) {
        let number = self.channels.number(channel);
        let role =
            if mnemonic == Mnemonic::SetIntraBlock { Role::Signal(number) } else { Role::Await(number) };
        self.emit(mnemonic, Track::of_pipe(pipe), pipe, role, self.params.flag());
    }
}
