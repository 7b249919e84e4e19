//! Lowering: one tile instruction becomes the machine instructions that a real chip would run for it, with
//! their lanes, repeats, bytes and cycles. No times yet.
//!
//! On A2/A3 a vector instruction repeats up to 255 times over 256 bytes; on A5 it is a vector function whose
//! loads, computation and stores lie on lanes of their own.

use argus_abi::{DType, Member};
use argus_tile::{GlobalLayout, Layout, LogEntry, Opcode, Pipe, Place, Space, Split, TPipe, Work};
use rustc_hash::FxHashMap;

use crate::input::{Chip, CoreLog};
use crate::machine::{Cause, Instr, Lane, Mnemonic, NONE, Path, Role};
use crate::params::{Params, Shape, VectorCost, at_least_one};

/// Bytes of one repeat of the vector unit.
const REPEAT_BYTES: usize = 256;
/// The repeat count of an instruction has eight bits.
const MAX_REPEATS: u64 = 255;
/// L1 is moved to L0 in boxes of this many bytes.
const FRACTAL_BYTES: u64 = 512;
/// The matrix unit works on cubes of 16 rows, 32 bytes and 16 columns.
const CUBE: u32 = 16;
const CUBE_DEPTH_BYTES: u32 = 32;

/// A queue of signals between two cores of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    pub pipe: TPipe,
    /// From the matrix core to the vector cores, or back.
    pub to_vector: bool,
    /// Which vector core.
    pub lane: u8,
    /// The slot is free again, instead of filled.
    pub free: bool,
}

impl Channel {
    /// The number in operand texts: a pipe uses its flag for data and the next one for free slots; the
    /// second vector core has its own sixteen.
    pub fn sync_id(&self) -> u32 {
        (u32::from(self.pipe.flag_id) + u32::from(self.free)) % 16 + 16 * u32::from(self.lane)
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

/// Lowers the log of one core.
pub(crate) fn lower(core: &CoreLog, chip: Chip, params: &Params, channels: &mut Channels) -> Vec<Instr> {
    let mut lowering = Lowering {
        params,
        chip,
        member: core.member,
        channels,
        out: Vec::with_capacity(core.log.entries.len()),
        entry: 0,
        first: 0,
        mask: None,
        pushes: FxHashMap::default(),
    };
    for (index, entry) in core.log.entries.iter().enumerate() {
        lowering.entry = index as u32;
        lowering.first = lowering.out.len();
        lowering.tile_instruction(entry);
    }
    lowering.out
}

struct Lowering<'a> {
    params: &'a Params,
    chip: Chip,
    member: Member,
    channels: &'a mut Channels,
    out: Vec<Instr>,
    entry: u32,
    /// Where the machine instructions of the current entry start.
    first: usize,
    /// Elements that the vector mask lets through; `None` is all of them.
    mask: Option<u64>,
    pushes: FxHashMap<(TPipe, bool), u64>,
}

/// What is known of a tile operand.
#[derive(Clone, Copy)]
struct Operand {
    space: Space,
    dtype: DType,
    layout: Layout,
    shape: [u32; 2],
    valid: [u32; 2],
}

impl Operand {
    fn element(self) -> usize {
        self.dtype.size()
    }

    /// The lines of a region as the vector unit walks them.
    fn grid(self, rows: u32, cols: u32, element: usize) -> Grid {
        let (lines, len, pitch) = match self.layout {
            Layout::Dn => (cols, rows, self.shape[0]),
            _ => (rows, cols, self.shape[1]),
        };
        Grid { lines: lines.into(), len: len.into(), gapless: len == pitch, element }
    }

    fn valid_grid(self, element: usize) -> Grid {
        self.grid(self.valid[0], self.valid[1], element)
    }

    fn storage_bytes(self) -> u64 {
        u64::from(self.shape[0]) * u64::from(self.shape[1]) * self.element() as u64
    }
}

/// Lines of elements, one after the other or with gaps between them.
#[derive(Clone, Copy)]
struct Grid {
    lines: u64,
    len: u64,
    gapless: bool,
    element: usize,
}

impl Grid {
    fn per_repeat(self) -> u64 {
        (REPEAT_BYTES / self.element.max(1)) as u64
    }

