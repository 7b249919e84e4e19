//! Sorting: TSORT32 and the two forms of TMRGSORT.
//!
//! A record is a score and the index it came from, eight bytes in the tile's own type: two f32, or four f16 of which
//! the second is zero. The index passes as bits and is never a number.

use core::panic::Location;

use argus_abi::DType;
use bytemuck::Pod;
use half::f16;

use crate::core::Core;
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::log::{LogEntry, repeats};
use crate::memory::{Memory, check_region, check_type};
use crate::number::widen_f16;
use crate::opcode::{Opcode, Pipe};
use crate::space::Space;
use crate::tile::{Region, Tile};

/// Scores that are sorted together.
const RUN: usize = 32;
/// Blocks that are merged together.
const WAYS: usize = 4;
/// Bytes of a record.
const RECORD: usize = 8;

impl Core {
    /// Sorts each run of 32 scores of every valid row, the largest first and equal ones by ascending index, and
    /// writes their records. The records of run n start at column 64 n, so runs of f16 records overlap. Nothing
    /// happens where the valid regions of scores and indices differ.
    #[track_caller]
    pub fn tsort32(&mut self, dst: &Tile, src: &Tile, idx: &Tile) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tsort32,
            caller,
            |core| {
                let memory = &mut core.memory;
                for (name, tile) in [("dst", dst), ("src", src), ("idx", idx)] {
                    memory.check(name, tile, &[Space::Vec])?;
                }
                check_type("src", src, dst.dtype)?;
                check_index("idx", idx)?;
                if src.region() != idx.region() {
                    return Ok(());
                }
                match src.dtype {
                    DType::F32 => memory.sort_runs::<u32>(dst, src, idx, f32::from_bits),
                    DType::F16 => memory.sort_runs::<u16>(dst, src, idx, score_of_f16),
                    other => Err(no_scores(other)),
                }
            },
            |_| {
                LogEntry::new(Opcode::Tsort32, Pipe::V, caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .reads("idx", idx)
                    .work(repeats(src, src.region(), src.dtype.size()))
            },
        )
    }

    /// Merges each four consecutive blocks of `block` elements, which hold records in descending order, as long as
    /// four of them fit the destination's valid columns. Of equal scores the lower block goes first.
    #[track_caller]
    pub fn tmrgsort(&mut self, dst: &Tile, src: &Tile, block: u32) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tmrgsort,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, &[Space::Vec])?;
                memory.check("src", src, &[Space::Vec])?;
                check_type("src", src, dst.dtype)?;
                let width = RECORD / dst.dtype.size();
                if block == 0 || !(block as usize).is_multiple_of(width) {
                    let text = format!("a block of {block} elements holds no whole records");
                    return Err(Fault::new(FaultKind::WrongShape, text).operand("src"));
                }
                match dst.dtype {
                    DType::F32 => memory.merge_blocks::<u32>(dst, src, block as usize, f32::from_bits),
                    DType::F16 => memory.merge_blocks::<u16>(dst, src, block as usize, score_of_f16),
                    other => Err(no_scores(other)),
                }
            },
            |_| {
                LogEntry::new(Opcode::Tmrgsort, Pipe::V, caller)
                    .writes("dst", dst)
                    .reads("src", src)
                    .scalar((block as i32).into())
                    .work(repeats(dst, dst.region(), dst.dtype.size()))
            },
        )
    }

    /// Merges two to four lists of records into the destination's valid columns, or until one list is used up if
    /// `until_exhausted`. How many records each list gave.
    #[track_caller]
    pub fn tmrgsort_lists(
        &mut self,
        dst: &Tile,
        tmp: &Tile,
        lists: &[Tile],
        until_exhausted: bool,
    ) -> Result<[u64; WAYS], Fault> {
        let caller = Location::caller();
        self.issue_value(
            Opcode::TmrgsortLists,
            caller,
            |core| {
                let memory = &mut core.memory;
                memory.check("dst", dst, &[Space::Vec])?;
                memory.check_scratch("tmp", tmp)?;
                if !(2..=WAYS).contains(&lists.len()) {
                    let text = format!("{} lists cannot be merged, only 2 to {WAYS}", lists.len());
                    return Err(Fault::new(FaultKind::WrongShape, text));
                }
                for list in lists {
                    memory.check("src", list, &[Space::Vec])?;
                    check_type("src", list, dst.dtype)?;
                }
                match dst.dtype {
                    DType::F32 => memory.merge_lists::<u32>(dst, lists, until_exhausted, f32::from_bits),
                    DType::F16 => memory.merge_lists::<u16>(dst, lists, until_exhausted, score_of_f16),
                    other => Err(no_scores(other)),
                }
            },
            |_, _| {
                let entry = LogEntry::new(Opcode::TmrgsortLists, Pipe::V, caller).writes("dst", dst);
                let entry = lists.iter().fold(entry, |entry, list| entry.reads("src", list));
                entry.scratch("tmp", tmp).scalar(i32::from(until_exhausted).into()).work(repeats(
                    dst,
                    dst.region(),
                    dst.dtype.size(),
                ))
            },
        )
    }
}

