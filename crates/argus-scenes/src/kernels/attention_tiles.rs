//! Attention on single tiles: what every paged-attention kernel does to one block of one request.
//!
//! Each function loads its operands, computes and stores, and returns when its stores are done: a kernel may
//! call it in a loop, and the next turn may use the same addresses.

use argus_abi::DType;
use argus_runtime::{SourceFile, source_file};
use argus_tile::{Core, Fault, Global, KernelResult, Pad, Pipe, RoundMode, Saturation, Tile};

use super::hand_over;

pub const FILE: SourceFile = source_file!("attention_tiles.rs");

/// The least row maximum. It keeps a row without any valid column out of `inf - inf`.
const MIN_ROW_MAX: f32 = -1e30;

/// Sizes of a product: `[m x k] * [k x n]`.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    pub m: u32,
    pub k: u32,
    pub n: u32,
}

/// A block of scores, and how much of it lies inside the request's context.
#[derive(Clone, Copy, Debug)]
pub struct Scores {
    pub rows: u32,
    pub cols: u32,
    pub valid_cols: u32,
    pub scale: f32,
}

/// What SF reads, `s [rows x cols]`, and what it writes: weights `p [rows x cols]`, maxima `m [rows]` and
/// sums `l [rows]`.
#[derive(Debug)]
pub struct Softmax {
    pub s: Global,
    pub p: Global,
    pub m: Global,
    pub l: Global,
}

/// Maxima `[rows]`, sums `[rows]` and weighted values `[rows x cols]`, of one block or of all so far.
#[derive(Debug)]
pub struct Partial {
    pub m: Global,
    pub l: Global,
    pub o: Global,
}

/// Where a block stands in its request, and the size of its weighted values.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub rows: u32,
    pub cols: u32,
    pub is_first: bool,
    pub is_last: bool,
}

/// Gives out addresses of one memory, one tile after the other.
#[derive(Default)]
struct Room {
    next: u32,
}

impl Room {
    /// Boxes of the matrix unit are this large; vector tiles need less.
    const ALIGNMENT: u32 = 512;

    /// A tile that does not fit gets an address anyway: the first instruction that uses it says so.
    fn place(&mut self, tile: Tile) -> Tile {
        let placed = tile.at(self.next);
        let bytes = u32::try_from(tile.storage_bytes()).unwrap_or(u32::MAX);
        let end = self.next.saturating_add(bytes);
        self.next = end.checked_next_multiple_of(Room::ALIGNMENT).unwrap_or(!(Room::ALIGNMENT - 1));
        placed
    }
}

/// The same bytes as one row: vectors are columns for the instructions that work on rows of a matrix, and
/// rows for the elementwise ones.
#[track_caller]
fn as_row(core: &mut Core, column: &Tile) -> Result<Tile, Fault> {
    let mut row = Tile::vec(column.dtype, 1, column.rows);
    core.treshape(&mut row, column)?;
    Ok(row)
}

/// One element of an index tensor.
pub fn index(core: &mut Core, table: &Global, at: u32) -> Result<u32, Fault> {
    let value: i32 = core.load_scalar(table, u64::from(at))?;
    u32::try_from(value).map_err(|_| Fault::kernel(format!("element {at} of an index tensor is {value}")))
}

/// QK: `s = q * k^T`. `k` is walked column by column, so that the `[n x m]` block of the cache arrives as the
/// right operand it is the transpose of.
pub fn scores(core: &mut Core, q: &Global, k: &Global, s: &Global, size: Product) -> KernelResult {
    let mut l1 = Room::default();
    let left = l1.place(Tile::mat_nz(DType::Bf16, size.m, size.k));
    let right = l1.place(Tile::mat_zn(DType::Bf16, size.k, size.n));
    product(core, (&left, q), (&right, k), s, size)
}

/// PV: `o = p * v`.
pub fn weighted_values(core: &mut Core, p: &Global, v: &Global, o: &Global, size: Product) -> KernelResult {
    let mut l1 = Room::default();
    let left = l1.place(Tile::mat_nz(DType::Bf16, size.m, size.k));
    let right = l1.place(Tile::mat_nz(DType::Bf16, size.k, size.n));
    product(core, (&left, p), (&right, v), o, size)
}

/// Takes both operands through L1 to the matrix unit and the product back out.
fn product(
    core: &mut Core,
    (left_l1, left): (&Tile, &Global),
    (right_l1, right): (&Tile, &Global),
    result: &Global,
    size: Product,
) -> KernelResult {
    let left_l0 = Tile::left(DType::Bf16, size.m, size.k).at(0);
    let right_l0 = Tile::right(DType::Bf16, size.k, size.n).at(0);
    let acc = Tile::acc(DType::F32, size.m, size.n).at(0);
    core.tload(left_l1, left)?;
    core.tload(right_l1, right)?;
    hand_over(core, Pipe::Mte2, Pipe::Mte1, 0)?;
    core.tmov(&left_l0, left_l1)?;
    core.tmov(&right_l0, right_l1)?;
    hand_over(core, Pipe::Mte1, Pipe::M, 0)?;
    core.tmatmul(&acc, &left_l0, &right_l0)?;
    hand_over(core, Pipe::M, Pipe::Fix, 0)?;
    core.tstore(result, &acc)?;
    core.pipe_sync()
}