    fn repeats(self) -> u64 {
        if self.gapless {
            (self.lines * self.len).div_ceil(self.per_repeat())
        } else {
            self.lines * self.repeats_per_line()
        }
    }

    fn repeats_per_line(self) -> u64 {
        self.len.div_ceil(self.per_repeat())
    }

    /// Elements of the last, partial repeat.
    fn rest(self) -> Option<u64> {
        let counted = if self.gapless { self.lines * self.len } else { self.len };
        let rest = counted % self.per_repeat();
        (rest != 0).then_some(rest)
    }

    /// The same lines, each as if it had one repeat.
    fn one_repeat_a_line(self) -> Grid {
        Grid { len: self.per_repeat(), gapless: false, ..self }
    }

    fn shape(self) -> Shape {
        Shape { element: self.element, in_rows: !self.gapless && self.lines > 1 }
    }
}

fn operand(entry: &LogEntry, name: &str) -> Option<Operand> {
    entry.operands.iter().find(|operand| operand.name == name).and_then(|operand| match operand.place {
        Place::Tile { space, dtype, layout, shape, valid, .. } => {
            Some(Operand { space, dtype, layout, shape, valid })
        }
        Place::Global { .. } => None,
    })
}

fn global_layout(entry: &LogEntry) -> Option<GlobalLayout> {
    entry.operands.iter().find_map(|operand| match operand.place {
        Place::Global { layout, .. } => Some(layout),
        Place::Tile { .. } => None,
    })
}

impl Lowering<'_> {
    fn tile_instruction(&mut self, entry: &LogEntry) {
        let scalar = self.params.scalar();
        match entry.opcode {
            Opcode::Tassign | Opcode::Treshape => self.scalar(Mnemonic::MovXdImm, Lane::Scalar, scalar, 0),
            Opcode::Dcci => self.scalar(Mnemonic::Dcci, Lane::Scalar, scalar, 0),
            Opcode::Dsb => self.scalar(Mnemonic::Dsb, Lane::Scalar, scalar, 0),
            Opcode::GetValue => self.scalar(Mnemonic::LdXdXnImm, Lane::ScalarLdSt, scalar, entry.bytes),
            Opcode::SetValue => self.scalar(Mnemonic::StXdXnImm, Lane::ScalarLdSt, scalar, entry.bytes),
            Opcode::LoadScalar => {
                let cycles = self.params.scalar_global();
                self.scalar(Mnemonic::LdXdXnImm, Lane::ScalarLdSt, cycles, entry.bytes);
            }
            Opcode::StoreScalar => self.scalar(Mnemonic::StXdXnImm, Lane::ScalarLdSt, scalar, entry.bytes),
            Opcode::Tci => {
                let count = operand(entry, "dst").map_or(1, |dst| dst.valid[1].max(1));
                self.scalar(Mnemonic::StXdXnImm, Lane::ScalarLdSt, scalar.saturating_mul(count), 0);
                self.last().repeats = count;
            }
            Opcode::SetFlag | Opcode::WaitFlag | Opcode::PipeBarrier => self.sync(entry),
            Opcode::Tpush => self.push(entry),
            Opcode::Tpop => self.pop(entry),
            Opcode::Tfree => self.free(entry),
            Opcode::Tload => self.load(entry),
            Opcode::Tstore => self.store(entry),
            Opcode::TstoreAtomicAdd => {
                // The control register says what a store does, and is put back afterwards.
                self.scalar(Mnemonic::MovSprXn, Lane::Scalar, scalar, 0);
                self.store(entry);
                self.scalar(Mnemonic::MovSprXn, Lane::Scalar, scalar, 0);
            }
            Opcode::Tmatmul | Opcode::TmatmulAcc => self.product(entry),
            Opcode::Tmov | Opcode::Textract => self.on_chip_move(entry),
            _ if entry.pipe == Pipe::Mte2 => {
                let bytes = operand(entry, "dst").map_or(0, Operand::storage_bytes);
                self.transfer(Mnemonic::SetL12d, Pipe::Mte2, Path::FillL1, bytes);
            }
            _ => self.vector_instruction(entry),
        }
    }

