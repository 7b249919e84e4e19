//! Tile operands, and how the vector unit walks them.

use argus_abi::DType;
use argus_tile::{GlobalLayout, Layout, LogEntry, OperandPlace, Space};

use crate::params::Shape;

/// Bytes of one repeat of the vector unit.
const REPEAT_BYTES: usize = 256;

/// What is known of a tile operand.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub space: Space,
    pub dtype: DType,
    pub layout: Layout,
    pub shape: [u32; 2],
    pub valid: [u32; 2],
}

impl Operand {
    pub fn element(self) -> usize {
        self.dtype.size()
    }

    /// The lines of a region as the vector unit walks them.
    pub fn grid(self, rows: u32, cols: u32, element: usize) -> Grid {
        let (lines, len, pitch) = match self.layout {
            Layout::Dn => (cols, rows, self.shape[0]),
            _ => (rows, cols, self.shape[1]),
        };
        let (lines, len) = (lines.into(), len.into());
        Grid { lines, len, gapless: len == u64::from(pitch), element, useful: lines * len }
    }

    pub fn valid_grid(self, element: usize) -> Grid {
        self.grid(self.valid[0], self.valid[1], element)
    }

    pub fn storage_bytes(self) -> u64 {
        u64::from(self.shape[0]) * u64::from(self.shape[1]) * self.element() as u64
    }
}

/// Lines of elements, one after the other or with gaps between them.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    pub lines: u64,
    pub len: u64,
    pub gapless: bool,
    pub element: usize,
    /// Elements that are worked on; the others of a repeat go through the motions.
    pub useful: u64,
}

impl Grid {
    pub fn per_repeat(self) -> u64 {
        (REPEAT_BYTES / self.element.max(1)) as u64
    }

    pub fn repeats(self) -> u64 {
        if self.gapless {
            (self.lines * self.len).div_ceil(self.per_repeat())
        } else {
            self.lines * self.repeats_per_line()
        }
    }

    pub fn repeats_per_line(self) -> u64 {
        self.len.div_ceil(self.per_repeat())
    }

    /// Elements of the last, partial repeat.
    pub fn rest(self) -> Option<u64> {
        let counted = if self.gapless { self.lines * self.len } else { self.len };
        let rest = counted % self.per_repeat();
        (rest != 0).then_some(rest)
    }

    /// The same lines, each as if it had one repeat.
    pub fn one_repeat_a_line(self) -> Grid {
        let useful = self.lines * self.len.min(self.per_repeat());
        Grid { len: self.per_repeat(), gapless: false, useful, ..self }
    }

    pub fn shape(self) -> Shape {
        Shape { element: self.element, in_rows: !self.gapless && self.lines > 1 }
    }
}

pub(super) fn operand(entry: &LogEntry, name: &str) -> Option<Operand> {
    entry.operands.iter().find(|operand| operand.name == name).and_then(|operand| match operand.place {
        OperandPlace::Tile { space, dtype, layout, shape, valid, .. } => {
            Some(Operand { space, dtype, layout, shape, valid })
        }
        OperandPlace::Global { .. } => None,
    })
}

pub(super) fn global_layout(entry: &LogEntry) -> Option<GlobalLayout> {
    entry.operands.iter().find_map(|operand| match operand.place {
        OperandPlace::Global { layout, .. } => Some(layout),
        OperandPlace::Tile { .. } => None,
    })
}
