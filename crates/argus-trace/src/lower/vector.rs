//! The vector unit: repeats under a mask, or vector functions.

use argus_chip::VectorUnit;
use argus_tile::{LogEntry, Opcode, Pipe};

use super::Lowering;
use super::operand::{Grid, operand};
use crate::machine::{Mnemonic, Role, Track, VectorInstr};
use crate::params::{Shape, VectorCost, at_least_one};

/// The repeat count of an instruction has eight bits.
const MAX_REPEATS: u64 = 255;

/// Tile instructions.
impl Lowering<'_> {
    /// One vector instruction over the whole destination.
    pub(super) fn plain(&mut self, entry: &LogEntry, instr: VectorInstr) {
        if let Some(whole) = destination(entry) {
            self.vector(instr, whole);
        }
    }

    /// One vector instruction that goes row by row.
    pub(super) fn by_rows(&mut self, entry: &LogEntry, instr: VectorInstr) {
        if let Some(whole) = destination(entry) {
            self.vector(instr, Grid { gapless: false, ..whole });
        }
    }

    pub(super) fn row_reduce(&mut self, entry: &LogEntry, fold: VectorInstr, reduce: VectorInstr) {
        let Some(src) = operand(entry, "src") else { return };
        let rows = Grid { gapless: false, ..src.valid_grid(src.element()) };
        match self.chip.vector_unit {
            VectorUnit::Repeats => {
                let more = rows.repeats_per_line().saturating_sub(1);
                if more > 0 {
                    // The repeats of a row are folded onto its first one.
                    let useful = rows.lines * rows.len.saturating_sub(rows.per_repeat());
                    let folded = Grid { len: more * rows.per_repeat(), useful, ..rows };
                    self.vector(fold, folded);
                    self.inner_barrier();
                }
                self.vector(reduce, rows.one_repeat_a_line());
            }
            VectorUnit::Functions => self.vector(reduce, rows),
        }
    }

    pub(super) fn row_expand(&mut self, entry: &LogEntry) {
        let Some(whole) = destination(entry) else { return };
        let cost = self.params.row_expand().clone();
        self.vector_at(self.fill(), Grid { gapless: false, ..whole }, &cost);
    }

    /// Combines each row with its value of a column.
    pub(super) fn row_combine(&mut self, entry: &LogEntry, combine: VectorInstr) {
        let Some(whole) = destination(entry) else { return };
        if self.chip.vector_unit == VectorUnit::Repeats {
            // One repeat spreads eight values.
            let lines = whole.lines.div_ceil(8);
            let useful = whole.lines * whole.per_repeat() / 8;
            let eighths = Grid { lines, useful, ..whole.one_repeat_a_line() };
            self.vector(VectorInstr::Vbrcb, eighths);
            self.inner_barrier();
        }
        self.vector(combine, Grid { gapless: false, ..whole });
    }

    pub(super) fn exp_of_difference(&mut self, entry: &LogEntry) {
        let Some(whole) = destination(entry) else { return };
        self.vector(VectorInstr::Vsub, Grid { gapless: false, ..whole });
        self.inner_barrier();
        self.vector(VectorInstr::Vexp, whole);
    }

    /// A division whose dividend or divisor is one value: that one is spread first.
    pub(super) fn divide_by_fill(&mut self, entry: &LogEntry) {
        let Some(whole) = destination(entry) else { return };
        self.vector(self.fill(), whole);
        self.inner_barrier();
        self.vector(VectorInstr::Vdiv, whole);
    }

    pub(super) fn convert(&mut self, entry: &LogEntry) {
        let (Some(dst), Some(src)) = (operand(entry, "dst"), operand(entry, "src")) else { return };
        self.vector(VectorInstr::Vconv, src.valid_grid(dst.element().max(src.element())));
    }

    /// One vector instruction over the whole source.
    pub(super) fn over_source(&mut self, entry: &LogEntry, instr: VectorInstr) {
        if let Some(src) = operand(entry, "src") {
            self.vector(instr, src.valid_grid(src.element()));
        }
    }

    pub(super) fn fill_pad(&mut self, entry: &LogEntry) {
        let (Some(dst), Some(src)) = (operand(entry, "dst"), operand(entry, "src")) else { return };
        // Rows beyond the valid ones and columns beyond them are filled, the rest is copied.
        let below = dst.grid(dst.shape[0] - src.valid[0].min(dst.shape[0]), dst.shape[1], dst.element());
        let beside = dst.grid(src.valid[0], dst.shape[1] - src.valid[1].min(dst.shape[1]), dst.element());
        for fill in [below, beside] {
            if fill.repeats() > 0 {
                self.vector(self.fill(), fill);
            }
        }
        if entry.opcode == Opcode::Tfillpad || self.out.len() == self.first {
            self.vector(VectorInstr::Vcopy, src.valid_grid(src.element()));
        }
    }

    pub(super) fn gather(&mut self, entry: &LogEntry) {
        let Some(whole) = destination(entry) else { return };
        self.vector(VectorInstr::Vmuls, Grid { gapless: false, ..whole });
        self.inner_barrier();
        self.vector(VectorInstr::Vgather, Grid { gapless: false, ..whole });
    }

    /// What fills a tile with one value.
    pub(super) fn fill(&self) -> VectorInstr {
        match self.chip.vector_unit {
            VectorUnit::Repeats => VectorInstr::MoveV,
            VectorUnit::Functions => VectorInstr::Vdup,
        }
    }
}