    fn vector_instruction(&mut self, entry: &LogEntry) {
        let (dst, src) = (operand(entry, "dst"), operand(entry, "src"));
        let Some(dst) = dst else { return };
        let whole = dst.valid_grid(dst.element());
        match entry.opcode {
            Opcode::Trowsum | Opcode::Trowmax => {
                let Some(src) = src else { return };
                let (fold, reduce) = match entry.opcode {
                    Opcode::Trowsum => (Mnemonic::Vadd, Mnemonic::Vcadd),
                    _ => (Mnemonic::Vmax, Mnemonic::Vcmax),
                };
                let rows = Grid { gapless: false, ..src.valid_grid(src.element()) };
                let more = rows.repeats_per_line().saturating_sub(1);
                if more > 0 && self.chip == Chip::A2a3 {
                    // The repeats of a row are folded onto its first one.
                    let folded = Grid { len: more * rows.per_repeat(), ..rows };
                    self.vector(fold, folded);
                    self.inner_barrier();
                }
                let reduced = if self.chip == Chip::A2a3 { rows.one_repeat_a_line() } else { rows };
                self.vector(reduce, Grid { lines: rows.lines, ..reduced });
            }
            Opcode::Trowexpand => self.row_expand(whole),
            Opcode::Trowexpandmul | Opcode::Trowexpandsub | Opcode::Trowexpanddiv => {
                if self.chip == Chip::A2a3 {
                    // One repeat spreads eight values.
                    let eighths = Grid { lines: whole.lines.div_ceil(8), ..whole.one_repeat_a_line() };
                    self.vector(Mnemonic::Vbrcb, eighths);
                    self.inner_barrier();
                }
                let combine = match entry.opcode {
                    Opcode::Trowexpandmul => Mnemonic::Vmul,
                    Opcode::Trowexpandsub => Mnemonic::Vsub,
                    _ => Mnemonic::Vdiv,
                };
                self.vector(combine, Grid { gapless: false, ..whole });
            }
            Opcode::Tcolexpand => self.vector(Mnemonic::Vcopy, Grid { gapless: false, ..whole }),
            Opcode::Tcolexpandmul => self.vector(Mnemonic::Vmul, Grid { gapless: false, ..whole }),
            Opcode::Tdivs | Opcode::Trecip => {
                self.vector(self.fill(), whole);
                self.inner_barrier();
                self.vector(Mnemonic::Vdiv, whole);
            }
            Opcode::Tcvt => {
                let Some(src) = src else { return };
                self.vector(Mnemonic::Vconv, src.valid_grid(dst.element().max(src.element())));
            }
            Opcode::Ttrans => {
                let Some(src) = src else { return };
                self.vector(Mnemonic::Vnchwconv, src.valid_grid(src.element()));
            }
            Opcode::Tfillpad | Opcode::TfillpadInplace => {
                let Some(src) = src else { return };
                // Rows beyond the valid ones and columns beyond them are filled, the rest is copied.
                let below =
                    dst.grid(dst.shape[0] - src.valid[0].min(dst.shape[0]), dst.shape[1], dst.element());
                let beside =
                    dst.grid(src.valid[0], dst.shape[1] - src.valid[1].min(dst.shape[1]), dst.element());
                for fill in [below, beside] {
                    if fill.repeats() > 0 {
                        self.vector(self.fill(), fill);
                    }
                }
                if entry.opcode == Opcode::Tfillpad || self.out.len() == self.first {
                    self.vector(Mnemonic::Vcopy, src.valid_grid(src.element()));
                }
            }
            Opcode::Tgather => {
                self.vector(Mnemonic::Vmuls, Grid { gapless: false, ..whole });
                self.inner_barrier();
                self.vector(Mnemonic::Vgather, Grid { gapless: false, ..whole });
            }
            Opcode::TgatherMask => {
                let Some(src) = src else { return };
                self.vector(Mnemonic::Vreducev2, src.valid_grid(src.element()));
            }
            Opcode::Texpands => self.vector(self.fill(), whole),
            opcode => self.vector(plain(opcode), whole),
        }
    }

    /// What fills a tile with one value.
    fn fill(&self) -> Mnemonic {
        match self.chip {
            Chip::A2a3 => Mnemonic::MoveV,
            Chip::A5 => Mnemonic::Vdup,
        }
    }

    fn vector(&mut self, mnemonic: Mnemonic, grid: Grid) {
        let cost = self.params.vector(mnemonic, grid.shape()).clone();
        self.vector_at(mnemonic, grid, &cost);
    }

