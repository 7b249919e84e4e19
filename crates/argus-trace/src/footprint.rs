//! Which bytes an instruction touches, exactly.
//!
//! A region is a list of strided pieces: runs of equal length at equal distances. Regions are interned, so that
//! a loop over two buffers knows two regions however often it turns.

use argus_tile::{
    GlobalLayout, Layout, LogEntry, LogOperand, Opcode, OperandPlace, ScalarValue, Space, Split,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// `count` runs of `width` bytes, `pitch` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strided {
    pub lo: u64,
    pub count: u64,
    pub pitch: u64,
    pub width: u64,
}

impl Strided {
    fn end(&self) -> u64 {
        self.lo + (self.count - 1) * self.pitch + self.width
    }
}

/// A set of bytes of one memory, ordered by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    pub pieces: SmallVec<[Strided; 1]>,
}

impl Region {
    pub fn lo(&self) -> u64 {
        self.pieces.first().map_or(0, |piece| piece.lo)
    }

    pub fn hi(&self) -> u64 {
        self.pieces.iter().map(Strided::end).max().unwrap_or(0)
    }

    fn single(piece: Strided) -> Region {
        if piece.count == 0 || piece.width == 0 {
            return Region::default();
        }
        let dense = piece.count == 1 || piece.pitch == piece.width;
        let piece = if dense {
            let width = piece.count * piece.width;
            Strided { lo: piece.lo, count: 1, pitch: width, width }
        } else {
            piece
        };
        Region { pieces: smallvec![piece] }
    }

    /// Joins runs that touch, then runs of one length at one distance.
    fn from_runs(mut runs: Vec<(u64, u64)>) -> Region {
        runs.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(runs.len());
        for (lo, width) in runs.into_iter().filter(|run| run.1 > 0) {
            match joined.last_mut() {
                Some(last) if last.0 + last.1 >= lo => last.1 = last.1.max(lo + width - last.0),
                _ => joined.push((lo, width)),
            }
        }
        let mut pieces: SmallVec<[Strided; 1]> = SmallVec::new();
        for (lo, width) in joined {
            if let Some(last) = pieces.last_mut() {
                let next = last.lo + last.count * last.pitch;
                if last.width == width && (last.count == 1 || next == lo) {
                    if last.count == 1 {
                        last.pitch = lo - last.lo;
                    }
                    last.count += 1;
                    continue;
                }
            }
            pieces.push(Strided { lo, count: 1, pitch: width, width });
        }
        Region { pieces }
    }

    /// The first range of bytes that two regions share.
    pub fn overlap(&self, other: &Region) -> Option<(u64, u64)> {
        let pairs = self.pieces.iter().flat_map(|a| other.pieces.iter().map(move |b| (a, b)));
        pairs.filter_map(|(a, b)| overlap(a, b)).min()
    }
}

/// The first range that two pieces share.
fn overlap(a: &Strided, b: &Strided) -> Option<(u64, u64)> {
    let (lo, hi) = (a.lo.max(b.lo), a.end().min(b.end()));
    if lo >= hi {
        return None;
    }
    let runs_in = |piece: &Strided| {
        let first = lo.saturating_sub(piece.lo + piece.width - 1).div_ceil(piece.pitch.max(1));
        let last = ((hi - 1 - piece.lo) / piece.pitch.max(1)).min(piece.count - 1);
        (first, last)
    };
    // Walk the one with fewer runs in the common range; the other is found by division.
    let (walked, found) = {
        let (af, al) = runs_in(a);
        let (bf, bl) = runs_in(b);
        if al.saturating_sub(af) <= bl.saturating_sub(bf) { (a, b) } else { (b, a) }
    };
    let (first, last) = runs_in(walked);
    (first..=last).find_map(|index| {
        let start = walked.lo + index * walked.pitch;
        let end = start + walked.width;
        // The first run of the other that ends behind `start`.
        let ahead = start.saturating_sub(found.lo + found.width - 1).div_ceil(found.pitch.max(1));
        if ahead >= found.count {
            return None;
        }
        let other = found.lo + ahead * found.pitch;
        let common = (start.max(other), end.min(other + found.width));
        (common.0 < common.1).then_some(common)
    })
}

