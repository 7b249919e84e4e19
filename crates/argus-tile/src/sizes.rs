//! How large a core's memories are, per chip.

use crate::space::Space;

/// Bytes of each memory of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreSizes {
    pub ub: u32,
    pub l1: u32,
    pub l0a: u32,
    pub l0b: u32,
    pub l0c: u32,
    pub bias: u32,
    pub scaling: u32,
    pub scale_left: u32,
    pub scale_right: u32,
}

const KI: u32 = 1024;

impl CoreSizes {
    pub const A2A3: CoreSizes = CoreSizes {
        ub: 192 * KI,
        l1: 512 * KI,
        l0a: 64 * KI,
        l0b: 64 * KI,
        l0c: 128 * KI,
        bias: KI,
        scaling: 2 * KI,
        scale_left: 0,
        scale_right: 0,
    };

    pub const A5: CoreSizes = CoreSizes {
        ub: 256 * KI,
        l1: 512 * KI,
        l0a: 64 * KI,
        l0b: 64 * KI,
        l0c: 256 * KI,
        bias: 4 * KI,
        scaling: 4 * KI,
        scale_left: 4 * KI,
        scale_right: 4 * KI,
    };

    /// Bytes of one memory.
    pub const fn of(&self, space: Space) -> u32 {
        match space {
            Space::Vec => self.ub,
            Space::Mat => self.l1,
            Space::Left => self.l0a,
            Space::Right => self.l0b,
            Space::Acc => self.l0c,
            Space::Bias => self.bias,
            Space::Scaling => self.scaling,
            Space::ScaleLeft => self.scale_left,
            Space::ScaleRight => self.scale_right,
        }
    }
}