    fn row_expand(&mut self, grid: Grid) {
        let cost = self.params.row_expand().clone();
        self.vector_at(self.fill(), Grid { gapless: false, ..grid }, &cost);
    }

    fn vector_at(&mut self, mnemonic: Mnemonic, grid: Grid, cost: &VectorCost) {
        let repeats = grid.repeats();
        let per_row = cost.per_row * grid.lines as f64;
        if self.chip == Chip::A5 {
            return self.vector_function(mnemonic, grid, cost.head + per_row + cost.slope * repeats as f64);
        }
        self.set_mask(grid.rest());
        let mut extra = per_row + if grid.rest().is_some() { self.params.count_mode() } else { 0.0 };
        let mut left = repeats;
        loop {
            let now = left.min(MAX_REPEATS);
            let work = at_least_one(cost.slope * now as f64 + extra);
            self.emit(mnemonic, Lane::Vector, Pipe::V, Role::Work, work);
            let instr = self.last();
            (instr.head, instr.tail) = (cost.head.ceil() as u32, cost.tail.ceil() as u32);
            instr.repeats = now as u32;
            left -= now;
            extra = 0.0;
            if left == 0 {
                break;
            }
        }
    }

    /// A5: the function, then its loads, its computation and its stores.
    fn vector_function(&mut self, mnemonic: Mnemonic, grid: Grid, cycles: f64) {
        let total = at_least_one(cycles);
        let shape = self.params.vector_function().clone();
        let [start, load, store, drain] =
            [shape.start, shape.load, shape.store, shape.drain].map(|cycles| cycles.ceil() as u32);
        self.emit(Mnemonic::Vf, Lane::PushQ, Pipe::V, Role::Work, total);
        let repeats = u32::try_from(grid.repeats()).unwrap_or(u32::MAX);
        self.last().repeats = repeats;
        // Each stage takes as long as the others; what a user's numbers leave no room for is cut.
        let length = total.saturating_sub(start + load + store + drain).max(1);
        let stages = [
            (mnemonic != Mnemonic::Vdup).then_some((Mnemonic::RvVldi, Lane::RvecLd, start)),
            mnemonic.register_form().map(|form| (form, Lane::RvecEx, start + load)),
            Some((Mnemonic::RvVsti, Lane::RvecSt, start + load + store)),
        ];
        for (form, lane, offset) in stages.into_iter().flatten() {
            let offset = offset.min(total - 1);
            self.emit(form, lane, Pipe::V, Role::Body, length.min(total - offset));
            let instr = self.last();
            (instr.head, instr.repeats) = (offset, repeats);
        }
    }

    fn set_mask(&mut self, mask: Option<u64>) {
        if self.mask == mask {
            return;
        }
        self.mask = mask;
        for _ in 0..2 {
            let cost = self.params.vector(Mnemonic::MoveMask, Shape { element: 4, in_rows: false });
            let work = at_least_one(cost.slope);
            self.emit(Mnemonic::MoveMask, Lane::Vector, Pipe::V, Role::Work, work);
            self.last().repeats = mask.unwrap_or(0) as u32;
        }
    }

    /// The barrier between two steps of one tile instruction.
    fn inner_barrier(&mut self) {
        if self.chip == Chip::A2a3 {
            self.emit(Mnemonic::Bar, Lane::Vector, Pipe::V, Role::Barrier, self.params.barrier());
        }
    }

    fn product(&mut self, entry: &LogEntry) {
        let Work::Product { m, k, n } = entry.work else { return };
        let dtype = operand(entry, "left").map_or(DType::F16, |left| left.dtype);
        let depth = (CUBE_DEPTH_BYTES / dtype.size() as u32).max(1);
        let cubes = u64::from(m.div_ceil(CUBE)) * u64::from(k.div_ceil(depth)) * u64::from(n.div_ceil(CUBE));
        let cost = self.params.cube();
        let each = if dtype == DType::F32 { cost.f32 } else { cost.other };
        let head = cost.head.ceil() as u32;
        self.emit(Mnemonic::Mmad, Lane::Cube, Pipe::M, Role::Work, at_least_one(each * cubes as f64));
        let instr = self.last();
        (instr.head, instr.repeats) = (head, u32::try_from(cubes).unwrap_or(u32::MAX));
    }