fn score_of_f16(bits: u16) -> f32 {
    widen_f16(f16::from_bits(bits))
}

fn no_scores(dtype: DType) -> Fault {
    Fault::new(FaultKind::WrongType, format!("scores of {dtype} cannot be sorted")).operand("src")
}

pub(crate) fn check_index(name: &'static str, idx: &Tile) -> KernelResult {
    if matches!(idx.dtype, DType::I32 | DType::U32) {
        return Ok(());
    }
    let text = format!("indices are 32-bit integers, not {}", idx.dtype);
    Err(Fault::new(FaultKind::WrongType, text).operand(name))
}

/// Puts a run in order: by score from the top, then by index. By insertion, which needs no order to be total: a NaN
/// compares with nothing and stays among its neighbours.
fn sort_run<W: Copy>(run: &mut [(W, u32)], score: impl Fn(W) -> f32) {
    let before = |a: (W, u32), b: (W, u32)| {
        let (x, y) = (score(a.0), score(b.0));
        x > y || (x == y && a.1 < b.1)
    };
    for end in 1..run.len() {
        let mut at = end;
        while at > 0 && before(run[at], run[at - 1]) {
            run.swap(at, at - 1);
            at -= 1;
        }
    }
}

impl Memory {
    fn sort_runs<W: Pod>(
        &mut self,
        dst: &Tile,
        src: &Tile,
        idx: &Tile,
        score: impl Fn(W) -> f32 + Copy,
    ) -> KernelResult {
        let (region, width) = (src.region(), RECORD / size_of::<W>());
        let runs = region.cols.div_ceil(RUN);
        let last = region.cols.saturating_sub(runs.saturating_sub(1) * RUN) * width;
        check_region("dst", dst, region.rows, runs.saturating_sub(1) * 2 * RUN + last)?;
        self.unpack::<W>(0, src, region);
        self.unpack::<u32>(1, idx, region);
        let [mut scores, mut indices] = [0, 1].map(|slot| core::mem::take(&mut self.scratch[slot]));
        let walk = dst.walk();
        let to = self.tile_mut::<W>(dst);
        let rows = scores.take::<W>(region.elements()).chunks_exact(region.cols.max(1));
        let pairs = rows.zip(indices.take::<u32>(region.elements()).chunks_exact(region.cols.max(1)));
        for (row, (scores, indices)) in pairs.enumerate() {
            for (number, (scores, indices)) in scores.chunks(RUN).zip(indices.chunks(RUN)).enumerate() {
                let mut run = [(W::zeroed(), 0u32); RUN];
                let run = &mut run[..scores.len()];
                for ((pair, &score), &index) in run.iter_mut().zip(scores).zip(indices) {
                    *pair = (score, index);
                }
                sort_run(run, score);
                for (place, &(score, index)) in run.iter().enumerate() {
                    let mut record = [0u8; RECORD];
                    record[..size_of::<W>()].copy_from_slice(bytemuck::bytes_of(&score));
                    record[4..].copy_from_slice(&index.to_le_bytes());
                    for part in 0..width {
                        let at = walk.offset(row, number * 2 * RUN + place * width + part);
                        to[at] =
                            bytemuck::pod_read_unaligned(&record[part * size_of::<W>()..][..size_of::<W>()]);
                    }
                }
            }
        }
        self.scratch[0] = scores;
        self.scratch[1] = indices;
        Ok(())
    }