/// A memory of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Memory {
    OnChip { core: u32, space: Space },
    Global,
}

/// One operand's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub region: u32,
    pub written: bool,
    /// Adds to what is there; other adding stores do no harm.
    pub adds: bool,
}

/// Every region of a task once.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    numbers: FxHashMap<Key, u32>,
    pub list: Vec<(Memory, Region)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Tile {
        core: u32,
        space: Space,
        addr: u32,
        element: u8,
        layout: Layout,
        fractal: u16,
        shape: [u32; 2],
        rect: Rect,
    },
    Global {
        addr: u64,
        element: u8,
        layout: GlobalLayout,
        shape: [u32; 5],
        stride: [u64; 5],
        rect: Rect,
    },
}

/// Rows and columns of a tile, or of a tensor walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Rect {
    row: u32,
    col: u32,
    rows: u32,
    cols: u32,
}

impl Rect {
    fn at_origin([rows, cols]: [u32; 2]) -> Rect {
        Rect { row: 0, col: 0, rows, cols }
    }
}

impl Regions {
    /// What an instruction of a core touches, appended to a list.
    pub fn of_entry(&mut self, core: u32, entry: &LogEntry, accesses: &mut Vec<Access>) {
        let adds = match entry.opcode {
            Opcode::TstoreAtomicAdd => true,
            Opcode::Tput => entry.scalars.first() == Some(&ScalarValue::I32(1)),
            Opcode::Mscatter => entry.scalars.get(1) != Some(&ScalarValue::I32(0)),
            _ => false,
        };
        for operand in &entry.operands {
            let Some(rect) = touched(entry, operand) else { continue };
            if rect.rows == 0 || rect.cols == 0 {
                continue;
            }
            let key = match operand.place {
                OperandPlace::Tile { space, addr, dtype, layout, fractal, shape, .. } => {
                    let element = dtype.size() as u8;
                    Key::Tile { core, space, addr, element, layout, fractal, shape, rect }
                }
                OperandPlace::Global { addr, dtype, shape, stride, layout } => {
                    Key::Global { addr, element: dtype.size() as u8, layout, shape, stride, rect }
                }
            };
            let list = &mut self.list;
            let region = *self.numbers.entry(key).or_insert_with(|| {
                list.push(key.region());
                (list.len() - 1) as u32
            });
            // Scratch of a reduction is written on a real chip.
            let written = operand.written || operand.name == "tmp";
            accesses.push(Access { region, written, adds: adds && operand.written });
        }
    }
}