    fn load(&mut self, entry: &LogEntry) {
        let Some(dst) = operand(entry, "dst") else { return };
        if dst.space == Space::Vec {
            return self.transfer(self.align(), Pipe::Mte2, Path::GmToUb, entry.bytes);
        }
        let mnemonic = match (global_layout(entry), dst.layout) {
            (Some(GlobalLayout::Nz), _) | (_, Layout::Nd | Layout::Dn) => Mnemonic::MovOutToL1,
            (Some(GlobalLayout::Dn), _) if self.chip == Chip::A5 => Mnemonic::MovDn2Nz,
            _ => Mnemonic::MovNd2Nz,
        };
        self.transfer(mnemonic, Pipe::Mte2, Path::GmToL1, entry.bytes);
    }

    fn store(&mut self, entry: &LogEntry) {
        match operand(entry, "src").map(|src| src.space) {
            Some(Space::Acc) => self.transfer(Mnemonic::FixL0cToDst, entry.pipe, Path::L0cToGm, entry.bytes),
            Some(Space::Mat) => self.transfer(Mnemonic::MovL1ToOut, entry.pipe, Path::L1ToGm, entry.bytes),
            _ => self.transfer(self.align(), entry.pipe, Path::UbToGm, entry.bytes),
        }
    }

    fn align(&self) -> Mnemonic {
        match self.chip {
            Chip::A2a3 => Mnemonic::MovAlign,
            Chip::A5 => Mnemonic::MovAlignV2,
        }
    }

    fn on_chip_move(&mut self, entry: &LogEntry) {
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
        match self.chip {
            Chip::A2a3 => Mnemonic::Load3dV2,
            Chip::A5 => Mnemonic::Load2dV2,
        }
    }

    fn right_load(&self) -> Mnemonic {
        match self.chip {
            Chip::A2a3 => Mnemonic::Load2d,
            Chip::A5 => Mnemonic::Load2dV2,
        }
    }

    fn sync(&mut self, entry: &LogEntry) {
        let lane = Lane::of_pipe(entry.pipe);
        match (entry.opcode, entry.flag) {
            (Opcode::SetFlag, Some(flag)) => {
                self.emit(Mnemonic::SetFlag, lane, entry.pipe, Role::Set(flag), self.params.flag());
            }
            (Opcode::WaitFlag, Some(flag)) => {
                self.emit(Mnemonic::WaitFlag, lane, entry.pipe, Role::Wait(flag), self.params.flag());
            }
            _ => self.emit(Mnemonic::Bar, lane, entry.pipe, Role::Barrier, self.params.barrier()),
        }
    }

    /// Waits for a free slot if the ring was full, moves the tile, and tells who pops it.
    fn push(&mut self, entry: &LogEntry) {
        let Some((pipe, split)) = entry.fifo else { return };
        if !self.takes_part(split) {
            return self.scalar(Mnemonic::MovXdImm, Lane::Scalar, self.params.scalar(), 0);
        }
        let to_vector = self.member == Member::Aic;
        let partners = self.partners(split);
        let pushed = self.pushes.entry((pipe, to_vector)).or_default();
        let full = *pushed >= u64::from(pipe.slot_num);
        *pushed += 1;
        for &lane in partners.iter().filter(|_| full) {
            self.channel(Mnemonic::WaitIntraBlock, entry.pipe, Channel { pipe, to_vector, lane, free: true });
        }
        let (mnemonic, path) = match (operand(entry, "src").map(|src| src.space), self.chip) {
            (Some(Space::Acc), _) => (Mnemonic::FixL0cToDst, Path::L0cToUb),
            (Some(Space::Mat), Chip::A2a3) => (Mnemonic::MovL1ToOut, Path::L1ToGm),
            (Some(Space::Mat), Chip::A5) => (Mnemonic::MovL1ToUb, Path::L1ToGm),
            (_, Chip::A2a3) => (Mnemonic::MovAlign, Path::UbToL1),
            (_, Chip::A5) => (Mnemonic::MovUbToL1, Path::UbToL1),
        };
        self.transfer(mnemonic, entry.pipe, path, entry.bytes);
        for &lane in partners {
            self.channel(Mnemonic::SetIntraBlock, entry.pipe, Channel { pipe, to_vector, lane, free: false });
        }
    }