/// SF: `p = exp(scale * s - m)` rounded to bf16, with `m` the maximum of each row and `l` the sum of its
/// rounded weights. Columns outside the context have weight 0.
pub fn softmax(core: &mut Core, io: &Softmax, block: Scores) -> KernelResult {
    let Scores { rows, cols, valid_cols, scale } = block;
    let mut ub = Room::default();
    let s = ub.place(Tile::vec(DType::F32, rows, cols));
    let tmp = ub.place(Tile::vec(DType::F32, rows, cols));
    let p = ub.place(Tile::vec(DType::Bf16, rows, cols));
    let max = ub.place(Tile::vec(DType::F32, rows, 1).dn());
    let sum = ub.place(Tile::vec(DType::F32, rows, 1).dn());

    core.tload(&s, &io.s)?;
    hand_over(core, Pipe::Mte2, Pipe::V, 0)?;
    core.tfillpad_inplace(&s.pad(Pad::Min), &s.valid(rows, valid_cols))?;
    core.pipe_barrier(Pipe::V)?;
    core.tmuls(&s, &s, scale)?;
    core.pipe_barrier(Pipe::V)?;
    core.trowmax(&max, &s, &tmp)?;
    core.pipe_barrier(Pipe::V)?;
    let max_row = as_row(core, &max)?;
    core.tmaxs(&max_row, &max_row, MIN_ROW_MAX)?;
    core.pipe_barrier(Pipe::V)?;
    core.trowexpandsub(&s, &s, &max)?;
    core.pipe_barrier(Pipe::V)?;
    core.texp(&s, &s)?;
    core.pipe_barrier(Pipe::V)?;
    core.tcvt(&p, &s, RoundMode::Round, Saturation::Off)?;
    core.pipe_barrier(Pipe::V)?;
    // The sum must be that of the weights PV will see.
    core.tcvt(&s, &p, RoundMode::Round, Saturation::Off)?;
    core.pipe_barrier(Pipe::V)?;
    core.trowsum(&sum, &s, &tmp)?;
    hand_over(core, Pipe::V, Pipe::Mte3, 0)?;
    core.tstore(&io.m, &max)?;
    core.tstore(&io.l, &sum)?;
    core.tstore(&io.p, &p)?;
    core.pipe_sync()
}

/// UP: merges a block into the running state; after the last block `out` is the state's values by its sums.
/// The first block replaces the state, which is never read then.
pub fn update(core: &mut Core, block: &Partial, state: &Partial, out: &Global, step: Step) -> KernelResult {
    let Step { rows, cols, is_first, is_last } = step;
    let mut ub = Room::default();
    let mut column = || ub.place(Tile::vec(DType::F32, rows, 1).dn());
    let (m_new, l_new, m, l, m_max) = (column(), column(), column(), column(), column());
    let o_new = ub.place(Tile::vec(DType::F32, rows, cols));
    let o = ub.place(Tile::vec(DType::F32, rows, cols));

    core.tload(&m_new, &block.m)?;
    core.tload(&l_new, &block.l)?;
    core.tload(&o_new, &block.o)?;
    let (m_done, l_done, o_done) = if is_first {
        hand_over(core, Pipe::Mte2, Pipe::Mte3, 0)?;
        (m_new, l_new, o_new)
    } else {
        core.tload(&m, &state.m)?;
        core.tload(&l, &state.l)?;
        core.tload(&o, &state.o)?;
        hand_over(core, Pipe::Mte2, Pipe::V, 0)?;
        merge(core, [&m_new, &l_new, &o_new], [&m, &l, &o], &m_max)?;
        hand_over(core, Pipe::V, Pipe::Mte3, 0)?;
        (m_max, l, o)
    };
    core.tstore(&state.m, &m_done)?;
    core.tstore(&state.l, &l_done)?;
    if is_first || !is_last {
        // Nothing reads the values that the last block would leave.
        core.tstore(&state.o, &o_done)?;
    }
    if is_last {
        if is_first {
            hand_over(core, Pipe::Mte2, Pipe::V, 0)?;
        } else {
            core.pipe_barrier(Pipe::V)?;
        }
        // Not in place: the store of the state may still be reading.
        let quotient = if is_first { o } else { o_new };
        core.trowexpanddiv(&quotient, &o_done, &l_done)?;
        hand_over(core, Pipe::V, Pipe::Mte3, 0)?;
        core.tstore(out, &quotient)?;
    }
    core.pipe_sync()
}

/// Rescales block and state to the larger maximum of each row and adds them up: maxima to `m_max`, sums and
/// values to the state's tiles. The block's tiles are used up.
fn merge(
    core: &mut Core,
    [m_new, l_new, o_new]: [&Tile; 3],
    [m, l, o]: [&Tile; 3],
    m_max: &Tile,
) -> KernelResult {
    let [m_new_row, l_new_row, m_row, l_row, max_row] = [
        as_row(core, m_new)?,
        as_row(core, l_new)?,
        as_row(core, m)?,
        as_row(core, l)?,
        as_row(core, m_max)?,
    ];
    core.tmax(&max_row, &m_row, &m_new_row)?;
    core.pipe_barrier(Pipe::V)?;
    // The maxima become the factors exp(m - max) of state and block.
    core.tsub(&m_row, &m_row, &max_row)?;
    core.tsub(&m_new_row, &m_new_row, &max_row)?;
    core.pipe_barrier(Pipe::V)?;
    core.texp(&m_row, &m_row)?;
    core.texp(&m_new_row, &m_new_row)?;
    core.pipe_barrier(Pipe::V)?;
    core.tmul(&l_row, &m_row, &l_row)?;
    core.tmul(&l_new_row, &m_new_row, &l_new_row)?;
    core.trowexpandmul(o, o, m)?;
    core.trowexpandmul(o_new, o_new, m_new)?;
    core.pipe_barrier(Pipe::V)?;
    core.tadd(&l_row, &l_row, &l_new_row)?;
    core.tadd(o, o, o_new)
}
