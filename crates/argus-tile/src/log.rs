//! The instruction log: what a core did, in program order, for a timing model to replay.

use argus_abi::{DType, Member};
use smallvec::SmallVec;

use crate::core::Caller;
use crate::global::{Global, GlobalLayout};
use crate::layout::Layout;
use crate::opcode::{Opcode, Pipe};
use crate::pipe::{Split, TPipe};
use crate::scalar::ScalarValue;
use crate::site::Site;
use crate::space::Space;
use crate::tile::{Region, Tile};

/// Bytes that the vector unit works on at once.
const REPEAT_BYTES: usize = 256;

/// What one core did for one block of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreLog {
    pub member: Member,
    /// The block of the task that the core's cluster ran. Cores of one block exchange tiles.
    pub block: u32,
    pub log: InstrLog,
}

/// The instructions of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstrLog {
    pub entries: Vec<LogEntry>,
}

/// One executed instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    pub opcode: Opcode,
    pub pipe: Pipe,
    /// Destinations first, then sources.
    pub operands: SmallVec<[LogOperand; 4]>,
    pub scalars: SmallVec<[ScalarValue; 2]>,
    /// Of SET_FLAG and WAIT_FLAG.
    pub flag: Option<Flag>,
    /// Of TPUSH, TPOP and TFREE.
    pub fifo: Option<(TPipe, Split)>,
    /// Bytes moved by a transfer; 0 for computation.
    pub bytes: u64,
    pub work: Work,
    /// Where the kernel's source issued it.
    pub location: Site,
}

/// How much an instruction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing: a transfer, a flag, bookkeeping.
    None,
    /// This many 256-byte steps of the vector unit.
    Repeats(u64),
    /// A matrix product.
    Product { m: u32, k: u32, n: u32 },
}

/// A flag from one pipe to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flag {
    pub src: Pipe,
    pub dst: Pipe,
    pub id: u8,
}

/// One operand of a logged instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOperand {
    pub name: &'static str,
    pub written: bool,
    pub place: OperandPlace,
}

/// Where an operand lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandPlace {
    Tile {
        space: Space,
        addr: u32,
        dtype: DType,
        layout: Layout,
        /// Bytes of a box.
        fractal: u16,
        /// Storage rows and columns.
        shape: [u32; 2],
        valid: [u32; 2],
    },
    Global {
        addr: u64,
        dtype: DType,
        shape: [u32; 5],
        stride: [u64; 5],
        layout: GlobalLayout,
    },
}

impl LogEntry {
    pub(crate) fn new(opcode: Opcode, pipe: Pipe, caller: Caller) -> LogEntry {
        LogEntry {
            opcode,
            pipe,
            operands: SmallVec::new(),
            scalars: SmallVec::new(),
            flag: None,
            fifo: None,
            bytes: 0,
            work: Work::None,
            location: caller.into(),
        }
    }

    pub(crate) fn writes(self, name: &'static str, tile: &Tile) -> LogEntry {
        self.operand(name, true, tile_place(tile))
    }

    pub(crate) fn reads(self, name: &'static str, tile: &Tile) -> LogEntry {
        self.operand(name, false, tile_place(tile))
    }

    /// A tile for intermediate values. Without an address there is none.
    pub(crate) fn scratch(self, name: &'static str, tile: &Tile) -> LogEntry {
        if tile.assigned { self.reads(name, tile) } else { self }
    }

    pub(crate) fn writes_global(self, name: &'static str, global: &Global) -> LogEntry {
        self.operand(name, true, global_place(global))
    }

    pub(crate) fn reads_global(self, name: &'static str, global: &Global) -> LogEntry {
        self.operand(name, false, global_place(global))
    }

    /// One element of a tensor walk, `offset` elements from its start.
    pub(crate) fn element(self, name: &'static str, written: bool, global: &Global, offset: u64) -> LogEntry {
        let place = OperandPlace::Global {
            addr: global.address(offset),
            dtype: global.dtype(),
            shape: [1; 5],
            stride: [1; 5],
            layout: GlobalLayout::Nd,
        };
        self.operand(name, written, place)
    }

    pub(crate) fn scalar(mut self, value: ScalarValue) -> LogEntry {
        self.scalars.push(value);
        self
    }

    pub(crate) fn bytes(mut self, bytes: u64) -> LogEntry {
        self.bytes = bytes;
        self
    }

    pub(crate) fn work(mut self, work: Work) -> LogEntry {
        self.work = work;
        self
    }

    pub(crate) fn fifo(mut self, pipe: &TPipe, split: Split) -> LogEntry {
        self.fifo = Some((*pipe, split));
        self
    }

    fn operand(mut self, name: &'static str, written: bool, place: OperandPlace) -> LogEntry {
        self.operands.push(LogOperand { name, written, place });
        self
    }
}

/// Vector steps over a region of a tile: rows that follow each other without a gap share steps, others do
/// not. `element` is the width of the widest operand.
pub(crate) fn repeats(tile: &Tile, region: Region, element: usize) -> Work {
    let per_repeat = REPEAT_BYTES / element.max(1);
    let (lines, len, pitch) = match tile.layout() {
        Layout::Dn => (region.cols, region.rows, tile.rows as usize),
        _ => (region.rows, region.cols, tile.cols as usize),
    };
    let count =
        if len == pitch { (lines * len).div_ceil(per_repeat) } else { lines * len.div_ceil(per_repeat) };
    Work::Repeats(count as u64)
}

fn tile_place(tile: &Tile) -> OperandPlace {
    OperandPlace::Tile {
        space: tile.space,
        addr: tile.addr,
        dtype: tile.dtype,
        layout: tile.layout(),
        fractal: tile.fractal,
        shape: [tile.rows, tile.cols],
        valid: [tile.valid_rows, tile.valid_cols],
    }
}

fn global_place(global: &Global) -> OperandPlace {
    OperandPlace::Global {
        addr: global.addr(),
        dtype: global.dtype(),
        shape: global.shape().shape,
        stride: global.shape().stride,
        layout: global.shape().layout,
    }
}