    fn pop(&mut self, entry: &LogEntry) {
        let Some((pipe, split)) = entry.fifo else { return };
        if self.takes_part(split) {
            let to_vector = self.member != Member::Aic;
            for &lane in self.partners(split) {
                let channel = Channel { pipe, to_vector, lane, free: false };
                self.channel(Mnemonic::WaitIntraBlock, entry.pipe, channel);
            }
        }
        match (self.chip, operand(entry, "dst").map(|dst| dst.space)) {
            // The sender wrote into this core's memory.
            (Chip::A5, _) => {
                let work = self.params.scalar();
                self.emit(Mnemonic::MovAlignV2, Lane::Mte2, Pipe::Mte2, Role::Work, work);
            }
            (Chip::A2a3, Some(Space::Mat)) => {
                self.transfer(Mnemonic::MovOutToL1, Pipe::Mte2, Path::GmToL1, entry.bytes);
            }
            (Chip::A2a3, _) => self.transfer(Mnemonic::MovAlign, Pipe::Mte2, Path::GmToUb, entry.bytes),
        }
    }

    fn free(&mut self, entry: &LogEntry) {
        let Some((pipe, split)) = entry.fifo else { return };
        if !self.takes_part(split) {
            return self.scalar(Mnemonic::MovXdImm, Lane::Scalar, self.params.scalar(), 0);
        }
        let to_vector = self.member != Member::Aic;
        for &lane in self.partners(split) {
            self.channel(Mnemonic::SetIntraBlock, Pipe::S, Channel { pipe, to_vector, lane, free: true });
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
        self.emit(mnemonic, Lane::of_pipe(pipe), pipe, role, self.params.flag());
    }

    fn scalar(&mut self, mnemonic: Mnemonic, lane: Lane, cycles: u32, bytes: u64) {
        self.emit(mnemonic, lane, Pipe::S, Role::Work, cycles);
        self.last().bytes = bytes;
    }

    fn transfer(&mut self, mnemonic: Mnemonic, pipe: Pipe, path: Path, bytes: u64) {
        let work = self.params.transfer(path, bytes);
        self.emit(mnemonic, Lane::of_pipe(pipe), pipe, Role::Work, work);
        let instr = self.last();
        (instr.path, instr.bytes) = (Some(path), bytes);
    }

    fn emit(&mut self, mnemonic: Mnemonic, lane: Lane, pipe: Pipe, role: Role, work: u32) {
        let alike = self.out[self.first..].iter().filter(|instr| instr.mnemonic == mnemonic).count();
        self.out.push(Instr {
            mnemonic,
            lane,
            pipe,
            role,
            path: None,
            entry: self.entry,
            part: alike as u16,
            site: NONE,
            repeats: 1,
            bytes: 0,
            start: 0,
            end: 0,
            work,
            head: 0,
            tail: 0,
            pair: NONE,
            cause: Cause::Issue,
        });
    }

    fn last(&mut self) -> &mut Instr {
        self.out.last_mut().expect("something was just emitted")
    }
}

/// Tile instructions that are one vector instruction.
fn plain(opcode: Opcode) -> Mnemonic {
    match opcode {
        Opcode::Tadd => Mnemonic::Vadd,
        Opcode::Tsub => Mnemonic::Vsub,
        Opcode::Tmul => Mnemonic::Vmul,
        Opcode::Tdiv => Mnemonic::Vdiv,
        Opcode::Tmax => Mnemonic::Vmax,
        Opcode::Tmin => Mnemonic::Vmin,
        Opcode::Tadds | Opcode::Tsubs => Mnemonic::Vadds,
        Opcode::Tmuls | Opcode::Tneg => Mnemonic::Vmuls,
        Opcode::Tmaxs => Mnemonic::Vmaxs,
        Opcode::Tmins => Mnemonic::Vmins,
        Opcode::Texp => Mnemonic::Vexp,
        Opcode::Tlog => Mnemonic::Vln,
        Opcode::Tsqrt => Mnemonic::Vsqrt,
        Opcode::Trsqrt => Mnemonic::Vrsqrt,
        Opcode::Tabs => Mnemonic::Vabs,
        _ => Mnemonic::Vcopy,
    }
}