fn destination(entry: &LogEntry) -> Option<Grid> {
    operand(entry, "dst").map(|dst| dst.valid_grid(dst.element()))
}

/// Machine instructions.
impl Lowering<'_> {
    fn vector(&mut self, instr: VectorInstr, grid: Grid) {
        let cost = self.params.vector(instr, grid.shape()).clone();
        self.vector_at(instr, grid, &cost);
    }

    fn vector_at(&mut self, instr: VectorInstr, grid: Grid, cost: &VectorCost) {
        let per_row = cost.per_row * grid.lines as f64;
        match self.chip.vector_unit {
            VectorUnit::Repeats => self.repeated(instr, grid, per_row, cost),
            VectorUnit::Functions => {
                self.vector_function(instr, grid, cost.head + per_row + cost.slope * grid.repeats() as f64);
            }
        }
    }

    fn repeated(&mut self, instr: VectorInstr, grid: Grid, per_row: f64, cost: &VectorCost) {
        self.set_mask(grid.rest());
        let mut extra = per_row + if grid.rest().is_some() { self.params.count_mode() } else { 0.0 };
        let mut left = grid.repeats();
        loop {
            let now = left.min(MAX_REPEATS);
            let work = at_least_one(cost.slope * now as f64 + extra);
            self.emit(instr.mnemonic(), Track::Vector, Pipe::V, Role::Work, work);
            let emitted = self.last();
            (emitted.head, emitted.tail) = (cost.head.ceil() as u32, cost.tail.ceil() as u32);
            emitted.repeats = now as u32;
            emitted.capacity = now * grid.per_repeat();
            // All repeats but the last ones are full, or all of them are alike.
            emitted.useful = grid.useful * now / grid.repeats().max(1);
            left -= now;
            extra = 0.0;
            if left == 0 {
                break;
            }
        }
    }

    /// The function, then its loads, its computation and its stores.
    fn vector_function(&mut self, instr: VectorInstr, grid: Grid, cycles: f64) {
        let total = at_least_one(cycles);
        let shape = self.params.vector_function().clone();
        let [start, load, store, drain] =
            [shape.start, shape.load, shape.store, shape.drain].map(|cycles| cycles.ceil() as u32);
        self.emit(Mnemonic::Vf, Track::PushQ, Pipe::V, Role::Work, total);
        let repeats = u32::try_from(grid.repeats()).unwrap_or(u32::MAX);
        self.last().repeats = repeats;
        // Each stage takes as long as the others; what a user's numbers leave no room for is cut.
        let length = total.saturating_sub(start + load + store + drain).max(1);
        let stages = [
            (instr != VectorInstr::Vdup).then_some((Mnemonic::RvVldi, Track::RvecLd, start)),
            instr.register_form().map(|form| (form, Track::RvecEx, start + load)),
            Some((Mnemonic::RvVsti, Track::RvecSt, start + load + store)),
        ];
        for (form, track, offset) in stages.into_iter().flatten() {
            let offset = offset.min(total - 1);
            self.emit(form, track, Pipe::V, Role::Body, length.min(total - offset));
            let emitted = self.last();
            (emitted.head, emitted.repeats) = (offset, repeats);
            (emitted.useful, emitted.capacity) = (grid.useful, grid.repeats() * grid.per_repeat());
        }
    }

    fn set_mask(&mut self, mask: Option<u64>) {
        if self.mask == mask {
            return;
        }
        self.mask = mask;
        for _ in 0..2 {
            let cost = self.params.vector(VectorInstr::MoveMask, Shape { element: 4, in_rows: false });
            let work = at_least_one(cost.slope);
            self.emit(Mnemonic::MoveMask, Track::Vector, Pipe::V, Role::Work, work);
            self.last().repeats = mask.unwrap_or(0) as u32;
        }
    }

    /// The barrier between two steps of one tile instruction; a vector function orders its own.
    fn inner_barrier(&mut self) {
        if self.chip.vector_unit == VectorUnit::Repeats {
            self.barrier(Pipe::V);
        }
    }
}