/// The part of an operand that the instruction reads or writes; `None` if only the handle is used.
fn touched(entry: &LogEntry, operand: &LogOperand) -> Option<Rect> {
    let valid_of = |name: &str| {
        entry.operands.iter().find(|operand| operand.name == name).and_then(|operand| match operand.place {
            OperandPlace::Tile { valid, .. } => Some(valid),
            OperandPlace::Global { .. } => None,
        })
    };
    let (storage, valid) = match operand.place {
        OperandPlace::Tile { shape, valid, .. } => (Rect::at_origin(shape), Rect::at_origin(valid)),
        OperandPlace::Global { .. } => (Rect::at_origin([1, 1]), Rect::at_origin([1, 1])),
    };
    let rect = |size: [u32; 2]| Rect::at_origin(size);
    let dst = || rect(valid_of("dst").unwrap_or([0, 0]));
    let src = || rect(valid_of("src").unwrap_or([0, 0]));
    let is_dst = operand.name == "dst";
    if operand.name == "tmp" {
        return Some(storage);
    }
    Some(match entry.opcode {
        Opcode::Tassign | Opcode::Treshape => return None,
        // A load fills what it does not fetch.
        Opcode::Tload => {
            if is_dst {
                storage
            } else {
                dst()
            }
        }
        Opcode::Tstore | Opcode::TstoreAtomicAdd | Opcode::Tmov | Opcode::Tcvt => src(),
        Opcode::LoadScalar | Opcode::StoreScalar => valid,
        Opcode::Textract if is_dst => valid,
        Opcode::Textract => {
            let offset = |index: usize| match entry.scalars.get(index) {
                Some(ScalarValue::I32(value)) => *value as u32,
                _ => 0,
            };
            Rect { row: offset(0), col: offset(1), ..dst() }
        }
        Opcode::Tmatmul | Opcode::TmatmulAcc | Opcode::TmatmulMx => {
            let (left, right) = (valid_of("left").unwrap_or([0, 0]), valid_of("right").unwrap_or([0, 0]));
            match operand.name {
                "left" => rect(left),
                "right" => rect([left[1], right[1]]),
                "left_scale" | "right_scale" => valid,
                _ => rect([left[0], right[1]]),
            }
        }
        Opcode::Trowsum | Opcode::Trowmax => {
            if is_dst {
                rect([src().rows, 1])
            } else {
                valid
            }
        }
        Opcode::Trowexpand if !is_dst => rect([dst().rows, 1]),
        Opcode::Tcolexpand if !is_dst => rect([1, dst().cols]),
        Opcode::Tcolexpandmul | Opcode::Tcolexpandadd | Opcode::Tcolexpandexpdif
            if operand.name == "src1" =>
        {
            rect([1, dst().cols])
        }
        Opcode::Tcolsum | Opcode::Tcolmax => {
            if is_dst {
                rect([1, src().cols])
            } else {
                valid
            }
        }
        Opcode::Tconcat | Opcode::Tmrgsort | Opcode::TmrgsortLists => valid,
        Opcode::Tsort32 => valid,
        // Where indices may lead, and all of what is copied.
        Opcode::Mscatter | Opcode::Tput | Opcode::TputAsync => match operand.place {
            OperandPlace::Global { shape: [s0, s1, s2, s3, s4], .. } => rect([s0 * s1 * s2 * s3, s4]),
            OperandPlace::Tile { .. } if operand.name == "stage" => return None,
            OperandPlace::Tile { .. } => valid,
        },
        Opcode::Trowexpandmul | Opcode::Trowexpandsub | Opcode::Trowexpanddiv if !is_dst => {
            rect([dst().rows, dst().cols.min(valid.cols)])
        }
        Opcode::Ttrans => {
            if is_dst {
                rect([src().cols, src().rows])
            } else {
                valid
            }
        }
        Opcode::Tfillpad | Opcode::TfillpadInplace => {
            if is_dst {
                storage
            } else {
                valid
            }
        }
        Opcode::Tgather if operand.name == "src" => storage,
        Opcode::TgatherMask => {
            if is_dst {
                return packed(entry, operand);
            } else {
                valid
            }
        }
        Opcode::GetValue | Opcode::SetValue => return single(entry, operand),
        Opcode::Tpush => {
            let unsplit = matches!(entry.fifo, Some((_, Split::NoSplit)));
            if unsplit { valid } else { storage }
        }
        // A core without a share gets zeros everywhere.
        Opcode::Tpop => {
            if entry.bytes == 0 {
                storage
            } else {
                valid
            }
        }
        Opcode::Tci => valid,
        // Element by element.
        Opcode::Tadd
        | Opcode::Tsub
        | Opcode::Tmul
        | Opcode::Tdiv
        | Opcode::Tmax
        | Opcode::Tmin
        | Opcode::Tadds
        | Opcode::Tsubs
        | Opcode::Tmuls
        | Opcode::Tdivs
        | Opcode::Tmaxs
        | Opcode::Tmins
        | Opcode::Texpands
        | Opcode::Texp
        | Opcode::Tlog
        | Opcode::Tsqrt
        | Opcode::Trsqrt
        | Opcode::Trecip
        | Opcode::Tneg
        | Opcode::Tabs
        | Opcode::Trowexpand
        | Opcode::Tcolexpand
        | Opcode::Tcolexpandmul
        | Opcode::Tcolexpandadd
        | Opcode::Tcolexpandexpdif
        | Opcode::Trowexpandmul
        | Opcode::Trowexpandsub
        | Opcode::Trowexpanddiv
        | Opcode::Tgather => dst(),
        // Signals order others and are no data; a prefetch changes nothing.
        Opcode::Tnotify | Opcode::Twait | Opcode::TprefetchAsync => return None,
        // They have no operands.
        Opcode::SetFlag
        | Opcode::WaitFlag
        | Opcode::PipeBarrier
        | Opcode::Dcci
        | Opcode::Dsb
        | Opcode::Tfree => return None,
    })
}

