//! Moves of tiles, and the products that they feed.

use argus_abi::DType;
use argus_chip::Moves;
use argus_tile::{GlobalLayout, Layout, LogEntry, Pipe, Space, Work};

use super::Lowering;
use super::operand::{Operand, global_layout, operand};
use crate::machine::{Mnemonic, Path, Role, Track};
use crate::params::at_least_one;

/// L1 is moved to L0 in boxes of this many bytes.
const FRACTAL_BYTES: u64 = 512;
/// The matrix unit works on cubes of 16 rows, 32 bytes and 16 columns.
const CUBE: u32 = 16;
const CUBE_DEPTH_BYTES: u32 = 32;

impl Lowering<'_> {
    pub(super) fn load(&mut self, entry: &LogEntry) {
        let Some(dst) = operand(entry, "dst") else { return };
        if dst.space == Space::Vec {
            return self.transfer(self.align(), Pipe::Mte2, Path::GmToUb, entry.bytes);
        }
        let mnemonic = match (global_layout(entry), dst.layout) {
            (Some(GlobalLayout::Nz), _) | (_, Layout::Nd | Layout::Dn) => Mnemonic::MovOutToL1,
            (Some(GlobalLayout::Dn), _) if self.chip.moves == Moves::V2 => Mnemonic::MovDn2Nz,
            _ => Mnemonic::MovNd2Nz,
        };
        self.transfer(mnemonic, Pipe::Mte2, Path::GmToL1, entry.bytes);
    }

    pub(super) fn store(&mut self, entry: &LogEntry) {
        match operand(entry, "src").map(|src| src.space) {
            Some(Space::Acc) => self.transfer(Mnemonic::FixL0cToDst, entry.pipe, Path::L0cToGm, entry.bytes),
            Some(Space::Mat) => self.transfer(Mnemonic::MovL1ToOut, entry.pipe, Path::L1ToGm, entry.bytes),
            _ => self.transfer(self.align(), entry.pipe, Path::UbToGm, entry.bytes),
        }
    }

    /// From global memory to UB and out again.
    pub(super) fn copy_through_ub(&mut self, entry: &LogEntry) {
        self.transfer(self.align(), Pipe::Mte2, Path::GmToUb, entry.bytes);
        self.transfer(self.align(), Pipe::Mte3, Path::UbToGm, entry.bytes);
    }

    /// What moves lines between global memory and UB.
    pub(super) fn align(&self) -> Mnemonic {
        match self.chip.moves {
            Moves::V1 => Mnemonic::MovAlign,
            Moves::V2 => Mnemonic::MovAlignV2,
        }
    }

    pub(super) fn on_chip_move(&mut self, entry: &LogEntry) {
        let (Some(dst), Some(src)) = (operand(entry, "dst"), operand(entry, "src")) else { return };
        let boxed = entry.bytes.next_multiple_of(FRACTAL_BYTES);
        let (mnemonic, path, bytes) = match (src.space, dst.space) {
            (Space::Acc, Space::Vec) => (Mnemonic::FixL0cToDst, Path::L0cToUb, entry.bytes),
            (Space::Acc, _) => (Mnemonic::FixL0cToDst, Path::L0cToL1, entry.bytes),
            (Space::Mat, Space::Left | Space::ScaleLeft) => (self.left_load(), Path::L1ToL0a, boxed),
            (Space::Mat, Space::Right | Space::ScaleRight) => (self.right_load(), Path::L1ToL0b, boxed),
            (Space::Mat, Space::Bias) => (Mnemonic::MovL1ToBt, Path::L1ToBt, entry.bytes),
            (Space::Mat, Space::Scaling) => (Mnemonic::MovL1ToFb, Path::L1ToFb, entry.bytes),
            (Space::Vec, Space::Vec) => (Mnemonic::MovUbToUb, Path::UbToUb, entry.bytes),
            _ => (Mnemonic::MovUbToL1, Path::UbToL1, entry.bytes),
        };
        self.transfer(mnemonic, entry.pipe, path, bytes);
    }

    fn left_load(&self) -> Mnemonic {
        match self.chip.moves {
            Moves::V1 => Mnemonic::Load3dV2,
            Moves::V2 => Mnemonic::Load2dV2,
        }
    }

    fn right_load(&self) -> Mnemonic {
        match self.chip.moves {
            Moves::V1 => Mnemonic::Load2d,
            Moves::V2 => Mnemonic::Load2dV2,
        }
    }

    pub(super) fn product(&mut self, entry: &LogEntry) {
        let Work::Product { m, k, n } = entry.work else { return };
        let dtype = operand(entry, "left").map_or(DType::F16, |left| left.dtype);
        let depth = (CUBE_DEPTH_BYTES / dtype.size() as u32).max(1);
        let cubes = u64::from(m.div_ceil(CUBE)) * u64::from(k.div_ceil(depth)) * u64::from(n.div_ceil(CUBE));
        let cost = self.params.cube();
        let each = if dtype == DType::F32 { cost.f32 } else { cost.other };
        let head = cost.head.ceil() as u32;
        self.emit(Mnemonic::Mmad, Track::Cube, Pipe::M, Role::Work, at_least_one(each * cubes as f64));
        let instr = self.last();
        (instr.head, instr.repeats) = (head, u32::try_from(cubes).unwrap_or(u32::MAX));
        instr.useful = u64::from(m) * u64::from(k) * u64::from(n);
        instr.capacity = cubes * u64::from(CUBE * CUBE * depth);
    }

    pub(super) fn fill_l1(&mut self, entry: &LogEntry) {
        let bytes = operand(entry, "dst").map_or(0, Operand::storage_bytes);
        self.transfer(Mnemonic::SetL12d, Pipe::Mte2, Path::FillL1, bytes);
    }
}