    fn merge_blocks<W: Pod>(
        &mut self,
        dst: &Tile,
        src: &Tile,
        block: usize,
        score: impl Fn(W) -> f32 + Copy,
    ) -> KernelResult {
        let group = WAYS * block;
        let cols = dst.valid_cols as usize / group * group;
        check_region("src", src, 1, cols)?;
        let row = Region { rows: 1, cols };
        self.unpack::<W>(0, src, row);
        let [from, to, ..] = &mut self.scratch;
        let (from, to) = (from.take::<W>(cols), to.take::<W>(cols));
        for (from, to) in from.chunks_exact(group).zip(to.chunks_exact_mut(group)) {
            let blocks: [&[W]; WAYS] = core::array::from_fn(|at| &from[at * block..][..block]);
            merge(&blocks, to, false, score);
        }
        self.pack::<W>(1, dst, row);
        Ok(())
    }

    fn merge_lists<W: Pod>(
        &mut self,
        dst: &Tile,
        lists: &[Tile],
        until_exhausted: bool,
        score: impl Fn(W) -> f32 + Copy,
    ) -> Result<[u64; WAYS], Fault> {
        let width = RECORD / size_of::<W>();
        let whole = |cols: u32| cols as usize / width * width;
        let room = whole(dst.valid_cols);
        let mut all = core::mem::take(&mut self.scratch[1]);
        let total: usize = lists.iter().map(|list| whole(list.valid_cols)).sum();
        let records = all.take::<W>(total);
        let mut rest = &mut *records;
        for list in lists {
            let cols = whole(list.valid_cols);
            let (own, others) = rest.split_at_mut(cols);
            own.copy_from_slice(self.unpack::<W>(0, list, Region { rows: 1, cols }));
            rest = others;
        }
        let mut sources: [&[W]; WAYS] = [&[]; WAYS];
        let mut rest = &*records;
        for (source, list) in sources.iter_mut().zip(lists) {
            (*source, rest) = rest.split_at(whole(list.valid_cols));
        }
        let to = self.scratch[2].take::<W>(room);
        let (written, given) = merge(&sources[..lists.len()], to, until_exhausted, score);
        self.scratch[1] = all;
        self.pack::<W>(2, dst, Region { rows: 1, cols: written });
        Ok(given)
    }
}

/// Merges lists of records, of equal scores the first list's. Elements written, and records that each list gave.
fn merge<W: Pod>(
    lists: &[&[W]],
    to: &mut [W],
    until_exhausted: bool,
    score: impl Fn(W) -> f32,
) -> (usize, [u64; WAYS]) {
    let width = RECORD / size_of::<W>();
    let mut used = [0; WAYS];
    let mut given = [0; WAYS];
    let mut written = 0;
    while written + width <= to.len() {
        let mut best: Option<usize> = None;
        for (number, list) in lists.iter().enumerate().filter(|(number, list)| used[*number] < list.len()) {
            let larger = |other: usize| score(list[used[number]]) > score(lists[other][used[other]]);
            if best.is_none_or(larger) {
                best = Some(number);
            }
        }
        let Some(best) = best else { break };
        to[written..written + width].copy_from_slice(&lists[best][used[best]..][..width]);
        written += width;
        used[best] += width;
        given[best] += 1;
        if until_exhausted && used[best] == lists[best].len() {
            break;
        }
    }
    (written, given)
}