/// The start of a storage that a masked gather fills: as many elements as it selects.
fn packed(entry: &LogEntry, operand: &LogOperand) -> Option<Rect> {
    let src = entry.operands.iter().find(|operand| operand.name == "src")?;
    let (OperandPlace::Tile { valid, .. }, OperandPlace::Tile { shape, .. }) = (src.place, operand.place)
    else {
        return None;
    };
    let (first, step) = match entry.scalars.first() {
        Some(ScalarValue::I32(1)) => (0, 2),
        Some(ScalarValue::I32(2)) => (1, 2),
        Some(ScalarValue::I32(pattern @ 3..=6)) => (*pattern as u32 - 3, 4),
        _ => (0, 1),
    };
    let count = valid[1].saturating_sub(first).div_ceil(step) * valid[0];
    // Elements are counted as they lie; a row and a part of one would need two regions, so take whole rows
    // where there are any.
    Some(if count <= shape[1] {
        Rect::at_origin([1, count])
    } else {
        Rect::at_origin([count.div_ceil(shape[1]), shape[1]])
    })
}

/// The element that a scalar access names by its place in the storage.
fn single(entry: &LogEntry, operand: &LogOperand) -> Option<Rect> {
    let OperandPlace::Tile { layout, shape, .. } = operand.place else { return None };
    let Some(&ScalarValue::I32(index)) = entry.scalars.first() else { return None };
    let index = index as u32;
    let (row, col) = match layout {
        Layout::Dn => (index % shape[0], index / shape[0]),
        _ => (index / shape[1], index % shape[1]),
    };
    Some(Rect { row, col, rows: 1, cols: 1 })
}

impl Key {
    fn region(&self) -> (Memory, Region) {
        match *self {
            Key::Tile { core, space, addr, element, layout, fractal, shape, rect } => {
                let region = tile_region(addr.into(), element.into(), layout, fractal, shape, rect);
                (Memory::OnChip { core, space }, region)
            }
            Key::Global { addr, element, layout, shape, stride, rect } => {
                (Memory::Global, global_region(addr, element.into(), layout, shape, stride, rect))
            }
        }
    }
}

fn tile_region(addr: u64, element: u64, layout: Layout, fractal: u16, shape: [u32; 2], rect: Rect) -> Region {
    let [rows, cols] = shape.map(u64::from);
    let [row, col, height, width] = [rect.row, rect.col, rect.rows, rect.cols].map(u64::from);
    let lines = |first: u64, len: u64, count: u64, pitch: u64| {
        Region::single(Strided {
            lo: addr + first * element,
            count,
            pitch: pitch * element,
            width: len * element,
        })
    };
    match layout {
        Layout::Nd => return lines(row * cols + col, width, height, cols),
        Layout::Dn => return lines(col * rows + row, height, width, rows),
        _ if rect == Rect::at_origin(shape) => return lines(0, rows * cols, 1, rows * cols),
        _ => {}
    }
    // Rows and columns of a box of row-major elements; the others are the transposed case.
    let (tall, wide) = match fractal {
        1024 => (16, 16),
        32 => (16, 2),
        _ => (16, 32 / element.max(1)),
    };
    let by_rows = matches!(layout, Layout::Nz | Layout::Zz);
    let (box_rows, box_cols) = if by_rows { (tall, wide) } else { (wide, tall) };
    let offset = |r: u64, c: u64| {
        let (br, bc, ir, ic) = (r / box_rows, c / box_cols, r % box_rows, c % box_cols);
        let boxes = match layout {
            Layout::Nz | Layout::Nn => bc * rows * box_cols + br * box_rows * box_cols,
            _ => br * cols * box_rows + bc * box_rows * box_cols,
        };
        boxes + if by_rows { ir * box_cols + ic } else { ic * box_rows + ir }
    };
    let mut runs = Vec::new();
    if by_rows {
        for r in row..row + height {
            let mut c = col;
            while c < col + width {
                let next = ((c / box_cols + 1) * box_cols).min(col + width);
                runs.push((addr + offset(r, c) * element, (next - c) * element));
                c = next;
            }
        }
    } else {
        for c in col..col + width {
            let mut r = row;
            while r < row + height {
                let next = ((r / box_rows + 1) * box_rows).min(row + height);
                runs.push((addr + offset(r, c) * element, (next - r) * element));
                r = next;
            }
        }
    }
    Region::from_runs(runs)
}

fn global_region(
    addr: u64,
    element: u64,
    layout: GlobalLayout,
    shape: [u32; 5],
    stride: [u64; 5],
    rect: Rect,
) -> Region {
    let [_, s1, s2, s3, s4] = shape.map(|size| u64::from(size.max(1)));
    // Lines are rows, or columns of a walk that goes column by column.
    let (lines, len) = match layout {
        GlobalLayout::Dn => (u64::from(rect.cols), u64::from(rect.rows)),
        _ => (u64::from(rect.rows), u64::from(rect.cols)),
    };
    let (line_pitch, step, wrap) = match layout {
        GlobalLayout::Dn => (stride[4], stride[3], s4),
        _ => (stride[3], stride[4], s3),
    };
    let boxed = matches!(layout, GlobalLayout::Nz | GlobalLayout::MxAZz | GlobalLayout::MxBNn);
    let plain = !boxed && lines <= wrap && (step == 1 || len == 1);
    let pitch = line_pitch.saturating_mul(element);
    if plain && (lines == 1 || pitch >= len * element) {
        return Region::single(Strided { lo: addr, count: lines, pitch, width: len * element });
    }
    let offset = |line: u64, at: u64| {
        let index = match layout {
            GlobalLayout::Nd => [line / (s1 * s2 * s3), line / (s3 * s2) % s1, line / s3 % s2, line % s3, at],
            GlobalLayout::Dn => [line / (s1 * s2 * s4), line / (s4 * s2) % s1, line / s4 % s2, at, line % s4],
            GlobalLayout::Nz => [at / s4 / s1, at / s4 % s1, line / s3, line % s3, at % s4],
            GlobalLayout::MxAZz => [0, line / 16, at / 2, line % 16, at % 2],
            GlobalLayout::MxBNn => [0, at / 16, line / 2, at % 16, line % 2],
        };
        index
            .iter()
            .zip(&stride)
            .fold(0u64, |sum, (index, stride)| sum.saturating_add(index.saturating_mul(*stride)))
    };
    let mut runs = Vec::new();
    for line in 0..lines {
        let mut at = 0;
        while at < len {
            let count = match layout {
                GlobalLayout::Nz if stride[4] == 1 => s4 - at % s4,
                GlobalLayout::Nz | GlobalLayout::MxAZz | GlobalLayout::MxBNn => 1,
                _ if step == 1 => len,
                _ => 1,
            }
            .min(len - at);
            let lo = addr.saturating_add(offset(line, at).saturating_mul(element));
            runs.push((lo, count * element));
            at += count;
        }
    }
    Region::from_runs(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use argus_abi::DType;
    use argus_tile::Tile;
    use std::collections::BTreeSet;

    fn bytes(region: &Region) -> BTreeSet<u64> {
        region
            .pieces
            .iter()
            .flat_map(|piece| {
                (0..piece.count)
                    .map(move |index| piece.lo + index * piece.pitch)
                    .map(|lo| lo..lo + piece.width)
            })
            .flatten()
            .collect()
    }

    #[test]
    fn a_tile_region_holds_exactly_the_bytes_of_its_elements() {
        let layouts = [
            (Layout::Nd, 512),
            (Layout::Dn, 512),
            (Layout::Nz, 512),
            (Layout::Nz, 1024),
            (Layout::Zn, 512),
            (Layout::Zz, 512),
            (Layout::Nn, 512),
        ];
        for dtype in [DType::F32, DType::Bf16] {
            for (layout, fractal) in layouts {
                let tile = Tile::new(Space::Mat, dtype, 48, 64, layout, fractal).at(0x400);
                for (row, col, rows, cols) in [(0, 0, 48, 64), (0, 0, 17, 20), (3, 5, 30, 33), (16, 16, 1, 1)]
                {
                    let rect = Rect { row, col, rows, cols };
                    let size = dtype.size() as u64;
                    let region = tile_region(0x400, size, layout, fractal, [48, 64], rect);
                    let expected: BTreeSet<u64> = (row..row + rows)
                        .flat_map(|r| (col..col + cols).map(move |c| (r, c)))
                        .map(|(r, c)| 0x400 + tile.element_offset(r, c).unwrap() as u64 * size)
                        .flat_map(|lo| lo..lo + size)
                        .collect();
                    assert_eq!(bytes(&region), expected, "{layout} {fractal} {dtype} {rect:?}");
                }
            }
        }
    }

    #[test]
    fn a_global_region_holds_exactly_the_bytes_of_its_walk() {
        let region = |layout, shape, stride, rows, cols| {
            bytes(&global_region(1000, 4, layout, shape, stride, Rect::at_origin([rows, cols])))
        };
        let elements = |list: &[u64]| -> BTreeSet<u64> {
            list.iter().map(|index| 1000 + index * 4).flat_map(|lo| lo..lo + 4).collect()
        };
        let nd = region(GlobalLayout::Nd, [1, 1, 1, 3, 2], [90, 90, 90, 10, 1], 3, 2);
        assert_eq!(nd, elements(&[0, 1, 10, 11, 20, 21]));
        let dn = region(GlobalLayout::Dn, [1, 1, 1, 3, 2], [90, 90, 90, 1, 10], 3, 2);
        assert_eq!(dn, elements(&[0, 1, 2, 10, 11, 12]));
        let sparse = region(GlobalLayout::Nd, [1, 1, 1, 2, 2], [0, 0, 0, 10, 3], 2, 2);
        assert_eq!(sparse, elements(&[0, 3, 10, 13]));
        let outer = region(GlobalLayout::Nd, [1, 1, 2, 2, 2], [0, 0, 100, 10, 1], 4, 2);
        assert_eq!(outer, elements(&[0, 1, 10, 11, 100, 101, 110, 111]));
        // Two columns of boxes of 2 columns, 20 elements apart.
        let nz = region(GlobalLayout::Nz, [1, 2, 1, 16, 2], [0, 20, 32, 2, 1], 2, 3);
        assert_eq!(nz, elements(&[0, 1, 2, 3, 20, 22]));
    }

    #[test]
    fn overlap_agrees_with_sets_of_bytes() {
        let mut seed = 12345u64;
        let mut next = |limit: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % limit
        };
        let mut hits = 0;
        for _ in 0..20_000 {
            let mut piece = || {
                let width = 1 + next(12);
                Strided { lo: next(120), count: 1 + next(6), pitch: width + next(20), width }
            };
            let (a, b) = (piece(), piece());
            let (ra, rb) = (Region::single(a), Region::single(b));
            let common: Vec<u64> = bytes(&ra).intersection(&bytes(&rb)).copied().collect();
            match ra.overlap(&rb) {
                None => assert!(common.is_empty(), "{a:?} {b:?}"),
                Some((lo, hi)) => {
                    hits += 1;
                    assert_eq!(common[0], lo, "{a:?} {b:?}");
                    assert!((lo..hi).all(|byte| common.contains(&byte)), "{a:?} {b:?}");
                }
            }
        }
        assert!(hits > 5_000);
    }
}
